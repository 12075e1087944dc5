/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tools for files, as a table: what is asked of the stage, and the result of what it says. */
#include "session/front/mcp_files.h"

#include <inttypes.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/base64.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/calls.h"
#include "session/mcp/files.h"

/* What a file is to have. */
struct content {
	const char *bytes; /* borrowed, or `decoded` */
	size_t len, at;
	void *decoded;     /* malloced, or NULL */
};

/* --- what is asked: members of the query beside the path --- */

static int ask_read(const json_t *arguments, json_t *query, struct content *content, struct err *e)
{
	struct mcp_window window = mcp_files_window(arguments);

	(void)content;
	(void)e;
	(void)json_object_set_new(query, "kind", json_string("file"));
	(void)json_object_set_new(query, "from", json_sprintf("%" PRId64, window.offset));
	(void)json_object_set_new(query, "most", json_sprintf("%" PRId64, window.length));
	return 0;
}

static int ask_list(const json_t *arguments, json_t *query, struct content *content, struct err *e)
{
	(void)arguments;
	(void)content;
	(void)e;
	(void)json_object_set_new(query, "kind", json_string("folder"));
	(void)json_object_set_new(query, "most", json_sprintf("%d", LIMIT_MCP_ENTRIES));
	return 0;
}

static int ask_write(const json_t *arguments, json_t *query, struct content *content, struct err *e)
{
	const json_t *text = json_object_get(arguments, "content");

	*content = (struct content){.bytes = json_string_value(text), .len = json_string_length(text)};
	if (strcmp(form_string(arguments, "encoding", "text"), "base64") == 0) {
		content->decoded = base64_decode(content->bytes, content->len, &content->len);
		content->bytes = content->decoded;
	}
	if (!content->bytes)
		return err_set(e, ERR_BAD_FIELD, "/content", "the content is not base64, as encoding says");
	(void)json_object_set_new(query, "length", json_sprintf("%zu", content->len));
	if (form_bool(arguments, "parents", false))
		(void)json_object_set_new(query, "parents", json_string("true"));
	return 0;
}

static int next_piece(void *arg, const bool *over, char *out, size_t max, size_t *n, struct err *e)
{
	struct content *content = arg;

	(void)over;
	(void)e;
	*n = MIN(max, content->len - content->at);
	if (*n > 0)
		memcpy(out, content->bytes + content->at, *n);
	content->at += *n;
	return 0;
}

/* --- what is answered --- */

/* A file says its size beside its bytes. */
static json_t *tell_file(const json_t *arguments, struct stage_reply *reply)
{
	const char *size = form_string(stage_reply_headers(reply), "Glovebox-Size", NULL);
	int64_t len = stage_reply_left(reply);
	auto_free char *bytes = len > 0 ? stage_reply_take(reply) : util_strdup("");

	return size && len >= 0 ? mcp_files_read(arguments, (uint8_t *)bytes, (size_t)len, strtoll(size, NULL, 10)) : NULL;
}

static json_t *tell_object(const json_t *arguments, struct stage_reply *reply, json_t *(*tell)(const json_t *arguments, const json_t *reply))
{
	int64_t len = stage_reply_left(reply);
	auto_free char *text = len > 0 ? stage_reply_take(reply) : NULL;
	json_auto_t *object = NULL;
	struct err e;

	if (!text || json_parse(text, (size_t)len, &object, &e) < 0 || !json_is_object(object))
		return NULL;
	return tell(arguments, object);
}

/* --- the tools --- */

static const struct row {
	const char *tool, *call;
	int (*ask)(const json_t *arguments, json_t *query, struct content *content, struct err *e);
	json_t *(*tell)(const json_t *arguments, const json_t *reply); /* NULL: it answers with a file */
	bool has_body;
} rows[] = {
	{"read_file", "file_get", ask_read, NULL, false},
	{"write_file", "file_put", ask_write, mcp_files_written, true},
	{"list_files", "file_get", ask_list, mcp_files_listed, false},
};

static const struct row *row_of(const struct mcp_run *run)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].tool, run->tool->name) == 0)
			return &rows[i];
	DIE("the tool %s has nothing that runs it", run->tool->name);
}

int mcp_files_ask(struct mcp_run *run, struct stage_reply **reply, struct err *e)
{
	const struct row *row = row_of(run);
	auto_free char *path = mcp_files_path(run->arguments);
	json_auto_t *query = json_pack("{s:s}", "path", path);
	struct content content = {.len = 0};
	const struct stage_call call = {
		.name = row->call, .role = role_name(run->who.role), .token = run->who.name, .request_id = run->request_id, .query = query, .is_whole = true,
		.read = row->has_body ? next_piece : NULL, .arg = &content, .last_ms = LIMIT_FILE_SCAN_MS,
	};
	int rc = row->ask(run->arguments, query, &content, e);

	if (rc == 0)
		rc = calls_ask_stage(run->about, &call, true, LIMIT_CALL_DEFAULT_MS + LIMIT_FILE_SCAN_MS, reply, e);
	free(content.decoded);
	return rc;
}

json_t *mcp_files_answer(const struct mcp_run *run, struct stage_reply *reply)
{
	const struct row *row = row_of(run);

	return row->tell ? tell_object(run->arguments, reply, row->tell) : tell_file(run->arguments, reply);
}
