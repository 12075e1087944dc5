/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The warden's side of a child: cloning, its reports, its log lines, its end. What happens in the child is in born.c.
 *
 * A report socket tells how far it is: a record says what failed or what the midwife knows, and end of file says that exec
 * worked, since every other copy of the descriptor is closed by then.
 */
#include "sandbox/jail/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/jail/born.h"
#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define LOG_LINE_MAX 800
#define STRAY_MS 5
#define PF_EXITING 0x4 /* of the kernel's task flags (proc_pid_stat(5), field 9) */

struct child {
	struct loop *loop;
	const struct child_ops *ops;
	void *arg;
	char name[64];
	bool log_is_ours;
	int pidfd, midwife; /* -1: not there (yet, any more) */
	pid_t pid, midwife_pid; /* in our pid namespace; pid is 0 for a midwife's child */
	int report, go, log;
	struct loop_source *pid_source, *midwife_source, *report_source, *log_source;
	struct loop_timer *stray_timer;
	bool was_born, failed, ended;
	char how[32];
	int status;
	char line[LOG_LINE_MAX];
	size_t line_len, log_bytes, log_bytes_max;
};

static bool take_report(struct child *child);

static void drop_source(struct loop_source **source, int *fd)
{
	loop_remove(*source);
	*source = NULL;
	util_close_fd(fd);
}

static void write_line(const struct child *child)
{
	if (child->log_is_ours)
		dprintf(STDERR_FILENO, "%.*s\n", (int)child->line_len, child->line);
	else
		log_info("%s: %.*s", child->name, (int)child->line_len, child->line);
}

static bool says_too_much(const struct child *child)
{
	return child->log_bytes_max && child->log_bytes > child->log_bytes_max;
}

/* Lines of a jail are hostile: bounded in length and in all, without control characters. */
static void take_log(struct child *child, const char *text, size_t len)
{
	if (says_too_much(child))
		return;
	child->log_bytes += len;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n' || child->line_len == sizeof(child->line)) {
			write_line(child);
			child->line_len = 0;
		}
		if (c != '\n')
			child->line[child->line_len++] = c < 0x20 || c == 0x7F ? '?' : (char)c;
	}
	if (says_too_much(child))
		log_warn("%s says too much: the rest is thrown away", child->name);
}

static void on_log(void *arg, uint32_t events)
{
	struct child *child = arg;
	char text[4096];
	ssize_t n = read(child->log, text, sizeof(text));

	(void)events;
	if (n > 0)
		take_log(child, text, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		drop_source(&child->log_source, &child->log);
}

/* What is left in the pipe of a child that is dead. */
static void finish_log(struct child *child)
{
	char text[4096];
	ssize_t n;

	if (child->log >= 0)
		while ((n = read(child->log, text, sizeof(text))) > 0)
			take_log(child, text, (size_t)n);
	if (child->line_len > 0)
		write_line(child);
}

/* Frees a child that is dead, its midwife too. */
static void finish(struct child *child)
{
	if (child->pid_source || child->midwife_source || child->stray_timer)
		return;
	finish_log(child);
	drop_source(&child->report_source, &child->report);
	drop_source(&child->log_source, &child->log);
	util_close_fd(&child->go);
	child->ops->gone(child->arg, child->how, child->status);
	free(child);
}

static void note_end(struct child *child, const siginfo_t *info)
{
	bool exited = info->si_code == CLD_EXITED;

	child->status = exited ? info->si_status : -1;
	(void)snprintf(child->how, sizeof(child->how), exited ? "exit %d" : "signal %d", info->si_status);
}

static void on_exit_of_child(void *arg, uint32_t events)
{
	struct child *child = arg;
	siginfo_t info = {0};

	(void)events;
	child->ended = true;
	while (take_report(child))
		;
	if (waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED) == 0)
		note_end(child, &info);
	drop_source(&child->pid_source, &child->pidfd);
	finish(child);
}

/* The program runs, so it may go on; or the child was killed on its way, and its end follows. */
static void begin(struct child *child)
{
	if (write(child->go, "", 1) == 1)
		child->ops->started(child->arg);
}

static void fail(struct child *child, const struct err *why)
{
	if (child->failed)
		return;
	child->failed = true;
	child->ops->failed(child->arg, why);
}

/* One report; false when there is none (yet, or any more). */
static bool take_report(struct child *child)
{
	struct born_report report;
	struct child_birth birth;
	int fd = -1;
	size_t n_fds = 0;
	ssize_t n;

	if (child->report < 0)
		return false;
	n = ipc_recv(child->report, &report, sizeof(report), &fd, 1, &n_fds, NULL);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n != (ssize_t)sizeof(report)) {
		drop_source(&child->report_source, &child->report);
		if (n == 0 && !child->failed && !child->ended && child->was_born)
			begin(child);
		return false;
	}
	switch (report.kind) {
	case BORN_FAILED:
		fail(child, &report.why);
		break;
	case BORN_CLONED:
		child->was_born = true;
		child->pidfd = steal_fd(&fd);
		child->pid_source = loop_add(child->loop, child->pidfd, EPOLLIN, on_exit_of_child, child);
		break;
	case BORN_ATTENDED:
		birth = (struct child_birth){.pid_inside = report.pid_inside, .fd = steal_fd(&fd)};
		child->ops->born(child->arg, &birth);
		break;
	}
	util_close_fd(&fd);
	return true;
}

static void on_report(void *arg, uint32_t events)
{
	(void)events;
	(void)take_report(arg);
}

