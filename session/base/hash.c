/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 by GnuTLS. */
#include "session/base/hash.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "session/base/util.h"

void hash_sha256(const void *data, size_t len, uint8_t out[HASH_BYTES])
{
	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, data, len, out) < 0)
		DIE("SHA-256 does not work");
}

/* GnuTLS's own handle, which is a pointer. */
struct hash_stream *hash_begin(void)
{
	gnutls_hash_hd_t state;

	if (gnutls_hash_init(&state, GNUTLS_DIG_SHA256) < 0)
		DIE("SHA-256 does not work");
	return (struct hash_stream *)state;
}

void hash_add(struct hash_stream *stream, const void *data, size_t len)
{
	if (gnutls_hash((gnutls_hash_hd_t)stream, data, len) < 0)
		DIE("SHA-256 does not work");
}

void hash_end(struct hash_stream *stream, uint8_t out[HASH_BYTES])
{
	gnutls_hash_deinit((gnutls_hash_hd_t)stream, out);
}

bool hash_same(const uint8_t a[HASH_BYTES], const uint8_t b[HASH_BYTES])
{
	uint64_t x[HASH_BYTES / sizeof(uint64_t)], y[HASH_BYTES / sizeof(uint64_t)], difference = 0;

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	for (size_t i = 0; i < ARRAY_LEN(x); i++)
		difference |= x[i] ^ y[i];
	return difference == 0;
}

static unsigned int digit(char c)
{
	return (unsigned int)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

bool hash_from_hex(const char *hex, uint8_t out[HASH_BYTES])
{
	if (!hex || strlen(hex) != 2 * (size_t)HASH_BYTES || strspn(hex, "0123456789abcdefABCDEF") != strlen(hex))
		return false;
	for (size_t i = 0; i < HASH_BYTES; i++)
		out[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	return true;
}
