/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tools of MCP that are commands in the jail: any, and those that read and write a file. What a script is told is in its arguments, never in
 * its text. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>

#include "session/base/base64.h"
#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/dialects/mcp.h"
#include "session/mcp/forms.h"
#include "session/mcp/result.h"

#define COMMAND_MS 30000      /* of exec, unless its timeout_ms says another */
#define TURN_MS 60000         /* and waiting for a turn before it */
#define READ_BYTES 65536      /* of a text, unless its length says another */
#define PIECE_BYTES (180 * 1024) /* of a picture: in base64 it has room in LIMIT_EXEC_OUTPUT_BYTES */
#define PICTURE_PIECES 14     /* a whole picture: 2.5 MB */
#define SAID_MAX 500

/* --- a command --- */

/* An act of these commands; `timeout_ms` is for all of them. */
static json_t *act_of(json_t *actions, long timeout_ms)
{
	return json_pack("{s:o,s:I}", "actions", actions, "timeout_ms", (json_int_t)MIN(timeout_ms + TURN_MS, LIMIT_CALL_MS));
}

int mcp_command_ask(const json_t *arguments, json_t **act, struct err *e)
{
	json_auto_t *asked = json_copy((json_t *)(uintptr_t)arguments);
	const json_t *argv = json_object_get(asked, "argv"), *command = json_object_get(asked, "command");

	if (argv)
		(void)json_object_set_new(asked, "argv", mcp_unwrap(argv));
	if (form_check(&mcp_command_form, asked, "", NULL, e) < 0)
		return -1;
	if (!argv == !command)
		return err_set(e, ERR_BAD_FIELD, "/command", "give either command, a line for sh, or argv, a program with its arguments");
	if (command)
		(void)json_object_set_new(asked, "argv", json_pack("[s,s,O]", "sh", "-c", (json_t *)(uintptr_t)command));
	(void)json_object_del(asked, "command");
	(void)json_object_set_new(asked, "action", json_string("exec"));
	*act = act_of(json_pack("[O]", asked), form_int(asked, "timeout_ms", COMMAND_MS));
	return 0;
}

json_t *mcp_command_answer(const json_t *arguments, const json_t *reply)
{
	static const char *const members[] = {"exit_code", "signal", "stdout", "stderr", "timed_out", "truncated", "limits"};
	const json_t *result = json_array_get(json_object_get(reply, "results"), 0);
	json_t *failure = mcp_failure(result), *out;

	(void)arguments;
	if (failure)
		return failure;
	out = json_object();
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		json_t *value = json_object_get(result, members[i]);

		if (value && !json_is_null(value))
			(void)json_object_set(out, members[i], value);
	}
	return result_of(out);
}

/* Why a script of ours gave up, in its own words; NULL when it did not. */
static json_t *script_failure(const json_t *result, const char *path)
{
	json_t *failure = mcp_failure(result);
	const char *said = form_string(result, "stderr", "");
	size_t len = strnlen(said, SAID_MAX);
	auto_free char *text = NULL;
	char shown[120];

	if (failure || form_int(result, "exit_code", -1) == 0)
		return failure;
	len = util_utf8_prefix(said, len);
	while (len > 0 && said[len - 1] == '\n')
		len--;
	text = util_printf("%s: %.*s", err_quote(shown, sizeof(shown), path, strlen(path)), (int)len, len > 0 ? said : "it cannot be done");
	return result_of_failure(text);
}

/* --- reading --- */

/* $1 file, $2 where to begin (from 1), $3 how much: its size on a line, then that part in base64. */
static const char read_script[] =
	"f=$1; say() { echo \"$1\" >&2; exit 1; }\n"
	"[ -e \"$f\" ] || say 'there is no such file'; [ -d \"$f\" ] && say 'it is a folder'; [ -f \"$f\" ] || say 'it is no plain file'\n"
	"[ -r \"$f\" ] || say 'it may not be read'\n"
	"s=$(stat -Lc %s -- \"$f\") || exit 1\n"
	"echo \"$s\"; [ \"$2\" -gt 1 ] && [ \"$2\" -gt \"$s\" ] && [ \"$s\" -gt 0 ] && exit 0\n"
	"exec <\"$f\"; tail -c \"+$2\" | head -c \"$3\" | base64 -w0";

