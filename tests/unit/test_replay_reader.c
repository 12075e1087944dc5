/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/replay */
/* Journals, read: what is in them, and what is said of those that are broken or made to do harm. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay_make.h"
#include "session/base/limits.h"
#include "session/replay/archive.h"

/* Two calls: a click and a key, observed; then one that never ended. Pictures 1 (red, 8x6), 2 (a blue spot in it). */
static void make_two(struct make *make)
{
	struct pixels red = make_pixels(8, 6, 0xff0000), spot = make_pixels(2, 3, 0x0000ff);

	make_line(make, "start", "{\"session\":\"s1\",\"image\":\"minimal\",\"image_hash\":\"ab\",\"native\":{\"width\":8,\"height\":6}}");
	make_line(make, "ready", "{}");
	make_picture(make, &red, 0, 0, 8, 6, true);
	make_line(make, "call", "{\"request\":\"r1\",\"actions\":3,\"observe\":{\"quiet_ms\":50},\"before\":1,\"timeout_ms\":60000}");
	make_line(make, "intent", "{\"request\":\"r1\",\"index\":0,\"action\":{\"action\":\"click\",\"x\":1,\"y\":2},\"before\":1}");
	make_picture(make, &spot, 3, 1, 8, 6, false);
	make_line(make, "result", "{\"request\":\"r1\",\"index\":0,\"ok\":true,\"after\":2}");
	make_line(make, "intent", "{\"request\":\"r1\",\"index\":1,\"action\":{\"action\":\"key\",\"keys\":\"a\"},\"before\":2}");
	make_line(make, "result", "{\"request\":\"r1\",\"index\":1,\"ok\":false,\"error\":\"timeout\",\"after\":2}");
	make_line(make, "observation", "{\"request\":\"r1\",\"settled\":true,\"elapsed_ms\":60,\"frame\":20,\"after\":2}");
	make_line(make, "call", "{\"request\":\"r2\",\"actions\":1,\"before\":2}");
	make_line(make, "intent", "{\"request\":\"r2\",\"index\":0,\"action\":{\"action\":\"wait\",\"duration_ms\":9}}");
	pixels_finish(&red);
	pixels_finish(&spot);
}

static struct reader *read_made(struct make *make)
{
	struct reader_parts parts = make_parts(make);
	struct reader *reader = NULL;
	struct err e = {0};

	if (reader_read(&parts, &reader, &e) < 0)
		fail_msg("%s", e.msg);
	return reader;
}

static void assert_pixel(const struct pixels *pixels, int x, int y, unsigned colour)
{
	const uint8_t *at = pixels_at(pixels, x, y);

	assert_int_equal(at[0] << 16 | at[1] << 8 | at[2], colour);
}

static void test_calls(void **state)
{
	struct make make = {0};
	struct reader *reader;
	const struct reader_call *call;

	(void)state;
	make_two(&make);
	reader = read_made(&make);
	assert_null(reader_broken(reader));
	assert_null(reader_end(reader));
	assert_string_equal(json_string_value(json_object_get(reader_start(reader), "image")), "minimal");
	assert_int_equal(reader_n_calls(reader), 2);
	call = reader_call(reader, 0);
	assert_int_equal(call->n_asked, 3);
	assert_int_equal(call->n_actions, 2);
	assert_string_equal(json_string_value(json_object_get(call->actions[0].action, "action")), "click");
	assert_int_equal(call->actions[0].before, 1);
	assert_int_equal(call->actions[0].after, 2);
	assert_string_equal(json_string_value(json_object_get(call->actions[1].result, "error")), "timeout");
	assert_int_equal(call->before, 1);
	assert_int_equal(call->after, 2);
	assert_true(json_is_true(json_object_get(call->observation, "settled")));
	call = reader_call(reader, 1);
	assert_int_equal(call->n_actions, 1);
	assert_null(call->actions[0].result);
	assert_int_equal(call->after, 0);
	reader_close(reader);
}

