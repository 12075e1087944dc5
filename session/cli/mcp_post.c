/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message and its POSTs to /mcp. */
#include "session/cli/mcp_post.h"

#include <curl/curl.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/cli/sse.h"

#define PATH "/mcp"
#define BARRIER_MS 30000L  /* what others wait for is answered in this time */
#define GOODBYE_MS 2000L
#define READY "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

/* What is under way for a message. Most have only the last step. */
enum post_step {
	STEP_TOOLS, /* tools/list, to learn which arguments go into headers */
	STEP_HELLO, /* initialize, said again to a server that has forgotten this client */
	STEP_READY, /* notifications/initialized after it */
	STEP_OWN,   /* the message itself */
};

struct post {
	struct bridge *bridge;
	struct post *next, **place;
	json_t *json;
	struct message message; /* of json */
	enum post_step step;
	bool is_barrier, is_silent, is_retried;
	char *session;          /* the Mcp-Session-Id that the message went with, or NULL */
	CURL *curl;
	struct curl_slist *headers;
	char *body;
	long status;            /* 0: the head of the reply is not here */
	bool is_sse, is_answered, is_too_large;
	struct sse sse;
	struct buffer reply;
};

/* --- what comes back --- */

static void take_note(const struct post *post, const json_t *reply)
{
	struct bridge *bridge = post->bridge;
	const json_t *result = json_object_get(reply, "result");
	const char *version = message_string(result, "protocolVersion");
	struct curl_header *header;

	if (strcmp(post->message.method, "tools/list") == 0 || post->step == STEP_TOOLS)
		message_learn_tools(bridge->tools, result);
	if ((strcmp(post->message.method, "initialize") != 0 && post->step != STEP_HELLO) || !version)
		return;
	free(bridge->version);
	free(bridge->mcp_session);
	bridge->version = util_strdup(version);
	bridge->mcp_session = NULL;
	if (curl_easy_header(post->curl, "Mcp-Session-Id", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
		bridge->mcp_session = util_strdup(header->value);
	if (post->step == STEP_OWN) {
		json_decref(bridge->hello);
		bridge->hello = json_incref(post->json);
	}
}

/* Is what came worth parsing? A large result, with a picture in it, is passed on as it is. */
static bool is_noted(const struct post *post)
{
	return post->step != STEP_OWN || strcmp(post->message.method, "tools/list") == 0 || strcmp(post->message.method, "initialize") == 0;
}

static void answer_error(struct post *post, int code, const char *text, const json_t *data)
{
	json_auto_t *response = message_error(post->message.id, code, text, data);

	if (!post->is_silent)
		bridge_emit(post->bridge, response);
}

static void on_event(void *arg, const char *data, size_t len)
{
	struct post *post = arg;
	json_auto_t *json = json_loadb(data, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	struct message message = message_read(json);

	if (!json || post->is_answered)
		return;
	if (message.kind == MESSAGE_RESPONSE) {
		post->is_answered = true;
		take_note(post, json);
	}
	if (post->step == STEP_OWN && !post->is_silent)
		bridge_emit_text(post->bridge, data, len);
}

static size_t take_reply(char *data, size_t size, size_t n, void *arg)
{
	struct post *post = arg;
	const char *type = NULL;
	size_t len = size * n;

	if (post->status == 0) {
		curl_easy_getinfo(post->curl, CURLINFO_RESPONSE_CODE, &post->status);
		curl_easy_getinfo(post->curl, CURLINFO_CONTENT_TYPE, &type);
		post->is_sse = post->status == 200 && type && strncasecmp(type, "text/event-stream", strlen("text/event-stream")) == 0;
	}
	if (post->is_sse) {
		post->is_too_large = sse_take(&post->sse, data, len, LIMIT_REPLY_BYTES, on_event, post) < 0;
	} else {
		post->is_too_large = len > LIMIT_REPLY_BYTES - post->reply.len;
		if (!post->is_too_large)
			buffer_add(&post->reply, data, len);
	}
	return post->is_too_large ? 0 : len;
}

/* --- sending --- */

static void add_header(struct post *post, const char *name, const char *value)
{
	auto_free char *line = util_printf("%s: %s", name, value);

	post->headers = curl_slist_append(post->headers, line);
}

static void add_headers(struct post *post)
{
	auto_free char *bearer = util_printf("Bearer %s", post->bridge->token);
	json_auto_t *modern = NULL;
	const json_t *line;
	size_t i;

	add_header(post, "Authorization", bearer);
	explicit_bzero(bearer, strlen(bearer));
	add_header(post, "Content-Type", "application/json");
	add_header(post, "Accept", "application/json, text/event-stream");
	post->headers = curl_slist_append(post->headers, "Expect:");
	free(post->session);
	post->session = NULL;
	if (post->message.is_modern) {
		json_auto_t *asked = json_pack("{s:s, s:O*}", "method", "tools/list", "params", post->message.params);
		struct message list = message_read(asked);

		modern = message_headers(post->step == STEP_TOOLS ? &list : &post->message, post->bridge->tools);
		json_array_foreach(modern, i, line)
			post->headers = curl_slist_append(post->headers, json_string_value(line));
		return;
	}
	if (strcmp(post->message.method, "initialize") == 0 || post->step == STEP_HELLO)
		return;
	if (post->bridge->version)
		add_header(post, "MCP-Protocol-Version", post->bridge->version);
	if (post->bridge->mcp_session) {
		post->session = util_strdup(post->bridge->mcp_session);
		add_header(post, "Mcp-Session-Id", post->session);
	}
}

/* The body of a step; the caller's. */
static char *step_body(const struct post *post)
{
	const json_t *meta = json_object_get(post->message.params, "_meta");
	json_auto_t *list = NULL;

	if (post->step == STEP_READY)
		return util_strdup(READY);
	if (post->step == STEP_HELLO)
		return json_dumps(post->bridge->hello, JSON_COMPACT);
	if (post->step == STEP_OWN)
		return json_dumps(post->json, JSON_COMPACT | JSON_ENCODE_ANY);
	list = json_pack("{s:s, s:s, s:s, s:{s:O*}}", "jsonrpc", "2.0", "id", "tools", "method", "tools/list", "params", "_meta", meta);
	return json_dumps(list, JSON_COMPACT);
}

/* Sends what the step takes, with nothing left of the step before. */
static void send_step(struct post *post, enum post_step step)
{
	auto_free char *url = util_printf("%s" PATH, post->bridge->client->base);
	CURL *curl = post->curl;

	curl_multi_remove_handle(post->bridge->multi, curl);
	curl_easy_reset(curl);
	curl_slist_free_all(post->headers);
	free(post->body);
	sse_finish(&post->sse);
	buffer_clear(&post->reply);
	post->headers = NULL;
	post->status = 0;
	post->is_sse = post->is_answered = post->is_too_large = false;
	post->sse = (struct sse){0};
	post->step = step;
	add_headers(post);
	post->body = step_body(post);
	client_prepare(post->bridge->client, curl, url);
	curl_easy_setopt(curl, CURLOPT_POST, 1L);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, post->headers);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, post->body ? post->body : "");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_reply);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, post);
	curl_easy_setopt(curl, CURLOPT_PRIVATE, post);
	if (post->is_barrier || step != STEP_OWN)
		curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, BARRIER_MS);
	if (curl_multi_add_handle(post->bridge->multi, curl) != CURLM_OK)
		DIE("libcurl takes no transfer");
}

