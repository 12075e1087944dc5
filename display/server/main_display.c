/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-display, pid 1 of a session: starts Xvfb, then the window manager, and ends when one of them ends, which ends all
 * processes of the session. It has no right that they could take: no capability, the same uid, the same root.
 *
 * Part of the display jail; the warden made root, cookie and limits (sandbox/jail/display_jail.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "display/server/proto.h"
#include "sandbox/confine/confine.h"
#include "session/base/layer.h"
#include "session/base/util.h"

#define AUTHORITY "/tmp/xauth"
#define NUMBER_FD "3" /* free in the child: the go pipe is not passed on */

static char path_env[] = "PATH=/usr/bin:/bin";
static char home_env[] = "HOME=/tmp";
static char lang_env[] = "LANG=C.UTF-8";
static char display_env[] = "DISPLAY=:0";
static char authority_env[] = "XAUTHORITY=" AUTHORITY;

/* Starts a program with its filter and, if given, a descriptor as number 3. Its output is ours. The pid, or -1. */
static pid_t start(const struct confine_filter *filter, int passed, char *const *argv, char *const *envp)
{
	pid_t pid = fork();
	struct err e = {0};
	sigset_t none;

	if (pid != 0)
		return pid;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* 3 holds the go pipe: it goes, or is replaced. */
	if (passed >= 0 ? dup2(passed, 3) < 0 : close(3) < 0)
		_exit(DISPLAY_EXIT_START);
	/* The parent of these two is pid 1, so they never outlive it. */
	if (confine_landlock(filter->land, &e) == 0 && (layer_is_off("filters") || confine_load(filter, &e) == 0) &&
	    close_range(passed >= 0 ? 4 : 3, ~0U, 0) == 0)
		(void)execve(argv[0], argv, envp);
	dprintf(STDERR_FILENO, "%s: %s%s\n", argv[0], e.msg, strerror(errno));
	_exit(DISPLAY_EXIT_START);
}

static pid_t start_xvfb(const char *size, int number_fd)
{
	char program[] = "/usr/bin/Xvfb", screen[32];
	char *const argv[] = {program, (char[]){":0"}, (char[]){"-screen"}, (char[]){"0"}, screen, (char[]){"-nolisten"}, (char[]){"tcp"},
	                      (char[]){"-nolisten"}, (char[]){"local"}, (char[]){"-noreset"}, (char[]){"-auth"}, (char[]){AUTHORITY},
	                      (char[]){"-displayfd"}, (char[]){NUMBER_FD}, (char[]){"-extension"}, (char[]){"GLX"},
	                      (char[]){"-schedInterval"}, (char[]){"1"}, (char[]){"-maxclients"}, (char[]){"512"}, (char[]){"-dpi"},
	                      (char[]){"96"}, NULL};
	char *const envp[] = {path_env, home_env, lang_env, NULL};

	(void)snprintf(screen, sizeof(screen), "%sx24", size);
	return start(&confine_xvfb, number_fd, argv, envp);
}

static pid_t start_wm(void)
{
	char program[] = "/usr/bin/openbox";
	char *const argv[] = {program, (char[]){"--config-file"}, (char[]){"/etc/xdg/openbox/rc.xml"}, (char[]){"--sm-disable"}, NULL};
	char *const envp[] = {path_env, home_env, lang_env, display_env, authority_env, NULL};

	return start(&confine_wm, -1, argv, envp);
}

/* Reaps what has ended; ends with a telling code if it is one of the two. */
static void reap(pid_t xvfb, pid_t wm)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		if (pid == xvfb)
			exit(DISPLAY_EXIT_XVFB);
		if (pid == wm)
			exit(DISPLAY_EXIT_WM);
	}
}

/* Waits until Xvfb says that it serves, by writing its number, or until it ends. */
static void wait_xvfb(int number_fd, int signals, pid_t xvfb)
{
	struct pollfd fds[] = {{.fd = number_fd, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo info;
	char line[16];

	for (;;) {
		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			exit(DISPLAY_EXIT_START);
		if (fds[1].revents && read(signals, &info, sizeof(info)) > 0)
			reap(xvfb, 0);
		if (fds[0].revents) {
			ssize_t n = read(number_fd, line, sizeof(line));

			if (n > 0 && memchr(line, '\n', (size_t)n))
				return;
			if (n <= 0)
				fds[0].fd = -1; /* it is ending: its end says the rest */
		}
	}
}

int main(int argc, char **argv)
{
	struct signalfd_siginfo info;
	struct err e = {0};
	sigset_t children;
	int number[2], signals;
	char size[24];
	pid_t xvfb, wm;

	if (argc != 3 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || confine_wait_go(&e) < 0)
		return DISPLAY_EXIT_START;
	(void)snprintf(size, sizeof(size), "%.8sx%.8s", argv[1], argv[2]);
	(void)sigemptyset(&children);
	(void)sigaddset(&children, SIGCHLD);
	signals = sigprocmask(SIG_BLOCK, &children, NULL) < 0 ? -1 : signalfd(-1, &children, SFD_CLOEXEC);
	if (signals < 0 || pipe2(number, O_CLOEXEC) < 0)
		return DISPLAY_EXIT_START;
	xvfb = start_xvfb(size, number[1]);
	(void)close(number[1]);
	if (xvfb < 0)
		return DISPLAY_EXIT_START;
	wait_xvfb(number[0], signals, xvfb);
	(void)close(number[0]);
	wm = start_wm();
	if (wm < 0)
		return DISPLAY_EXIT_START;
	while (read(signals, &info, sizeof(info)) > 0)
		reap(xvfb, wm);
	return DISPLAY_EXIT_START;
}
