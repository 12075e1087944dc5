/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Archives: what is written is read again, and what is none, or would lead out, is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/tar.h"
#include "session/base/util.h"

struct made {
	unsigned char bytes[1 << 20];
	size_t len;
};

static void add(struct made *made, enum tar_kind kind, const char *name, const char *target, const char *content)
{
	auto_free struct tar_entry *entry = util_zalloc(sizeof(*entry));

	entry->kind = kind;
	entry->mode = 0640;
	entry->mtime_s = 1700000000;
	(void)snprintf(entry->name, sizeof(entry->name), "%s", name);
	(void)snprintf(entry->target, sizeof(entry->target), "%s", target);
	entry->size = strlen(content);
	made->len += tar_head(entry, made->bytes + made->len);
	memcpy(made->bytes + made->len, content, entry->size);
	made->len += entry->size;
	memset(made->bytes + made->len, 0, tar_padding(entry->size));
	made->len += tar_padding(entry->size);
}

static void end(struct made *made)
{
	memset(made->bytes + made->len, 0, TAR_END_BYTES);
	made->len += TAR_END_BYTES;
}

/* What was read, as lines. */
struct got {
	char text[1 << 17];
	size_t len;
};

static int take_entry(void *arg, const struct tar_entry *entry, struct err *e)
{
	struct got *got = arg;

	(void)e;
	got->len += (size_t)snprintf(got->text + got->len, sizeof(got->text) - got->len, "%d %s>%s %o %llu\n", (int)entry->kind, entry->name, entry->target, entry->mode,
	                             (unsigned long long)entry->size);
	return 0;
}

static int take_data(void *arg, const void *data, size_t len, struct err *e)
{
	struct got *got = arg;

	(void)e;
	got->len += (size_t)snprintf(got->text + got->len, sizeof(got->text) - got->len, "%.*s", (int)len, (const char *)data);
	return 0;
}

/* In pieces of `step` bytes. */
static int read_all(const struct made *made, size_t step, struct got *got, struct err *e)
{
	const struct tar_ops ops = {.entry = take_entry, .data = take_data, .arg = got};
	auto_free struct tar_reader *reader = util_zalloc(sizeof(*reader));
	int rc = 0;

	got->len = 0;
	got->text[0] = '\0';
	tar_reader_init(reader, &ops);
	for (size_t at = 0; at < made->len && rc == 0; at += step)
		rc = tar_reader_feed(reader, made->bytes + at, step < made->len - at ? step : made->len - at, e);
	if (rc == 0)
		rc = tar_reader_end(reader, e);
	tar_reader_finish(reader);
	return rc;
}

static struct made *made_new(void)
{
	return util_zalloc(sizeof(struct made));
}

static void test_round_trip(void **state)
{
	auto_free struct made *made = made_new();
	auto_free struct got *got = util_zalloc(sizeof(*got));
	char name[300], wanted[2000], again[600];
	struct err e;

	(void)state;
	(void)snprintf(name, sizeof(name), "%0120d/%0120d", 1, 2);
	add(made, TAR_FOLDER, "a", "", "");
	add(made, TAR_FILE, "a/größe \n\"x\"", "", "twelve bytes");
	add(made, TAR_FILE, "empty", "", "");
	add(made, TAR_LINK, "a/l", "../empty", "");
	add(made, TAR_LINK, "a/long", name, "");
	add(made, TAR_FILE, name, "", "long");
	end(made);
	(void)snprintf(again, sizeof(again), "0 %s> 640 4\nlong", name);
	(void)snprintf(wanted, sizeof(wanted), "1 a> 640 0\n0 a/größe \n\"x\"> 640 12\ntwelve bytes0 empty> 640 0\n2 a/l>../empty 640 0\n2 a/long>%s 640 0\n%s", name, again);
	for (size_t step = 1; step < 2000; step = step * 3 + 1) {
		assert_int_equal(read_all(made, step, got, &e), 0);
		assert_string_equal(got->text, wanted);
	}
}

static void test_cut(void **state)
{
	auto_free struct made *made = made_new();
	auto_free struct got *got = util_zalloc(sizeof(*got));
	struct err e;
	size_t whole;

	(void)state;
	add(made, TAR_FILE, "a", "", "content");
	end(made);
	whole = made->len;
	for (made->len = 0; made->len < whole; made->len += 100)
		assert_int_equal(read_all(made, 512, got, &e), -1);
	made->len = whole;
	assert_int_equal(read_all(made, 512, got, &e), 0);
	made->bytes[0] ^= 1; /* the sum is not right any more */
	assert_int_equal(read_all(made, 512, got, &e), -1);
	assert_non_null(strstr(e.msg, "no header of tar"));
}

