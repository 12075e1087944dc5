/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls of glovebox-stage: its loop, X over a Unix socket, libpng, picture segments. It starts nothing. */
#include <sys/socket.h>

#include "sandbox/confine/rows.h"

static const struct confine_rule rules[] = {
	ROWS_PROCESS,
	ROWS_LOOP,
	ROWS_SOCKETS,
	ROWS_FILES,
	ROWS_DANGEROUS,
	DENY(execve, EPERM),
	DENY(execveat, EPERM),
};

TABLE(confine_stage, "stage", rules, ENOSYS);
