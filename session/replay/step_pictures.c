/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen of a step against the recorded one. */
#include <stdio.h>
#include <sys/param.h>

#include "session/base/util.h"
#include "session/replay/compare.h"
#include "session/replay/step.h"
#include "session/replay/watch.h"

#define LOOK_MS 40     /* between two looks while it waits */
#define UNSURE_MS 1000 /* for a screen that was not at rest when it was recorded */

static void hide_regions(const json_t *regions, struct hidden *hidden)
{
	const json_t *region;
	size_t i;

	json_array_foreach(regions, i, region)
		hidden_add(hidden, space_rect(region));
}

static void hide_ignored(const struct step *step, struct hidden *hidden)
{
	const json_t *ignore = step->player->options->ignore;
	char number[24];

	(void)snprintf(number, sizeof(number), "%zu", step->number);
	hide_regions(step->plan->masks, hidden);
	hide_regions(json_object_get(ignore, "regions"), hidden);
	hide_regions(json_object_get(json_object_get(ignore, "steps"), number), hidden);
}

static void note_hidden(void *arg, struct rect rect, const char *why)
{
	json_t *place = step_rect(rect);

	json_object_set_new(place, "why", json_string(why));
	json_array_append_new(arg, place);
}

/* What one comparison of a step came to. */
struct look {
	struct compare compare;
	bool is_same;
	int64_t waited_ms;
	struct hidden hidden; /* that were left out */
	json_t *places;       /* and were found to change by themselves */
};

static void look_finish(struct look *look)
{
	hidden_finish(&look->hidden);
	json_decref(look->places);
}

/* Compares what is shown with what is expected; leaves out what `watch` knows if that is needed. */
static void compare_now(const struct step *step, const struct pixels *expected, const struct watch *watch, bool at_end, struct look *look)
{
	const struct player *player = step->player;
	const struct player_options *options = player->options;

	hidden_finish(&look->hidden);
	hidden_init(&look->hidden, expected->width, expected->height);
	json_array_clear(look->places);
	hide_ignored(step, &look->hidden);
	look->compare = compare_pixels(expected, &player->shown, &look->hidden, options->tolerance);
	look->is_same = compare_is_same(&look->compare, options->max_share);
	if (look->is_same || look->compare.is_size)
		return;
	if (watch_hide(watch, expected, options->tolerance, player->api->now_ms(player->api->arg), at_end, &look->hidden, note_hidden, look->places) == 0)
		return;
	look->compare = compare_pixels(expected, &player->shown, &look->hidden, options->tolerance);
	look->is_same = compare_is_same(&look->compare, options->max_share);
}

/* Looks until the screen is as expected, or the time is over. */
static int look_until(const struct step *step, const struct pixels *expected, int wait_ms, struct look *look, struct err *e)
{
	struct player *player = step->player;
	const struct player_api *api = player->api;
	int64_t start_ms = api->now_ms(api->arg);
	struct watch *watch = watch_create();
	int rc = 0;

	look->places = json_array();
	for (bool at_end = false; rc == 0;) {
		bool changed = false;

		rc = api->look(api->arg, &player->shown, &changed, e);
		if (rc < 0)
			break;
		look->waited_ms = api->now_ms(api->arg) - start_ms;
		watch_see(watch, &player->shown, start_ms + look->waited_ms);
		at_end = look->waited_ms >= wait_ms;
		compare_now(step, expected, watch, at_end, look);
		if (look->is_same || at_end)
			break;
		rc = api->rest(api->arg, LOOK_MS, e);
	}
	watch_destroy(watch);
	return rc;
}

static void add_picture(const struct step *step, const char *fact, const char *name, const struct pixels *pixels)
{
	report_add_picture(step->player->report, name, pixels);
	step_set(step, fact, json_string(name));
}

/* A recorded picture is kept once, however many steps show it. */
static void add_recorded(const struct step *step, const char *fact, uint64_t number, const struct pixels *pixels)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "recorded-%ju", (uintmax_t)number);
	add_picture(step, fact, name, pixels);
}

static void add_difference(const struct step *step, const char *where, const struct pixels *expected, uint64_t number, const struct look *look)
{
	const struct player *player = step->player;
	struct pixels drawn = compare_draw(expected, &player->shown, &look->hidden, player->options->tolerance);
	char name[32];

	add_recorded(step, "expected", number, expected);
	(void)snprintf(name, sizeof(name), "%zu-%s", step->number, where);
	add_picture(step, "actual", name, &player->shown);
	(void)snprintf(name, sizeof(name), "%zu-%s-difference", step->number, where);
	add_picture(step, "difference", name, &drawn);
	pixels_finish(&drawn);
}

static void note_look(const struct step *step, const struct look *look)
{
	step_set(step, "differing", json_integer((json_int_t)look->compare.differing));
	step_set(step, "share", json_real(look->compare.compared ? (double)look->compare.differing / (double)look->compare.compared : 0));
	if (look->compare.box.width > 0)
		step_set(step, "box", step_rect(look->compare.box));
}

static json_t *picture_reason(const char *what, const struct look *look)
{
	const struct compare *compare = &look->compare;

	if (compare->is_size)
		return step_say("%s the screen has another size than the recording", what);
	return step_say("%s %ju pixels (%.4g %%) differ from the recording, within %dx%d at %d, %d", what, (uintmax_t)compare->differing,
	                    compare->compared ? 100.0 * (double)compare->differing / (double)compare->compared : 0, compare->box.width,
	                    compare->box.height, compare->box.x, compare->box.y);
}

/* What a comparison came to, in the facts of its step. */
static void judge(const struct step *step, bool is_before, bool sure, uint64_t number, const struct pixels *expected, const struct look *look)
{
	const char *where = is_before ? "before" : "after";
	bool is_first = !json_object_get(step->facts, "where");

	step_set(step, is_before ? "waited_before_ms" : "waited_after_ms", json_integer(look->waited_ms));
	if (!look->is_same && !sure)
		step_set(step, "note_before", step_say("the screen was another one than when it was recorded%s",
		                                       step->player->followed ? "" : ", which was not at rest"));
	if (json_array_size(look->places) > 0)
		json_object_set(step->facts, "hidden", look->places);
	if (look->is_same || !sure) {
		if (step->player->options->keep_pictures && is_first)
			add_recorded(step, is_before ? "before" : "expected", number, expected);
		return;
	}
	step_differ(step, where, picture_reason(is_before ? "before it" : "after it", look));
	if (!is_first)
		return;
	note_look(step, look);
	add_difference(step, where, expected, number, look);
}

int step_check_picture(const struct step *step, bool is_before, bool sure, bool *same, struct err *e)
{
	uint64_t number = is_before ? step->plan->before : step->plan->after;
	int wait_ms = sure ? step->player->options->wait_ms : MIN(step->player->options->wait_ms, UNSURE_MS);
	const struct pixels *expected;
	struct look look = {.is_same = false};
	struct err why = {0};
	int rc;

	*same = false;
	if (reader_picture(step->player->reader, number, &expected, &why) < 0) {
		step_differ(step, is_before ? "before" : "after", step_say("the recording cannot be shown: %s", why.msg));
		return 0;
	}
	rc = look_until(step, expected, wait_ms, &look, e);
	if (rc == 0) {
		judge(step, is_before, sure, number, expected, &look);
		*same = look.is_same || !sure;
	}
	look_finish(&look);
	return rc;
}
