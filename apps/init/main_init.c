/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-init [LAUNCH-SOCKET]: pid 1 of the app jail.
 *
 * The warden starts it as uid 1000 without capabilities, with no_new_privs, limits and the descriptors of enum init_fd. It closes the last
 * doors on itself, in this order: what it holds in memory (undumpable), its life after the warden (parent-death signal, then the
 * go byte), its system calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "apps/init/service.h"
#include "sandbox/confine/confine.h"
#include "session/base/layer.h"
#include "session/base/log.h"
#include "session/base/util.h"

/* A descriptor that comes later must never be taken for a standard one. */
static int fill_standard_fds(struct err *e)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return err_sys(e, "/dev/null");
	(void)close(fd);
	return 0;
}

static int tie_to_warden(struct err *e)
{
	char go;
	ssize_t n;

	/* The parent-death signal last: a change of credentials clears it. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(e, "prctl");
	do
		n = read(INIT_FD_GO, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return err_set(e, ERR_GONE, NULL, "the warden is gone");
	(void)close(INIT_FD_GO);
	return 0;
}

static int set_up(struct child_groups *groups, struct domains *domains, struct err *e)
{
	char text[16] = "";
	auto_fd score = -1;

	if (fill_standard_fds(e) < 0)
		return -1;
	/* Before it is made undumpable: the file is root's after that. */
	score = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	if (tie_to_warden(e) < 0 || child_take_groups(INIT_FD_GROUPS, groups, e) < 0)
		return -1;
	if (score >= 0 && read(score, text, sizeof(text) - 1) > 0)
		groups->own_score = atoi(text);
	groups->score = steal_fd(&score);
	(void)close(INIT_FD_GROUPS);
	(void)fcntl(INIT_FD_STAGE, F_SETFD, FD_CLOEXEC);
	(void)signal(SIGPIPE, SIG_IGN);
	if (domains_open(domains, e) < 0)
		return -1;
	/* Last, and without it nothing is started. */
	return layer_is_off("filters") ? 0 : confine_load(&confine_app, e);
}

int main(int argc, char **argv)
{
	struct child_groups groups;
	struct domains domains;
	struct service *service;
	struct loop *loop;
	struct err e;

	log_init("glovebox-init", NULL);
	if (set_up(&groups, &domains, &e) < 0 || !(loop = loop_create(&e)) ||
	    !(service = service_create(loop, INIT_FD_STAGE, &groups, &domains, argc > 1 ? argv[1] : NULL, &e))) {
		log_err(LOG_ERROR, &e, "not started");
		return 1;
	}
	loop_run(loop);
	service_destroy(service);
	loop_destroy(loop);
	return 0;
}
