/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/policy */
/* What is found in texts and masked, in every form that is looked for; what only looks like it; and that a pass is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/base64.h"
#include "session/base/util.h"
#include "session/policy/leaks.h"

#define VALUE "p\"a/s%s w+rd\\1"

static struct leaks leaks;
static struct leak_hits hits;

static void begin(const char *value, enum leak_verdict verdict)
{
	leaks = (struct leaks){.n_secrets = value ? 1 : 0};
	hits = (struct leak_hits){.rules = {0}};
	if (value)
		leaks.secrets[0] = (struct leak_secret){(const uint8_t *)value, strlen(value)};
	for (size_t i = 0; i < LEAK_N_RULES; i++)
		leaks.verdicts[i] = verdict;
	leaks_begin(&leaks);
}

static void expect(const char *text, const char *masked)
{
	size_t len = 0;
	auto_free char *out = leaks_mask(&leaks, text, strlen(text), &hits, &len);

	assert_string_equal(out ? out : text, masked);
	if (out)
		assert_int_equal(len, strlen(masked));
}

static void test_forms_of_a_value(void **state)
{
	static const char *const forms[] = {
		VALUE, "p%22a%2Fs%25s%20w%2Brd%5C1", "p%22a%2fs%25s+w%2brd%5c1", "p\\\"a/s%s w+rd\\\\1", "p\\u0022a\\/s%s w\\u002brd\\\\1",
	};

	(void)state;
	begin(VALUE, LEAK_ALLOW);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		auto_free char *alone = util_strdup(forms[i]), *within = util_printf("x=%s;y", forms[i]), *twice = util_printf("%s%s", forms[i], forms[i]);

		expect(alone, LEAKS_MASK);
		expect(within, "x=" LEAKS_MASK ";y");
		expect(twice, LEAKS_MASK LEAKS_MASK);
	}
	assert_int_equal(hits.secrets[0], 4 * ARRAY_LEN(forms));
}

/* Wherever it lies among other bytes, and with ends of lines in it. */
static void test_base64(void **state)
{
	(void)state;
	begin(VALUE, LEAK_ALLOW);
	for (size_t before = 0; before < 9; before++)
		for (size_t after = 0; after < 4; after++) {
			auto_free char *text = util_printf("%.*s%s%.*s", (int)before, "abcdefghi", VALUE, (int)after, "jkl");
			auto_free char *encoded = base64_encode(text, strlen(text), NULL), *lined = util_printf("%.10s\n%s", encoded, encoded + 10);
			char *masked;
			size_t len;

			masked = leaks_mask(&leaks, encoded, strlen(encoded), &hits, &len);
			assert_non_null(masked);
			assert_non_null(strstr(masked, LEAKS_MASK));
			/* Three characters at each end may have bits of the neighbours. */
			assert_true(len <= strlen(LEAKS_MASK) + (before + 2) / 3 * 4 + (after + 2) / 3 * 4 + 8);
			free(masked);
			masked = leaks_mask(&leaks, lined, strlen(lined), &hits, &len);
			assert_non_null(masked);
			free(masked);
			for (char *at = encoded; *at; at++)
				*at = (char)(*at == '+' ? '-' : *at == '/' ? '_' : *at);
			masked = leaks_mask(&leaks, encoded, strlen(encoded), &hits, &len);
			assert_non_null(masked);
			free(masked);
		}
}

static void test_not_the_value(void **state)
{
	(void)state;
	begin("correct horse", LEAK_ALLOW);
	expect("correct hors", "correct hors");
	expect("correct  horse", "correct  horse");
	expect("Correct horse", "Correct horse");
	expect("", "");
	expect("correct horscorrect horse", "correct hors" LEAKS_MASK);
	begin("short", LEAK_ALLOW);
	assert_false(leaks.any);
	expect("short", "short");
	begin(NULL, LEAK_ALLOW);
	assert_false(leaks.any);
}

/* The mask does not say how long it was. */
static void test_length_is_hidden(void **state)
{
	char value[LIMIT_SECRET_BYTES + 1];

	(void)state;
	memset(value, 'x', sizeof(value));
	value[LIMIT_SECRET_BYTES] = '\0';
	begin(value, LEAK_ALLOW);
	expect(value, LEAKS_MASK);
	begin("12345678", LEAK_ALLOW);
	expect("12345678", LEAKS_MASK);
}

