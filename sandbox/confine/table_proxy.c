/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of the glovebox-egress of a session: its loop, connections that it accepts of a socket it was given, outward ones, and questions to name
 * servers. It listens nowhere of its own and starts nothing.
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
	FOR("it starts nothing and listens nowhere of its own"),
	DENY(execve, EPERM),
	DENY(execveat, EPERM),
	DENY(bind, EPERM),
	DENY(listen, EPERM),
	{.syscall = "socket", .tests = {{0, LOW32, AF_INET}, {1, SOCK_TYPE, SOCK_STREAM}}, .why = "what the session may reach"},
	{.syscall = "socket", .tests = {{0, LOW32, AF_INET6}, {1, SOCK_TYPE, SOCK_STREAM}}, .why = "what the session may reach"},
	{.syscall = "socket", .tests = {{0, LOW32, AF_INET}, {1, SOCK_TYPE, SOCK_DGRAM}}, .why = "name servers"},
	{.syscall = "socket", .tests = {{0, LOW32, AF_INET6}, {1, SOCK_TYPE, SOCK_DGRAM}}, .why = "name servers"},
	{.syscall = "socket", .tests = {{0, LOW32, AF_NETLINK}, {1, SOCK_TYPE, SOCK_RAW}, {2, LOW32, NETLINK_ROUTE}}, .why = "whose address is this?"},
	{.syscall = "mlock", .why = "secrets are not swapped"},
	{.syscall = "mlock2", .why = "secrets are not swapped"},
	{.syscall = "munlock", .why = "secrets are not swapped"},
	{.syscall = "rename", .why = "files for the session are whole when they are there"},
	{.syscall = "renameat", .why = "files for the session are whole when they are there"},
	{.syscall = "renameat2", .why = "files for the session are whole when they are there"},
	{.syscall = "fchmod", .why = "and can be read there"},
	{.syscall = "ftruncate", .why = "and have nothing of older ones"},
	{.syscall = "pwrite64", .why = "the authority's key, in memory that outlives this process"},
	FOR("connections that come in, and outward ones"),
	PLAIN(accept4), PLAIN(connect), PLAIN(getpeername), PLAIN(getsockname), PLAIN(getsockopt), PLAIN(recvfrom), PLAIN(recvmsg), PLAIN(sendmsg),
	PLAIN(sendto), PLAIN(setsockopt), PLAIN(shutdown),
};

DAEMON_TABLE(confine_proxy, "egress", rules, CONFINE_LAND_CONNECTS);