void post_start(struct bridge *bridge, json_t *taken)
{
	struct post *post = util_zalloc(sizeof(*post));

	*post = (struct post){.bridge = bridge, .json = taken, .message = message_read(taken), .curl = curl_easy_init(),
	                      .next = bridge->posts, .place = &bridge->posts};
	if (!post->curl)
		DIE("libcurl does not start");
	post->is_barrier = post->message.kind != MESSAGE_REQUEST || strcmp(post->message.method, "initialize") == 0;
	if (post->next)
		post->next->place = &post->next;
	bridge->posts = post;
	bridge->n_posts++;
	bridge->n_barriers += post->is_barrier ? 1 : 0;
	send_step(post, STEP_OWN);
}

void post_drop(struct post *post)
{
	*post->place = post->next;
	if (post->next)
		post->next->place = post->place;
	post->bridge->n_posts--;
	post->bridge->n_barriers -= post->is_barrier ? 1 : 0;
	curl_multi_remove_handle(post->bridge->multi, post->curl);
	curl_easy_cleanup(post->curl);
	curl_slist_free_all(post->headers);
	sse_finish(&post->sse);
	buffer_finish(&post->reply);
	json_decref(post->json);
	free(post->session);
	free(post->body);
	free(post);
}

/* --- the end of a step --- */