static void test_keys(void **state)
{
	(void)state;
	begin(NULL, LEAK_MASK);
	expect("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\nb", "a\n" LEAKS_MASK "\nb");
	expect("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", LEAKS_MASK);
	expect("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----");
	expect("id AKIAIOSFODNN7EXAMPLE.", "id " LEAKS_MASK ".");
	expect("xAKIAIOSFODNN7EXAMPLE", "xAKIAIOSFODNN7EXAMPLE");
	expect("AKIAIOSFODNN7", "AKIAIOSFODNN7");
	expect("token=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "token=" LEAKS_MASK);
	assert_int_equal(hits.rules[LEAK_PRIVATE_KEY], 2);
	assert_int_equal(hits.rules[LEAK_CLOUD_KEY], 2);
}

static void test_cards(void **state)
{
	(void)state;
	begin(NULL, LEAK_MASK);
	expect("4111 1111 1111 1111", LEAKS_MASK);
	expect("card 5500-0000-0000-0004!", "card " LEAKS_MASK "!");
	expect("378282246310005", LEAKS_MASK);
	expect("4111 1111 1111 1112", "4111 1111 1111 1112");
	expect("41111111111111110000000", "41111111111111110000000");
	expect("0.4111111111111111", "0.4111111111111111");
	assert_int_equal(hits.rules[LEAK_CARD], 3);
	begin(NULL, LEAK_ALERT);
	expect("4111 1111 1111 1111", "4111 1111 1111 1111");
	assert_int_equal(hits.rules[LEAK_CARD], 1);
}

/* Two that overlap: what is masked has nothing of the second but what the first leaves. */
static void test_several(void **state)
{
	(void)state;
	begin("first-secret", LEAK_ALLOW);
	leaks.secrets[1] = (struct leak_secret){(const uint8_t *)"second-secret", 13};
	leaks.n_secrets = 2;
	leaks_begin(&leaks);
	expect("first-secret second-secret first-secretsecond-secret", LEAKS_MASK " " LEAKS_MASK " " LEAKS_MASK LEAKS_MASK);
	assert_int_equal(hits.secrets[0], 2);
	assert_int_equal(hits.secrets[1], 2);
}

struct streamed {
	char *text;
	size_t len;
};

static int keep(void *arg, const char *bytes, size_t len)
{
	struct streamed *streamed = arg;

	streamed->text = util_realloc(streamed->text, streamed->len + len + 1);
	memcpy(streamed->text + streamed->len, bytes, len);
	streamed->len += len;
	streamed->text[streamed->len] = '\0';
	return 0;
}

/* A long text with values all along it, in pieces of any length: as if it came in one. */
static void test_pieces(void **state)
{
	static const size_t steps[] = {1, 7, 4096, 65536, LEAKS_WINDOW_BYTES - LEAKS_AHEAD_BYTES, LEAKS_WINDOW_BYTES, 3000000};
	enum { LEN = 700000 };
	auto_free char *text = util_alloc(LEN + 1), *whole = NULL;
	struct leak_hits before;
	size_t len = 0;

	(void)state;
	begin("a-stored-value", LEAK_MASK);
	memset(text, '.', LEN);
	text[LEN] = '\0';
	for (size_t at = 100; at + 100 < LEN; at += 1009)
		memcpy(text + at, at % 3 == 0 ? "a-stored-value" : at % 3 == 1 ? "a%2dstored%2Dvalue" : "AKIAABCDEFGHIJKLMNOP", at % 3 == 0 ? 14 : at % 3 == 1 ? 18 : 20);
	memcpy(text + LEN - 14, "a-stored-value", 14);
	whole = leaks_mask(&leaks, text, LEN, &hits, &len);
	before = hits;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		struct streamed streamed = {.text = NULL};
		struct leaks_stream stream;

		leaks_stream_begin(&stream, &leaks, keep, &streamed);
		for (size_t at = 0; at < LEN; at += steps[i])
			assert_int_equal(leaks_stream_feed(&stream, text + at, steps[i] < LEN - at ? steps[i] : LEN - at), 0);
		assert_int_equal(leaks_stream_end(&stream), 0);
		assert_int_equal(streamed.len, len);
		assert_true(memcmp(streamed.text, whole, len) == 0);
		assert_memory_equal(&stream.hits, &before, sizeof(before));
		assert_true(stream.masked);
		leaks_stream_finish(&stream);
		free(streamed.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms_of_a_value), cmocka_unit_test(test_base64), cmocka_unit_test(test_not_the_value),
		cmocka_unit_test(test_length_is_hidden), cmocka_unit_test(test_keys),   cmocka_unit_test(test_cards),
		cmocka_unit_test(test_several),         cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
