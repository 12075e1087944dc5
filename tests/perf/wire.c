/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP/1.1 and the link of a stage, as little of both as measuring needs. */
#include "tests/perf/wire.h"

#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "session/base/ipc.h"
#include "session/base/util.h"
#include "session/stage/link.h"

#define START_BYTES (8U << 20) /* of the buffer: no answer but a large picture makes it grow */

struct bytes {
	char *data;
	size_t len, size;
};

struct wire {
	int fd;
	bool is_stage;
	char *host, *token;
	struct bytes out, in;
	size_t seen; /* of `in`: the whole frames so far; over HTTP where the next chunk begins */
	bool is_chunked;
};

static void reserve(struct bytes *bytes, size_t more)
{
	while (bytes->size - bytes->len < more + 1) {
		bytes->size = bytes->size ? bytes->size * 2 : START_BYTES;
		bytes->data = util_realloc(bytes->data, bytes->size);
	}
}

static void append(struct bytes *bytes, const void *data, size_t len)
{
	reserve(bytes, len);
	memcpy(bytes->data + bytes->len, data, len);
	bytes->len += len;
	bytes->data[bytes->len] = '\0';
}

static void receive_more(struct wire *wire)
{
	ssize_t n;

	reserve(&wire->in, 1U << 20);
	n = recv(wire->fd, wire->in.data + wire->in.len, wire->in.size - wire->in.len - 1, 0);
	if (n <= 0)
		err(1, "%s: the connection ended", wire->host);
	wire->in.len += (size_t)n;
	wire->in.data[wire->in.len] = '\0';
}

/* The header of the frame at `at`, if all of that frame is there. */
static bool whole_frame(const struct wire *wire, size_t at, struct ipc_frame_head *head)
{
	if (wire->in.len - at < sizeof(*head))
		return false;
	memcpy(head, wire->in.data + at, sizeof(*head));
	return wire->in.len - at - sizeof(*head) >= head->length;
}

/* True once a frame without MORE has come. */
static bool stage_is_whole(struct wire *wire)
{
	struct ipc_frame_head head;

	while (whole_frame(wire, wire->seen, &head)) {
		wire->seen += sizeof(head) + head.length;
		if (!(head.flags & LINK_MORE))
			return true;
	}
	return false;
}

/* The value of a header of the answer, or NULL; its end is the end of the line. */
static const char *http_header(const struct wire *wire, const char *name)
{
	const char *found = strcasestr(wire->in.data, name), *end = strstr(wire->in.data, "\r\n\r\n");

	return found && found < end ? found + strlen(name) : NULL;
}

/* True once the last chunk, the empty one, is there. */
static bool chunks_are_whole(struct wire *wire)
{
	for (;;) {
		const char *size = wire->in.data + wire->seen, *end = strstr(size, "\r\n");
		size_t len, whole;

		if (!end)
			return false;
		len = strtoul(size, NULL, 16);
		whole = (size_t)(end + 2 - size) + len + 2;
		if (wire->in.len - wire->seen < whole)
			return false;
		if (len == 0)
			return true;
		wire->seen += whole;
	}
}

static bool http_is_whole(struct wire *wire)
{
	const char *end = strstr(wire->in.data, "\r\n\r\n"), *length;

	if (!end)
		return false;
	if (wire->seen == 0)
		wire->seen = (size_t)(end + 4 - wire->in.data);
	wire->is_chunked = http_header(wire, "\r\nTransfer-Encoding: chunked");
	if (wire->is_chunked)
		return chunks_are_whole(wire);
	length = http_header(wire, "\r\nContent-Length: ");
	if (!length && !strstr(wire->in.data, " 304 "))
		errx(1, "%s: an answer without a length: %.200s", wire->host, wire->in.data);
	return wire->in.len - wire->seen >= (length ? strtoul(length, NULL, 10) : 0);
}

static int connect_stage(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		errx(1, "%s: too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		err(1, "%s", path);
	return fd;
}

static int connect_http(const char *target)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	char host[64];
	unsigned short port;

	if (sscanf(target, "%63[0-9.]:%hu", host, &port) != 2 || inet_pton(AF_INET, host, &address.sin_addr) != 1)
		errx(1, "%s: must be ADDRESS:PORT", target);
	address.sin_port = htons(port);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		err(1, "%s", target);
	return fd;
}

struct wire *wire_open(const char *target, const char *token)
{
	struct wire *wire = util_zalloc(sizeof(*wire));

	wire->is_stage = strchr(target, '/');
	wire->host = util_strdup(target);
	wire->token = util_strdup(token);
	wire->fd = wire->is_stage ? connect_stage(target) : connect_http(target);
	append(&wire->in, "", 0);
	while (wire->is_stage && !stage_is_whole(wire)) /* HELLO */
		receive_more(wire);
	return wire;
}

void wire_close(struct wire *wire)
{
	if (!wire)
		return;
	close(wire->fd);
	free(wire->host);
	free(wire->token);
	free(wire->out.data);
	free(wire->in.data);
	free(wire);
}