/* Before there were lines of calls and pictures. */
static void test_old_journal(void **state)
{
	struct make make = {0};
	struct reader *reader;

	(void)state;
	make_line(&make, "start", "{\"session\":\"s1\"}");
	make_line(&make, "intent", "{\"request\":\"r1\",\"index\":0,\"action\":{\"action\":\"move\",\"x\":1,\"y\":2}}");
	make_line(&make, "result", "{\"request\":\"r1\",\"index\":0,\"ok\":true}");
	make_line(&make, "intent", "{\"request\":\"r2\",\"index\":0,\"action\":{\"action\":\"click\"}}");
	make_line(&make, "result", "{\"request\":\"r2\",\"index\":0,\"ok\":true}");
	make_line(&make, "end", "{\"reason\":\"ttl\"}");
	reader = read_made(&make);
	assert_int_equal(reader_n_calls(reader), 2);
	assert_null(reader_call(reader, 0)->line);
	assert_int_equal(reader_call(reader, 1)->n_asked, 1);
	assert_string_equal(json_string_value(json_object_get(reader_end(reader), "reason")), "ttl");
	assert_false(reader_has_pictures(reader));
	reader_close(reader);
}

static void test_pictures_in_any_order(void **state)
{
	struct make make = {0};
	struct reader *reader;
	const struct pixels *pixels;
	struct err e;

	(void)state;
	make_two(&make);
	reader = read_made(&make);
	assert_int_equal(reader_picture(reader, 2, &pixels, &e), 0);
	assert_int_equal(pixels->width, 8);
	assert_int_equal(pixels->height, 6);
	assert_pixel(pixels, 2, 1, 0xff0000);
	assert_pixel(pixels, 3, 1, 0x0000ff);
	assert_pixel(pixels, 4, 3, 0x0000ff);
	assert_pixel(pixels, 5, 3, 0xff0000);
	assert_pixel(pixels, 4, 4, 0xff0000);
	assert_int_equal(reader_picture(reader, 1, &pixels, &e), 0);
	assert_pixel(pixels, 3, 1, 0xff0000);
	assert_int_equal(reader_picture(reader, 2, &pixels, &e), 0);
	assert_pixel(pixels, 3, 1, 0x0000ff);
	assert_int_equal(reader_picture(reader, 3, &pixels, &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_string_equal(e.msg, "picture 3 is not there");
	reader_close(reader);
}

/* Whatever byte is changed: it is said, and nothing behind it is believed. */
static void test_changed_lines(void **state)
{
	struct make make = {0};
	struct make other = {0};
	struct reader *reader;
	char *place;

	(void)state;
	make_two(&make);
	place = strstr(make.lines, "\"x\":1");
	place[4] = '7';
	reader = read_made(&make);
	assert_string_equal(reader_broken(reader), "line 5: the chain of hashes is broken: it, or a line before it, was changed");
	assert_int_equal(json_array_size(reader_lines(reader)), 4);
	assert_int_equal(reader_call(reader, 0)->n_actions, 0);
	reader_close(reader);

	make_two(&other);
	place = strchr(other.lines, '\n') + 1;
	other.lines_len -= (size_t)(place - other.lines);
	memmove(other.lines, place, other.lines_len + 1);
	{
		struct reader_parts parts = make_parts(&other);
		struct err e = {0};

		assert_int_equal(reader_read(&parts, &reader, &e), -1);
		assert_string_equal(e.msg, "this is no journal: line 1: lines before it are missing");
	}
}

/* What was being written when everything ended. */
static void test_torn_ends(void **state)
{
	struct make make = {0};
	struct reader *reader;
	const struct pixels *pixels;
	struct err e;

	(void)state;
	make_two(&make);
	make.lines_len -= 5;
	make.pictures_len -= 5;
	reader = read_made(&make);
	assert_null(reader_broken(reader));
	assert_int_equal(reader_call(reader, 1)->n_actions, 0);
	assert_int_equal(reader_picture(reader, 1, &pixels, &e), 0);
	assert_int_equal(reader_picture(reader, 2, &pixels, &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
	reader_close(reader);
}

static void assert_picture_refused(struct make *make, uint64_t number, const char *why)
{
	struct reader *reader = read_made(make);
	const struct pixels *pixels;
	struct err e = {0};

	assert_int_equal(reader_picture(reader, number, &pixels, &e), -1);
	if (!strstr(e.msg, why))
		fail_msg("%s\nhas not: %s", e.msg, why);
	reader_close(reader);
}

static void test_changed_pictures(void **state)
{
	struct make make = {0};

	(void)state;
	make_two(&make);
	make.pictures[make.pictures_len - 20] ^= 1;
	assert_picture_refused(&make, 2, "picture 2 cannot be shown: in record 2: it is not the one that the journal noted: its digest is another");
	make_two(&make);
	strstr(make.pictures, "0001020304")[0] = '1';
	assert_picture_refused(&make, 2, "in record 1: it is not the one that the journal noted");
	make_two(&make);
	memcpy(strstr(make.pictures, "\"frame\""), "\"frome\"", 7);
	assert_picture_refused(&make, 1, "at byte 0 of the pictures is no record");
}

/* Headers that say what cannot be, with a right digest. */
static void test_sizes_that_lie(void **state)
{
	struct pixels small = make_pixels(4, 4, 0x123456);
	static const struct {
		int x, y, width, height;
		bool is_key;
		const char *why;
	} cases[] = {
		{0, 0, 5, 4, true, "a keyframe must be one part, the whole picture"},
		{2, 0, 5, 4, false, "part 0 lies outside of the picture"},
		{0, 0, 5, 4, false, "it has another size than the picture before, and is no keyframe"},
		{0, 0, 100000, 4, true, "width"},
		{0, 0, 0, 4, true, "width"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct make make = {0};

		make_line(&make, "start", "{}");
		make_picture(&make, &small, 0, 0, 4, 4, true);
		make_picture(&make, &small, cases[i].x, cases[i].y, cases[i].width, cases[i].height, cases[i].is_key);
		assert_picture_refused(&make, 2, cases[i].why);
	}
	pixels_finish(&small);
}

/* A chain of pictures without a keyframe has an end, so that none takes as long as all of them. */
static void test_keyframes_come(void **state)
{
	struct pixels whole = make_pixels(4, 4, 0x123456), dot = make_pixels(1, 1, 0xffffff);
	struct make make = {0};
	struct reader *reader;
	const struct pixels *pixels;
	struct err e = {0};

	(void)state;
	for (int longer = 0; longer <= 1; longer++) {
		make_line(&make, "start", "{}");
		make_picture(&make, &whole, 0, 0, 4, 4, true);
		for (int i = 1; i < LIMIT_PICTURES_APART + longer; i++)
			make_picture(&make, &dot, 0, 0, 4, 4, false);
		if (longer) {
			assert_picture_refused(&make, LIMIT_PICTURES_APART + 1, "the last keyframe is 64 pictures before it");
			continue;
		}
		reader = read_made(&make);
		assert_int_equal(reader_picture(reader, LIMIT_PICTURES_APART, &pixels, &e), 0);
		reader_close(reader);
	}
	pixels_finish(&whole);
	pixels_finish(&dot);
}

static void test_decode_refuses(void **state)
{
	struct pixels image = make_pixels(300, 200, 0x654321), to = pixels_create(8, 8);
	size_t len;
	auto_free char *png = pixels_encode(&image, &len);
	struct err e = {0};

	(void)state;
	assert_int_equal(pixels_decode(png, len, (struct rect){0, 0, 8, 8}, &to, &e), -1);
	assert_string_equal(e.msg, "a picture cannot be read: its size is not the one in its header");
	pixels_finish(&to);
	to = pixels_create(8, 200);
	assert_int_equal(pixels_decode(png, len, (struct rect){0, 0, 8, 200}, &to, &e), -1);
	assert_string_equal(e.msg, "a picture cannot be read: its size is not the one in its header");
	assert_int_equal(pixels_decode("GIF89a", 6, (struct rect){0, 0, 8, 8}, &to, &e), -1);
	assert_string_equal(e.msg, "a picture cannot be read: it is no PNG");
	pixels_finish(&to);
	to = pixels_create(300, 200);
	assert_int_equal(pixels_decode(png, len / 2, (struct rect){0, 0, 300, 200}, &to, &e), -1);
	assert_string_equal(e.msg, "a picture cannot be read: it is damaged");
	assert_int_equal(pixels_decode(png, len, (struct rect){0, 0, 300, 200}, &to, &e), 0);
	assert_pixel(&to, 299, 199, 0x654321);
	pixels_finish(&image);
	pixels_finish(&to);
}

/* The writer's archive, as the file that it becomes. */
static struct source make_zip(const char *const *names, const char *const *contents, size_t n)
{
	char folder[] = "/tmp/test-replay-XXXXXX";
	auto_free char *path = util_printf("%s/made.zip", mkdtemp(folder));
	struct archive_writer *writer;
	struct source file;
	struct err e = {0};

	assert_int_equal(archive_writer_create(path, &writer, &e), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(archive_writer_add_bytes(writer, names[i], contents[i], strlen(contents[i]), &e), 0);
	assert_int_equal(access(path, F_OK), -1);
	if (archive_writer_finish(writer, &e) < 0)
		fail_msg("%s", e.msg);
	archive_writer_destroy(writer);
	assert_int_equal(source_of_file(open(path, O_RDONLY | O_CLOEXEC), 1 << 20, &file, &e), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	return file;
}

static void test_zip(void **state)
{
	static const char *const names[] = {"a/journal.jsonl", "empty", "ä.txt"};
	static const char *const contents[] = {"one\ntwo\n", "", "content"};
	struct source file = make_zip(names, contents, 3), entry;
	struct archive *zip;
	struct err e = {0};

	(void)state;
	assert_int_equal(archive_open(file, &zip, &e), 0);
	assert_int_equal(archive_n_entries(zip), 3);
	for (size_t i = 0; i < 3; i++) {
		auto_free char *text = NULL;

		assert_string_equal(archive_name(zip, i), names[i]);
		assert_int_equal(archive_read(zip, i, 100, &entry, &e), 0);
		assert_int_equal(source_read_all(&entry, 100, &text, &e), 0);
		assert_string_equal(text, contents[i]);
		source_finish(&entry);
	}
	assert_int_equal(archive_read(zip, 0, 7, &entry, &e), -1);
	assert_string_equal(e.msg, "a/journal.jsonl in this zip has 8 bytes; at most 7 are read");
	archive_close(zip);
}

/* In memory the content is looked at whole. */
static void test_zip_sum(void **state)
{
	static const char *const names[] = {"x"};
	static const char *const contents[] = {"content"};
	struct source file = make_zip(names, contents, 1), entry;
	char *text;
	struct archive *zip;
	struct err e = {0};

	(void)state;
	assert_int_equal(source_read_all(&file, (size_t)file.len, &text, &e), 0);
	*strstr(text + 31, "content") = 'C';
	assert_int_equal(archive_open(source_of_memory(text, (size_t)file.len), &zip, &e), 0);
	assert_int_equal(archive_read(zip, 0, 100, &entry, &e), -1);
	assert_string_equal(e.msg, "this zip cannot be read: CRC error");
	archive_close(zip);
	source_finish(&file);
}

static void assert_zip_refused(struct source file, const char *why)
{
	auto_free char *wanted = util_printf("this zip cannot be read: %s", why);
	struct archive *zip;
	struct err e = {0};

	assert_int_equal(archive_open(file, &zip, &e), -1);
	assert_string_equal(e.msg, wanted);
}

/* The archive with the bytes of `to` at `at` of the row of its directory that is `row`. */
static struct source patched(struct source file, size_t row, size_t at, const void *to, size_t len)
{
	char *text, *found;
	struct err e = {0};
	size_t n = (size_t)file.len;

	assert_int_equal(source_read_all(&file, n, &text, &e), 0);
	source_finish(&file);
	found = text;
	for (size_t i = 0; i <= row; i++)
		found = (char *)memmem(found + 1, n - (size_t)(found + 1 - text), "PK\1\2", 4);
	memcpy(found + at, to, len);
	return source_of_memory(text, n);
}

static void test_zip_refuses(void **state)
{
	static const char *const bad_names[] = {"../x", "/x", "a/../../x", "a\\b", "a//b", "./x", "a/..", ".."};
	static const char *const content[] = {"x", "y"}, *const two[] = {"x", "y"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad_names); i++)
		assert_zip_refused(make_zip(&bad_names[i], content, 1), "the name of an entry is no plain path below a folder");
	assert_zip_refused(patched(make_zip(two, content, 2), 1, 46, "x", 1), "Zip archive inconsistent");
	assert_zip_refused(source_of_memory(util_strdup("PK"), 2), "Not a zip archive");
	assert_zip_refused(source_of_memory(util_zalloc(500), 500), "Not a zip archive");
	assert_zip_refused(patched(make_zip(two, content, 2), 0, 38, "\0\0\xff\xa1", 4), "an entry is neither a file nor a folder"); /* a symlink */
	assert_zip_refused(patched(make_zip(two, content, 2), 0, 38, "\0\0\xff\x11", 4), "an entry is neither a file nor a folder"); /* a FIFO */
}

static void put_row(char **text, size_t *len, const char *name)
{
	static const char row[46] = "PK\1\2";
	char *grown = util_realloc(*text, *len + sizeof(row) + 1);

	memcpy(grown + *len, row, sizeof(row));
	grown[*len + 28] = 1;
	grown[*len + sizeof(row)] = *name;
	*text = grown;
	*len += sizeof(row) + 1;
}

static void put_number(char *to, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (char)(value >> 8 * i & 0xff);
}

/* A directory that says what would take more memory than there is: billions of entries, in the form for large archives. */
static void test_zip_of_billions(void **state)
{
	static const uint64_t counts[] = {UINT64_C(1) << 28, UINT64_C(1) << 36, UINT64_MAX / 64, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		char *text = NULL;
		size_t len = 0, rows;

		put_row(&text, &len, "x");
		rows = len;
		text = util_realloc(text, len + 56 + 20 + 22);
		memset(text + len, 0, 56 + 20 + 22);
		memcpy(text + len, "PK\6\6", 4);
		put_number(text + len + 4, 44, 8);
		put_number(text + len + 24, counts[i], 8);
		put_number(text + len + 32, counts[i], 8);
		put_number(text + len + 40, rows, 8);
		memcpy(text + len + 56, "PK\6\7", 4);
		put_number(text + len + 64, len, 8);
		put_number(text + len + 72, 1, 4);
		memcpy(text + len + 76, "PK\5\6", 4);
		memset(text + len + 84, 0xff, 12);
		assert_zip_refused(source_of_memory(text, len + 98), "Zip archive inconsistent");
	}
}

/* Each byte of a small archive set to each of some values: it is read or refused, never more. */
static void test_zip_any_byte(void **state)
{
	static const char *const names[] = {"journal.jsonl", "pictures"};
	static const char *const contents[] = {"one\n", "two"};
	static const char values[] = {0, 1, 0x7f, (char)0x80, (char)0xff};
	struct source file = make_zip(names, contents, 2);
	auto_free char *text = NULL;
	size_t len = (size_t)file.len;
	struct err e;

	(void)state;
	assert_int_equal(source_read_all(&file, len, &text, &e), 0);
	for (size_t i = 0; i < len * sizeof(values); i++) {
		char *copy = util_alloc(len + 1);
		struct archive *zip;

		memcpy(copy, text, len);
		copy[i / sizeof(values)] = values[i % sizeof(values)];
		if (archive_open(source_of_memory(copy, len), &zip, &e) < 0)
			continue;
		for (size_t k = 0; k < archive_n_entries(zip); k++) {
			struct source entry;

			if (archive_read(zip, k, 1000, &entry, &e) == 0)
				source_finish(&entry);
		}
		archive_close(zip);
	}
	source_finish(&file);
}

static void write_file(const char *folder, const char *name, const char *data, size_t len)
{
	auto_free char *path = util_printf("%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	fwrite(data, 1, len, file);
	fclose(file);
}

static void test_folder(void **state)
{
	char folder[] = "/tmp/test-replay-XXXXXX";
	struct make make = {0};
	struct reader *reader;
	struct err e = {0};
	auto_free char *fifo = NULL, *lines = NULL, *pictures = NULL, *wanted = NULL, *session = NULL;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(reader_open(folder, &reader, &e), -1);
	wanted = util_printf("\"%s\" cannot be read as a journal: its journal.jsonl cannot be read: No such file or directory", folder);
	assert_string_equal(e.msg, wanted);
	write_file(folder, "session.json", "{}", 2);
	session = util_printf("%s/session.json", folder);
	assert_int_equal(reader_open(session, &reader, &e), -1);
	assert_non_null(strstr(e.msg, "it is no zip; glovebox run plays a file of steps"));
	make_two(&make);
	write_file(folder, "journal.jsonl", make.lines, make.lines_len);
	write_file(folder, "pictures", make.pictures, make.pictures_len);
	write_file(folder, "session.json", "{", 1);
	assert_int_equal(reader_open(folder, &reader, &e), -1);
	assert_non_null(strstr(e.msg, "session.json cannot be read"));
	write_file(folder, "session.json", "{\"image\":\"other\",\"spec\":{\"image\":\"minimal\"}}", strlen("{\"image\":\"other\",\"spec\":{\"image\":\"minimal\"}}"));
	assert_int_equal(reader_open(folder, &reader, &e), 0);
	assert_string_equal(json_string_value(json_object_get(reader_start(reader), "image")), "minimal");
	assert_non_null(json_object_get(reader_start(reader), "spec"));
	assert_true(reader_has_pictures(reader));
	reader_close(reader);
	lines = util_printf("%s/journal.jsonl", folder);
	unlink(lines);
	assert_int_equal(mkfifo(lines, 0600), 0);
	assert_int_equal(reader_open(folder, &reader, &e), -1);
	assert_non_null(strstr(e.msg, "its journal.jsonl cannot be read: it is no file"));
	fifo = steal_ptr(&lines);
	unlink(fifo);
	pictures = util_printf("rm -r %s", folder);
	assert_int_equal(system(pictures), 0);
	free(make.lines);
	free(make.pictures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls), cmocka_unit_test(test_old_journal), cmocka_unit_test(test_pictures_in_any_order),
		cmocka_unit_test(test_changed_lines), cmocka_unit_test(test_torn_ends), cmocka_unit_test(test_changed_pictures),
		cmocka_unit_test(test_sizes_that_lie), cmocka_unit_test(test_keyframes_come), cmocka_unit_test(test_decode_refuses), cmocka_unit_test(test_zip),
		cmocka_unit_test(test_zip_sum), cmocka_unit_test(test_zip_refuses), cmocka_unit_test(test_zip_of_billions), cmocka_unit_test(test_zip_any_byte), cmocka_unit_test(test_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
