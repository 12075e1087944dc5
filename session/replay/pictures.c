/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Composing the pictures of a journal. */
#include "session/replay/pictures.h"

#include <jansson.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/hash.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define SALT_BYTES 16
#define DIGEST_HEX (2 * HASH_BYTES)

struct record {
	uint64_t at;          /* of its header */
	uint32_t header_len;  /* without the newline */
	uint32_t png_len;     /* of all parts */
	bool is_key, noted;
	uint8_t digest[HASH_BYTES]; /* as the journal's lines have it, if noted */
};

struct replay_pictures {
	const struct source *file;
	char *broken;           /* or NULL */
	struct record *records; /* number N at N - 1 */
	size_t n_records;
	uint64_t key; /* the last keyframe of them */
	struct pixels shown;
	uint64_t number; /* that is shown; 0: none */
};

/* All of what a record's header may have. */
static const struct field part_fields[] = {
	{"x", FIELD_INT, true, 0, LIMIT_SIDE_MAX_PX - 1, NULL, NULL, "px", NULL, ""},
	{"y", FIELD_INT, true, 0, LIMIT_SIDE_MAX_PX - 1, NULL, NULL, "px", NULL, ""},
	{"width", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, ""},
	{"height", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, ""},
	{"bytes", FIELD_INT, true, 1, LIMIT_PICTURE_BYTES, NULL, NULL, "bytes", NULL, ""},
};
static const struct form part_form = {part_fields, ARRAY_LEN(part_fields), NULL};
static const struct field header_fields[] = {
	{"picture", FIELD_INT, true, 1, LIMIT_FRAME, NULL, NULL, NULL, NULL, ""},
	{"frame", FIELD_INT, true, 0, LIMIT_FRAME, NULL, NULL, NULL, NULL, ""},
	{"base", FIELD_ANY, true, 0, 0, NULL, NULL, NULL, NULL, ""},
	{"width", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, ""},
	{"height", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, ""},
	{"salt", FIELD_STRING, true, 2 * SALT_BYTES, 2 * SALT_BYTES, NULL, NULL, NULL, NULL, ""},
	{"parts", FIELD_LIST, true, 1, LIMIT_CHANGED, NULL, &part_form, NULL, NULL, ""},
};
static const struct form header_form = {header_fields, ARRAY_LEN(header_fields), NULL};

static struct rect part_rect(const json_t *part)
{
	return (struct rect){(int)form_int(part, "x", 0), (int)form_int(part, "y", 0), (int)form_int(part, "width", 0),
	                     (int)form_int(part, "height", 0)};
}

/* What the rows cannot say: the parts lie inside, and a keyframe is one part that is all. */
static int check_parts(const json_t *header, bool is_key, struct err *e)
{
	int width = (int)form_int(header, "width", 0), height = (int)form_int(header, "height", 0);
	const json_t *parts = json_object_get(header, "parts"), *part;
	size_t i;

	json_array_foreach(parts, i, part) {
		struct rect rect = part_rect(part);

		if (rect.x + rect.width > width || rect.y + rect.height > height)
			return err_set(e, ERR_BAD_REQUEST, NULL, "part %zu lies outside of the picture", i);
		if (is_key && (json_array_size(parts) != 1 || rect.width != width || rect.height != height))
			return err_set(e, ERR_BAD_REQUEST, NULL, "a keyframe must be one part, the whole picture");
	}
	return 0;
}

static int check_header(const json_t *header, uint64_t number, struct err *e)
{
	const json_t *base = json_object_get(header, "base");

	if (form_check(&header_form, header, "", NULL, e) < 0)
		return -1;
	if ((uint64_t)form_int(header, "picture", 0) != number)
		return err_set(e, ERR_BAD_REQUEST, NULL, "its number is %ld; %ju comes next", form_int(header, "picture", 0), (uintmax_t)number);
	if (!json_is_null(base) && (number == 1 || !json_is_integer(base) || (uint64_t)json_integer_value(base) != number - 1))
		return err_set(e, ERR_BAD_REQUEST, NULL, "its base must be null or the picture before");
	return check_parts(header, json_is_null(base), e);
}

