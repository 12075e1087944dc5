/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-init as the warden starts it, but without a jail: for tests that speak to the real program. The group files are memory files:
 * what is written to them shows that a child came by.
 */
#ifndef UNIT_JAIL_H
#define UNIT_JAIL_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/init/proto.h"
#include "session/base/ipc.h"
#include "session/base/util.h"

struct jail {
	pid_t pid;
	int stage; /* our end of the link */
	int groups[INIT_N_GROUPS];
	char door[64];
};

/* Becomes a program of the build that this test belongs to. */
static inline void jail_exec(const char *name, const char *arg)
{
	char self[256] = "";
	char path[512];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0) {
		*strrchr(self, '/') = '\0';
		(void)snprintf(path, sizeof(path), "%s/../%s", self, name);
		(void)execl(path, name, arg, (char *)NULL);
	}
	_exit(99);
}

/* Starts init with `ends` as its descriptors from INIT_FD_GO on. */
static inline void jail_fork(struct jail *jail, const int ends[3])
{
	jail->pid = fork();
	assert_true(jail->pid >= 0);
	if (jail->pid == 0) {
		int high[3];

		for (int i = 0; i < 3; i++)
			high[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, 100);
		for (int i = 0; i < 3; i++)
			(void)dup2(high[i], INIT_FD_GO + i);
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		jail_exec("glovebox-init", jail->door);
	}
}

/* Starts init with everything that it needs; its INIT_READY is still to be read. */
static inline void jail_start(struct jail *jail)
{
	int stage[2], groups[2], go[2];

	(void)snprintf(jail->door, sizeof(jail->door), "/tmp/glovebox-test-%d.sock", getpid());
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, stage), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, groups), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	for (uint8_t i = 0; i < INIT_N_GROUPS; i++) {
		jail->groups[i] = memfd_create("procs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		assert_int_equal(ipc_send(groups[0], &i, 1, &jail->groups[i], 1, NULL), 0);
	}
	jail_fork(jail, (const int[]){go[0], stage[1], groups[1]});
	jail->stage = stage[0];
	(void)close(stage[1]);
	(void)close(groups[1]);
	(void)close(go[0]);
	assert_int_equal(write(go[1], "g", 1), 1);
	(void)close(go[1]);
	(void)close(groups[0]);
}

/* Once our end of the link is closed: init ends, and well. */
static inline void jail_finish(struct jail *jail)
{
	int status;

	assert_int_equal(waitpid(jail->pid, &status, 0), jail->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	for (int i = 0; i < INIT_N_GROUPS; i++)
		(void)close(jail->groups[i]);
	(void)unlink(jail->door);
}

#endif
