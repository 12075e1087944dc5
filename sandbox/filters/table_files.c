/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls of glovebox-files: files beneath a folder's descriptor, and its two pipes. No socket, no other process, no program. */
#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_PROCESS,
	ROWS_DANGEROUS,
	FOR("looking up, listing and reading, beneath a descriptor"),
	PLAIN(openat), PLAIN(openat2), PLAIN(getdents64), PLAIN(readlinkat), PLAIN(fstatfs), PLAIN(pread64), PLAIN(lseek),
	FOR("files that are written, whole when they are there; folders; links out of an archive"),
	PLAIN(fallocate), PLAIN(fchmod), PLAIN(ftruncate), PLAIN(utimensat), PLAIN(mkdirat), PLAIN(unlinkat), PLAIN(renameat), PLAIN(renameat2), PLAIN(symlinkat),
};

TABLE(table_files, "files", rules, ENOSYS);
