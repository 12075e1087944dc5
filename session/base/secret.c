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

char *secret_new_code(size_t n_signs, size_t group)
{
	static const char alphabet[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
	uint8_t random[SECRET_SIGNS_MAX];
	char *text = util_zalloc(2 * n_signs + 1);
	size_t len = 0;

	if (n_signs > sizeof(random))
		DIE("a code of %zu signs", n_signs);
	util_random(random, n_signs);
	for (size_t i = 0; i < n_signs; i++) {
		if (i > 0 && i % group == 0)
			text[len++] = '-';
		text[len++] = alphabet[random[i] % 32];
	}
	explicit_bzero(random, sizeof(random));
	return text;
}

bool secret_read_code(const char *text, size_t n_signs, char *signs)
{
	size_t n = 0;

	for (; *text; text++) {
		if (*text == '-' || *text == ' ')
			continue;
		if (n == n_signs)
			return false;
		signs[n++] = *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text;
	}
	return n == n_signs;
}

void secret_wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}
