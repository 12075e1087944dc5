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

#define NS 1000000ULL /* in a millisecond */

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
	(void)snprintf(path, sizeof(path), "%d/schedstat", pid);
	put(path, "1 0 1\n");
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
	static const char *const files[] = {"stat", "statm", "schedstat"};
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

/* As if the look had been made a second ago, when it had waited for so long. */
static void look_back(uint64_t waited_ms)
{
	xvfb.last.at_ms = util_now_ms() - 1000;
	xvfb.last.ns = waited_ms * NS;
}

static void test_starved(void **state)
{
	uint64_t pages;

	(void)state;
	assert_false(xvfb_is_starved(&xvfb));
	put_process(5, "5 (Xvfb) R 1 1 1");
	put("5/schedstat", "10 5000000000 3\n"); /* 5 s */
	assert_true(xvfb_look(&xvfb, &pages));
	assert_false(xvfb_is_starved(&xvfb)); /* nothing to compare it with */
	look_back(4900);
	assert_false(xvfb_is_starved(&xvfb));
	look_back(4200);
	assert_true(xvfb_is_starved(&xvfb));
	/* A look that is too near to say anything: the one before counts. */
	assert_true(xvfb_look(&xvfb, &pages));
	assert_true(xvfb_is_starved(&xvfb));
	/* It has neither run nor waited, as far as the kernel has counted: it sleeps, or is still waiting. */
	put("5/schedstat", "10 4200000000 3\n");
	assert_true(xvfb_is_starved(&xvfb));
	put("5/stat", "5 (Xvfb) S 1 1 1");
	assert_false(xvfb_is_starved(&xvfb));
	put("5/stat", "5 (Xvfb) R 1 1 1");
	put("5/schedstat", "900000010 4200000000 3\n");
	assert_false(xvfb_is_starved(&xvfb)); /* it has run all the time */
	assert_int_equal(unlinkat(proc_fd, "5/schedstat", 0), 0);
	assert_false(xvfb_is_starved(&xvfb));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_it_is_a_child_of_the_first_process), TEST(test_starved)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
