/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* The first keys to a window that is on the screen before it takes any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "tests/x/evwin.h"
#include "tests/x/rig.h"

#define TEXT "first keys"
#define TYPE "{\"action\":\"type\",\"text\":\"" TEXT "\"}"
#define KEYS "{\"action\":\"key\",\"keys\":\"f\"},{\"action\":\"type\",\"text\":\"irst keys\"}"
#define MAX_EVENTS 1000

static void expect(struct evwin *evwin, const char *want)
{
	struct evwin_event events[MAX_EVENTS];
	auto_free char *text = evwin_text(events, evwin_look(evwin, events, MAX_EVENTS));

	assert_string_equal(text, want);
}

/* Windows one after the other, which as a rule get the same id: each of them is waited for. */
static void test_late_windows(void **state)
{
	static const char *const acts[] = {"{\"actions\":[" TYPE "]}", "{\"actions\":[" KEYS "]}", "{\"actions\":[" TYPE "]}"};
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		struct evwin evwin;

		evwin_start(&evwin, rig->server.display, EVWIN_LATE);
		json_decref(rig_expect(fd, 200, "act", "agent", acts[i]));
		expect(&evwin, TEXT);
		json_decref(rig_expect(fd, 200, "act", "agent", acts[i]));
		expect(&evwin, TEXT);
		evwin_stop(&evwin);
	}
}

/* A window that hangs, and one that cannot say what it has read. */
static void test_windows_that_do_not_answer(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	for (enum evwin_way way = EVWIN_MUTE; way <= EVWIN_NO_PING; way++) {
		struct evwin evwin;

		evwin_start(&evwin, rig->server.display, way);
		json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[" TYPE "]}"));
		expect(&evwin, TEXT);
		evwin_stop(&evwin);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_late_windows), TEST(test_windows_that_do_not_answer)};

	return cmocka_run_group_tests_name("first keys", tests, NULL, NULL);
}
