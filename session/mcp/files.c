/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths as models write them, and files as models read them. */
#include "session/mcp/files.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>

#include "session/base/base64.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/mcp/result.h"

#define HOME "/home/user/"
#define READ_BYTES 65536 /* of a text, unless its length says another */
#define TEXT "text/plain"

/* --- paths --- */

char *mcp_files_path(const json_t *arguments)
{
	const char *asked = form_string(arguments, "path", ".");
	bool is_home = asked[0] == '~' && (asked[1] == '/' || !asked[1]);
	char *path = util_printf("%s%s", asked[0] == '/' ? "" : HOME, is_home ? asked + 1 : asked);

	util_tidy_path(path);
	return path;
}

/* "file://…" with what a URI does not take percent-encoded. Malloced. */
static char *uri_of(const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
	char *uri = util_alloc(3 * strlen(path) + sizeof("file://"));
	size_t len = (size_t)sprintf(uri, "file://");

	for (; *path; path++) {
		if (strchr(plain, *path))
			uri[len++] = *path;
		else
			len += (size_t)sprintf(uri + len, "%%%02X", (unsigned char)*path);
	}
	uri[len] = '\0';
	return uri;
}

/* --- reading --- */

static bool names_picture(const char *path)
{
	static const char *const ends[] = {".png", ".jpg", ".jpeg", ".gif", ".webp"};
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (len >= strlen(ends[i]) && strcasecmp(path + len - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

static struct mcp_window asked_window(const json_t *arguments)
{
	return (struct mcp_window){form_int(arguments, "offset", 0), form_int(arguments, "length", READ_BYTES)};
}

struct mcp_window mcp_files_window(const json_t *arguments)
{
	struct mcp_window asked = asked_window(arguments);

	if (names_picture(form_string(arguments, "path", "")) && asked.offset <= LIMIT_MCP_PICTURE_BYTES - asked.length)
		return (struct mcp_window){0, LIMIT_MCP_PICTURE_BYTES};
	return asked;
}

/* What was read of a file. */
struct part {
	uint8_t *data;
	size_t len;
	int64_t size, offset;
};

static const char *picture_type(const struct part *part)
{
	static const struct {
		const char *type, *start;
		size_t len, at;
	} kinds[] = {
		{"image/png", "\x89PNG\r\n\x1a\n", 8, 0},
		{"image/jpeg", "\xff\xd8\xff", 3, 0},
		{"image/gif", "GIF8", 4, 0},
		{"image/webp", "WEBP", 4, 8},
	};

	if (part->offset > 0 || (int64_t)part->len < part->size)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (part->len >= kinds[i].at + kinds[i].len && memcmp(part->data + kinds[i].at, kinds[i].start, kinds[i].len) == 0)
			return kinds[i].type;
	return NULL;
}

/* What was read as a picture and is none, or is not whole, is told as the part that was asked for. */
static void cut(struct part *part, struct mcp_window asked)
{
	size_t skip = MIN(part->len, (size_t)(asked.offset - part->offset));

	part->data += skip;
	part->len = MIN(part->len - skip, (size_t)asked.length);
	part->offset += (int64_t)skip;
}

/* A part of a text may begin and end within a character. */
static void trim(struct part *part)
{
	size_t skip = 0, whole;

	while (part->offset > 0 && skip < 3 && skip < part->len && (part->data[skip] & 0xC0) == 0x80)
		skip++;
	part->data += skip;
	part->len -= skip;
	part->offset += (int64_t)skip;
	whole = util_utf8_prefix((const char *)part->data, part->len);
	if (part->len - whole <= 3 && part->offset + (int64_t)part->len < part->size)
		part->len = whole;
}

static bool is_text(const struct part *part)
{
	return !memchr(part->data, '\0', part->len) && util_utf8_valid((const char *)part->data, part->len);
}

static json_t *block_of(const json_t *arguments, const char *type, const struct part *part)
{
	auto_free char *data = base64_encode(part->data, part->len, NULL);
	auto_free char *path = mcp_files_path(arguments);
	auto_free char *uri = uri_of(path);

	if (strncmp(type, "image/", 6) == 0)
		return result_image(type, json_string_nocheck(data));
	return json_pack("{s:s,s:{s:s,s:s,s:s}}", "type", "resource", "resource", "uri", uri, "mimeType", type, "blob", data);
}

json_t *mcp_files_read(const json_t *arguments, uint8_t *data, size_t len, int64_t size)
{
	struct part part = {.data = data, .len = len, .size = size, .offset = MIN(mcp_files_window(arguments).offset, size)};
	const char *type = picture_type(&part);
	json_t *out, *result;

	if (!type) {
		cut(&part, asked_window(arguments));
		trim(&part);
		type = is_text(&part) ? TEXT : "application/octet-stream";
	}
	out = json_pack("{s:s,s:I,s:I,s:I,s:b,s:s}", "path", form_string(arguments, "path", ""), "size", (json_int_t)size, "offset", (json_int_t)part.offset, "length",
	                (json_int_t)part.len, "more", part.offset + (int64_t)part.len < size, "media_type", type);
	if (strcmp(type, TEXT) == 0) {
		(void)json_object_set_new(out, "text", json_stringn((const char *)part.data, part.len));
		return result_of(out);
	}
	result = result_of(out);
	(void)json_array_append_new(json_object_get(result, "content"), block_of(arguments, type, &part));
	return result;
}

/* --- the others --- */

json_t *mcp_files_written(const json_t *arguments, const json_t *reply)
{
	return result_of(json_pack("{s:s,s:I}", "path", form_string(arguments, "path", ""), "size", (json_int_t)form_int(reply, "bytes", 0)));
}

json_t *mcp_files_listed(const json_t *arguments, const json_t *reply)
{
	static const char *const members[] = {"name", "type", "size"};
	json_t *list = json_array(), *out;
	const json_t *entry, *unnamed = json_object_get(reply, "not_utf8");
	size_t i;

	json_array_foreach(json_object_get(reply, "entries"), i, entry) {
		json_t *told = json_object();

		for (size_t m = 0; m < ARRAY_LEN(members); m++)
			(void)json_object_set(told, members[m], json_object_get(entry, members[m]));
		(void)json_array_append_new(list, told);
	}
	out = json_pack("{s:s,s:o,s:b}", "path", form_string(arguments, "path", "."), "entries", list, "more", form_bool(reply, "more", false));
	if (unnamed)
		(void)json_object_set(out, "not_utf8", (json_t *)(uintptr_t)unnamed);
	return result_of(out);
}
