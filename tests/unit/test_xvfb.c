/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* What /proc says of the X server, in a folder that stands in for it. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/stage/xvfb.h"

static int proc_fd;
static struct xvfb xvfb;

static void put(const char *path, const char *text)
{
	auto_fd fd = openat(proc_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void put_process(int pid, const char *stat)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "%d", pid);
	assert_int_equal(mkdirat(proc_fd, path, 0700), 0);
	(void)snprintf(path, sizeof(path), "%d/stat", pid);
	put(path, stat);
	(void)snprintf(path, sizeof(path), "%d/statm", pid);
	put(path, "1000 500 100 1 0 1 0");
}

static int set_up(void **state)
{
	static char folder[32];

	(void)snprintf(folder, sizeof(folder), "/tmp/glovebox-xvfb-XXXXXX");
	assert_non_null(mkdtemp(folder));
	proc_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	xvfb_begin(&xvfb, proc_fd);
	*state = folder;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const files[] = {"stat", "statm"};
	char path[32];

	xvfb_end(&xvfb);
	for (int pid = 2; pid < 8; pid++) {
		for (size_t i = 0; i < ARRAY_LEN(files); i++) {
			(void)snprintf(path, sizeof(path), "%d/%s", pid, files[i]);
			(void)unlinkat(proc_fd, path, 0);
		}
		(void)snprintf(path, sizeof(path), "%d", pid);
		(void)unlinkat(proc_fd, path, AT_REMOVEDIR);
	}
	(void)close(proc_fd);
	return rmdir(*state);
}

static void test_it_is_a_child_of_the_first_process(void **state)
{
	uint64_t pages = 0;

	(void)state;
	assert_false(xvfb_look(&xvfb, &pages));
	put_process(3, "3 (Xvfb) S 2 1 1");
	put_process(4, "4 (Xvfb) S 1 x) S 2 1");
	put_process(6, "6 (a (Xvfb) S 1) S 1 1");
	assert_false(xvfb_look(&xvfb, &pages));
	put_process(7, "7 (Xvfb) S 1 1 1");
	assert_true(xvfb_look(&xvfb, &pages));
	assert_int_equal(xvfb.pid, 7);
	assert_int_equal(pages, 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_it_is_a_child_of_the_first_process)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
