/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of the window manager. It has threads (pango's and glib's) but cannot fork, so it starts nothing, whatever its
 * configuration says; execve is left for its own start only in name: the warden makes the root noexec soon after.
 */
#include <linux/sched.h>

#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_PROCESS,
	ROWS_LOOP,
	ROWS_SOCKETS,
	ROWS_FILES,
	ROWS_DANGEROUS,
	ALLOW_IF(clone, 0, CLONE_THREAD, CLONE_THREAD, "a thread, never a process"),
	FOR("its libraries, its configuration; execve is for its own start alone"),
	PLAIN(chdir), PLAIN(execve), PLAIN(fadvise64), PLAIN(getgroups), PLAIN(getresgid), PLAIN(getresuid), PLAIN(lseek), PLAIN(mkdir),
	PLAIN(pipe), PLAIN(sched_getattr), PLAIN(sched_setattr), PLAIN(unlink), PLAIN(wait4),
};

DAEMON_TABLE(table_wm, "wm", rules, CONFINE_LAND_RUNS);