static int read_header(const struct replay_pictures *pictures, const struct record *record, json_t **header, struct err *e)
{
	char text[LIMIT_PICTURE_HEADER_BYTES];

	if (source_read(pictures->file, record->at, text, record->header_len, e) < 0)
		return -1;
	return json_parse(text, record->header_len, header, e);
}

static uint32_t sum_parts(const json_t *header)
{
	const json_t *part;
	uint32_t sum = 0;
	size_t i;

	json_array_foreach(json_object_get(header, "parts"), i, part)
		sum += (uint32_t)form_int(part, "bytes", 0);
	return sum;
}

/* The record at `at`; *whole is false when the file ends within it. */
static int find_record(const struct replay_pictures *pictures, uint64_t at, struct record *record, bool *whole, struct err *e)
{
	char text[LIMIT_PICTURE_HEADER_BYTES];
	size_t n = (size_t)MIN((uint64_t)sizeof(text), pictures->file->len - at);
	json_auto_t *header = NULL;
	const char *end;

	if (source_read(pictures->file, at, text, n, e) < 0)
		return -1;
	end = memchr(text, '\n', n);
	*whole = end;
	if (!end)
		return n < sizeof(text) ? 0 : err_set(e, ERR_BAD_REQUEST, NULL, "its header has more than %d bytes", LIMIT_PICTURE_HEADER_BYTES);
	*record = (struct record){.at = at, .header_len = (uint32_t)(end - text)};
	if (json_parse(text, record->header_len, &header, e) < 0 || check_header(header, pictures->n_records + 1, e) < 0)
		return -1;
	record->png_len = sum_parts(header);
	record->is_key = json_is_null(json_object_get(header, "base"));
	/* Else one picture could take as long as all of them. */
	if (!record->is_key && pictures->n_records + 1 - pictures->key >= LIMIT_PICTURES_APART)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the last keyframe is %d pictures before it", LIMIT_PICTURES_APART);
	*whole = record->png_len <= pictures->file->len - at - record->header_len - 1;
	return 0;
}

static void find_records(struct replay_pictures *pictures)
{
	size_t room = 0;

	for (uint64_t at = 0; at < pictures->file->len;) {
		struct record record = {0};
		struct err why = {0};
		bool whole;

		if (find_record(pictures, at, &record, &whole, &why) < 0) {
			pictures->broken = util_printf("at byte %ju of the pictures is no record: %s%s%s", (uintmax_t)at, why.path, *why.path ? ": " : "", why.msg);
			return;
		}
		if (!whole)
			return;
		if (pictures->n_records == room) {
			room = room ? 2 * room : 64;
			pictures->records = util_realloc(pictures->records, room * sizeof(record));
		}
		pictures->records[pictures->n_records++] = record;
		if (record.is_key)
			pictures->key = pictures->n_records;
		at += (uint64_t)record.header_len + 1 + record.png_len;
	}
}

struct replay_pictures *replay_pictures_open(const struct source *file)
{
	struct replay_pictures *pictures = util_zalloc(sizeof(*pictures));

	pictures->file = file;
	find_records(pictures);
	return pictures;
}

const char *replay_pictures_broken(const struct replay_pictures *pictures)
{
	return pictures->broken;
}

void replay_pictures_close(struct replay_pictures *pictures)
{
	if (!pictures)
		return;
	pixels_finish(&pictures->shown);
	free(pictures->broken);
	free(pictures->records);
	free(pictures);
}

size_t replay_pictures_n(const struct replay_pictures *pictures)
{
	return pictures->n_records;
}

void replay_pictures_note(struct replay_pictures *pictures, uint64_t number, const char *digest)
{
	if (number >= 1 && number <= pictures->n_records)
		pictures->records[number - 1].noted = hash_from_hex(digest, pictures->records[number - 1].digest);
}

