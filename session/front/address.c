/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One form for the addresses of clients. */
#include "session/front/address.h"

#include <string.h>
#include <sys/socket.h>

struct address address_of(const struct sockaddr *from)
{
	struct address out = {.near = from->sa_family == AF_UNIX};
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (from->sa_family == AF_INET) {
		memcpy(&v4, from, sizeof(v4));
		out.bytes.s6_addr[10] = out.bytes.s6_addr[11] = 0xff;
		memcpy(out.bytes.s6_addr + 12, &v4.sin_addr, 4);
	} else if (from->sa_family == AF_INET6) {
		memcpy(&v6, from, sizeof(v6));
		out.bytes = v6.sin6_addr;
	}
	if (IN6_IS_ADDR_V4MAPPED(&out.bytes))
		out.near = out.bytes.s6_addr[12] == 127;
	else if (IN6_IS_ADDR_LOOPBACK(&out.bytes))
		out.near = true;
	else
		memset(out.bytes.s6_addr + 8, 0, 8);
	return out;
}

bool address_same(const struct address *a, const struct address *b)
{
	return memcmp(&a->bytes, &b->bytes, sizeof(a->bytes)) == 0;
}
