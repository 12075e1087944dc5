/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replies and their headers. */
#include "session/front/reply.h"

#include <string.h>

#include "session/base/handshake.h"
#include "session/base/json_text.h"
#include "session/base/problem.h"
#include "session/base/util.h"
#include "session/front/upgrade.h"

#define STREAM_BLOCK_BYTES (32 * 1024)

struct header {
	const char *name, *value;
};

static const struct header common_headers[] = {
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
};

/* What an answer of the API may do in a browser: nothing. */
static const char api_policy[] = "default-src 'none'; frame-ancestors 'none'; sandbox";
/* data: is for noVNC, which decodes pictures and draws the pointer that way. */
static const char page_policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
				  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

static void clear(struct reply *reply)
{
	bool must_close = reply->must_close;

	reply_finish(reply);
	reply->must_close = must_close;
}

void reply_json(struct reply *reply, int status, json_t *taken)
{
	size_t len;
	char *body = json_text(taken, &len);

	json_decref(taken);
	clear(reply);
	reply->status = status;
	reply->type = "application/json";
	reply->body = body;
	reply->len = len;
}

void reply_empty(struct reply *reply, int status)
{
	clear(reply);
	reply->status = status;
	reply->text = "";
}

void reply_text(struct reply *reply, const char *type, const char *text, size_t len)
{
	clear(reply);
	reply->status = 200;
	reply->type = type;
	reply->text = text;
	reply->len = len;
}

void reply_text_taken(struct reply *reply, const char *type, char *taken, size_t len)
{
	clear(reply);
	reply->status = 200;
	reply->type = type;
	reply->body = taken;
	reply->len = len;
}

void reply_file(struct reply *reply, const char *type, int fd, size_t len)
{
	clear(reply);
	reply->status = 200;
	reply->type = type;
	reply->file_fd = fd;
	reply->has_file = true;
	reply->len = len;
}

void reply_refusal(struct reply *reply, const struct faults *faults, const char *request_id)
{
	enum err_code code = faults->list[0].code;
	const struct err_info *info = err_info(code);
	json_auto_t *problem = problem_of_faults(faults, request_id);
	size_t len;
	char *body = json_text(problem, &len);
	json_t *headers = json_incref(reply->headers);

	clear(reply);
	reply->headers = headers;
	reply->status = info->status;
	reply->type = PROBLEM_MEDIA_TYPE;
	reply->body = body;
	reply->len = len;
	if (code == ERR_UNAUTHORIZED)
		reply_header(reply, "WWW-Authenticate", "Bearer");
	if (code == ERR_UPGRADE) {
		reply_header(reply, "Upgrade", "websocket");
		reply_header(reply, "Sec-WebSocket-Version", UPGRADE_VERSION);
	}
	if (strcmp(info->fix, "later") == 0)
		reply_header(reply, "Retry-After", PROBLEM_RETRY_AFTER_S);
}

void reply_relay(struct reply *reply, struct stage_reply *stream)
{
	const json_t *headers = stage_reply_headers(stream);
	const char *name;
	json_t *value;

	clear(reply);
	reply->status = stage_reply_status(stream);
	reply->type = stage_reply_type(stream);
	reply->stream = stream;
	reply->stream_len = stage_reply_length(stream) > 0 ? stage_reply_length(stream) : 0;
	json_object_foreach((json_t *)(uintptr_t)headers, name, value)
		reply_header(reply, name, json_string_value(value));
	if (reply->status == 304)
		return;
	if (strcmp(reply->type, "application/octet-stream") == 0 || strcmp(reply->type, "application/x-tar") == 0)
		reply_header(reply, "Content-Disposition", "attachment");
}

void reply_flow(struct reply *reply, const char *type, struct flow *flow)
{
	clear(reply);
	reply->status = 200;
	reply->type = type;
	reply->flow = flow;
	reply->is_endless = true;
}

