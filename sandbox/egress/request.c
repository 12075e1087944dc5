/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Targets and the Host field, which must say the same. */
#include "sandbox/egress/request.h"

#include <string.h>
#include <strings.h>

#include "session/base/util.h"

#define HTTP_PORT 80

static bool is_same_host(const struct egress_host *a, const struct egress_host *b)
{
	return a->kind == b->kind && strcmp(a->text, b->text) == 0;
}

bool request_authority(const char *text, size_t len, uint16_t fallback, struct egress_host *host, uint16_t *port)
{
	const char *colon = memrchr(text, ':', len);
	size_t host_len = len;

	*port = fallback;
	if (colon && !memchr(colon, ']', len - (size_t)(colon - text))) {
		host_len = (size_t)(colon - text);
		*port = egress_port_read(colon + 1, len - host_len - 1);
	}
	egress_host_read(text, host_len, host);
	return *port != 0 && host->kind != EGRESS_HOST_BAD;
}

/* Some servers take "_" for "-": to them these would say where the body ends, too. */
static const char *check_alike(const struct head *head)
{
	for (size_t i = 0; i < head->n_fields; i++)
		if (strchr(head->fields[i].name, '_') && (head_is_alike(head->fields[i].name, "Transfer-Encoding") || head_is_alike(head->fields[i].name, "Content-Length")))
			return "a field that says where its body ends is written with \"_\"";
	return NULL;
}

/* Some servers heed these instead of the first line. */
static bool says_other(const struct head *head)
{
	static const char *const names[] = {"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "X-Rewrite-URL"};

	for (size_t i = 0; i < head->n_fields; i++)
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (head_is_alike(head->fields[i].name, names[k]))
				return true;
	return false;
}

/* One, or with HTTP/1.0 none; and no other place than the target's. */
static const char *check_host(const struct head *head, const struct request *request, uint16_t usual)
{
	struct egress_host host;
	uint16_t port;
	size_t n;
	const char *value = head_value(head, "Host", &n);

	if (n > 1)
		return "it has two Host fields";
	if (n == 0)
		return head->minor > 0 ? "it has no Host field" : NULL;
	if (!request_authority(value, strlen(value), usual, &host, &port))
		return "its Host field is no host";
	return is_same_host(&host, &request->host) && port == request->port ? NULL : "its Host field names another place than its target";
}

static const char *copy_path(struct request *out)
{
	size_t len = strcspn(out->target, "?");

	if (len >= sizeof(out->path))
		return "its path is too long";
	memcpy(out->path, out->target, len);
	out->path[len] = '\0';
	return NULL;
}

/* http://HOST[:PORT][/PATH][?QUERY] */
static const char *read_absolute(const struct head *head, struct request *out)
{
	const char *text = head->target, *rest;
	size_t len;

	if (*text == '/' || *text == '*')
		return "it is for a server: a proxy needs the whole address (http://…)";
	if (strncasecmp(text, "http://", 7) != 0)
		return strncasecmp(text, "https://", 8) == 0 ? "https goes by CONNECT" : "its target is no address that begins with http://";
	text += 7;
	len = strcspn(text, "/?#");
	if (strchr(text, '#'))
		return "its target has a fragment";
	if (memchr(text, '@', len))
		return "its target has a user";
	if (!request_authority(text, len, HTTP_PORT, &out->host, &out->port))
		return "its target has no host that could be";
	rest = text + len;
	/* "http://host?query": the last byte of the host, which has been read, becomes the path. */
	if (*rest == '?') {
		char *slash = (char *)(uintptr_t)(rest - 1);

		*slash = '/';
		rest = slash;
	}
	out->target = *rest ? rest : "/";
	return copy_path(out);
}

static const char *read_origin(const struct head *head, const struct request_peer *peer, struct request *out)
{
	if (*head->target != '/' || strchr(head->target, '#'))
		return "its target is no path";
	out->host = *peer->host;
	out->port = peer->port;
	out->target = head->target;
	return copy_path(out);
}

static const char *read_connect(const struct head *head, struct request *out)
{
	out->is_connect = true;
	if (!request_authority(head->target, strlen(head->target), 0, &out->host, &out->port))
		return "CONNECT must name a host and a port";
	return NULL;
}

static bool keeps(const struct head *head)
{
	if (head_names(head, "Connection", "close") || head_names(head, "Proxy-Connection", "close"))
		return false;
	return head->minor > 0 || head_names(head, "Connection", "keep-alive") || head_names(head, "Proxy-Connection", "keep-alive");
}

const char *request_read(const struct head *head, const struct request_peer *peer, struct request *out)
{
	const char *fault;

	memset(out, 0, sizeof(*out));
	out->method = head->method;
	/* Methods have their letters in one case alone, but not all servers know that. */
	if (strcasecmp(head->method, "TRACE") == 0)
		return "TRACE is not passed on";
	if (strcmp(head->method, "CONNECT") == 0)
		fault = peer ? "CONNECT is not for a connection that is one already" : read_connect(head, out);
	else
		fault = peer ? read_origin(head, peer, out) : read_absolute(head, out);
	if (!fault)
		fault = check_host(head, out, out->is_connect ? out->port : peer ? peer->port : HTTP_PORT);
	if (!fault)
		fault = check_alike(head);
	if (!fault)
		fault = body_of_request(head, &out->body);
	if (fault)
		return fault;
	if (out->is_connect && out->body.kind != BODY_NONE && !out->body.is_over)
		return "CONNECT has no body";
	out->is_v11 = head->minor > 0;
	out->keeps = keeps(head);
	out->expects = out->is_v11 && head_names(head, "Expect", "100-continue");
	out->wants_websocket = head_names(head, "Upgrade", "websocket");
	out->says_other = says_other(head);
	return NULL;
}
