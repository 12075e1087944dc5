/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of glovebox-front: its loop, connections of the listening sockets that it was given, SQLite in front/, reads in
 * images/ and journals/. It starts nothing and connects to nothing but stages.
 */
#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_PROCESS,
	ROWS_LOOP,
	ROWS_SOCKETS,
	ROWS_FILES,
	ROWS_DANGEROUS,
	ROWS_STARTS_NOTHING,
	FOR("libmicrohttpd"),
	PLAIN(sendfile),
	FOR("the file of a private key, while it is read"),
	PLAIN(mlock),
	FOR("SQLite, the audit log"),
	PLAIN(chmod), PLAIN(fallocate), PLAIN(ftruncate), PLAIN(fchmod), PLAIN(fchown), PLAIN(flock), PLAIN(link), PLAIN(lseek),
	PLAIN(mkdir), PLAIN(mkdirat), PLAIN(pwrite64), PLAIN(pwritev), PLAIN(preadv), PLAIN(rename), PLAIN(renameat), PLAIN(renameat2),
	PLAIN(rmdir), PLAIN(umask), PLAIN(unlink), PLAIN(unlinkat), PLAIN(utime), PLAIN(utimensat), PLAIN(utimes),
};

DAEMON_TABLE(table_front, "front", rules, CONFINE_LAND_WRITES);
