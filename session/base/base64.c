/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Base64: twelve bytes at a time where the processor can, the rest three by three.
 */
#include "session/base/base64.h"

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "session/base/util.h"

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#if defined(__x86_64__)
#define VECTOR_IN 12  /* bytes of a vector's worth of text */
#define VECTOR_READ 16
#define VECTOR_OUT 16

/* As many whole vectors as can be read: four groups of three bytes, each spread over a lane, cut in four by two multiplications, and
 * each six bits moved to where their digit stands in ASCII. Returns how many bytes were taken. */
__attribute__((target("ssse3"))) static size_t encode_vectors(const uint8_t *in, size_t len, char *out)
{
	const __m128i spread = _mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
	/* By class of value: 26..51, the ten digits 52..61, 62, 63, and last 0..25. */
	const __m128i shifts = _mm_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
	                                     '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0);
	size_t at = 0;

	for (; len - at >= VECTOR_READ; at += VECTOR_IN, out += VECTOR_OUT) {
		__m128i lanes = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(in + at)), spread);
		__m128i high = _mm_mulhi_epu16(_mm_and_si128(lanes, _mm_set1_epi32(0x0fc0fc00)), _mm_set1_epi32(0x04000040));
		__m128i low = _mm_mullo_epi16(_mm_and_si128(lanes, _mm_set1_epi32(0x003f03f0)), _mm_set1_epi32(0x01000010));
		__m128i values = _mm_or_si128(high, low);
		__m128i class = _mm_or_si128(_mm_subs_epu8(values, _mm_set1_epi8(51)),
		                             _mm_and_si128(_mm_cmpgt_epi8(_mm_set1_epi8(26), values), _mm_set1_epi8(13)));

		_mm_storeu_si128((__m128i *)(void *)out, _mm_add_epi8(values, _mm_shuffle_epi8(shifts, class)));
	}
	return at;
}

static size_t encode_fast(const uint8_t *in, size_t len, char *out)
{
	return __builtin_cpu_supports("ssse3") ? encode_vectors(in, len, out) : 0;
}
#else
static size_t encode_fast(const uint8_t *in, size_t len, char *out)
{
	(void)in;
	(void)len;
	(void)out;
	return 0;
}
#endif

char *base64_encode(const void *data, size_t len, size_t *out_len)
{
	const uint8_t *in = data;
	size_t n = (len + 2) / 3 * 4;
	char *text = util_alloc(n + 1);
	size_t done = encode_fast(in, len, text);
	char *out = text + done / 3 * 4;

	for (len -= done, in += done; len >= 3; len -= 3, in += 3) {
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
