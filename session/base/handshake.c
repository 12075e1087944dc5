/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of WebSocket, and the answer to one. */
#include "session/base/handshake.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "session/base/base64.h"
#include "session/base/util.h"

#define KEY_BYTES 16
#define SHA1_BYTES 20

static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* of RFC 6455 */

void handshake_new_key(char out[HANDSHAKE_KEY_SIZE])
{
	uint8_t bytes[KEY_BYTES];
	auto_free char *text = NULL;

	util_random(bytes, sizeof(bytes));
	text = base64_encode(bytes, sizeof(bytes), NULL);
	(void)snprintf(out, HANDSHAKE_KEY_SIZE, "%s", text);
}

bool handshake_is_key(const char *key)
{
	size_t n = 0;
	auto_free void *bytes = key && strlen(key) == HANDSHAKE_KEY_SIZE - 1 ? base64_decode(key, strlen(key), &n) : NULL;

	return bytes && n == KEY_BYTES;
}

void handshake_accept(const char *key, char out[HANDSHAKE_ACCEPT_SIZE])
{
	auto_free char *text = util_printf("%s%s", key, guid), *base64 = NULL;
	uint8_t sha1[SHA1_BYTES];

	if (gnutls_hash_fast(GNUTLS_DIG_SHA1, text, strlen(text), sha1) < 0)
		DIE("GnuTLS has no SHA-1");
	base64 = base64_encode(sha1, sizeof(sha1), NULL);
	(void)snprintf(out, HANDSHAKE_ACCEPT_SIZE, "%s", base64);
}
