/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The response is read while the request's body is still being sent, by a coroutine of its own. */
#include "sandbox/egress/exchange.h"

#include <stdio.h>
#include <string.h>

#include "sandbox/egress/inject.h"
#include "sandbox/egress/link.h"
#include "session/base/co.h"
#include "session/base/util.h"

#define HTTP_PORT 80
#define HTTPS_PORT 443
#define CHUNK_HEAD_SIZE 32
#define ENOUGH_INTERIM 8 /* responses before the one that counts */
#define OVER_CAP "the session has met its cap on bytes"

struct run {
	struct exchange *exchange;
	struct body upload;
	bool upload_is_over, upload_failed;
	struct co_event changed;
	struct co *uploader;
	struct gate *gate;         /* NULL: no secret goes there */
	struct body body;          /* of the response */
	bool is_chunked;           /* as the client gets it */
};

static int64_t idle_ms(void)
{
	return util_now_ms() + LIMIT_EGRESS_IDLE_MS;
}

static struct wire *client_of(const struct run *run)
{
	return run->exchange->client->wire;
}

static struct wire *server_of(const struct run *run)
{
	return run->exchange->passage->server;
}

/* A piece of a body, with or without a chunk around it. Nothing is no chunk: that would be the last one. */
static int write_piece(struct wire *to, const char *piece, size_t len, bool is_chunked, struct err *e)
{
	char head[CHUNK_HEAD_SIZE];

	if (len == 0)
		return 0;
	if (!is_chunked)
		return wire_write(to, piece, len, idle_ms(), e);
	(void)snprintf(head, sizeof(head), "%zx\r\n", len);
	if (wire_write(to, head, strlen(head), idle_ms(), e) < 0 || wire_write(to, piece, len, idle_ms(), e) < 0)
		return -1;
	return wire_write(to, "\r\n", 2, idle_ms(), e);
}

static int write_last_chunk(struct wire *to, bool is_chunked, struct err *e)
{
	return is_chunked ? wire_write(to, "0\r\n\r\n", 5, idle_ms(), e) : 0;
}

/* All content that is there, moved together at its beginning: what was sent in many small chunks is looked through once. -1: it breaks the form. */
static int gather(struct inbox *inbox, struct body *body, size_t *len, size_t *used)
{
	char *start = inbox->data + inbox->at;

	*len = *used = 0;
	while (*used < inbox->len && !body->is_over) {
		const char *piece;
		size_t n, taken = body_take(body, start + *used, inbox->len - *used, &piece, &n);

		if (taken == SIZE_MAX)
			return -1;
		if (n > 0)
			memmove(start + *len, piece, n);
		*len += n;
		*used += taken;
	}
	return 0;
}

/*
 * The next content of a body, borrowed from the inbox until inbox_take of *used. 1; 0 when the body is over; -1 when it breaks off or breaks the form. A piece may
 * have no content.
 */
static int next_piece(struct inbox *inbox, struct body *body, const char **piece, size_t *len, size_t *used, struct err *e)
{
	int rc;

	if (body->is_over)
		return 0;
	if (inbox->len == 0) {
		rc = inbox_more(inbox, idle_ms(), e);
		if (rc == 0 && body->kind == BODY_CLOSE)
			body->is_over = true;
		if (rc <= 0)
			return rc < 0 ? -1 : body->is_over ? 0 : err_set(e, ERR_GONE, NULL, "a body breaks off");
	}
	*piece = inbox_data(inbox);
	return gather(inbox, body, len, used) < 0 ? err_set(e, ERR_GONE, NULL, "a body breaks its form") : 1;
}

/* --- the request --- */

