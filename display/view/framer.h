/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where one message of a viewer ends: decided on its first bytes, before anything is made of them. What is not listed here is no message.
 * (RFC 6143; SetDesktopSize and the extended clipboard by the community's rfbproto.) Pure: no state, no system call.
 */
#ifndef VIEW_FRAMER_H
#define VIEW_FRAMER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the viewer says next. */
enum framer_phase { FRAMER_VERSION, FRAMER_SECURITY, FRAMER_AUTH, FRAMER_INIT, FRAMER_NORMAL };

enum framer_type {
	FRAMER_PIXEL_FORMAT = 0,
	FRAMER_ENCODINGS = 2,
	FRAMER_UPDATE_REQUEST = 3,
	FRAMER_KEY = 4,
	FRAMER_POINTER = 5,
	FRAMER_CUT_TEXT = 6,
	FRAMER_DESKTOP_SIZE = 251,
};

#define FRAMER_ENCODINGS_MAX 256
#define FRAMER_SCREENS_MAX 16
#define FRAMER_MESSAGE_MAX (8 + 256 * 1024) /* the longest one: a text of LIMIT_CUT_BYTES */

/* The length of the message that begins with these bytes; 0: more of them are needed to tell; -1: it is none that is allowed. */
ssize_t framer_length(enum framer_phase phase, const uint8_t *bytes, size_t n);

/* Big-endian, as all of RFB. */
static inline uint16_t framer_u16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t framer_u32(const uint8_t *bytes)
{
	return (uint32_t)framer_u16(bytes) << 16 | framer_u16(bytes + 2);
}

static inline void framer_put_u32(uint8_t *bytes, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

#endif
