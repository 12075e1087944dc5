/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading tar strictly, as it comes. */
#include "session/base/tar.h"

#include <stdio.h>
#include <string.h>

#include "session/base/tar_places.h"
#include "session/base/util.h"

#define MORE_MAX (64 * 1024)             /* content of a header that belongs to the next entry */
#define SIZE_MAX_BYTES (UINT64_C(1) << 40) /* of one file: no session has so much */
#define MTIME_MAX INT64_C(253402300799)  /* the year 9999 */

enum state { IN_HEAD, IN_MORE, IN_DATA, IN_PADDING, AT_END };

static int bad(struct tar_reader *reader, struct err *e, const char *rule)
{
	char shown[200];
	const char *name = reader->entry.name;

	if (!*name)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the archive is refused: %s", rule);
	return err_set(e, ERR_BAD_REQUEST, NULL, "the archive is refused at %s: %s", err_quote(shown, sizeof(shown), name, strlen(name)), rule);
}

/* --- names --- */

const char *tar_name_fault(const char *name, size_t len)
{
	size_t depth = 0;

	if (len >= TAR_NAME_SIZE)
		return "a name is too long";
	if (!util_utf8_valid(name, len))
		return "a name is not UTF-8";
	for (const char *at = name; ; at++) {
		size_t part = strcspn(at, "/");

		if (part == 0)
			return at == name ? "a name is absolute or empty" : "a name has an empty segment";
		if (part > TAR_PART_BYTES)
			return "a segment of a name has more than 255 bytes";
		if ((part == 1 && at[0] == '.') || (part == 2 && at[0] == '.' && at[1] == '.'))
			return "a name has a segment . or ..";
		if (++depth > TAR_DEPTH)
			return "a name has more than 64 segments";
		at += part;
		if (!*at)
			return at == name + len ? NULL : "a name has a NUL";
	}
}

const char *tar_target_fault(const char *name, const char *target)
{
	size_t depth = 0;

	for (const char *at = name; *at; at++)
		depth += *at == '/';
	while (strncmp(target, "..", 2) == 0 && (target[2] == '/' || !target[2])) {
		if (depth-- == 0)
			return "a link leads out of the folder";
		target += target[2] ? 3 : 2;
	}
	if (!*target)
		return NULL; /* a folder above it */
	return tar_name_fault(target, strlen(target)) ? "a link is not relative, with .. at its beginning alone" : NULL;
}

/* "./a/b/" is "a/b". */
static void strip(char *name)
{
	size_t skip = 0, len;

	while (name[skip] == '.' && name[skip + 1] == '/')
		skip += 2;
	if (skip > 0 && name[skip] == '/')
		return; /* an empty segment: refused */
	memmove(name, name + skip, strlen(name + skip) + 1);
	len = strlen(name);
	if (len > 1 && name[len - 1] == '/')
		name[len - 1] = '\0';
	if (strcmp(name, ".") == 0)
		name[0] = '\0';
}

/* --- numbers --- */

/* Octal digits between blanks and NULs, or the binary form of GNU. */
static int read_number(const unsigned char *field, size_t len, uint64_t *out)
{
	uint64_t value = 0;
	size_t i = 0;

	if (field[0] & 0x80) {
		value = field[0] & 0x7F;
		for (i = 1; i < len; i++) {
			if (value >> 48)
				return -1;
			value = value << 8 | field[i];
		}
		*out = value;
		return 0;
	}
	while (i < len && field[i] == ' ')
		i++;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	for (; i < len; i++)
		if (field[i] != ' ' && field[i] != '\0')
			return -1;
	*out = value;
	return 0;
}

static bool has_checksum(const unsigned char *block)
{
	uint64_t said, sum = 0;

	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= CHECKSUM && i < KIND ? ' ' : block[i];
	return read_number(block + CHECKSUM, KIND - CHECKSUM, &said) == 0 && said == sum;
}

/* --- headers that belong to the next entry --- */

static int read_digits(const char *text, size_t len, uint64_t *out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || value > SIZE_MAX_BYTES)
			return -1;
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	*out = value;
	return len > 0 ? 0 : -1;
}

static int take_text(char out[TAR_NAME_SIZE], const char *text, size_t len)
{
	if (len == 0 || len >= TAR_NAME_SIZE || memchr(text, '\0', len))
		return -1;
	memcpy(out, text, len);
	out[len] = '\0';
	return 0;
}

/* One record of pax: what is not known changes nothing of what is unpacked, but for a file with holes. */
static const char *take_record(struct tar_reader *reader, const char *key, size_t key_len, const char *value, size_t len)
{
	const char *point = memchr(value, '.', len);
	uint64_t number;

#define IS(text) (key_len == strlen(text) && memcmp(key, (text), key_len) == 0)
	if (IS("path"))
		return take_text(reader->name, value, len) < 0 ? "a name of pax is not allowed" : NULL;
	if (IS("linkpath"))
		return take_text(reader->target, value, len) < 0 ? "a link of pax is not allowed" : NULL;
	if (IS("size")) {
		reader->has_size = true;
		return read_digits(value, len, &reader->size) < 0 ? "a size of pax is no number" : NULL;
	}
	if (IS("mtime") && len > 0 && value[0] != '-') {
		if (read_digits(value, point ? (size_t)(point - value) : len, &number) < 0)
			return "a time of pax is no number";
		reader->has_mtime = true;
		reader->mtime_s = (int64_t)number;
	}
#undef IS
	return key_len >= 10 && memcmp(key, "GNU.sparse", 10) == 0 ? "files with holes are not taken" : NULL;
}