static int upload(struct run *run, struct err *e)
{
	struct inbox *client = run->exchange->client;
	bool is_chunked = run->upload.kind == BODY_CHUNKED;
	const char *piece;
	size_t len, used;
	int rc;

	while ((rc = next_piece(client, &run->upload, &piece, &len, &used, e)) > 0) {
		if (passage_pay(run->exchange->passage, METER_UP, used, e) < 0 || write_piece(server_of(run), piece, len, is_chunked, e) < 0)
			return -1;
		inbox_take(client, used);
	}
	return rc < 0 ? -1 : write_last_chunk(server_of(run), is_chunked, e);
}

/* A server may answer without having read all, and end: so only a client that breaks off ends the exchange. */
static void run_upload(void *arg)
{
	struct run *run = arg;
	struct err e = {0};

	if (upload(run, &e) < 0) {
		run->upload_failed = true;
		if (!run->upload.is_over && e.code != ERR_CANCELLED)
			wire_shut(server_of(run));
	}
	run->upload_is_over = true;
	co_signal(&run->changed);
}

/* Which secrets go there; the server's own length of the body is written by us. */
static int write_request(const struct run *run, struct head_text *text)
{
	const struct exchange *exchange = run->exchange;
	const struct request *request = exchange->request;
	const struct inject_origin origin = {request->host.text, request->port, exchange->is_plain};
	char authority[EGRESS_AUTHORITY_SIZE];

	head_drop_hop(exchange->head);
	if (run->gate && inject_fields(exchange->passage->proxy->inject, &origin, exchange->head) < 0)
		return -1;
	head_text_add(text, "%s %s HTTP/1.1\r\nHost: %s\r\n", request->method, request->target,
	              egress_host_authority(&request->host, request->port, exchange->is_plain ? HTTP_PORT : HTTPS_PORT, authority));
	head_text_add_fields(text, exchange->head);
	if (request->body.kind == BODY_CHUNKED)
		head_text_add(text, "Transfer-Encoding: chunked\r\n");
	else if (request->body.kind == BODY_LENGTH)
		head_text_add(text, "Content-Length: %llu\r\n", (unsigned long long)request->body.left);
	head_text_add(text, "%s\r\n", exchange->keeps_server ? "" : "Connection: close\r\n");
	return 0;
}

static int send_request(struct run *run, struct err *e)
{
	struct head_text text = {.len = 0};
	int rc = write_request(run, &text);

	if (rc < 0)
		(void)err_set(e, ERR_TOO_LARGE, NULL, "it has too many header fields");
	else
		rc = passage_pay(run->exchange->passage, METER_UP, run->exchange->head_len, e);
	if (rc == 0)
		rc = wire_write(server_of(run), text.data, text.len, idle_ms(), e);
	head_text_finish(&text);
	return rc;
}

static int begin_upload(struct run *run, struct err *e)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	run->upload = run->exchange->request->body;
	if (run->upload.is_over)
		return 0;
	if (run->exchange->request->expects && wire_write(client_of(run), go_on, strlen(go_on), idle_ms(), e) < 0)
		return -1;
	run->upload_is_over = false;
	run->uploader = co_start(run->exchange->passage->proxy->loop, run_upload, run);
	return 0;
}

/* --- the response --- */

/* What a gate lets through of these bytes, written. */
static int write_through(struct run *run, const char *bytes, size_t len, bool is_chunked, struct err *e)
{
	const char *out = bytes;
	size_t out_len = len;

	if (run->gate && gate_pass(run->gate, bytes, len, &out, &out_len) < 0)
		return err_set(e, ERR_FORBIDDEN, NULL, "the response held a secret");
	return write_piece(client_of(run), out, out_len, is_chunked, e);
}

static int write_held_back(struct run *run, bool is_chunked, struct err *e)
{
	const char *out;
	size_t out_len;

	if (!run->gate)
		return 0;
	gate_end(run->gate, &out, &out_len);
	return write_piece(client_of(run), out, out_len, is_chunked, e);
}

