/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child from clone to exec. It is a copy of the warden that must soon be nothing of the kind: it touches no loop and no list. */
#include "sandbox/jail/born.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/base/ipc.h"
#include "session/base/util.h"

#define MAX_DESCRIPTORS 32
#define HIGH_FD 256 /* above every number that a descriptor is moved to, below the usual soft limit */
#define EXIT_FAILED 126

static _Noreturn void fail(int report, const struct err *why)
{
	struct born_report record = {.kind = BORN_FAILED, .why = *why};

	(void)ipc_send(report, &record, sizeof(record), NULL, 0, NULL);
	_exit(EXIT_FAILED);
}

static void default_signals(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int signo = 1; signo < NSIG; signo++)
		(void)sigaction(signo, &usual, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int join_groups(const struct cgroup_seat *seat, struct err *e)
{
	for (int i = 0; i < seat->n_v1; i++)
		if (write(seat->v1_procs[i], "0", 1) != 1)
			return err_sys(e, "entering a control group");
	return 0;
}

/* Puts the descriptors in order from 0 on, the first n_open of them open across exec, and closes all others. */
static int order_descriptors(int **fds, size_t n, size_t n_open, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		*fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, HIGH_FD);
		if (*fds[i] < 0)
			return err_sys(e, "moving descriptors");
	}
	for (size_t i = 0; i < n; i++) {
		if (dup3(*fds[i], (int)i, i < n_open ? 0 : O_CLOEXEC) < 0)
			return err_sys(e, "moving descriptors");
		*fds[i] = (int)i;
	}
	return close_range((unsigned)n, ~0U, 0) < 0 ? err_sys(e, "closing descriptors") : 0;
}

/* Standard input, output, error; CHILD_GO and what follows it; then, gone at exec, what building needs. */
static int arrange(struct child_plan *plan, int *report, int *go, int *log, struct err *e)
{
	int *fds[MAX_DESCRIPTORS];
	int nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int log_again = *log;
	size_t n = 0, n_open;

	if (nowhere < 0)
		return err_sys(e, "/dev/null");
	if (plan->n_fds + plan->n_tools + 6 > MAX_DESCRIPTORS)
		DIE("too many descriptors for a child");
	fds[n++] = &nowhere;
	fds[n++] = log;
	fds[n++] = &log_again;
	fds[n++] = go;
	for (size_t i = 0; i < plan->n_fds; i++)
		fds[n++] = plan->fds[i];
	n_open = n;
	fds[n++] = report;
	fds[n++] = &plan->program;
	for (size_t i = 0; i < plan->n_tools; i++)
		if (*plan->tools[i] >= 0)
			fds[n++] = plan->tools[i];
	return order_descriptors(fds, n, n_open, e);
}

/* The midwife's work once the child is there: says so, waits for its pause, attends to it, lets it go on. */
static _Noreturn void attend(const struct child_plan *plan, pid_t child, int pidfd, int sync, int report)
{
	struct born_report record = {.kind = BORN_CLONED, .pid_inside = child};
	struct child_birth birth = {.pid_inside = child, .fd = -1};
	struct err e = {0};
	char byte;

	if (ipc_send(report, &record, sizeof(record), &pidfd, 1, &e) < 0)
		fail(report, &e);
	/* End of file: the child has failed, and said why itself. */
	if (read(sync, &byte, 1) != 1)
		_exit(EXIT_FAILED);
	if (plan->attend(plan->arg, &birth, &e) < 0)
		fail(report, &e);
	record.kind = BORN_ATTENDED;
	if (ipc_send(report, &record, sizeof(record), &birth.fd, birth.fd >= 0 ? 1 : 0, &e) < 0)
		fail(report, &e);
	if (write(sync, "", 1) != 1)
		_exit(EXIT_FAILED);
	_exit(0);
}

/* Makes the real child, a sister of this process. Returns in the child alone. */
static int deliver(const struct child_plan *plan, int report, int *sync, struct err *e)
{
	int pidfd = -1, ends[2];
	struct clone_args args = {.flags = CLONE_PIDFD | CLONE_PARENT | plan->namespaces, .pidfd = (uint64_t)(uintptr_t)&pidfd};
	long pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(e, "socketpair");
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return err_sys(e, "clone3");
	if (pid > 0) {
		util_close_fd(&ends[1]);
		attend(plan, (pid_t)pid, pidfd, ends[0], report);
	}
	util_close_fd(&ends[0]);
	*sync = ends[1];
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? err_sys(e, "prctl") : 0;
}

int child_pause(int sync, struct err *e)
{
	char byte;

	if (write(sync, "", 1) != 1 || read(sync, &byte, 1) != 1)
		return err_set(e, ERR_INTERNAL, NULL, "the midwife is gone");
	/* Out of her process group: from now on the warden knows us by our pidfd. */
	return setsid() < 0 ? err_sys(e, "setsid") : 0;
}

void born_live(const struct child_plan *given, int report, int go, int log)
{
	struct child_plan plan = *given;
	struct err e = {0};
	int sync = -1;

	default_signals();
	(void)umask(0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || setsid() < 0)
		(void)err_sys(&e, "a new session");
	if (e.code || join_groups(plan.seat, &e) < 0 || arrange(&plan, &report, &go, &log, &e) < 0 ||
	    (plan.inside >= 0 && deliver(&plan, report, &sync, &e) < 0) || plan.build(plan.arg, sync, &e) < 0)
		fail(report, &e);
	(void)umask(plan.umask);
	(void)execveat(plan.program, "", plan.argv, plan.envp, AT_EMPTY_PATH);
	(void)err_sys(&e, "starting %s", plan.argv[0]);
	fail(report, &e);
}
