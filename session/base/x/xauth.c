/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The form of Xauthority entries (libXau, Xauth.h): family, address, number, name, data; each with a big-endian length. */
#include "session/base/x/xauth.h"

#include <string.h>

#define FAMILY_WILD 65535

void xauth_entry(uint8_t out[XAUTH_SIZE], const uint8_t cookie[XAUTH_COOKIE_LEN])
{
	static const char name[] = "MIT-MAGIC-COOKIE-1";
	/* The address and the number of a wild entry are empty. */
	const uint8_t head[] = {FAMILY_WILD >> 8, FAMILY_WILD & 0xFF, 0, 0, 0, 0, 0, sizeof(name) - 1};

	memcpy(out, head, sizeof(head));
	out += sizeof(head);
	memcpy(out, name, sizeof(name) - 1);
	out += sizeof(name) - 1;
	*out++ = 0;
	*out++ = XAUTH_COOKIE_LEN;
	memcpy(out, cookie, XAUTH_COOKIE_LEN);
}
