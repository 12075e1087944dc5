/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Problem objects and base64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/base64.h"
#include "session/base/problem.h"
#include "session/base/util.h"

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "(none)";
}

static long number_of(const json_t *object, const char *name)
{
	return (long)json_integer_value(json_object_get(object, name));
}

static void test_fault_of_content(void **state)
{
	struct err e = {0};

	(void)state;
	err_set(&e, ERR_BAD_FIELD, "/actions/2/x", "x is 5000; allowed 0..1279");
	e.sys_errno = 5;
	json_t *p = problem_create(&e, "r1");

	assert_string_equal(text_of(p, "type"), "urn:glovebox:error:bad_field");
	assert_string_equal(text_of(p, "code"), "bad_field");
	assert_string_equal(text_of(p, "detail"), "x is 5000; allowed 0..1279");
	assert_string_equal(text_of(p, "pointer"), "/actions/2/x");
	assert_string_equal(text_of(p, "fix"), "caller");
	assert_string_equal(text_of(p, "request_id"), "r1");
	assert_int_equal(number_of(p, "status"), 400);
	assert_int_equal(json_object_size(p), 8);
	json_decref(p);
}

static void test_fault_of_form(void **state)
{
	struct err e = {0};

	(void)state;
	err_set(&e, ERR_BAD_JSON, NULL, "a key twice");
	e.offset = 17;
	e.line = 2;
	e.column = 5;
	json_t *p = problem_create(&e, NULL);

	assert_int_equal(number_of(p, "offset"), 17);
	assert_int_equal(number_of(p, "line"), 2);
	assert_int_equal(number_of(p, "column"), 5);
	assert_null(json_object_get(p, "pointer"));
	assert_null(json_object_get(p, "request_id"));
	json_decref(p);
}

static void test_later_says_when(void **state)
{
	struct err e = {0};

	(void)state;
	err_set(&e, ERR_BUSY, NULL, "32 calls wait");
	json_t *p = problem_create(&e, NULL);

	assert_true(number_of(p, "retry_after_ms") > 0);
	json_decref(p);
}

static void test_several_faults(void **state)
{
	struct err list[2], other;
	struct faults faults = {.list = list, .max = 2};

	(void)state;
	err_set(faults_next(&faults), ERR_BAD_FIELD, "/actions/0/x", "first");
	json_t *alone = problem_of_faults(&faults, NULL);

	assert_null(json_object_get(alone, "errors"));
	json_decref(alone);
	err_set(&other, ERR_UNKNOWN_FIELD, "/foo", "second");
	assert_false(faults_full(&faults));
	faults_add(&faults, &other, "/actions/1");
	assert_true(faults_full(&faults));
	faults_add(&faults, &other, "");
	assert_null(faults_next(&faults));
	json_t *p = problem_of_faults(&faults, NULL);

	assert_string_equal(text_of(p, "pointer"), "/actions/0/x");
	json_t *errors = json_object_get(p, "errors");

	assert_int_equal(json_array_size(errors), 2);
	assert_string_equal(text_of(json_array_get(errors, 0), "pointer"), "/actions/0/x");
	assert_string_equal(text_of(json_array_get(errors, 0), "code"), "bad_field");
	assert_string_equal(text_of(json_array_get(errors, 1), "code"), "unknown_field");
	assert_string_equal(text_of(json_array_get(errors, 1), "pointer"), "/actions/1/foo");
	assert_string_equal(text_of(json_array_get(errors, 1), "detail"), "second");
	json_decref(p);
}

/* Every code has a row, and the text is JSON. */
static void test_every_code(void **state)
{
	(void)state;
	for (int code = ERR_NONE + 1; code < ERR_N_CODES; code++) {
		struct err e = {0};

		err_set(&e, (enum err_code)code, NULL, "x");
		char *text = problem_text(&e, "r");
		json_t *p = json_loads(text, 0, NULL);

		assert_non_null(p);
		assert_int_equal(number_of(p, "status"), err_info((enum err_code)code)->status);
		json_decref(p);
		free(text);
	}
}

static void test_base64(void **state)
{
	/* RFC 4648 part 10, and the two digits that differ between alphabets. */
	static const char *const vectors[][2] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
		{"\xfb\xef\xff", "++//"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		size_t len = 99;
		char *text = base64_encode(vectors[i][0], strlen(vectors[i][0]), &len);

		assert_string_equal(text, vectors[i][1]);
		assert_int_equal(len, strlen(vectors[i][1]));
		free(text);
	}
}

/* Three bytes at a time, from the alphabet of the standard: what the fast way must come to. */
static char *encode_slowly(const unsigned char *in, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = util_alloc((len + 2) / 3 * 4 + 1), *out = text;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t bits = (uint32_t)in[i] << 16 | (uint32_t)(i + 1 < len ? in[i + 1] : 0) << 8 | (i + 2 < len ? in[i + 2] : 0);

		for (size_t digit = 0; digit < 4; digit++)
			*out++ = i + digit > len ? '=' : digits[bits >> (18 - 6 * digit) & 63];
	}
	*out = '\0';
	return text;
}

/* Of every length, and every value of six bits at every place. */
static void test_base64_long(void **state)
{
	unsigned char bytes[300];

	(void)state;
	for (unsigned int seed = 0; seed < 64; seed++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = seed < 32 ? (unsigned char)((i + seed * 9) * 2654435761U >> 13) : (unsigned char)(i * 4 + seed);
		for (size_t len = seed % 5; len <= sizeof(bytes); len += 1 + seed % 7) {
			size_t out_len;
			/* In a block of its own length, so that reading on behind it is found. */
			auto_free unsigned char *in = util_alloc(len);
			auto_free char *right = encode_slowly(bytes, len), *text = NULL;

			memcpy(in, bytes, len);
			text = base64_encode(in, len, &out_len);
			assert_string_equal(text, right);
			assert_int_equal(out_len, strlen(right));
		}
	}
}

static void test_base64_back(void **state)
{
	static const char *const good[][2] = {{"", ""}, {"Zg==", "f"}, {"Zg", "f"}, {"Zm8=", "fo"}, {"Zm9v", "foo"}, {"Zm9vYmFy", "foobar"}};
	static const char *const bad[] = {"Zm9v!", "Zm 9v", "====", "Zg==Zg==", "Z\xc3\xa4", "Zm9v-_"};
	size_t len;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		auto_free void *bytes = base64_decode(good[i][0], strlen(good[i][0]), &len);

		assert_non_null(bytes);
		assert_int_equal(len, strlen(good[i][1]));
		assert_memory_equal(bytes, good[i][1], len);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_null(base64_decode(bad[i], strlen(bad[i]), &len));
	assert_null(base64_decode("Zm\0v", 4, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault_of_content), cmocka_unit_test(test_fault_of_form), cmocka_unit_test(test_later_says_when),
		cmocka_unit_test(test_several_faults),   cmocka_unit_test(test_every_code),    cmocka_unit_test(test_base64),
		cmocka_unit_test(test_base64_long),      cmocka_unit_test(test_base64_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
