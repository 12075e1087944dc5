/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* The log: its lines as text and as JSON, cut and gathered. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "session/base/err.h"
#include "session/base/log.h"
#include "session/base/util.h"

/* Says which case of a table failed. */
#define CASE(what, ...)                                                                                                        \
	do {                                                                                                                   \
		if (!(what))                                                                                                   \
			fail_msg(__VA_ARGS__);                                                                                 \
	} while (0)

/* What the log writes while fn runs, in a buffer of the caller. */
static char *logged(void (*fn)(void))
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	int saved = dup(STDERR_FILENO);
	char *text = NULL;

	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	fn();
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	(void)close(saved);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_true(util_read_file(fd, 100000, &text) >= 0);
	(void)close(fd);
	return text;
}

static void log_some(void)
{
	struct err e = {0};

	(void)setenv("GLOVEBOX_LOG", "info", 1);
	log_init("program", "s1");
	log_info("a\nb\x1b\x7f %s", "é\xc2\x9b\xff");
	log_debug("too much");
	err_set(&e, ERR_BAD_FIELD, "/x", "bad");
	log_err(LOG_WARN, &e, "call %d", 3);
	errno = ENOENT;
	err_sys(&e, "opening");
	log_err(LOG_ERROR, &e, "start");
	e = (struct err){0};
	log_err(LOG_ERROR, &e, "start");
}

static void test_log(void **state)
{
	auto_free char *text = logged(log_some);
	static const char *const wanted[] = {
		"info program[s1] a?b?? é???", "warn program[s1] call 3: bad_field /x bad",
		"error program[s1] start: internal opening: No such file or directory", "error program[s1] start: no_error ",
	};
	char *rest = NULL;
	size_t n = 0;

	(void)state;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), n++) {
		assert_true(n < ARRAY_LEN(wanted));
		assert_int_equal(line[24], ' ');
		assert_string_equal(line + 25, wanted[n]);
	}
	assert_int_equal(n, ARRAY_LEN(wanted));
}

static void log_gathered(void)
{
	log_init("program", NULL);
	log_gather(true);
	log_info("first");
	log_info("second");
	log_warn("third");
	log_info("fourth");
	for (int i = 0; i < 300; i++)
		log_info("%0100d", i);
	log_gather(false);
	log_info("last");
}

/* Every line comes, in its order, each write of whole lines; and nothing is written while lines may wait. */
static void test_log_gathers(void **state)
{
	auto_free char *text = logged(log_gathered);
	static const char *const words[] = {"first", "second", "third", "fourth", " 00", "last"};
	const char *at = text;
	size_t n_lines = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		at = strstr(at, words[i]);
		assert_non_null(at);
	}
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		n_lines++;
	assert_int_equal(n_lines, 305);
}

static void log_waits(void)
{
	log_gather(true);
	log_info("waits");
}

static void log_flushes(void)
{
	log_flush();
	log_gather(false);
}

static void test_log_waits_for_its_flush(void **state)
{
	auto_free char *before = logged(log_waits), *after = logged(log_flushes);

	(void)state;
	assert_string_equal(before, "");
	assert_non_null(strstr(after, "waits"));
}

static void log_json_lines(void)
{
	char text[3000];
	const struct log_field fields[] = {{.name = "route", .text = "/v1/{id}"}, {.name = "empty", .text = ""}, {.name = "ms", .number = -12},
	                                   {.name = "odd", .text = "a\"b\\c\n\x1b\xff"}};
	struct log_field many[30];

	(void)setenv("GLOVEBOX_LOG_FORMAT", "json", 1);
	log_init("program", "s1");
	log_event(LOG_INFO, "done \"x\"", fields, ARRAY_LEN(fields));
	memset(text, '"', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_info("%s", text);
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = (struct log_field){.name = "f", .text = i % 2 ? "\\\\\\\\\\\\\\\\" : text};
	for (size_t i = 1; i < ARRAY_LEN(many); i++)
		log_event(LOG_INFO, "m", many, i);
	(void)unsetenv("GLOVEBOX_LOG_FORMAT");
	log_init("program", "s1");
	log_event(LOG_INFO, "done", fields, ARRAY_LEN(fields));
}

static void test_log_variables(void **state)
{
	(void)state;
	(void)setenv("GLOVEBOX_LOG", "loud", 1);
	log_init("program", NULL);
	assert_non_null(strstr(log_env_fault(), "GLOVEBOX_LOG is none of"));
	(void)setenv("GLOVEBOX_LOG", "info", 1);
	(void)setenv("GLOVEBOX_LOG_FORMAT", "xml", 1);
	log_init("program", NULL);
	assert_non_null(strstr(log_env_fault(), "GLOVEBOX_LOG_FORMAT is neither"));
	(void)unsetenv("GLOVEBOX_LOG_FORMAT");
	log_init("program", NULL);
	assert_null(log_env_fault());
}

/* Each line is one JSON object, whatever is in it and however much. */
static void test_log_as_json(void **state)
{
	auto_free char *text = logged(log_json_lines);
	char *rest = NULL, *line = strtok_r(text, "\n", &rest), *next;
	json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	size_t n = 1;

	(void)state;
	assert_non_null(object);
	assert_string_equal(strchr(line, ',') + 1, "\"level\":\"info\",\"program\":\"program\",\"session\":\"s1\",\"message\":\"done \\\"x\\\"\","
	                                           "\"route\":\"/v1/{id}\",\"empty\":\"\",\"ms\":-12,\"odd\":\"a\\\"b\\\\c???\"}");
	json_decref(object);
	for (line = strtok_r(NULL, "\n", &rest); line; line = next, n++) {
		next = strtok_r(NULL, "\n", &rest);
		object = json_loads(line, 0, NULL);
		if (!next) {
			assert_null(object);
			assert_string_equal(line + 25, "info program[s1] done route=/v1/{id} empty=- ms=-12 odd=a\"b\\c???");
		} else if (!object) {
			fail_msg("no JSON: %s", line);
		}
		json_decref(object);
	}
	assert_int_equal(n, 32);
}

static void log_long(void)
{
	for (size_t shift = 0; shift < 4; shift++) {
		char text[2000] = "";

		memset(text, 's', shift);
		while (strlen(text) + 5 < sizeof(text))
			memcpy(text + strlen(text), "😀", 5);
		log_info("%s", text);
	}
}

/* A long line is cut at a character and still ends. */
static void test_log_cut(void **state)
{
	auto_free char *text = logged(log_long);

	(void)state;
	assert_true(util_utf8_valid(text, strlen(text)));
	assert_int_equal(text[strlen(text) - 1], '\n');
	for (char *line = text; *line; line = strchr(line, '\n') + 1)
		CASE(strchr(line, '\n') - line > 800 && strchr(line, '\n') - line < 1024, "%s", line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_log_gathers),
		cmocka_unit_test(test_log_waits_for_its_flush),
		cmocka_unit_test(test_log_variables),
		cmocka_unit_test(test_log_as_json),
		cmocka_unit_test(test_log_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