static int from_hex(const char *hex, uint8_t *out, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		const char *high = strchr(digits, hex[2 * i]), *low = strchr(digits, hex[2 * i + 1]);

		if (!high || !low)
			return -1;
		out[i] = (uint8_t)((high - digits) << 4 | (low - digits));
	}
	return 0;
}

/* Salt, header and parts, in one piece: the digest is over them. *png is where the parts begin. */
static int check_digest(const struct replay_pictures *pictures, const struct record *record, const json_t *header, char **out, size_t *png,
                        struct err *e)
{
	size_t len = SALT_BYTES + record->header_len + record->png_len;
	auto_free char *bytes = util_alloc(len + 1);
	uint8_t digest[HASH_BYTES];

	if (!record->noted)
		return err_set(e, ERR_BAD_REQUEST, NULL, "no line of the journal tells its digest");
	if (from_hex(json_string_value(json_object_get(header, "salt")), (uint8_t *)bytes, SALT_BYTES) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "its salt is not hexadecimal");
	*png = SALT_BYTES + record->header_len;
	if (source_read(pictures->file, record->at, bytes + SALT_BYTES, record->header_len, e) < 0 ||
	    source_read(pictures->file, record->at + record->header_len + 1, bytes + *png, record->png_len, e) < 0)
		return -1;
	hash_sha256(bytes, len, digest);
	if (!hash_same(digest, record->digest))
		return err_set(e, ERR_BAD_REQUEST, NULL, "it is not the one that the journal noted: its digest is another");
	*out = steal_ptr(&bytes);
	return 0;
}

static int draw_parts(struct replay_pictures *pictures, const json_t *header, const char *png, struct err *e)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(header, "parts"), i, part) {
		size_t bytes = (size_t)form_int(part, "bytes", 0);

		if (pixels_decode(png, bytes, part_rect(part), &pictures->shown, e) < 0)
			return -1;
		png += bytes;
	}
	return 0;
}

/* Draws one record over what is shown. */
static int draw(struct replay_pictures *pictures, const struct record *record, struct err *e)
{
	json_auto_t *header = NULL;
	auto_free char *bytes = NULL;
	size_t png = 0;
	int width, height;

	if (read_header(pictures, record, &header, e) < 0 || check_digest(pictures, record, header, &bytes, &png, e) < 0)
		return -1;
	width = (int)form_int(header, "width", 0);
	height = (int)form_int(header, "height", 0);
	if (record->is_key) {
		pixels_finish(&pictures->shown);
		pictures->shown = pixels_create(width, height);
	}
	if (width != pictures->shown.width || height != pictures->shown.height)
		return err_set(e, ERR_BAD_REQUEST, NULL, "it has another size than the picture before, and is no keyframe");
	return draw_parts(pictures, header, bytes + png, e);
}

/* The first record to be drawn for `number`: the one after what is shown, or its keyframe. */
static uint64_t first_to_draw(const struct replay_pictures *pictures, uint64_t number)
{
	uint64_t first = number;

	while (first > 1 && !pictures->records[first - 1].is_key && first - 1 != pictures->number)
		first--;
	return first;
}

int replay_pictures_get(struct replay_pictures *pictures, uint64_t number, const struct pixels **out, struct err *e)
{
	struct err why = {0};

	if (number < 1 || number > pictures->n_records)
		return err_set(e, ERR_NOT_FOUND, NULL, "picture %ju is not there%s%s", (uintmax_t)number, pictures->broken ? ": " : "",
		               pictures->broken ? pictures->broken : "");
	if (number != pictures->number) {
		for (uint64_t at = first_to_draw(pictures, number); at <= number; at++) {
			pictures->number = 0;
			if (draw(pictures, &pictures->records[at - 1], &why) < 0)
				return err_set(e, ERR_BAD_REQUEST, NULL, "picture %ju cannot be shown: in record %ju: %s", (uintmax_t)number, (uintmax_t)at,
				               why.msg);
			pictures->number = at;
		}
	}
	*out = &pictures->shown;
	return 0;
}
