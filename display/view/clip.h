/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The extended clipboard (rfbproto, "Extended Clipboard Pseudo-Encoding"): text in UTF-8, compressed. Messages as they go over the wire. Pure: no state, no
 * system call.
 */
#ifndef VIEW_CLIP_H
#define VIEW_CLIP_H

#include <stddef.h>
#include <stdint.h>

#define CLIP_ENCODING 0xC0A1E5CEU

enum clip_flag {
	CLIP_TEXT = 1 << 0,
	CLIP_CAPS = 1 << 24,
	CLIP_REQUEST = 1 << 25,
	CLIP_PEEK = 1 << 26,
	CLIP_NOTIFY = 1 << 27,
	CLIP_PROVIDE = 1 << 28,
};

#define CLIP_CAPS_BYTES 16
#define CLIP_FLAGS_BYTES 12

/* What we can: text of LIMIT_CUT_BYTES, all five actions. */
void clip_caps(uint8_t out[CLIP_CAPS_BYTES]);
/* A message of flags alone. */
void clip_flags(uint32_t flags, uint8_t out[CLIP_FLAGS_BYTES]);

/* A message that provides a text, malloced, the caller's. Line ends become CR LF, as the protocol has them. */
uint8_t *clip_provide(const char *text, size_t len, size_t *out_len);
/* The same for a viewer without the extension: Latin-1, "?" for what that has not. */
uint8_t *clip_latin1(const char *text, size_t len, size_t *out_len);

/*
 * The text that the body of a `provide` (what follows its flags) holds, of at most LIMIT_CUT_BYTES, NUL-terminated, line ends LF; malloced, the
 * caller's. NULL: it holds none, or more, or what is no UTF-8 or no zlib.
 */
char *clip_read(const uint8_t *body, size_t n, uint32_t flags, size_t *len);
/* The same of a message without the extension. */
char *clip_read_latin1(const uint8_t *body, size_t n, size_t *len);

#endif
