/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between pixel spaces: corners, centres, there and back, uneven scales. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "session/base/space.h"
#include "session/base/util.h"

static const int sizes[][2] = {{1280, 1280}, {1366, 1920}, {1280, 1920}, {800, 1920}, {600, 1080}, {768, 1080}, {64, 4096}, {1920, 1280}};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void test_edges_can_be_reached(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SIZES; i++) {
		assert_int_equal(space_map(0, sizes[i][0], sizes[i][1]), 0);
		assert_int_equal(space_map(sizes[i][0] - 1, sizes[i][0], sizes[i][1]), sizes[i][1] - 1);
	}
}

/* Where something changed is never said too small, and stays inside. */
static void test_what_covers(void **state)
{
	struct space from = {1280, 800}, to = {1000, 333};
	struct rect small = {16, 16, 16, 16}, corner = {1264, 784, 16, 16}, all = {0, 0, 1280, 800};

	(void)state;
	space_cover_rect(from, to, &small); /* 12.5 .. 25, 6.66 .. 13.32 */
	assert_memory_equal(&small, (&(struct rect){12, 6, 13, 8}), sizeof(small));
	space_cover_rect(from, to, &corner); /* 987.5 .. 1000, 326.34 .. 333 */
	assert_memory_equal(&corner, (&(struct rect){987, 326, 13, 7}), sizeof(corner));
	space_cover_rect(from, to, &all);
	assert_memory_equal(&all, (&(struct rect){0, 0, 1000, 333}), sizeof(all));
}

static void test_same_size_changes_nothing(void **state)
{
	(void)state;
	for (int at = 0; at < 1280; at++)
		assert_int_equal(space_map(at, 1280, 1280), at);
}

/* The target is the pixel under the block's centre, the two edges excepted. */
static void test_centre_of_the_block(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SIZES; i++) {
		double scale = (double)sizes[i][1] / sizes[i][0];

		for (int at = 1; at < sizes[i][0] - 1; at++) {
			double off = space_map(at, sizes[i][0], sizes[i][1]) + 0.5 - (at + 0.5) * scale;

			assert_true(off <= 0.5 && off > -0.5001);
		}
	}
}

static void test_there_and_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SIZES; i++)
		for (int at = 0; sizes[i][0] <= sizes[i][1] && at < sizes[i][0]; at++)
			assert_int_equal(space_map(space_map(at, sizes[i][0], sizes[i][1]), sizes[i][1], sizes[i][0]), at);
}

/* Case M01: each point of a space that is not larger than the display goes to a pixel of its own block, and that one comes back to it; of a
 * larger one every pixel of the display can be reached, and each point goes to the pixel that it lies on. */
static void test_every_point_there_and_back(void **state)
{
	static const int lengths[] = {1, 2, 64, 100, 600, 720, 768, 800, 1080, 1125, 1280, 1366, 1920, 2000, 3000, 3840, 4096};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
		for (size_t j = 0; j < ARRAY_LEN(lengths); j++) {
			const int64_t space = lengths[i], native = lengths[j];
			int last = -1;

			for (int at = 0; at < space; at++) {
				int there = space_map(at, (int)space, (int)native);

				if (space <= native) {
					/* [at, at + 1) of space and [there, there + 1) of native share something. */
					assert_true(at * native < (there + 1) * space && there * space < (at + 1) * native);
					assert_int_equal(space_map(there, (int)native, (int)space), at);
				} else {
					assert_true(there == last || there == last + 1);
				}
				last = there;
			}
			assert_int_equal(space_map(0, (int)space, (int)native), 0);
			if (space > 1)
				assert_int_equal(last, native - 1);
		}
}

static void test_for_models(void **state)
{
	static const struct {
		struct space native, want;
	} cases[] = {
		{{1280, 800}, {1280, 800}},   {{1920, 1080}, {1920, 1080}}, {{2000, 1125}, {2000, 1125}}, {{3840, 2160}, {2000, 1125}},
		{{4096, 1080}, {2000, 527}},  {{1080, 4096}, {527, 2000}},  {{4096, 64}, {2000, 31}},     {{2000, 2000}, {1932, 1932}},
		{{4096, 4096}, {1932, 1932}}, {{64, 64}, {64, 64}},         {{1920, 1920}, {1920, 1920}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct space space = space_for_models(cases[i].native);

		assert_int_equal(space.width_px, cases[i].want.width_px);
		assert_int_equal(space.height_px, cases[i].want.height_px);
	}
}

static void test_outside_stays_outside(void **state)
{
	(void)state;
	assert_int_equal(space_map(-10, 1920, 960), -5);
	assert_true(space_map(-1, 1920, 960) < 0);
	assert_true(space_map(1930, 1920, 960) >= 960);
}

static void check_rect(struct space from, struct space to, const int in[4], const int want[4])
{
	int r[4] = {in[0], in[1], in[2], in[3]};

	space_map_rect(from, to, &r[0], &r[1], &r[2], &r[3]);
	for (int i = 0; i < 4; i++)
		assert_int_equal(r[i], want[i]);
}

static void test_rectangles(void **state)
{
	const struct space small = {640, 400}, native = {1280, 800}, uneven = {800, 600};

	(void)state;
	check_rect(small, native, (int[]){0, 0, 640, 400}, (int[]){0, 0, 1280, 800});
	check_rect(small, native, (int[]){10, 20, 1, 1}, (int[]){20, 40, 2, 2});
	check_rect(native, small, (int[]){1279, 799, 1, 1}, (int[]){639, 399, 1, 1});
	check_rect(native, small, (int[]){3, 3, 1, 1}, (int[]){2, 2, 1, 1}); /* less than a pixel keeps one */
	check_rect(uneven, native, (int[]){400, 300, 400, 300}, (int[]){640, 400, 640, 400});
}

/* Every rectangle inside one space stays inside the other. */
static void test_rectangles_stay_inside(void **state)
{
	(void)state;
	for (int x = 0; x < 137; x++)
		for (int w = 1; x + w <= 137; w++) {
			int r[4] = {x, 0, w, 1};

			space_map_rect((struct space){137, 1}, (struct space){64, 1}, &r[0], &r[1], &r[2], &r[3]);
			assert_true(r[0] >= 0 && r[2] >= 1 && r[0] + r[2] <= 64);
			assert_true(r[1] == 0 && r[3] == 1);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges_can_be_reached),  cmocka_unit_test(test_same_size_changes_nothing),
		cmocka_unit_test(test_what_covers),
		cmocka_unit_test(test_centre_of_the_block),   cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_outside_stays_outside), cmocka_unit_test(test_rectangles),
		cmocka_unit_test(test_rectangles_stay_inside), cmocka_unit_test(test_every_point_there_and_back), cmocka_unit_test(test_for_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
