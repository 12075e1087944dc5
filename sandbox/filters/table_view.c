/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of glovebox-view: what it was handed, memory, and waiting. It opens no file and makes no socket but a pair of its own, has no
 * process to start and none to signal. A wait that does not see the end of its viewer (select) is not there.
 */
#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_PROCESS,
	ROWS_DANGEROUS,
	ROWS_STARTS_NOTHING,
	ALLOW_IF(socketpair, 0, LOW32, AF_UNIX, "the library reads whole messages out of it"),
	FOR("waiting, and what it was handed"),
	PLAIN(poll), PLAIN(ppoll), PLAIN(getpeername), PLAIN(getsockname), PLAIN(recvfrom), PLAIN(recvmsg), PLAIN(sendmsg), PLAIN(sendto),
	PLAIN(setsockopt), PLAIN(shutdown),
	FOR("how it starts; keys that pass"),
	PLAIN(pread64), PLAIN(mlock),
};

DAEMON_TABLE(table_view, "view", rules, CONFINE_LAND_NOTHING);
