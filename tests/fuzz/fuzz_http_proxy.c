/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-egress */
/* longest: 4096 */
/*
 * What programs send to the proxy, and servers answer: heads with the bodies behind them. What is taken has a host that could be, a path, and no line of its own
 * making; as it is written anew it reads the same.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "sandbox/egress/request.h"
#include "session/base/util.h"

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

/* The whole of it, in pieces of two sizes, is the same content. */
static void check_body(struct body body, const char *data, size_t len, size_t step)
{
	size_t at = 0;

	while (at < len && !body.is_over) {
		const char *piece;
		size_t piece_len, n = body_take(&body, data + at, len - at < step ? len - at : step, &piece, &piece_len);

		if (n == SIZE_MAX)
			return;
		insist(n > 0 || body.kind == BODY_NONE, "a body stands still");
		insist(n <= len - at && piece_len <= n, "a body takes more than there is");
		if (n == 0)
			return;
		at += n;
	}
}

static bool is_clean(const char *text)
{
	return text[strcspn(text, "\r\n")] == '\0';
}

/* As the server gets it, read as a server does. */
static void check_again(const struct request *request, struct head *head)
{
	const struct request_peer peer = {&request->host, request->port};
	struct head_text text = {.len = 0};
	static struct request second_request;
	static struct head second;
	char authority[EGRESS_AUTHORITY_SIZE];

	head_drop_hop(head);
	head_text_add(&text, "%s %s HTTP/1.1\r\nHost: %s\r\n", request->method, request->target, egress_host_authority(&request->host, request->port, 80, authority));
	head_text_add_fields(&text, head);
	head_text_add(&text, "\r\n");
	if (text.len < LIMIT_HEAD_BYTES && head->n_fields < LIMIT_EGRESS_FIELDS) {
		const char *fault;

		insist(head_length(text.data, text.len) == (ssize_t)text.len, "what is written anew is not one head");
		fault = head_read_request(text.data, text.len, &second);
		insist(!fault, fault ? fault : "");
		insist(second.n_fields == head->n_fields + 1, "what is written anew has other fields");
		/* A path that begins with "//" is none to us, though it is one to others. */
		fault = request_read(&second, &peer, &second_request);
		insist(!fault || request->port == 80, "what is written anew is refused");
	}
	head_text_finish(&text);
}

static void check_request(char *text, size_t len, const char *rest, size_t rest_len)
{
	static struct request request;
	static struct head head;

	if (head_read_request(text, len, &head) || request_read(&head, NULL, &request))
		return;
	insist(request.host.kind != EGRESS_HOST_BAD && request.host.text[0] && request.port > 0, "a request has no host");
	insist(!strpbrk(request.host.text, " /@\\%\"<>\r\n") || request.host.kind == EGRESS_HOST_ODD, "a host has a character that none has");
	insist(strcmp(request.method, "TRACE") != 0, "TRACE is taken");
	check_body(request.body, rest, rest_len, 1);
	check_body(request.body, rest, rest_len, 4096);
	if (request.is_connect)
		return;
	insist(request.target[0] == '/' && request.path[0] == '/' && is_clean(request.target) && is_clean(request.method), "a path is none");
	for (size_t i = 0; i < head.n_fields; i++)
		insist(is_clean(head.fields[i].name) && is_clean(head.fields[i].value), "a field has two lines");
	check_again(&request, &head);
}

static void check_response(char *text, size_t len, const char *rest, size_t rest_len)
{
	static struct head head;
	struct body body;

	if (head_read_response(text, len, &head) || body_of_response(&head, false, &body))
		return;
	insist(head.status >= 100 && head.status < 600 && is_clean(head.reason), "a status is none");
	check_body(body, rest, rest_len, 1);
	check_body(body, rest, rest_len, 4096);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = util_alloc(size + 1), *again = util_alloc(size + 1);
	ssize_t len;

	memcpy(text, data, size);
	memcpy(again, data, size);
	len = head_length(text, size);
	if (len <= 0)
		return 0;
	check_request(text, (size_t)len, (const char *)data + len, size - (size_t)len);
	check_response(again, (size_t)len, (const char *)data + len, size - (size_t)len);
	return 0;
}
