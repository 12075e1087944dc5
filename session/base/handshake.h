/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What both ends of a WebSocket's opening handshake compute (RFC 6455 part 4). Owner: session/base. No threads. */
#ifndef BASE_HANDSHAKE_H
#define BASE_HANDSHAKE_H

#include <stdbool.h>

#define HANDSHAKE_KEY_SIZE 25 /* with a NUL */
#define HANDSHAKE_ACCEPT_SIZE 29

/* A new Sec-WebSocket-Key. */
void handshake_new_key(char out[HANDSHAKE_KEY_SIZE]);

/* Is it one: 16 bytes in Base64? NULL is none. */
bool handshake_is_key(const char *key);

/* What Sec-WebSocket-Accept says to a key. */
void handshake_accept(const char *key, char out[HANDSHAKE_ACCEPT_SIZE]);

#endif
