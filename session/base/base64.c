/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Base64.
 */
#include "session/base/base64.h"

#include <stdint.h>

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
