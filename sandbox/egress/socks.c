/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two messages of the client, each with a length in it. */
#include "sandbox/egress/socks.h"

#include <string.h>

#define NO_AUTHENTICATION 0
#define NONE_ACCEPTED 0xFF
#define CONNECT 1

enum address_type { TYPE_V4 = 1, TYPE_NAME = 3, TYPE_V6 = 4 };

ssize_t socks_greeting(const void *data, size_t len, uint8_t out[SOCKS_GREETING_BYTES])
{
	const uint8_t *bytes = data;

	if (len >= 1 && bytes[0] != SOCKS_VERSION)
		return -1;
	if (len < 2 || len < 2 + (size_t)bytes[1])
		return 0;
	out[0] = SOCKS_VERSION;
	out[1] = memchr(bytes + 2, NO_AUTHENTICATION, bytes[1]) ? NO_AUTHENTICATION : NONE_ACCEPTED;
	return 2 + (ssize_t)bytes[1];
}

/* Where the address ends, in front of the port; 0 if more must be read to know. */
static size_t address_end(const uint8_t *bytes, size_t len)
{
	switch (bytes[3]) {
	case TYPE_V4:
		return 4 + 4;
	case TYPE_V6:
		return 4 + 16;
	case TYPE_NAME:
		return len < 5 ? 0 : 5 + (size_t)bytes[4];
	default:
		return SIZE_MAX;
	}
}

static void read_host(const uint8_t *bytes, struct egress_host *host)
{
	/* Programs write addresses as names, too; an IPv6 one then has no brackets, and is no name. */
	if (bytes[3] == TYPE_NAME)
		egress_host_read((const char *)bytes + 5, bytes[4], host);
	else
		egress_host_of_address(bytes + 4, bytes[3] == TYPE_V4 ? 4 : 16, host);
}

ssize_t socks_request(const void *data, size_t len, struct egress_host *host, uint16_t *port, enum socks_reply *fault)
{
	const uint8_t *bytes = data;
	size_t end;

	*fault = SOCKS_FAILED;
	if ((len >= 1 && bytes[0] != SOCKS_VERSION) || (len >= 3 && bytes[2] != 0))
		return -1;
	if (len < 4)
		return 0;
	end = address_end(bytes, len);
	if (end == SIZE_MAX) {
		*fault = SOCKS_NO_ADDRESS_TYPE;
		return -1;
	}
	if (end == 0 || len < end + 2)
		return 0;
	if (bytes[1] != CONNECT) {
		*fault = SOCKS_NO_COMMAND;
		return -1;
	}
	read_host(bytes, host);
	*port = (uint16_t)(bytes[end] << 8 | bytes[end + 1]);
	return host->kind == EGRESS_HOST_BAD || *port == 0 ? -1 : (ssize_t)end + 2;
}

void socks_reply(enum socks_reply reply, uint8_t out[SOCKS_REPLY_BYTES])
{
	memset(out, 0, SOCKS_REPLY_BYTES);
	out[0] = SOCKS_VERSION;
	out[1] = (uint8_t)reply;
	out[3] = TYPE_V4;
}
