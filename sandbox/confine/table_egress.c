/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of glovebox-egress: its loop, outward connections of libcurl, questions of c-ares to name servers. It listens nowhere and
 * starts nothing.
 */
#include <linux/netlink.h>
#include <sys/socket.h>

#include "sandbox/confine/rows.h"

#define SOCK_TYPE 0xF /* of the second argument of socket; the rest are flags */

static const struct confine_rule rules[] = {
	ROWS_PROCESS,
	ROWS_LOOP,
	ROWS_FILES,
	ROWS_DANGEROUS,
	FOR("it starts nothing and listens nowhere"),
	DENY(execve, EPERM),
	DENY(execveat, EPERM),
	DENY(bind, EPERM),
	DENY(listen, EPERM),
	{.syscall = "socket", .tests = {{0, LOW32, AF_INET}, {1, SOCK_TYPE, SOCK_STREAM}}, .why = "receivers of webhooks"},
	{.syscall = "socket", .tests = {{0, LOW32, AF_INET6}, {1, SOCK_TYPE, SOCK_STREAM}}, .why = "receivers of webhooks"},
	{.syscall = "socket", .tests = {{0, LOW32, AF_INET}, {1, SOCK_TYPE, SOCK_DGRAM}}, .why = "name servers"},
	{.syscall = "socket", .tests = {{0, LOW32, AF_INET6}, {1, SOCK_TYPE, SOCK_DGRAM}}, .why = "name servers"},
	{.syscall = "socket", .tests = {{0, LOW32, AF_NETLINK}, {1, SOCK_TYPE, SOCK_RAW}, {2, LOW32, NETLINK_ROUTE}}, .why = "whose address is this?"},
	ALLOW_IF(socketpair, 0, LOW32, AF_UNIX, "libcurl wakes itself by it"),
	FOR("connections outward"),
	PLAIN(connect), PLAIN(getpeername), PLAIN(getsockname), PLAIN(getsockopt), PLAIN(recvfrom), PLAIN(recvmsg), PLAIN(sendmsg),
	PLAIN(sendto), PLAIN(setsockopt), PLAIN(shutdown),
};

DAEMON_TABLE(confine_egress, "egress", rules, CONFINE_LAND_CONNECTS);
