/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An X server of a test's own. */
#include "tests/x/xserver.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/util.h"

#define FIRST_NUMBER 1000
#define N_NUMBERS 50000
#define MAX_AT_ONCE 8 /* servers of one program */

/* A child that dies with the test; does not return in it. */
static pid_t spawn(const char *const *argv, const char *display)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)setenv("DISPLAY", display, 1);
	int quiet = open("/dev/null", O_RDWR);

	(void)dup2(quiet, STDOUT_FILENO);
	if (!getenv("TEST_NOISE"))
		(void)dup2(quiet, STDERR_FILENO);
	(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/*
 * A number of our own: the lowest free one would be another program's as soon as our server is gone, and a test that starts it again, or
 * looks for it in vain, would meet that.
 */
static int own_number(void)
{
	static int n_started;

	return FIRST_NUMBER + (getpid() * MAX_AT_ONCE + n_started++ % MAX_AT_ONCE) % N_NUMBERS;
}

/* Starts Xvfb on the number that it is asked for, and waits until it accepts connections there. */
static void start(struct xserver *server, const char *asked, int width, int height)
{
	auto_free char *screen = util_printf("%dx%dx24", width, height);
	char number[8] = "", fd_text[8];
	size_t len = 0;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	(void)snprintf(fd_text, sizeof(fd_text), "%d", ends[1]);
	const char *const argv[] = {"Xvfb", asked, "-screen", "0",          screen,       "-nolisten", "tcp", "-extension",
	                            "GLX",        "-noreset", "-schedInterval", "1", "-displayfd", fd_text, NULL};

	(void)signal(SIGPIPE, SIG_IGN); /* as the stage: what is sent to a server that was killed */
	server->manager = 0;
	server->pid = spawn(argv, "");
	assert_true(server->pid > 0);
	(void)close(ends[1]);
	while (len < sizeof(number) - 1 && !strchr(number, '\n')) {
		ssize_t n = read(ends[0], number + len, sizeof(number) - 1 - len);

		if (n <= 0)
			fail_msg("Xvfb did not start");
		len += (size_t)n;
		number[len] = '\0';
	}
	(void)close(ends[0]);
	number[strcspn(number, "\n")] = '\0';
	(void)snprintf(server->display, sizeof(server->display), ":%s", number);
}

void xserver_start(struct xserver *server, int width, int height)
{
	auto_free char *asked = util_printf(":%d", own_number());

	start(server, asked, width, height);
}

void xserver_start_again(struct xserver *server, int width, int height)
{
	auto_free char *asked = util_printf("%s", server->display);

	start(server, asked, width, height);
}

void xserver_start_manager(struct xserver *server)
{
	/* It goes to the home folder before it reads it. */
	auto_free char *rc = realpath("images/recipes/display/root/etc/xdg/openbox/rc.xml", NULL);
	const char *const argv[] = {"openbox", "--config-file", rc, "--sm-disable", NULL};

	assert_non_null(rc);
	server->manager = spawn(argv, server->display);
	assert_true(server->manager > 0);
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;
	(void)kill(pid, SIGCONT);
	(void)kill(pid, SIGTERM);
	(void)waitpid(pid, NULL, 0);
}

void xserver_stop(struct xserver *server)
{
	end(server->manager);
	end(server->pid);
	server->manager = server->pid = 0;
}

struct call {
	co_fn *fn;
	void *arg;
	bool done;
};

static void run_call(void *arg)
{
	struct call *call = arg;

	call->fn(call->arg);
	call->done = true;
}

void xserver_run(struct loop *loop, co_fn *fn, void *arg)
{
	struct call call = {.fn = fn, .arg = arg};

	(void)co_start(loop, run_call, &call);
	while (!call.done)
		loop_turn(loop, -1);
}
