/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/stage session/policy session/dialects session/mcp session/journal display input apps */
/* A stage and its viewers, of which the test plays warden, front and views: also views that were taken over. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "display/view/proto.h"
#include "session/base/json.h"
#include "session/base/util.h"
#include "session/warden/proto.h"
#include "tests/x/rig.h"

#define SOON_MS 2000

struct view {
	uint32_t number;
	int socket, taken;
	const uint32_t *segment;
};

static uint32_t give_number(int fd)
{
	json_t *reply = rig_expect(fd, 200, "viewer", "server", "{\"token\":\"0123456789ab\",\"role\":\"controller\"}");
	uint32_t number = (uint32_t)form_int(reply, "viewer", 0);

	json_decref(reply);
	return number;
}

/* As the warden does. */
static struct view attach(const struct rig *rig, uint32_t number, bool controls)
{
	const size_t bytes = view_segment_bytes(RIG_WIDTH, RIG_HEIGHT);
	struct stage_label label = {.kind = STAGE_VIEWER, .viewer = number, .controls = controls};
	int pair[2], segment = memfd_create("viewer", MFD_CLOEXEC), taken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct view view = {.number = number, .taken = taken};

	assert_int_equal(ftruncate(segment, (off_t)bytes), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	if (!controls)
		assert_int_equal(shutdown(pair[1], SHUT_RD), 0);
	view.socket = pair[0];
	view.segment = mmap(NULL, bytes, PROT_READ, MAP_SHARED, segment, 0);
	assert_int_equal(ipc_send(rig->warden_fd, &label, sizeof(label), (const int[]){pair[1], segment, taken}, N_VIEWER_ENDS, NULL), 0);
	(void)close(pair[1]);
	(void)close(segment);
	return view;
}

static struct view watch(const struct rig *rig, int fd)
{
	return attach(rig, give_number(fd), true);
}

static void leave(struct view *view)
{
	(void)close(view->socket);
	(void)close(view->taken);
	(void)munmap((void *)(uintptr_t)view->segment, view_segment_bytes(RIG_WIDTH, RIG_HEIGHT));
}

/* False: there are none within the time. */
static bool next_news(const struct view *view, struct view_news *news, int within_ms)
{
	struct pollfd ready = {.fd = view->socket, .events = POLLIN};

	return poll(&ready, 1, within_ms) == 1 && recv(view->socket, news, sizeof(*news), 0) == sizeof(*news);
}

static void say_taken(const struct view *view)
{
	const uint64_t one = 1;

	assert_int_equal(write(view->taken, &one, sizeof(one)), sizeof(one));
}

/* Of the other end, which the stage has. */
static bool is_closed(const struct view *view, int within_ms)
{
	struct pollfd ready = {.fd = view->socket};

	return poll(&ready, 1, within_ms) == 1 && (ready.revents & POLLHUP);
}

static void ask(const struct view *view, const struct view_ask *what)
{
	assert_int_equal(send(view->socket, what, VIEW_ASK_HEAD + what->len, MSG_NOSIGNAL), VIEW_ASK_HEAD + what->len);
}

static size_t count(int fd)
{
	json_t *reply = rig_expect(fd, 200, "viewers", "server", "{}");
	size_t n = json_array_size(json_object_get(reply, "viewers"));

	json_decref(reply);
	return n;
}

/* The first news are all of the screen; more come when they were taken and something changed, and not before. */
static void test_news(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	struct view view = watch(rig, fd);
	struct view_news news;

	assert_true(next_news(&view, &news, SOON_MS));
	assert_int_equal(news.what, VIEW_NEWS_PIXELS | VIEW_NEWS_CURSOR | VIEW_NEWS_POINTER);
	assert_int_equal(news.width_px, RIG_WIDTH);
	assert_int_equal(news.n_rects, 1);
	assert_int_equal(news.rects[0].height, RIG_HEIGHT);
	assert_int_equal(view.segment[0] & 0xFFFFFF, 0x4A5F73);
	assert_int_equal(count(fd), 1);
	/* It moves the pointer: nobody is told before the last was taken. */
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":50,\"y\":60}]}"));
	assert_false(next_news(&view, &news, 200));
	say_taken(&view);
	assert_true(next_news(&view, &news, SOON_MS));
	assert_int_equal(news.what & VIEW_NEWS_POINTER, VIEW_NEWS_POINTER);
	assert_int_equal(news.n_rects, 0);
	/* And nothing when nothing changes. */
	say_taken(&view);
	assert_false(next_news(&view, &news, 300));
	leave(&view);
	for (int64_t until_ms = util_now_ms() + SOON_MS; count(fd) > 0;)
		assert_true(util_now_ms() < until_ms);
}