static void sum_again(unsigned char *block)
{
	unsigned int sum = 0;

	memset(block + 148, ' ', 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += block[i];
	(void)snprintf((char *)block + 148, 8, "%06o", sum);
}

static void test_refused(void **state)
{
	static const struct {
		enum tar_kind kind;
		const char *name, *target;
	} rows[] = {
		{TAR_FILE, "/etc/passwd", ""},  {TAR_FILE, "../x", ""},       {TAR_FILE, "a/../../x", ""},    {TAR_FILE, "a//x", ""},         {TAR_FILE, "a/./x", ""},
		{TAR_FILE, "\xff\xfe", ""},     {TAR_FILE, ".", ""},          {TAR_FILE, "", ""},             {TAR_FOLDER, "..", ""},         {TAR_FILE, "a/..", ""},
		{TAR_LINK, "l", "/etc"},        {TAR_LINK, "l", "../x"},      {TAR_LINK, "a/l", "../../x"},   {TAR_LINK, "a/l", "b/../../x"}, {TAR_LINK, "l", ""},
		{TAR_LINK, "a/b", "../../.."},  {TAR_LINK, "l", "a//b"},      {TAR_LINK, "l", "./a"},         {TAR_LINK, "a/l", "x/.."},
		{TAR_FILE, "a/", ""},           {TAR_LINK, "l/", "a"},
	};
	auto_free struct made *made = made_new();
	auto_free struct got *got = util_zalloc(sizeof(*got));
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		made->len = 0;
		add(made, rows[i].kind, rows[i].name, rows[i].target, "");
		end(made);
		if (read_all(made, 512, got, &e) == 0)
			fail_msg("%s > %s was taken", rows[i].name, rows[i].target);
		assert_string_equal(got->text, "");
	}
	/* Kinds that are none. */
	for (const char *kind = "13467SDMNV"; *kind; kind++) {
		made->len = 0;
		add(made, TAR_FILE, "a", "b", "");
		made->bytes[156] = (unsigned char)*kind;
		sum_again(made->bytes);
		end(made);
		assert_int_equal(read_all(made, 512, got, &e), -1);
	}
}

/* A header of pax with these records, before a plain file; kind 'x' or 'g'. */
static int read_records(char kind, const char *records, size_t len, struct got *got, struct err *e)
{
	auto_free struct made *made = made_new();
	auto_free char *content = util_zalloc(len + 1);

	memcpy(content, records, len);
	add(made, TAR_FILE, "PaxHeader", "", content);
	made->bytes[156] = (unsigned char)kind;
	sum_again(made->bytes);
	add(made, TAR_FILE, "plain", "", "");
	end(made);
	return read_all(made, 512, got, e);
}

static int read_pax(const char *records, size_t len, struct got *got, struct err *e)
{
	return read_records('x', records, len, got, e);
}

static void test_pax(void **state)
{
	static const char *const bad[] = {"12 path=../x\n", "11 path=/x\n", "9 path=a/", "999 path=a\n", "5 abc\n", "x path=a\n", "11 path=a\n", "19 GNU.sparse.major=1\n", "13 size=abcd\n"};
	auto_free struct got *got = util_zalloc(sizeof(*got));
	struct err e;

	(void)state;
	assert_int_equal(read_pax("12 path=a/b\n22 SCHILY.dev=anything\n", 12, got, &e), 0);
	assert_string_equal(got->text, "0 a/b> 640 0\n");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (read_pax(bad[i], strlen(bad[i]), got, &e) == 0)
			fail_msg("%s was taken: %s", bad[i], got->text);
	/* Of those for all entries there are comments, and nothing that others would read in another way. */
	assert_int_equal(read_records('g', "19 comment=abcdefg\n", 19, got, &e), 0);
	assert_int_equal(read_records('g', "10 path=a\n", 10, got, &e), -1);
	assert_int_equal(read_records('g', "14 linkpath=a\n", 14, got, &e), -1);
}

static void test_behind_the_end(void **state)
{
	auto_free struct made *made = made_new();
	auto_free struct got *got = util_zalloc(sizeof(*got));
	struct err e;

	(void)state;
	add(made, TAR_FILE, "a", "", "");
	end(made);
	end(made); /* tar fills its last record */
	assert_int_equal(read_all(made, 512, got, &e), 0);
	add(made, TAR_FILE, "b", "", "");
	assert_int_equal(read_all(made, 512, got, &e), -1);
}

static void test_dot_names(void **state)
{
	auto_free struct made *made = made_new();
	auto_free struct got *got = util_zalloc(sizeof(*got));
	struct err e;

	(void)state;
	add(made, TAR_FOLDER, ".", "", "");
	add(made, TAR_FOLDER, "./a", "", "");
	add(made, TAR_FILE, "./a/b", "", "x");
	end(made);
	assert_int_equal(read_all(made, 512, got, &e), 0);
	assert_string_equal(got->text, "1 > 640 0\n1 a> 640 0\n0 a/b> 640 1\nx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_cut),            cmocka_unit_test(test_refused),
		cmocka_unit_test(test_pax),        cmocka_unit_test(test_behind_the_end), cmocka_unit_test(test_dot_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