static void append_frame(struct bytes *bytes, uint16_t kind, uint16_t flags, const char *text)
{
	struct ipc_frame_head head = {.length = (uint32_t)strlen(text), .kind = kind, .flags = flags};

	append(bytes, &head, sizeof(head));
	append(bytes, text, head.length);
}

static void prepare_stage(struct wire *wire, const char *call, const json_t *query, const char *body, const char *etag)
{
	json_auto_t *fields = query ? json_deep_copy(query) : json_object();
	json_auto_t *envelope = json_pack("{s:s,s:s,s:s,s:O}", "call", call, "role", "agent", "request_id", "bench", "query", fields);
	auto_free char *text = NULL;

	if (*etag)
		json_object_set_new(fields, "if_none_match", json_string(etag));
	text = json_dumps(envelope, JSON_COMPACT);
	append_frame(&wire->out, LINK_CALL, *body ? LINK_MORE : 0, text);
	if (*body)
		append_frame(&wire->out, LINK_DATA, 0, body);
}

static void append_header(struct bytes *bytes, const char *name, const char *value)
{
	auto_free char *line = util_printf("%s: %s\r\n", name, value);

	append(bytes, line, strlen(line));
}

static void prepare_http(struct wire *wire, const char *call, const json_t *headers, const char *body, const char *etag)
{
	auto_free char *start = util_printf("%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", call, wire->host, wire->token);
	auto_free char *length = util_printf("%zu", strlen(body));
	const char *name;
	json_t *value;

	append(&wire->out, start, strlen(start));
	if (*etag)
		append_header(&wire->out, "If-None-Match", etag);
	if (*body) {
		append_header(&wire->out, "Content-Type", "application/json");
		append_header(&wire->out, "Content-Length", length);
	}
	json_object_foreach((json_t *)(uintptr_t)headers, name, value)
		append_header(&wire->out, name, json_string_value(value));
	append(&wire->out, "\r\n", 2);
	append(&wire->out, body, strlen(body));
}

void wire_prepare(struct wire *wire, const char *call, const json_t *fields, const char *body, const char *etag)
{
	wire->out.len = wire->in.len = wire->seen = 0;
	wire->in.data[0] = '\0';
	if (wire->is_stage)
		prepare_stage(wire, call, fields, body, etag);
	else
		prepare_http(wire, call, fields, body, etag);
}

void wire_exchange(struct wire *wire)
{
	if (util_write_all(wire->fd, wire->out.data, wire->out.len) < 0)
		err(1, "%s", wire->host);
	do {
		receive_more(wire);
	} while (!(wire->is_stage ? stage_is_whole(wire) : http_is_whole(wire)));
}

/* Pushes the chunks from `at` on together: their length. */
static size_t join_chunks(char *at)
{
	const char *start = at;
	char *to = at;
	size_t len;

	while ((len = strtoul(at, &at, 16)) > 0) {
		const char *data = strstr(at, "\r\n") + 2;

		at += data - at + (ptrdiff_t)len + 2;
		memmove(to, data, len);
		to += len;
	}
	return (size_t)(to - start);
}

static void answer_http(const struct wire *wire, struct answer *answer)
{
	const char *etag = http_header(wire, "\r\nETag: ");
	size_t start = (size_t)(strstr(wire->in.data, "\r\n\r\n") + 4 - wire->in.data);

	answer->status = atoi(wire->in.data + strlen("HTTP/1.1 "));
	answer->body = wire->in.data + start;
	answer->len = wire->is_chunked ? join_chunks(wire->in.data + start) : wire->in.len - start;
	if (etag)
		(void)sscanf(etag, "%127[^\r]", answer->etag);
}

/* The frames of the body are pushed together over the headers between them. */
static void answer_stage(struct wire *wire, struct answer *answer)
{
	struct ipc_frame_head head = {0};
	json_auto_t *envelope = NULL;
	const char *etag;
	size_t at = 0;

	(void)whole_frame(wire, at, &head);
	envelope = json_loadb(wire->in.data + sizeof(head), head.length, 0, NULL);
	answer->status = (int)json_integer_value(json_object_get(envelope, "status"));
	etag = json_string_value(json_object_get(json_object_get(envelope, "headers"), "ETag"));
	(void)snprintf(answer->etag, sizeof(answer->etag), "%s", etag ? etag : "");
	at = sizeof(head) + head.length;
	answer->body = wire->in.data + at;
	for (char *to = wire->in.data + at; at < wire->in.len && whole_frame(wire, at, &head); at += sizeof(head) + head.length) {
		memmove(to, wire->in.data + at + sizeof(head), head.length);
		to += head.length;
		answer->len += head.length;
	}
}

void wire_answer(struct wire *wire, struct answer *answer)
{
	*answer = (struct answer){0};
	if (wire->is_stage)
		answer_stage(wire, answer);
	else
		answer_http(wire, answer);
}
