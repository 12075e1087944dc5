/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way of a child from fork to exec. */
#include "apps/init/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/base/ipc.h"
#include "session/base/layer.h"
#include "session/base/util.h"

#define SCORE_MAX 1000 /* of oom_score_adj */

int child_take_groups(int sock, struct child_groups *groups, struct err *e)
{
	*groups = (struct child_groups){.score = -1};
	for (;;) {
		struct pollfd ready = {.fd = sock, .events = POLLIN};
		uint8_t group = 0;
		auto_fd file = -1;
		size_t n_fds = 0;
		ssize_t n;

		if (poll(&ready, 1, -1) < 0 && errno != EINTR)
			return err_sys(e, "waiting for the groups");
		n = ipc_recv(sock, &group, sizeof(group), &file, 1, &n_fds, e);
		if (n == 0)
			return 0;
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n < 0)
			return -1;
		if (group >= INIT_N_GROUPS || n_fds != 1 || groups->n[group] == CHILD_GROUP_FILES)
			return err_set(e, ERR_BAD_REQUEST, NULL, "a bad record of the groups");
		groups->files[group][groups->n[group]++] = steal_fd(&file);
	}
}

/* From here to the end of the file everything runs in the child: what fails is told through the pipe. */
static void give_up(int fault, enum init_step step) __attribute__((noreturn));
static void give_up(int fault, enum init_step step)
{
	struct child_fault what = {.step = (int32_t)step, .error = errno};

	(void)!write(fault, &what, sizeof(what));
	_exit(127);
}

static int join_group(const struct child_groups *groups, enum init_group group)
{
	for (size_t i = 0; i < groups->n[group]; i++)
		if (write(groups->files[group][i], "0", 1) != 1)
			return -1;
	return 0;
}

/* Standard descriptors from the request's pipes, /dev/null for the rest; everything else ends at exec. */
static int set_descriptors(unsigned int flags, const int *pipes)
{
	static const unsigned int FLAGS[3] = {INIT_PIPE_STDIN, INIT_PIPE_STDOUT, INIT_PIPE_STDERR};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		if (dup2(flags & FLAGS[i] ? *pipes++ : null, i) < 0)
			return -1;
	return close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
}

static void set_signals(void)
{
	/* The kernel's own structure: handler (SIG_DFL is 0), flags, restorer, mask. glibc's sigaction refuses the two signals that it keeps
	 * for itself, and its posix_spawn (of whoever started all this) leaves just those ignored. */
	static const unsigned long by_default[4] = {0};
	sigset_t none;

	for (int signo = 1; signo < NSIG; signo++)
		(void)syscall(SYS_rt_sigaction, signo, by_default, NULL, sizeof(by_default[3])); /* SIGKILL and SIGSTOP refuse */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The gid of trusted programs, and then none of what init may: no capability at all. */
static int set_rights(unsigned int flags)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[2] = {{0}, {0}};

	if ((flags & INIT_TRUSTED) && setresgid(INIT_TRUSTED_GID, INIT_TRUSTED_GID, INIT_TRUSTED_GID) < 0)
		return -1;
	if (layer_is_off("capabilities"))
		return 0;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_capset, &head, none);
}

static void become(const struct request *request, const int *pipes, const struct child_groups *groups, const struct domains *domains,
                   int fault) __attribute__((noreturn));
static void become(const struct request *request, const int *pipes, const struct child_groups *groups, const struct domains *domains,
                   int fault)
{
	if (join_group(groups, request->group) < 0 || setsid() < 0 || set_descriptors(request->flags, pipes) < 0)
		give_up(fault, INIT_STEP_PROCESS);
	set_signals();
	(void)umask(022);
	if (chdir(request->folder) < 0)
		give_up(fault, INIT_STEP_FOLDER);
	if (set_rights(request->flags) < 0)
		give_up(fault, INIT_STEP_PROCESS);
	if (domain_enter(domains, request->flags & INIT_TRUSTED ? request->argv[0] : NULL, request->runs) < 0)
		give_up(fault, INIT_STEP_PROCESS);
	environ = request->env; /* execvp looks for PATH there */
	(void)execvp(request->argv[0], request->argv);
	give_up(fault, INIT_STEP_EXEC);
}

/*
 * When memory is at its end the kernel takes the agent's programs first, then apps, then what all of these need. A child inherits the score, and
 * may not write its own before it runs its program: so init has it for a moment.
 */
static void set_score(const struct child_groups *groups, int more)
{
	int score = groups->own_score + more;
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", score > SCORE_MAX ? SCORE_MAX : score);
	if (groups->score >= 0)
		(void)!pwrite(groups->score, text, strlen(text), 0);
}

pid_t child_start(const struct request *request, const int *pipes, const struct child_groups *groups, const struct domains *domains, int *fault,
                  struct err *e)
{
	static const int scores[INIT_N_GROUPS] = {[INIT_GROUP_BASE] = 0, [INIT_GROUP_APPS] = 200, [INIT_GROUP_AGENT] = 600};
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "a pipe for the child's faults");
	set_score(groups, scores[request->group]);
	pid = fork();
	if (pid == 0)
		become(request, pipes, groups, domains, ends[1]);
	set_score(groups, scores[INIT_GROUP_BASE]);
	util_close_fd(&ends[1]);
	if (pid < 0) {
		util_close_fd(&ends[0]);
		return err_sys(e, "fork");
	}
	*fault = ends[0];
	return pid;
}
