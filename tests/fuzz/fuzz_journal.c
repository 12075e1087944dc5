/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/replay */
/* longest: 3072 */
/*
 * Journals as they are read to be replayed. The input is a zip, or else lines, a line "--", and pictures. Whatever it is, it is read or refused with a
 * reason; a picture that is shown has a size that may be.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "session/base/chain.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/export.h"
#include "session/replay/plan.h"
#include "session/replay/title.h"
#include "session/replay/archive.h"

static char *copy_of(const uint8_t *data, size_t size)
{
	char *copy = util_alloc(size + 1);

	if (size > 0)
		memcpy(copy, data, size);
	copy[size] = '\0';
	return copy;
}

static void try_pictures(struct reader *reader)
{
	for (uint64_t number = 0; number < 6; number++) {
		const struct pixels *pixels;
		struct err e = {.code = ERR_NONE};

		if (reader_picture(reader, number, &pixels, &e) < 0) {
			if (e.code == ERR_NONE || !*e.msg)
				DIE("a refused picture says nothing");
		} else if (pixels->width < 1 || pixels->height < 1 || pixels->width > LIMIT_SIDE_MAX_PX || pixels->height > LIMIT_SIDE_MAX_PX) {
			DIE("a picture of %dx%d", pixels->width, pixels->height);
		}
	}
}

static void try_reader(struct reader *reader)
{
	const struct plan_given given = {.env = NULL};
	struct plan plan;
	struct err e = {.code = ERR_NONE};

	try_pictures(reader);
	json_decref(export_steps(reader));
	if (plan_make(reader, &given, true, &plan, &e) == 0) {
		for (size_t i = 0; i < plan.n_steps; i++)
			if (!util_utf8_valid(plan.steps[i].title, strlen(plan.steps[i].title)) || strlen(plan.steps[i].title) >= TITLE_MAX)
				DIE("a title is not one");
		plan_finish(&plan);
	} else if (e.code == ERR_NONE || !*e.msg) {
		DIE("a refused journal says nothing");
	}
	reader_close(reader);
}

/* Lines that are good but for their chain get one: else no input would come past it. */
static char *chain_lines(const char *text, size_t len, size_t *out_len)
{
	struct chain chain = {0}, next;
	char *out = util_alloc(1);

	*out_len = 0;
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		json_auto_t *fields = json_loadb(text + at, n, 0, NULL);
		const char *event = json_string_value(json_object_get(fields, "event"));
		auto_free char *chained = NULL;

		at += n + 1;
		if (!event)
			continue;
		json_object_del(fields, "hash");
		json_object_set_new(fields, "seq", json_integer((json_int_t)chain.seq + 1));
		chained = chain_text(&chain, fields, &next);
		chain = next;
		out = util_realloc(out, *out_len + strlen(chained) + 1);
		memcpy(out + *out_len, chained, strlen(chained) + 1);
		*out_len += strlen(chained);
	}
	return out;
}

static void try_parts(char *lines, size_t lines_len, const uint8_t *pictures, size_t pictures_len)
{
	struct reader_parts parts = {source_of_memory(lines, lines_len), source_of_memory(copy_of(pictures, pictures_len), pictures_len), source_none()};
	struct reader *reader;
	struct err e = {.code = ERR_NONE};

	if (reader_read(&parts, &reader, &e) == 0)
		try_reader(reader);
	else if (e.code == ERR_NONE || !*e.msg)
		DIE("a refused journal says nothing");
}

static void try_zip(const uint8_t *data, size_t size)
{
	struct archive *zip;
	struct err e = {.code = ERR_NONE};

	if (archive_open(source_of_memory(copy_of(data, size), size), &zip, &e) < 0)
		return;
	for (size_t i = 0; i < archive_n_entries(zip); i++) {
		struct source entry;

		if (archive_read(zip, i, 1024 * 1024, &entry, &e) == 0)
			source_finish(&entry);
	}
	archive_close(zip);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *mark = size > 0 ? memmem(data, size, "\n--\n", 4) : NULL;
	size_t lines_len = mark ? (size_t)(mark - data) + 1 : size, chained_len;
	const uint8_t *pictures = mark ? mark + 4 : data + size;
	char *chained;

	try_zip(data, size);
	try_parts(copy_of(data, lines_len), lines_len, pictures, (size_t)(data + size - pictures));
	chained = chain_lines((const char *)data, lines_len, &chained_len);
	try_parts(chained, chained_len, pictures, (size_t)(data + size - pictures));
	return 0;
}