static bool wants_answer(const struct post *post)
{
	return post->message.kind == MESSAGE_REQUEST || post->message.kind == MESSAGE_OTHER;
}

/* A message that gets no answer was not taken. */
static void complain(const struct post *post, const char *text)
{
	if (!wants_answer(post))
		log_warn("a %s was not taken: %s", *post->message.method ? post->message.method : "response", text);
}

static void fail(struct post *post, const char *text, const json_t *data)
{
	complain(post, text);
	if (wants_answer(post))
		answer_error(post, MCP_INTERNAL_ERROR, text, data);
	post_drop(post);
}

static void fail_transfer(struct post *post, CURLcode code)
{
	auto_free char *text = post->is_too_large ? util_printf("the answer is larger than %d bytes", LIMIT_REPLY_BYTES)
	                                          : util_printf("no answer from the Glovebox server at %s: %s%s", post->bridge->client->server,
	                                                        curl_easy_strerror(code), client_hint((int)code));

	log_error("%s", text);
	fail(post, text, NULL);
}

/* A reply that says no, as the JSON-RPC error of the request it is about. */
static void pass_refusal(struct post *post, const json_t *reply)
{
	json_t *error = json_object_get(reply, "error");
	const char *detail = message_string(reply, "detail");
	auto_free char *text = detail ? util_strdup(detail)
	                              : util_printf("%s answers with status %ld and no reason", post->bridge->client->server, post->status);
	json_auto_t *data = json_pack("{s:i, s:s*}", "status", (int)post->status, "code", message_string(reply, "code"));
	json_auto_t *answer = NULL;

	if (post->status == 401)
		log_error("%s; the token is the one in %s", text, post->bridge->client->token_file);
	if (!json_is_object(error)) {
		fail(post, text, data);
		return;
	}
	answer = json_pack("{s:s, s:o, s:O}", "jsonrpc", "2.0", "id", post->message.id ? json_deep_copy(post->message.id) : json_null(), "error",
	                   error);
	complain(post, message_string(error, "message") ? message_string(error, "message") : text);
	if (wants_answer(post) && !post->is_silent)
		bridge_emit(post->bridge, answer);
	post_drop(post);
}

/* Is there something to be told to the server first, so that it takes this message the next time? Then that is under way. */
static bool mends(struct post *post, const json_t *reply)
{
	struct bridge *bridge = post->bridge;
	json_int_t code = json_integer_value(json_object_get(json_object_get(reply, "error"), "code"));

	if (post->is_retried)
		return false;
	post->is_retried = true;
	if (post->status == 400 && code == MCP_HEADER_MISMATCH && strcmp(post->message.method, "tools/call") == 0) {
		send_step(post, STEP_TOOLS);
		return true;
	}
	if (post->status != 404 || !post->session || !bridge->hello || !bridge->mcp_session)
		return false;
	/* Another message may have mended it meanwhile. */
	send_step(post, strcmp(post->session, bridge->mcp_session) == 0 ? STEP_HELLO : STEP_OWN);
	return true;
}

