/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of a session's files: what a request says, for its stage, and the bytes either way. */
#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/calls.h"
#include "session/front/metrics.h"
#include "session/front/request.h"

#define FIRST_SEGMENT 4 /* of "/v1/sessions/{id}/files/{path}" */
#define SHOWN_MAX 80

/* What a parameter may be. */
static const struct {
	const char *name;
	const char *values[2];
} parameters[] = {{"format", {"tar"}}, {"parents", {"true", "false"}}, {"recursive", {"true", "false"}}};

static int check_parameters(const json_t *query, struct err *e)
{
	char shown[SHOWN_MAX], path[40];

	for (size_t i = 0; i < ARRAY_LEN(parameters); i++) {
		const char *value = json_string_value(json_object_get(query, parameters[i].name)), *other = parameters[i].values[1];

		if (!value || strcmp(value, parameters[i].values[0]) == 0 || (other && strcmp(value, other) == 0))
			continue;
		(void)snprintf(path, sizeof(path), "/%s", parameters[i].name);
		return err_set(e, ERR_BAD_FIELD, path, "%s is not allowed here: it must be %s%s%s", err_quote(shown, sizeof(shown), value, strlen(value)),
		               parameters[i].values[0], other ? " or " : "", other ? other : "");
	}
	return 0;
}

/* A header that is no text is none that a stage heeds. */
static void pass_header(json_t *query, const char *name, const char *value)
{
	if (value)
		(void)json_object_set_new(query, name, json_string(value));
}

static int read_body(void *arg, const bool *over, char *out, size_t max, size_t *n, struct err *e)
{
	return request_body_read(arg, over, out, max, n, e);
}

/* An answer before the end of what was sent is a refusal like the front's own: whoever reads the rest of that must be able to say it. */
static int refuse_early(struct stage_reply *reply, struct err *e)
{
	enum err_code code = err_from_wire(form_string(stage_reply_counts(reply), "refused", ""));
	int64_t left = stage_reply_left(reply);
	auto_free char *text = left > 0 ? stage_reply_take(reply) : NULL;
	json_auto_t *problem = NULL;
	struct err unread;

	stage_reply_finish(reply);
	if (text)
		(void)json_parse(text, (size_t)left, &problem, &unread);
	if (code == ERR_NONE)
		return err_set(e, ERR_SESSION_FAILED, NULL, "the session's answer is not understood");
	return err_set(e, code, form_string(problem, "pointer", NULL), "%s", form_string(problem, "detail", "the session takes no more of it"));
}

static int relay(struct request *request, const char *name, bool has_body, struct err *e)
{
	json_t *query = request->target.query;
	auto_free char *path = target_path_from(&request->target, FIRST_SEGMENT);
	const struct stage_call call = {
		.name = name, .role = role_name(request->who.role), .token = request->who.name, .request_id = request->id, .query = query, .is_long = true,
		.read = has_body ? read_body : NULL, .wake = &request->body_changed, .arg = request, .last_ms = LIMIT_FILE_SCAN_MS,
	};
	struct stage_reply *reply;

	if (check_parameters(query, e) < 0)
		return -1;
	(void)json_object_set_new(query, "path", json_string(path));
	if (calls_ask_stage(request->session, &call, true, LIMIT_CALL_DEFAULT_MS + LIMIT_FILE_SCAN_MS, &reply, e) < 0)
		return -1;
	if (has_body && !request->came)
		return refuse_early(reply, e);
	metrics_of_stage(request->front->metrics, stage_reply_counts(reply));
	reply_relay(&request->reply, reply);
	return 0;
}

int api_get_file(struct request *request, struct err *e)
{
	json_t *query = request->target.query;

	if (accept_names_tar(&request->head.accept))
		(void)json_object_set_new(query, "format", json_string("tar"));
	/* Ranges are of GET alone (RFC 9110, 14.2). */
	pass_header(query, "range", request->is_head ? NULL : request->head.range);
	pass_header(query, "if_range", request->head.if_range);
	pass_header(query, "if_none_match", request->head.if_none_match);
	pass_header(query, "head", request->is_head ? "true" : NULL);
	return relay(request, "file_get", false, e);
}

int api_put_file(struct request *request, struct err *e)
{
	json_t *query = request->target.query;

	if (head_is_tar(&request->head))
		(void)json_object_set_new(query, "format", json_string("tar"));
	if (!request->head.chunked)
		(void)json_object_set_new(query, "length", json_sprintf("%llu", (unsigned long long)request->head.length));
	return relay(request, "file_put", true, e);
}

int api_drop_file(struct request *request, struct err *e)
{
	return relay(request, "file_drop", false, e);
}
