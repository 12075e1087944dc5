/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of glovebox-stage: its loop, X over a Unix socket, libpng, picture segments. It starts nothing and takes nothing
 * back of what it wrote to its journal: O_APPEND can be taken off a descriptor, but without lseek it still
 * writes behind what it wrote before.
 */
#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_PROCESS,
	ROWS_LOOP,
	ROWS_SOCKETS,
	ROWS_FILES,
	ROWS_DANGEROUS,
	FOR("values of secrets"),
	PLAIN(mlock),
	ROWS_STARTS_NOTHING,
	ALLOW_IF(fallocate, 1, LOW32, 0, "picture segments; without a mode it makes a file longer, never shorter: the journal stays"),
};

DAEMON_TABLE(table_stage, "stage", rules, CONFINE_LAND_READS);
