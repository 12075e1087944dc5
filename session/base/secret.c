/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens from the kernel's random numbers. */
#include "session/base/secret.h"

#include <stdint.h>
#include <string.h>

#include "session/base/util.h"

#define RANDOM_BYTES 32

char *secret_new_token(const char *prefix)
{
	/* RFC 4648 part 5, without padding: 6 bits a character. */
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t bytes[RANDOM_BYTES];
	size_t len = strlen(prefix);
	char *token = util_zalloc(len + (RANDOM_BYTES * 8 + 5) / 6 + 1);
	uint32_t bits = 0;
	int n_bits = 0;

	memcpy(token, prefix, len);
	util_random(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bits = bits << 8 | bytes[i];
		for (n_bits += 8; n_bits >= 6; n_bits -= 6)
			token[len++] = digits[bits >> (n_bits - 6) & 63];
	}
	token[len] = digits[bits << (6 - n_bits) & 63];
	explicit_bzero(bytes, sizeof(bytes));
	return token;
}

void secret_wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}