/* What some heed for all entries that follow, and others do not. */
static bool is_for_one(const char *key, size_t key_len)
{
	static const char *const keys[] = {"path", "linkpath", "size"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (key_len == strlen(keys[i]) && memcmp(key, keys[i], key_len) == 0)
			return true;
	return false;
}

/* "LENGTH KEY=VALUE\n" again and again. */
static const char *take_records(struct tar_reader *reader)
{
	const char *at = reader->more, *end = at + reader->more_len;

	while (at < end) {
		const char *blank = memchr(at, ' ', (size_t)(end - at)), *equals;
		uint64_t len;

		if (!blank || read_digits(at, (size_t)(blank - at), &len) < 0 || len > (uint64_t)(end - at) || at + len <= blank + 1 || at[len - 1] != '\n')
			return "a record of pax is malformed";
		equals = memchr(blank + 1, '=', (size_t)(at + len - 1 - (blank + 1)));
		if (!equals)
			return "a record of pax is malformed";
		if (reader->more_kind == 'x') {
			const char *why = take_record(reader, blank + 1, (size_t)(equals - blank - 1), equals + 1, (size_t)(at + len - 1 - (equals + 1)));

			if (why)
				return why;
		} else if (is_for_one(blank + 1, (size_t)(equals - blank - 1))) {
			return "a name or size of pax is for all entries";
		}
		at += len;
	}
	return NULL;
}

/* A long name of GNU, with its NUL. */
static const char *take_long(struct tar_reader *reader, char out[TAR_NAME_SIZE])
{
	size_t len = strnlen(reader->more, reader->more_len);

	return take_text(out, reader->more, len) < 0 ? "a long name is not allowed" : NULL;
}

static int end_more(struct tar_reader *reader, struct err *e)
{
	const char *why;

	if (reader->more_kind == 'L')
		why = take_long(reader, reader->name);
	else if (reader->more_kind == 'K')
		why = take_long(reader, reader->target);
	else
		why = take_records(reader);
	return why ? bad(reader, e, why) : 0;
}

/* --- an entry --- */

static void copy_field(char *out, const unsigned char *field, size_t len)
{
	size_t n = strnlen((const char *)field, len);

	memcpy(out, field, n);
	out[n] = '\0';
}

static void read_name(const struct tar_reader *reader, const unsigned char *block, char out[TAR_NAME_SIZE])
{
	bool has_prefix = block[MAGIC + 5] == '\0' && block[PREFIX];
	size_t n = 0;

	if (*reader->name) {
		memcpy(out, reader->name, TAR_NAME_SIZE);
		return;
	}
	if (has_prefix) {
		copy_field(out, block + PREFIX, PREFIX_END - PREFIX);
		n = strlen(out);
		out[n++] = '/';
	}
	copy_field(out + n, block + NAME, MODE - NAME);
}

static const char *read_entry(struct tar_reader *reader, const unsigned char *block)
{
	struct tar_entry *entry = &reader->entry;
	uint64_t mode, size, mtime;
	const char *why;

	read_name(reader, block, entry->name);
	if (entry->kind != TAR_FOLDER && *entry->name && entry->name[strlen(entry->name) - 1] == '/')
		return "a file or link ends in a slash"; /* to some it is a folder */
	strip(entry->name);
	if (read_number(block + MODE, 8, &mode) < 0 || read_number(block + SIZE, 12, &size) < 0 || read_number(block + MTIME, 12, &mtime) < 0)
		return "a number of its header is malformed";
	entry->mode = (unsigned int)(mode & 0777);
	entry->size = reader->has_size ? reader->size : size;
	entry->mtime_s = reader->has_mtime ? reader->mtime_s : mtime > MTIME_MAX ? 0 : (int64_t)mtime;
	entry->target[0] = '\0';
	if (*reader->target)
		memcpy(entry->target, reader->target, TAR_NAME_SIZE);
	else
		copy_field(entry->target, block + TARGET, MAGIC - TARGET);
	why = *entry->name ? tar_name_fault(entry->name, strlen(entry->name)) : NULL;
	if (why)
		return why;
	if (entry->size > SIZE_MAX_BYTES)
		return "a file is too large";
	return entry->kind != TAR_FILE && entry->size > 0 ? "a folder or link has content" : NULL;
}

static const char *read_kind(struct tar_reader *reader, char kind)
{
	struct tar_entry *entry = &reader->entry;

	if (kind == '0' || kind == '\0')
		entry->kind = TAR_FILE;
	else if (kind == '5')
		entry->kind = TAR_FOLDER;
	else if (kind == '2')
		entry->kind = TAR_LINK;
	else if (kind == '1')
		return "hard links are not taken";
	else
		return "only files, folders and symbolic links are taken";
	return NULL;
}

static const char *check_entry(const struct tar_entry *entry)
{
	if (!*entry->name && entry->kind != TAR_FOLDER)
		return "a name is empty";
	if (entry->kind != TAR_LINK)
		return NULL;
	return *entry->target ? tar_target_fault(entry->name, entry->target) : "a link leads nowhere";
}

static void begin_content(struct tar_reader *reader, uint64_t size, enum state state)
{
	reader->left = size;
	reader->padding = tar_padding(size);
	reader->state = size > 0 ? (int)state : IN_HEAD;
}

static int begin_more(struct tar_reader *reader, const unsigned char *block, struct err *e)
{
	uint64_t size;

	reader->more_kind = (char)block[KIND];
	if (read_number(block + SIZE, 12, &size) < 0 || size == 0 || size > MORE_MAX)
		return bad(reader, e, "a header of names is malformed or too long");
	free(reader->more);
	reader->more = util_alloc((size_t)size + 1);
	reader->more_len = 0;
	begin_content(reader, size, IN_MORE);
	return 0;
}

static int take_head(struct tar_reader *reader, struct err *e)
{
	const unsigned char *block = reader->block;
	const char *why;

	if (memcmp(block + MAGIC, "ustar", 5) != 0 || (block[MAGIC + 5] != '\0' && block[MAGIC + 5] != ' ') || !has_checksum(block))
		return bad(reader, e, "this is no header of tar");
	if (block[KIND] && strchr("xgLK", block[KIND]))
		return begin_more(reader, block, e);
	why = read_kind(reader, (char)block[KIND]);
	read_name(reader, block, reader->entry.name);
	if (!why)
		why = read_entry(reader, block);
	if (!why)
		why = check_entry(&reader->entry);
	if (why)
		return bad(reader, e, why);
	reader->name[0] = reader->target[0] = '\0';
	reader->has_size = reader->has_mtime = false;
	reader->n_entries++;
	begin_content(reader, reader->entry.size, IN_DATA);
	return reader->ops.entry ? reader->ops.entry(reader->ops.arg, &reader->entry, e) : 0;
}

static bool is_zero(const unsigned char *block)
{
	for (size_t i = 0; i < TAR_BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

/* A whole block where a header is expected. Zeros end it; behind them there may be more of these. */
static int take_block(struct tar_reader *reader, struct err *e)
{
	if (is_zero(reader->block)) {
		if (*reader->name || *reader->target || reader->has_size)
			return bad(reader, e, "it ends behind a header of names");
		reader->state = ++reader->n_zero >= 2 ? AT_END : IN_HEAD;
		return 0;
	}
	if (reader->n_zero > 0)
		return bad(reader, e, "something stands behind its end");
	return take_head(reader, e);
}

/* --- as it comes --- */

void tar_reader_init(struct tar_reader *reader, const struct tar_ops *ops)
{
	*reader = (struct tar_reader){.ops = *ops, .state = IN_HEAD};
}

void tar_reader_finish(struct tar_reader *reader)
{
	free(reader->more);
	reader->more = NULL;
}

/* Takes n bytes of the content. */
static int take_content(struct tar_reader *reader, const unsigned char *data, size_t n, struct err *e)
{
	if (reader->state == IN_MORE) {
		memcpy(reader->more + reader->more_len, data, n);
		reader->more_len += n;
	} else if (reader->state == IN_DATA && reader->ops.data && reader->ops.data(reader->ops.arg, data, n, e) < 0) {
		return -1;
	}
	reader->left -= n;
	if (reader->left > 0)
		return 0;
	if (reader->state == IN_MORE && end_more(reader, e) < 0)
		return -1;
	if (reader->state != IN_PADDING && reader->padding > 0) {
		reader->left = reader->padding;
		reader->state = IN_PADDING;
	} else {
		reader->state = IN_HEAD;
	}
	return 0;
}

int tar_reader_feed(struct tar_reader *reader, const void *data, size_t len, struct err *e)
{
	const unsigned char *at = data;

	while (len > 0) {
		bool in_block = reader->state == IN_HEAD || reader->state == AT_END;
		uint64_t room = in_block ? TAR_BLOCK - reader->n_block : reader->left;
		size_t n = room < len ? (size_t)room : len;

		if (in_block) {
			memcpy(reader->block + reader->n_block, at, n);
			reader->n_block += n;
			if (reader->n_block == TAR_BLOCK) {
				reader->n_block = 0;
				if (take_block(reader, e) < 0)
					return -1;
			}
		} else if (take_content(reader, at, n, e) < 0) {
			return -1;
		}
		at += n;
		len -= n;
	}
	return 0;
}

int tar_reader_end(struct tar_reader *reader, struct err *e)
{
	bool is_whole = reader->state == AT_END && reader->n_block == 0;

	reader->entry.name[0] = '\0';
	return is_whole ? 0 : bad(reader, e, "it ends in the middle");
}