static void finish_own(struct post *post)
{
	json_auto_t *reply = NULL;

	if (post->is_sse && !post->is_answered && post->message.kind == MESSAGE_REQUEST) {
		fail(post, "the server's answer broke off", NULL);
		return;
	}
	if (post->is_sse || (post->status < 300 && (!wants_answer(post) || (post->reply.len == 0 && post->message.kind == MESSAGE_OTHER)))) {
		post_drop(post);
		return;
	}
	if (post->status == 200 && !is_noted(post) && *buffer_text(&post->reply) == '{') {
		if (!post->is_silent)
			bridge_emit_text(post->bridge, buffer_text(&post->reply), post->reply.len);
		post_drop(post);
		return;
	}
	reply = json_loadb(buffer_text(&post->reply), post->reply.len, JSON_ALLOW_NUL, NULL);
	if (post->status != 200 || !reply) {
		if (!mends(post, reply))
			pass_refusal(post, reply);
		return;
	}
	take_note(post, reply);
	if (!post->is_silent)
		bridge_emit(post->bridge, reply);
	post_drop(post);
}

/* After a step of ours comes the next one; whether it went well shows when the message itself is answered. */
static void finish_step(struct post *post)
{
	json_auto_t *reply = post->is_sse ? NULL : json_loadb(buffer_text(&post->reply), post->reply.len, 0, NULL);

	if (post->step == STEP_OWN) {
		finish_own(post);
		return;
	}
	take_note(post, reply);
	send_step(post, post->step == STEP_HELLO ? STEP_READY : STEP_OWN);
}

void post_reap(struct bridge *bridge)
{
	CURLMsg *done;
	int left;

	while ((done = curl_multi_info_read(bridge->multi, &left))) {
		CURLcode code = done->data.result;
		CURL *curl = done->easy_handle;
		struct post *post = NULL;

		if (done->msg != CURLMSG_DONE || keep_done(&bridge->door->keep, curl, (int)code))
			continue;
		curl_easy_getinfo(curl, CURLINFO_PRIVATE, &post);
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &post->status);
		if (code != CURLE_OK && !post->is_answered)
			fail_transfer(post, code);
		else
			finish_step(post);
	}
}

/* --- those that run --- */

struct post *post_find(struct bridge *bridge, const json_t *id)
{
	for (struct post *post = bridge->posts; post; post = post->next) {
		if (post->message.kind == MESSAGE_REQUEST && json_equal(post->message.id, id))
			return post;
	}
	return NULL;
}

bool post_is_modern(const struct post *post)
{
	return post->message.is_modern;
}

void post_silence(struct post *post)
{
	post->is_silent = true;
}

struct post *post_next(const struct post *post)
{
	return post->next;
}

bool post_will_end(const struct post *post)
{
	return strcmp(post->message.method, "subscriptions/listen") != 0;
}

void post_goodbye(struct bridge *bridge)
{
	auto_free char *url = util_printf("%s" PATH, bridge->client->base);
	struct post post = {.bridge = bridge, .curl = curl_easy_init(), .message = {.method = ""}, .step = STEP_OWN};

	if (bridge->mcp_session && post.curl) {
		add_headers(&post);
		client_prepare(bridge->client, post.curl, url);
		curl_easy_setopt(post.curl, CURLOPT_CUSTOMREQUEST, "DELETE");
		curl_easy_setopt(post.curl, CURLOPT_HTTPHEADER, post.headers);
		curl_easy_setopt(post.curl, CURLOPT_TIMEOUT_MS, GOODBYE_MS);
		curl_easy_setopt(post.curl, CURLOPT_WRITEFUNCTION, take_reply);
		curl_easy_setopt(post.curl, CURLOPT_WRITEDATA, &post);
		(void)curl_easy_perform(post.curl);
	}
	curl_easy_cleanup(post.curl);
	curl_slist_free_all(post.headers);
	buffer_finish(&post.reply);
	free(post.session);
}