/*
 * A midwife was killed before she could say whom she bore. Until it is let go on, a newborn is still of her process group, so
 * the group tells whether there is one; it ends by itself when it finds its midwife gone.
 */
static void reap_strays(void *arg)
{
	struct child *child = arg;

	child->stray_timer = NULL;
	for (;;) {
		siginfo_t info = {0};

		if (waitid(P_PGID, (id_t)child->midwife_pid, &info, WEXITED | WNOHANG) < 0)
			break;
		if (info.si_pid == 0) {
			child->stray_timer = loop_at(child->loop, util_now_ms() + STRAY_MS, reap_strays, child);
			return;
		}
	}
	finish(child);
}

static void on_exit_of_midwife(void *arg, uint32_t events)
{
	struct child *child = arg;
	siginfo_t info = {0};
	struct err why = {0};

	(void)events;
	while (take_report(child))
		;
	(void)waitid(P_PIDFD, (id_t)child->midwife, &info, WEXITED);
	drop_source(&child->midwife_source, &child->midwife);
	if (child->pid_source || child->was_born) {
		finish(child);
		return;
	}
	note_end(child, &info);
	(void)err_set(&why, ERR_INTERNAL, NULL, "its midwife died: %s", child->how);
	fail(child, &why);
	reap_strays(child);
}

/* What parent and child share, made before the clone. */
struct ends {
	int report[2], go[2], log[2];
};

static void close_ends(struct ends *ends, int side)
{
	util_close_fd(&ends->report[side]);
	util_close_fd(&ends->go[side]);
	util_close_fd(&ends->log[side]);
}

static int make_ends(struct ends *ends, struct err *e)
{
	*ends = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends->report) == 0 && pipe2(ends->go, O_CLOEXEC) == 0 &&
	    pipe2(ends->log, O_CLOEXEC) == 0 && fcntl(ends->log[0], F_SETFL, O_NONBLOCK) == 0)
		return 0;
	(void)err_sys(e, "the pipes of a child");
	close_ends(ends, 0);
	close_ends(ends, 1);
	return -1;
}

/* Clones into the namespaces of the plan, or for a midwife into the pid namespace that she is to work in. */
static pid_t clone_child(const struct child_plan *plan, int *pidfd, struct err *e)
{
	struct clone_args args = {.flags = CLONE_PIDFD | (plan->inside < 0 ? plan->namespaces : 0), .exit_signal = SIGCHLD,
	                          .pidfd = (uint64_t)(uintptr_t)pidfd};
	auto_fd home = -1;
	pid_t pid;

	if (plan->seat->v2_dir >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned)plan->seat->v2_dir;
	}
	if (plan->inside >= 0) {
		home = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
		if (home < 0 || setns(plan->inside, CLONE_NEWPID) < 0)
			return err_sys(e, "entering the session's pid namespace");
	}
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		(void)err_sys(e, "clone3");
	if (pid != 0 && home >= 0 && setns(home, CLONE_NEWPID) < 0)
		DIE("the way back to our own pid namespace: %s", strerror(errno));
	return pid;
}

struct child *child_start(struct loop *loop, const struct child_plan *plan, const struct child_ops *ops, void *arg, struct err *e)
{
	struct child *child;
	struct ends ends;
	int pidfd = -1;
	pid_t pid;

	if (make_ends(&ends, e) < 0)
		return NULL;
	pid = clone_child(plan, &pidfd, e);
	if (pid == 0)
		born_live(plan, ends.report[1], ends.go[0], ends.log[1]);
	/* The child's ends: its report, its log, and of the go pipe the reading side. */
	util_close_fd(&ends.report[1]);
	util_close_fd(&ends.go[0]);
	util_close_fd(&ends.log[1]);
	if (pid < 0) {
		close_ends(&ends, 0);
		util_close_fd(&ends.go[1]);
		return NULL;
	}
	child = util_zalloc(sizeof(*child));
	*child = (struct child){.loop = loop, .ops = ops, .arg = arg, .log_is_ours = plan->log_is_ours,
	                        .log_bytes_max = plan->log_bytes_max, .pidfd = -1, .midwife = -1, .report = ends.report[0],
	                        .go = ends.go[1], .log = ends.log[0]};
	(void)snprintf(child->name, sizeof(child->name), "%s", plan->name);
	child->report_source = loop_add(loop, child->report, EPOLLIN, on_report, child);
	child->log_source = loop_add(loop, child->log, EPOLLIN, on_log, child);
	if (plan->inside >= 0) {
		child->midwife = pidfd;
		child->midwife_pid = pid;
		child->midwife_source = loop_add(loop, pidfd, EPOLLIN, on_exit_of_midwife, child);
	} else {
		child->was_born = true;
		child->pid = pid;
		child->pidfd = pidfd;
		child->pid_source = loop_add(loop, pidfd, EPOLLIN, on_exit_of_child, child);
	}
	return child;
}

void child_kill(struct child *child)
{
	int target = child->pidfd >= 0 ? child->pidfd : child->midwife;

	if (target >= 0)
		(void)pidfd_send_signal(target, SIGKILL, NULL, 0);
}

int child_pidfd(const struct child *child)
{
	return child->pidfd;
}

bool child_is_ending(const struct child *child)
{
	char path[32], text[1024];
	const char *after_name;
	unsigned flags = 0;
	auto_fd fd = -1;
	ssize_t n;

	if (!child->pid)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", child->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return true;
	text[n] = '\0';
	/* "pid (name) state ppid pgrp session tty tpgid flags …", and a name may hold anything. */
	after_name = strrchr(text, ')');
	if (after_name && sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return true;
	return (flags & PF_EXITING) != 0;
}