void reply_websocket(struct reply *reply, const char *key, const char *protocol, MHD_UpgradeHandler handler, int fd)
{
	char accept[HANDSHAKE_ACCEPT_SIZE];

	clear(reply);
	handshake_accept(key, accept);
	reply->status = 101;
	reply->upgrade = handler;
	reply->upgrade_fd = fd;
	reply_header(reply, "Upgrade", "websocket");
	reply_header(reply, "Sec-WebSocket-Accept", accept);
	reply_header(reply, "Sec-WebSocket-Protocol", protocol);
}

bool reply_comes(const struct reply *reply)
{
	return reply->stream || reply->flow;
}

enum stage_read reply_read(struct reply *reply, char *out, size_t max, size_t *n)
{
	return reply->flow ? flow_read(reply->flow, out, max, n) : stage_reply_read(reply->stream, out, max, n);
}

void reply_watch(struct reply *reply, loop_timer_fn *fn, void *arg)
{
	if (reply->flow)
		flow_watch(reply->flow, fn, arg);
	else
		stage_reply_watch(reply->stream, fn, arg);
}

void reply_header(struct reply *reply, const char *name, const char *value)
{
	if (!reply->headers)
		reply->headers = json_object();
	(void)json_object_set_new(reply->headers, name, json_string(value));
}

/* The whole rest of a stream's body, when it is here. */
static void take_rest(struct reply *reply)
{
	int64_t left = stage_reply_left(reply->stream);

	/* Of a HEAD there is none, but its length; what is not whole breaks off. */
	if (left < 0 || (reply->stream_len > 0 && left != reply->stream_len))
		return;
	reply->len = (size_t)left;
	reply->body = stage_reply_take(reply->stream);
	reply->text = "";
	stage_reply_finish(reply->stream);
	reply->stream = NULL;
}

static struct MHD_Response *build_body(struct reply *reply, MHD_ContentReaderCallback read, void *arg)
{
	void *text;

	if (reply->stream)
		take_rest(reply);
	if (reply->upgrade)
		return MHD_create_response_for_upgrade(reply->upgrade, arg);
	if (reply_comes(reply))
		return MHD_create_response_from_callback(reply->stream_len > 0 ? (uint64_t)reply->stream_len : MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read, arg, NULL);
	if (reply->has_file) {
		reply->has_file = false;
		return MHD_create_response_from_fd64(reply->len, reply->file_fd);
	}
	if (reply->body)
		return MHD_create_response_from_buffer_with_free_callback(reply->len, steal_ptr(&reply->body), free);
	/* libmicrohttpd does not write there, but its type cannot say so. */
	memcpy(&text, &reply->text, sizeof(text));
	return MHD_create_response_from_buffer(reply->len, text, MHD_RESPMEM_PERSISTENT);
}

static void add(struct MHD_Response *response, const char *name, const char *value)
{
	if (MHD_add_response_header(response, name, value) != MHD_YES)
		DIE("the header %s is refused", name);
}

struct MHD_Response *reply_build(struct reply *reply, const char *request_id, MHD_ContentReaderCallback read, void *arg)
{
	struct MHD_Response *response = build_body(reply, read, arg);
	const char *name;
	json_t *value;

	if (!response)
		DIE("no memory for a reply");
	for (size_t i = 0; i < ARRAY_LEN(common_headers); i++)
		add(response, common_headers[i].name, common_headers[i].value);
	/* A file of the page is kept, but asked for again by its tag: after an update no old module meets a new one. */
	add(response, "Cache-Control", reply->is_page ? "no-cache" : "no-store");
	add(response, "Content-Security-Policy", reply->is_page ? page_policy : api_policy);
	add(response, "X-Request-Id", request_id);
	if (reply->type)
		add(response, "Content-Type", reply->type);
	if (reply->must_close)
		add(response, "Connection", "close");
	json_object_foreach(reply->headers, name, value)
		add(response, name, json_string_value(value));
	return response;
}

void reply_finish(struct reply *reply)
{
	free(reply->body);
	if (reply->has_file)
		util_close_fd(&reply->file_fd);
	if (reply->upgrade)
		util_close_fd(&reply->upgrade_fd);
	stage_reply_finish(reply->stream);
	flow_leave(reply->flow);
	json_decref(reply->headers);
	*reply = (struct reply){.status = 0};
}
