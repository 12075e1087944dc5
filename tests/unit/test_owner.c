/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps */
/* Whose process: status files of several depths of pid namespaces, and our own. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/init/proto.h"
#include "apps/owner.h"
#include "apps/windows.h"
#include "session/base/util.h"

#define STATUS(pids, sessions) "Name:\tx\nPid:\t7\nPPid:\t5\nNStgid:\t7\nNSpid:" pids "\nNSpgid:\t1\nNSsid:" sessions "\nVmPeak:\t1\n"

static void parse(void **state)
{
	struct owner owner;

	(void)state;
	assert_true(owner_parse(STATUS("\t100\t12", "\t90\t3"), 1, &owner));
	assert_int_equal(owner.pid, 12);
	assert_int_equal(owner.session, 3);
	assert_int_equal(owner.parent, 5);
	/* A sandbox of a browser in the jail: deeper, but its number there is the same place. */
	assert_true(owner_parse(STATUS("\t100\t12\t1", "\t90\t3\t0"), 1, &owner));
	assert_int_equal(owner.pid, 12);
	/* The display's process is not in the app jail. */
	assert_true(owner_parse(STATUS("\t100", "\t90"), 1, &owner));
	assert_int_equal(owner.pid, 0);
	assert_true(owner_parse(STATUS("\t100", "\t90"), 0, &owner));
	assert_int_equal(owner.pid, 100);
}

static void broken(void **state)
{
	static const char *const texts[] = {
		"",
		"Name:\tx\n",
		STATUS("\tx", "\t1"),
		STATUS("\t-5", "\t1"),
		STATUS("\t99999999999999999999", "\t1"),
		"Name:\tx\nNSpid:\t7\nNSsid:\t7\n",
	};
	struct owner owner;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_false(owner_parse(texts[i], 0, &owner));
}

static void line_of_ours(void **state)
{
	struct owner_proc proc;
	struct owner_line line;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	assert_int_equal(owner_open(&proc, open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), getpid(), NULL), 0);
	owner_read(&proc, child, &line);
	assert_true(line.n >= 2);
	assert_int_equal(line.of[0].pid, child);
	assert_int_equal(line.of[1].pid, getpid());
	assert_true(owner_descends(&line, getpid()));
	assert_true(owner_descends(&line, getsid(0)));
	assert_false(owner_descends(&line, child + 1));
	assert_true(owner_is(&line, child));
	assert_true(owner_is(&line, getsid(0)));
	if (getsid(0) != getpid())
		assert_false(owner_is(&line, getpid()));
	owner_read(&proc, getpid(), &line);
	assert_false(owner_descends(&line, child));
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	owner_read(&proc, child, &line);
	assert_int_equal(line.n, 0);
	owner_read(&proc, 0, &line);
	assert_int_equal(line.n, 0);
	owner_close(&proc);
}

static void no_such_init(void **state)
{
	struct owner_proc proc;
	struct err e;

	(void)state;
	assert_int_equal(owner_open(&proc, open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0x7FFFFFFF, &e), -1);
	assert_int_equal(e.code, ERR_GONE);
}

static void states(void **state)
{
	static const struct {
		unsigned int state;
		const char *names;
	} rows[] = {
		{0, "[]"},
		{WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y, "[\"maximized\"]"},
		{WINDOW_MAXIMIZED_X, "[\"maximized_width\"]"},
		{WINDOW_MAXIMIZED_Y | WINDOW_MINIMIZED, "[\"maximized_height\",\"minimized\"]"},
		{WINDOW_FULLSCREEN | WINDOW_ABOVE, "[\"fullscreen\",\"above\"]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *list = windows_states(rows[i].state);
		auto_free char *text = json_dumps(list, JSON_COMPACT);

		assert_string_equal(text, rows[i].names);
	}
}

static void layers(void **state)
{
	static const struct {
		struct window window;
		const char *layer;
	} rows[] = {
		{{.kind = WINDOW_NORMAL}, "normal"},
		{{.kind = WINDOW_NORMAL, .state = WINDOW_ABOVE}, "above"},
		{{.kind = WINDOW_NORMAL, .state = WINDOW_BELOW}, "below"},
		{{.kind = WINDOW_DESKTOP, .state = WINDOW_ABOVE}, "desktop"},
		{{.kind = WINDOW_DOCK}, "dock"},
		{{.kind = WINDOW_NORMAL, .state = WINDOW_FULLSCREEN | WINDOW_ABOVE}, "fullscreen"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(windows_layer(&rows[i].window), rows[i].layer);
}

static void groups(void **state)
{
	(void)state;
	assert_int_equal(owner_parse_group("0::/glovebox/s1/desk/jail/agent\n"), INIT_GROUP_AGENT);
	assert_int_equal(owner_parse_group("9:memory:/s1/desk\n1:pids:/s1/base\n0::/s1/desk/jail/apps\n"), INIT_GROUP_APPS);
	assert_int_equal(owner_parse_group("0::/base"), INIT_GROUP_BASE);
	assert_int_equal(owner_parse_group("0::/s1/desk/jail/apps2\n"), -1);
	assert_int_equal(owner_parse_group("0::/s1/desk/jail/app\n"), -1);
	assert_int_equal(owner_parse_group("0::/s1/apps/desk\n"), -1);
	assert_int_equal(owner_parse_group("5:freezer:/apps\n"), -1);
	assert_int_equal(owner_parse_group("0::\n"), -1);
	assert_int_equal(owner_parse_group(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups),
		cmocka_unit_test(parse),        cmocka_unit_test(broken), cmocka_unit_test(line_of_ours),
		cmocka_unit_test(no_such_init), cmocka_unit_test(states), cmocka_unit_test(layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