/* A head that counts, its bytes in *text, malloced. NULL, or what is wrong. */
static const char *read_one(struct run *run, char **text, struct head *head, struct err *e)
{
	struct inbox *server = run->exchange->server;
	ssize_t len;
	int rc;

	while ((len = head_length(inbox_data(server), server->len)) == 0) {
		rc = inbox_more(server, idle_ms(), e);
		if (rc < 0)
			return e->code == ERR_TIMEOUT ? "it did not answer in time" : "its connection was lost";
		if (rc == 0)
			return "it ended the connection without an answer";
	}
	if (len < 0)
		return "its answer is not HTTP";
	*text = util_alloc((size_t)len);
	memcpy(*text, inbox_data(server), (size_t)len);
	inbox_take(server, (size_t)len);
	if (passage_pay(run->exchange->passage, METER_DOWN, (size_t)len, e) < 0)
		return OVER_CAP;
	return head_read_response(*text, (size_t)len, head);
}

/* Interim ones have no meaning here: what waits for 100 has got it from us. */
static const char *read_response(struct run *run, char **text, struct head *head, struct err *e)
{
	const char *fault = "it answers without end";

	for (int i = 0; i < ENOUGH_INTERIM; i++) {
		free(steal_ptr(text));
		fault = read_one(run, text, head, e);
		if (fault)
			return fault;
		if (head->status == 101)
			return "it changes the protocol without having been asked";
		if (head->status >= 200)
			return body_of_response(head, strcmp(run->exchange->request->method, "HEAD") == 0, &run->body);
	}
	return fault;
}

static const char *find_answer_fault(const struct run *run, const struct head *head)
{
	const char *fault = run->gate ? inject_status_fault(head->status) : NULL;

	for (size_t i = 0; run->gate && !fault && i < head->n_fields; i++)
		fault = inject_answer_fault(head->fields[i].name, head->fields[i].value);
	return fault;
}

/* How the client is told the body's end, and whether its connection can go on. */
static void write_framing(struct run *run, const struct head *head, const char *length, struct head_text *text)
{
	struct exchange *exchange = run->exchange;
	bool has_body = run->body.kind != BODY_NONE;

	run->is_chunked = run->body.kind == BODY_CHUNKED && exchange->request->is_v11;
	exchange->keeps_client = exchange->request->keeps && (!has_body || run->body.kind == BODY_LENGTH || run->is_chunked) &&
	                         (!exchange->keeps_server || (head->minor > 0 && run->body.kind != BODY_CLOSE && !head_names(head, "Connection", "close")));
	if (run->is_chunked)
		head_text_add(text, "Transfer-Encoding: chunked\r\n");
	else if (length && run->body.kind != BODY_CHUNKED && head->status != 204)
		head_text_add(text, "Content-Length: %s\r\n", length);
	head_text_add(text, "Connection: %s\r\n\r\n", exchange->keeps_client ? "keep-alive" : "close");
}

static int write_head(struct run *run, struct head *head, struct err *e)
{
	size_t n, n_codings;
	const char *length = head_value(head, "Content-Length", &n);
	struct head_text text = {.len = 0};
	int rc;

	(void)head_value(head, "Transfer-Encoding", &n_codings);
	head_text_add(&text, "HTTP/1.1 %d %s\r\n", head->status, head->reason);
	head_drop_hop(head);
	head_text_add_fields(&text, head);
	write_framing(run, head, n_codings == 0 ? length : NULL, &text);
	rc = write_through(run, text.data, text.len, false, e);
	if (rc == 0)
		rc = write_held_back(run, false, e);
	head_text_finish(&text);
	return rc;
}

static int relay_body(struct run *run, struct err *e)
{
	struct inbox *server = run->exchange->server;
	const char *piece;
	size_t len, used;
	int rc;

	while ((rc = next_piece(server, &run->body, &piece, &len, &used, e)) > 0) {
		if (passage_pay(run->exchange->passage, METER_DOWN, used, e) < 0 || write_through(run, piece, len, run->is_chunked, e) < 0)
			return -1;
		inbox_take(server, used);
	}
	if (rc < 0 || write_held_back(run, run->is_chunked, e) < 0)
		return -1;
	return write_last_chunk(client_of(run), run->is_chunked, e);
}

