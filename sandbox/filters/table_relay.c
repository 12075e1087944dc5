/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of glovebox-relay, on top of those of the app jail: bytes between sockets that it accepted and sockets of the Unix family. It is
 * given the socket that listens.
 */
#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_PROCESS,
	ROWS_LOOP,
	ROWS_DANGEROUS,
	ROWS_STARTS_NOTHING,
	ROWS_LISTENS_NOWHERE,
	ALLOW_IF(socket, 0, LOW32, AF_UNIX, "to the socket of the session's egress, the only one that it may name"),
	FOR("bytes between two sockets"),
	PLAIN(accept4), PLAIN(connect), PLAIN(getsockopt), PLAIN(recvfrom), PLAIN(sendto), PLAIN(shutdown),
};

TABLE(table_relay, "relay", rules, ENOSYS);
