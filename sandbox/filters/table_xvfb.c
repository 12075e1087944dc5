/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of Xvfb, with those of the shell and the keyboard compiler that it runs at its start, and near kin that
 * another build of its libraries may use instead. It listens on a Unix socket and maps what its clients pass.
 */
#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_PROCESS,
	ROWS_LOOP,
	ROWS_SOCKETS,
	ROWS_FILES,
	ROWS_DANGEROUS,
	FOR("its socket; what clients pass as shared memory"),
	PLAIN(bind), PLAIN(listen), PLAIN(lseek), PLAIN(shmat), PLAIN(fallocate), PLAIN(ftruncate),
	FOR("its lock file, its socket, the compiled keyboard map"),
	PLAIN(chmod), PLAIN(fchmod), PLAIN(fchown), PLAIN(link), PLAIN(umask), PLAIN(unlink),
	FOR("sh and xkbcomp, which it runs at its start"),
	PLAIN(chdir), PLAIN(clone), PLAIN(execve), PLAIN(fork), PLAIN(getpgrp), PLAIN(kill), PLAIN(pipe), PLAIN(sendfile),
	PLAIN(setgid), PLAIN(setpgid), PLAIN(setresuid), PLAIN(setuid), PLAIN(vfork), PLAIN(wait4), PLAIN(waitid),
};

DAEMON_TABLE(table_xvfb, "xvfb", rules, CONFINE_LAND_RUNS);