static int run_response(struct run *run, struct err *e)
{
	auto_free char *text = NULL;
	struct head head;
	const char *fault = read_response(run, &text, &head, e);

	if (!fault)
		fault = find_answer_fault(run, &head);
	if (fault) {
		run->exchange->fault = e->code == ERR_CANCELLED ? NULL : fault;
		return -1;
	}
	return write_head(run, &head, e) < 0 ? -1 : relay_body(run, e);
}

/* A piece with the secret in it was not passed on, and nothing more is. */
static void tell_of_secret(const struct run *run)
{
	char reason[PASSAGE_REASON_SIZE];

	if (!run->gate || !gate_found(run->gate))
		return;
	(void)snprintf(reason, sizeof(reason), EGRESS_RETURNED "%s", gate_found(run->gate));
	passage_refuse(run->exchange->passage, reason);
}

/* What is still being sent is given up. */
static void end_upload(struct run *run)
{
	if (!run->upload_is_over)
		co_cancel(run->uploader);
	co_shield();
	while (!run->upload_is_over)
		(void)co_wait_event(&run->changed, CO_FOREVER, NULL);
	co_unshield();
}

/* Why a request was not sent, for who made it; NULL: nothing is to be said. */
static const char *fault_of(const struct err *e)
{
	if (e->code == ERR_CANCELLED)
		return NULL;
	if (e->code == ERR_TOO_LARGE)
		return "the request has too many header fields";
	return e->code == ERR_LIMIT ? OVER_CAP : "its connection was lost";
}

void exchange_run(struct exchange *exchange)
{
	const struct inject_origin origin = {exchange->request->host.text, exchange->request->port, exchange->is_plain};
	struct run run = {.exchange = exchange, .upload = {.is_over = true}, .upload_is_over = true};
	struct proxy *proxy = exchange->passage->proxy;
	struct err e = {0};
	int rc;

	exchange->keeps_client = false;
	exchange->fault = NULL;
	if (proxy->inject && inject_is_for(proxy->inject, &origin))
		run.gate = gate_create(proxy->inject);
	rc = send_request(&run, &e);
	if (rc < 0)
		exchange->fault = fault_of(&e);
	if (rc == 0)
		rc = begin_upload(&run, &e);
	if (rc == 0)
		rc = run_response(&run, &e);
	tell_of_secret(&run);
	/* What is not sent by now will not be: its rest would be taken for the next request, on either side. */
	if (rc < 0 || run.upload_failed || !run.upload_is_over)
		exchange->keeps_client = false;
	end_upload(&run);
	/* A whole answer ends with the word of TLS that it does; one that was cut has none. */
	if (rc == 0 && !exchange->keeps_client)
		wire_shut(client_of(&run));
	exchange->keeps_server = exchange->keeps_server && exchange->keeps_client;
	gate_destroy(run.gate);
}

/* --- answers of the proxy's own --- */

static const char *title_of(int status)
{
	switch (status) {
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 408:
		return "Request Timeout";
	case 501:
		return "Not Implemented";
	case 502:
		return "Bad Gateway";
	case 503:
		return "Service Unavailable";
	case 504:
		return "Gateway Timeout";
	default:
		return "Refused";
	}
}

int exchange_reply(struct wire *client, const struct exchange_answer *answer, struct err *e)
{
	auto_free char *reply = util_printf("HTTP/1.1 %d %s%s%s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
	                                    "X-Content-Type-Options: nosniff\r\nConnection: %s\r\n\r\n%s",
	                                    answer->status, title_of(answer->status), answer->why ? ": " : "", answer->why ? answer->why : "", strlen(answer->text),
	                                    answer->keeps ? "keep-alive" : "close", answer->is_head ? "" : answer->text);

	return wire_write(client, reply, strlen(reply), util_now_ms() + LIMIT_EGRESS_HEAD_MS, e);
}
