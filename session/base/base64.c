/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Base64.
 */
#include "session/base/base64.h"

#include <stdint.h>
#include <string.h>

#include "session/base/util.h"

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t len, size_t *out_len)
{
	const uint8_t *in = data;
	size_t n = (len + 2) / 3 * 4;
	char *text = util_alloc(n + 1);
	char *out = text;

	for (; len >= 3; len -= 3, in += 3) {
		*out++ = DIGITS[in[0] >> 2];
		*out++ = DIGITS[(in[0] & 3) << 4 | in[1] >> 4];
		*out++ = DIGITS[(in[1] & 15) << 2 | in[2] >> 6];
		*out++ = DIGITS[in[2] & 63];
	}
	if (len > 0) {
		uint8_t second = len > 1 ? in[1] : 0;

		*out++ = DIGITS[in[0] >> 2];
		*out++ = DIGITS[(in[0] & 3) << 4 | second >> 4];
		*out++ = len > 1 ? DIGITS[(second & 15) << 2] : '=';
		*out++ = '=';
	}
	*out = '\0';
	if (out_len)
		*out_len = n;
	return text;
}

void *base64_decode(const char *text, size_t len, size_t *out_len)
{
	auto_free uint8_t *bytes = util_alloc(len / 4 * 3 + 3);
	uint32_t bits = 0;
	size_t n_bits = 0, used = 0;

	for (int padding = 0; padding < 2 && len > 0 && text[len - 1] == '='; padding++)
		len--;
	for (size_t i = 0; i < len; i++) {
		const char *digit = text[i] ? strchr(DIGITS, text[i]) : NULL;

		if (!digit)
			return NULL;
		bits = bits << 6 | (uint32_t)(digit - DIGITS);
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			bytes[used++] = (uint8_t)(bits >> n_bits);
		}
	}
	*out_len = used;
	return steal_ptr(&bytes);
}