static bool names_picture(const char *path)
{
	static const char *const ends[] = {".png", ".jpg", ".jpeg", ".gif", ".webp"};
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (len >= strlen(ends[i]) && strcasecmp(path + len - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

static json_t *read_action(const char *path, json_int_t offset, json_int_t length)
{
	return json_pack("{s:s,s:[s,s,s,s,s,o,o]}", "action", "exec", "argv", "sh", "-c", read_script, "sh", path,
	                 json_sprintf("%" JSON_INTEGER_FORMAT, offset + 1), json_sprintf("%" JSON_INTEGER_FORMAT, length));
}

int mcp_read_ask(const json_t *arguments, json_t **act, struct err *e)
{
	json_t *actions;
	const char *path;

	if (form_check(&mcp_read_form, arguments, "", NULL, e) < 0)
		return -1;
	path = form_string(arguments, "path", "");
	actions = json_array();
	if (names_picture(path))
		for (int i = 0; i < PICTURE_PIECES; i++)
			(void)json_array_append_new(actions, read_action(path, (json_int_t)i * PIECE_BYTES, PIECE_BYTES));
	else
		(void)json_array_append_new(actions, read_action(path, form_int(arguments, "offset", 0), form_int(arguments, "length", READ_BYTES)));
	*act = act_of(actions, COMMAND_MS);
	return 0;
}

/* What was read of a file. */
struct part {
	uint8_t *data; /* malloced */
	size_t len;
	json_int_t size, offset;
};

/* One piece, which must be the script's; -1 if it is not. */
static int add_piece(struct part *part, const json_t *result)
{
	const char *text = form_string(result, "stdout", ""), *line = strchr(text, '\n');
	long long size;
	size_t n;
	auto_free void *bytes = line ? base64_decode(line + 1, strlen(line + 1), &n) : NULL;

	if (!bytes || sscanf(text, "%lld", &size) != 1)
		return -1;
	part->size = size;
	part->data = util_realloc(part->data, part->len + n + 1);
	memcpy(part->data + part->len, bytes, n);
	part->len += n;
	return 0;
}

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

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (part->len >= kinds[i].at + kinds[i].len && memcmp(part->data + kinds[i].at, kinds[i].start, kinds[i].len) == 0)
			return kinds[i].type;
	return NULL;
}

/* A part of a text may begin and end within a character. */
static void trim(struct part *part)
{
	size_t skip = 0, whole;

	while (part->offset > 0 && skip < 3 && skip < part->len && (part->data[skip] & 0xC0) == 0x80)
		skip++;
	memmove(part->data, part->data + skip, part->len - skip);
	part->len -= skip;
	part->offset += (json_int_t)skip;
	whole = util_utf8_prefix((const char *)part->data, part->len);
	if (part->len - whole <= 3 && part->offset + (json_int_t)part->len < part->size)
		part->len = whole;
}

static bool is_text(const struct part *part)
{
	return !memchr(part->data, '\0', part->len) && util_utf8_valid((const char *)part->data, part->len);
}

/* "file://…" with what a URI does not take percent-encoded. Malloced. */
static char *uri_of(const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
	char *uri = util_alloc(3 * strlen(path) + sizeof("file:///home/user/"));
	size_t len = (size_t)sprintf(uri, "file://%s", path[0] == '/' ? "" : "/home/user/");

	for (; *path; path++) {
		if (strchr(plain, *path))
			uri[len++] = *path;
		else
			len += (size_t)sprintf(uri + len, "%%%02X", (unsigned char)*path);
	}
	uri[len] = '\0';
	return uri;
}

static void add_bytes(json_t *content, const char *path, const char *type, const struct part *part)
{
	auto_free char *data = base64_encode(part->data, part->len, NULL);
	auto_free char *uri = uri_of(path);

	if (strncmp(type, "image/", 6) == 0)
		(void)json_array_append_new(content, result_image(type, json_string_nocheck(data)));
	else
		(void)json_array_append_new(content, json_pack("{s:s,s:{s:s,s:s,s:s}}", "type", "resource", "resource", "uri", uri, "mimeType", type,
		                                               "blob", data));
}

static json_t *tell_part(const char *path, struct part *part)
{
	bool whole = part->offset == 0 && (json_int_t)part->len >= part->size;
	const char *type = whole ? picture_type(part) : NULL;
	json_t *out, *result;

	if (!type)
		trim(part);
	if (!type)
		type = is_text(part) ? "text/plain" : "application/octet-stream";
	out = json_pack("{s:s,s:I,s:I,s:I,s:s}", "path", path, "size", part->size, "offset", part->offset, "length", (json_int_t)part->len,
	                "media_type", type);
	if (strcmp(type, "text/plain") == 0) {
		(void)json_object_set_new(out, "text", json_stringn((const char *)part->data, part->len));
		return result_of(out);
	}
	result = result_of(out);
	add_bytes(json_object_get(result, "content"), path, type, part);
	return result;
}

/* What is asked for as a picture and is none, or is not whole, is told as the part that was asked for. */
static void cut(struct part *part, const json_t *arguments)
{
	json_int_t offset = MIN((json_int_t)part->len, form_int(arguments, "offset", 0));
	size_t length = (size_t)form_int(arguments, "length", READ_BYTES);

	memmove(part->data, part->data + offset, part->len - (size_t)offset);
	part->len = MIN(part->len - (size_t)offset, length);
	part->offset = offset;
}

json_t *mcp_read_answer(const json_t *arguments, const json_t *reply)
{
	const char *path = form_string(arguments, "path", "");
	struct part part = {.offset = form_int(arguments, "offset", 0), .data = util_zalloc(1)};
	const json_t *result;
	json_t *out = NULL;
	size_t i;

	json_array_foreach(json_object_get(reply, "results"), i, result) {
		out = script_failure(result, path);
		if (!out && add_piece(&part, result) < 0)
			out = result_of_failure("what was read is not understood");
		if (out)
			break;
	}
	if (!out && names_picture(path)) {
		part.offset = 0;
		if (!picture_type(&part) || (json_int_t)part.len < part.size)
			cut(&part, arguments);
	}
	if (!out)
		out = tell_part(path, &part);
	free(part.data);
	return out;
}

/* --- writing --- */

/* $1 file, $2 how its content comes on standard input. It is written beside its place and then takes it; a link is followed, and the rights of a
 * file that was there stay. Says how many bytes it has. */
static const char write_script[] =
	"f=$1; say() { echo \"$1\" >&2; exit 1; }\n"
	"[ -L \"$f\" ] && f=$(readlink -f -- \"$f\"); [ -d \"$f\" ] && say 'it is a folder'\n"
	"[ -e \"$f\" ] && [ ! -f \"$f\" ] && say 'it is no plain file'; [ -e \"$f\" ] && [ ! -w \"$f\" ] && say 'it may not be written'\n"
	"d=$(dirname -- \"$f\"); [ -d \"$d\" ] || say 'its folder is not there'\n"
	"t=$(mktemp -p \"$d\" .glovebox.XXXXXXXX 2>/dev/null) || say 'its folder may not be written'\n"
	"trap 'rm -f -- \"$t\"' EXIT\n"
	"if [ \"$2\" = base64 ]; then base64 -d >\"$t\"; else cat >\"$t\"; fi || exit 1\n"
	"if [ -e \"$f\" ]; then chmod --reference=\"$f\" -- \"$t\"; else chmod =rw -- \"$t\"; fi || exit 1\n"
	"s=$(stat -c %s -- \"$t\") && mv -fT -- \"$t\" \"$f\" && echo \"$s\"";

int mcp_write_ask(const json_t *arguments, json_t **act, struct err *e)
{
	const json_t *content;
	const char *encoding;
	size_t n;

	if (form_check(&mcp_write_form, arguments, "", NULL, e) < 0)
		return -1;
	content = json_object_get(arguments, "content");
	encoding = form_string(arguments, "encoding", "text");
	if (strcmp(encoding, "base64") == 0) {
		auto_free void *bytes = base64_decode(json_string_value(content), json_string_length(content), &n);

		if (!bytes)
			return err_set(e, ERR_BAD_FIELD, "/content", "the content is not base64, as encoding says");
	}
	*act = act_of(json_pack("[{s:s,s:[s,s,s,s,O,s],s:O}]", "action", "exec", "argv", "sh", "-c", write_script, "sh",
	                        json_object_get(arguments, "path"), encoding, "stdin", (json_t *)(uintptr_t)content),
	              COMMAND_MS);
	return 0;
}

json_t *mcp_write_answer(const json_t *arguments, const json_t *reply)
{
	const json_t *result = json_array_get(json_object_get(reply, "results"), 0);
	const char *path = form_string(arguments, "path", "");
	json_t *failure = script_failure(result, path);
	long long size = 0;

	if (failure)
		return failure;
	if (sscanf(form_string(result, "stdout", ""), "%lld", &size) != 1)
		return result_of_failure("what was written is not understood");
	return result_of(json_pack("{s:s,s:I}", "path", path, "size", (json_int_t)size));
}

/* --- a folder --- */

/* $1 folder, $2 how many entries: "KIND SIZE NAME" and a NUL for each, in base64. */
static const char folder_script[] =
	"f=$1; say() { echo \"$1\" >&2; exit 1; }\n"
	"case $f in /*) ;; *) f=./$f;; esac\n"
	"[ -e \"$f\" ] || say 'there is no such folder'; [ -d \"$f\" ] || say 'it is no folder'; [ -r \"$f\" ] && [ -x \"$f\" ] || say 'it may not be read'\n"
	"find -H \"$f\" -mindepth 1 -maxdepth 1 -printf '%y %s %f\\0' | LC_ALL=C sort -z -k3 | head -z -n \"$2\" | base64 -w0";

int mcp_folder_ask(const json_t *arguments, json_t **act, struct err *e)
{
	if (form_check(&mcp_folder_form, arguments, "", NULL, e) < 0)
		return -1;
	*act = act_of(json_pack("[{s:s,s:[s,s,s,s,s,o]}]", "action", "exec", "argv", "sh", "-c", folder_script, "sh", form_string(arguments, "path", "."),
	                        json_sprintf("%d", LIMIT_MCP_ENTRIES + 1)), COMMAND_MS);
	return 0;
}

static const char *kind_of(char sign)
{
	return sign == 'f' ? "file" : sign == 'd' ? "folder" : sign == 'l' ? "link" : "other";
}

/* What is no entry of the script's, or has a name that is no text, is left out. */
static json_t *read_entries(const char *text, size_t len)
{
	const char *end = text + len;
	json_t *list = json_array();

	while (text < end) {
		size_t n = strnlen(text, (size_t)(end - text));
		const char *name;
		long long size = 0;
		int at = 0;

		/* A name may begin with blanks: one of them is the separator's. */
		if (n < (size_t)(end - text) && sscanf(text, "%*c %lld%n", &size, &at) == 1 && at > 0 && text[at] == ' ' && *(name = text + at + 1) &&
		    util_utf8_valid(name, strlen(name)))
			(void)json_array_append_new(list, json_pack("{s:s,s:s,s:I}", "name", name, "type", kind_of(text[0]), "size", (json_int_t)MAX(size, 0)));
		text += n + 1;
	}
	return list;
}

json_t *mcp_folder_answer(const json_t *arguments, const json_t *reply)
{
	const json_t *result = json_array_get(json_object_get(reply, "results"), 0);
	const char *path = form_string(arguments, "path", "."), *said = form_string(result, "stdout", "");
	json_t *failure = script_failure(result, path), *list;
	bool more;
	size_t n;
	auto_free char *text = failure ? NULL : base64_decode(said, strlen(said), &n);

	if (failure)
		return failure;
	if (!text)
		return result_of_failure("what was listed is not understood");
	list = read_entries(text, n);
	more = json_array_size(list) > LIMIT_MCP_ENTRIES;
	while (json_array_size(list) > LIMIT_MCP_ENTRIES)
		(void)json_array_remove(list, LIMIT_MCP_ENTRIES);
	return result_of(json_pack("{s:s,s:o,s:b}", "path", path, "entries", list, "more", more));
}
