/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls of glovebox-files: files beneath a folder's descriptor, and its two pipes. No socket, no other process, no program. */
#include "sandbox/confine/rows.h"

static const struct confine_rule rules[] = {
	ROWS_PROCESS,
	ROWS_DANGEROUS,
	PLAIN(openat), PLAIN(openat2), PLAIN(getdents64), PLAIN(readlinkat), PLAIN(fstatfs), PLAIN(pread64), PLAIN(lseek),
	PLAIN(fallocate), PLAIN(fchmod), PLAIN(ftruncate), PLAIN(utimensat), PLAIN(mkdirat), PLAIN(unlinkat), PLAIN(renameat), PLAIN(renameat2), PLAIN(symlinkat),
};

TABLE(confine_files, "files", rules, ENOSYS);
