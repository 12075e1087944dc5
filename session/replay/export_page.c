/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A journal with a page (page.h) that shows it, pictures beside it. */
#include <stdio.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/export_pictures.h"
#include "session/replay/page.h"

/* Where the page lies beside its pictures: on a server that is 'self', in a folder it is file:. */
PAGE(page, "export", "'self' file:");

#define OTHER_ENTRIES 8

/* --- the page --- */

static void put_data(const void *arg, FILE *to)
{
	page_put_json(arg, to);
}

static const struct page_mark marks[] = {{"{{DATA}}", put_data}};

/* The page with its data; malloced. */
static char *make_page(const json_t *data, size_t *len)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, len);

	if (!to)
		DIE("no memory for a page");
	page_write(&page, marks, ARRAY_LEN(marks), data, to);
	if (fclose(to) != 0)
		DIE("no memory for a page");
	return text;
}

/* --- pictures --- */

/* A bit for each number. */
struct numbers {
	uint8_t *bits;
	uint64_t max;
};

static void note_number(struct numbers *numbers, const json_t *step, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(step, name));

	if (n > 0 && (uint64_t)n <= numbers->max)
		numbers->bits[n / 8] |= (uint8_t)(1 << n % 8);
}

/* Those that the steps name, of the first `max`. */
static struct numbers find_numbers(const json_t *steps, uint64_t max)
{
	struct numbers numbers = {.bits = util_zalloc(max / 8 + 1), .max = max};
	const json_t *step;
	size_t i;

	json_array_foreach(steps, i, step) {
		note_number(&numbers, step, "before");
		note_number(&numbers, step, "after");
	}
	return numbers;
}

static uint64_t highest(const json_t *steps)
{
	const json_t *step;
	json_int_t max = 0;
	size_t i;

	json_array_foreach(steps, i, step) {
		json_int_t before = json_integer_value(json_object_get(step, "before")), after = json_integer_value(json_object_get(step, "after"));

		max = before > max ? before : max;
		max = after > max ? after : max;
	}
	return max > LIMIT_FILE_BYTES ? LIMIT_FILE_BYTES : (uint64_t)max;
}

/* Each as a file; the numbers of those that cannot be shown go into `missing`. */
static int add_pictures(struct reader *reader, const char *folder, struct archive_writer *zip, const json_t *steps, json_t *missing,
                        struct export_count *count, struct err *e)
{
	struct numbers numbers = find_numbers(steps, highest(steps));
	struct export_png png = {.number = 0};
	int rc = 0;

	for (uint64_t n = 1; n <= numbers.max && rc == 0; n++) {
		auto_free char *name = util_printf("png/%06ju.png", (uintmax_t)n);

		if (!(numbers.bits[n / 8] & 1 << n % 8))
			continue;
		if (!export_png_make(&png, reader, n)) {
			json_array_append_new(missing, json_integer((json_int_t)n));
			count->n_missing++;
			continue;
		}
		if (++count->n_pictures > LIMIT_ZIP_ENTRIES - OTHER_ENTRIES)
			rc = err_set(e, ERR_TOO_LARGE, NULL, "the journal has more than %d pictures, which is more than an archive holds",
			             LIMIT_ZIP_ENTRIES - OTHER_ENTRIES);
		else
			rc = export_add(zip, folder, name, png.data, png.len, e);
	}
	export_png_finish(&png);
	free(numbers.bits);
	return rc;
}

/* --- the archive --- */

static int add_source(struct archive_writer *zip, const char *folder, const char *rest, const struct source *source, struct err *e)
{
	auto_free char *name = util_printf("%s/%s", folder, rest);

	return source->len > 0 ? archive_writer_add(zip, name, source, e) : 0;
}

static int add_session(const struct reader *reader, const char *folder, struct archive_writer *zip, struct err *e)
{
	json_auto_t *document = NULL;
	auto_free char *text = NULL;

	if (reader_parts(reader)->session.len > 0)
		return add_source(zip, folder, "session.json", &reader_parts(reader)->session, e);
	document = reader_session(reader_start(reader));
	text = json_dumps(document, JSON_INDENT(2));
	if (!text)
		DIE("no memory for session.json");
	return export_add(zip, folder, "session.json", text, strlen(text), e);
}

/* What the page says above the steps. */
static json_t *head_of(const struct reader *reader, json_t *missing)
{
	static const char *const of_start[] = {"session", "time", "version", "image", "image_hash", "native", "space", "guard"};
	json_t *head = json_pack("{s:O,s:I,s:s*}", "missing", missing, "calls", (json_int_t)reader_n_calls(reader), "broken", reader_broken(reader));

	for (size_t i = 0; i < ARRAY_LEN(of_start); i++)
		if (json_object_get(reader_start(reader), of_start[i]))
			json_object_set(head, of_start[i], json_object_get(reader_start(reader), of_start[i]));
	if (reader_end(reader)) {
		json_object_set(head, "end", json_object_get(reader_end(reader), "reason"));
		json_object_set(head, "ended_at", json_object_get(reader_end(reader), "time"));
	}
	return head;
}

int export_page(struct reader *reader, const char *name, struct archive_writer *zip, struct export_count *count, struct err *e)
{
	json_auto_t *steps = export_steps(reader), *missing = json_array();
	auto_free char *text = NULL;
	size_t len;

	*count = (struct export_count){.n_steps = json_array_size(steps)};
	if (add_session(reader, name, zip, e) < 0 || add_source(zip, name, "journal.jsonl", &reader_parts(reader)->lines, e) < 0 ||
	    add_source(zip, name, "pictures", &reader_parts(reader)->pictures, e) < 0 ||
	    add_pictures(reader, name, zip, steps, missing, count, e) < 0)
		return -1;
	json_auto_t *data = json_pack("{s:o,s:O}", "head", head_of(reader, missing), "steps", steps);

	text = make_page(data, &len);
	return export_add(zip, name, "index.html", text, len, e);
}