/* Numbers are good once, for who was given them; and there are not many. */
static void test_numbers(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	struct view foreign = attach(rig, 4711, true), first = watch(rig, fd), again;

	assert_true(is_closed(&foreign, SOON_MS));
	again = attach(rig, first.number, true);
	assert_true(is_closed(&again, SOON_MS));
	assert_int_equal(count(fd), 1);
	for (int i = 1; i < LIMIT_VIEWERS; i++)
		(void)give_number(fd);
	rig_expect_code(fd, 429, "viewer_limit", "viewer", "server", "{\"token\":\"t\",\"role\":\"viewer\"}");
	rig_expect_code(fd, 404, "not_found", "viewer_end", "server", "{\"viewer\":4711}");
	rig_expect_code(fd, 403, "forbidden", "viewer", "operator", "{\"token\":\"t\",\"role\":\"viewer\"}");
	rig_expect_code(fd, 400, "bad_field", "viewer", "server", "{\"token\":\"t\",\"role\":\"agent\"}");
	auto_free char *body = util_printf("{\"viewer\":%u}", first.number);

	json_decref(rig_expect(fd, 200, "viewer_end", "server", body));
	assert_true(is_closed(&first, SOON_MS));
	(void)give_number(fd);
	leave(&foreign);
	leave(&first);
	leave(&again);
}

/* What a view that was taken over may say: it ends that view, and nothing else. */
static void test_broken_asks(void **state)
{
	const struct view_ask rows[] = {
		{.kind = 0}, {.kind = 5}, {.kind = UINT32_MAX}, {.kind = VIEW_ASK_KEY, .down = 2}, {.kind = VIEW_ASK_KEY, .len = 1},
		{.kind = VIEW_ASK_CUT, .total = LIMIT_CUT_BYTES + 1, .len = 1}, {.kind = VIEW_ASK_CUT, .total = 5, .at = 1, .len = 1},
		{.kind = VIEW_ASK_CUT, .total = 5, .len = 6}, {.kind = VIEW_ASK_CUT, .total = 5}, {.kind = VIEW_ASK_CUT, .at = UINT32_MAX, .len = 1},
	};
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view view = watch(rig, fd);

		ask(&view, &rows[i]);
		if (!is_closed(&view, SOON_MS))
			fail_msg("row %zu is taken", i);
		leave(&view);
	}
	struct view view = watch(rig, fd);

	assert_int_equal(send(view.socket, "short", 5, MSG_NOSIGNAL), 5);
	assert_true(is_closed(&view, SOON_MS));
	leave(&view);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[]}"));
}

/* Without the lease nothing that is asked happens. */
static void test_no_lease(void **state)
{
	const struct view_ask asks[] = {{.kind = VIEW_ASK_POINTER, .mask = 1, .x = 9, .y = 9}, {.kind = VIEW_ASK_KEY, .down = 1, .keysym = 0xFFE1},
	                                {.kind = VIEW_ASK_CUT, .total = 2, .len = 2, .data = "no"}, {.kind = VIEW_ASK_RESIZE, .x = 320, .y = 200}};
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	struct view view = watch(rig, fd);
	struct view_news news = {0};
	int x, y;

	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":100,\"y\":100}]}"));
	for (size_t i = 0; i < ARRAY_LEN(asks); i++)
		ask(&view, &asks[i]);
	while (!(news.what & VIEW_NEWS_RESIZED)) {
		assert_true(next_news(&view, &news, SOON_MS));
		say_taken(&view);
	}
	assert_int_equal(news.resize_refused, 1);
	assert_int_equal(rig_pointer(rig, &x, &y), 0);
	assert_int_equal(x, 201); /* the space is half as large */
	leave(&view);
}

#define FLOODERS 4 /* more than one view could be: there is always something to read */

/* A view says as much as a socket takes, and that it took what it was never given: the stage answers others all the same. */
static void test_flood(void **state)
{
	const struct view_ask what = {.kind = VIEW_ASK_POINTER, .x = 1, .y = 1};
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	struct view view = watch(rig, fd);
	pid_t flooders[FLOODERS];

	for (int i = 0; i < FLOODERS; i++)
		if ((flooders[i] = fork()) == 0)
			for (;;) {
				const uint64_t one = 1;

				for (int n = 0; n < 1000; n++)
					(void)!send(view.socket, &what, VIEW_ASK_HEAD, MSG_NOSIGNAL);
				(void)!write(view.taken, &one, sizeof(one));
			}
	for (int i = 0; i < 20; i++)
		json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"cursor_position\"}]}"));
	for (int i = 0; i < FLOODERS; i++) {
		assert_int_equal(kill(flooders[i], SIGKILL), 0);
		assert_int_equal(waitpid(flooders[i], NULL, 0), flooders[i]);
	}
	leave(&view);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, rig_set_up, rig_tear_down)
	const struct CMUnitTest tests[] = {TEST(test_news), TEST(test_numbers), TEST(test_broken_asks), TEST(test_no_lease), TEST(test_flood)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
