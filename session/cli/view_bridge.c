/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client's side of a WebSocket: libcurl makes the connection (by TCP, TLS or a Unix socket), wslay the frames. One message and one piece of
 * what came wait at most, so that either side's back-pressure goes through.
 */
#include "session/cli/view_bridge.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

#include "session/base/handshake.h"
#include "session/base/json.h"
#include "session/base/secret.h"
#include "session/base/util.h"

#define HEAD_BYTES 8192
#define HEAD_MS 10000
#define PIECE_BYTES (16 * 1024)
#define CHUNK_BYTES 4096 /* that wslay hands on at once, at most */
#define REASON_BYTES 124

struct bridge {
	CURL *curl;
	curl_socket_t socket;
	int fd;
	wslay_event_context_ptr wslay;
	char in[PIECE_BYTES]; /* of the server: in[in_start..in_len) the viewer has not taken yet */
	size_t in_start, in_len;
	bool in_control;      /* the frame that comes is one of the protocol's own */
	bool ended, fd_ended; /* the server's side, the viewer's */
	unsigned int code;    /* of the server's close; 0: none came */
	char reason[REASON_BYTES];
};

/* --- the connection --- */

static bool wait_for(curl_socket_t socket, short events, int64_t deadline_ms)
{
	struct pollfd ready = {.fd = socket, .events = events};
	int64_t left_ms = deadline_ms - util_now_ms();

	return left_ms > 0 && poll(&ready, 1, (int)left_ms) > 0;
}

static int lost(struct err *e, CURLcode code)
{
	return err_set(e, ERR_GONE, NULL, "the connection to the server is lost: %s%s", curl_easy_strerror(code), client_hint((int)code));
}

static int send_head(const struct bridge *bridge, const char *head, int64_t deadline_ms, struct err *e)
{
	size_t len = strlen(head), n;

	while (len > 0) {
		CURLcode code = curl_easy_send(bridge->curl, head, len, &n);

		if (code == CURLE_OK) {
			head += n;
			len -= n;
		} else if (code != CURLE_AGAIN || !wait_for(bridge->socket, POLLOUT, deadline_ms)) {
			return lost(e, code);
		}
	}
	return 0;
}

/* The head of the reply, and nothing behind it: one byte at a time, since what follows belongs to wslay. */
static int read_head(const struct bridge *bridge, char head[HEAD_BYTES], int64_t deadline_ms, struct err *e)
{
	size_t len = 0, n;

	while (len < 4 || memcmp(head + len - 4, "\r\n\r\n", 4) != 0) {
		CURLcode code = len + 1 < HEAD_BYTES ? curl_easy_recv(bridge->curl, head + len, 1, &n) : CURLE_WEIRD_SERVER_REPLY;

		if (code == CURLE_OK && n == 1)
			len++;
		else if (code != CURLE_AGAIN || !wait_for(bridge->socket, POLLIN, deadline_ms))
			return lost(e, code == CURLE_OK ? CURLE_GOT_NOTHING : code);
	}
	head[len] = '\0';
	return 0;
}

static bool is_accepted(const char *head, const char *key)
{
	static const char name[] = "\r\nSec-WebSocket-Accept:";
	char accept[HANDSHAKE_ACCEPT_SIZE];
	const char *at = strcasestr(head, name);

	handshake_accept(key, accept);
	if (!at || strncmp(head, "HTTP/1.1 101 ", 13) != 0)
		return false;
	at += strlen(name);
	at += strspn(at, " ");
	return strncmp(at, accept, strlen(accept)) == 0 && at[strlen(accept)] == '\r';
}

static int shake_hands(struct bridge *bridge, const struct client *client, const char *path, const char *ticket, struct err *e)
{
	const char *host = strstr(client->base, "://") + 3;
	char key[HANDSHAKE_KEY_SIZE], head[HEAD_BYTES];
	int64_t deadline_ms = util_now_ms() + HEAD_MS;
	char *text;
	int rc;

	handshake_new_key(key);
	text = util_printf("GET %s HTTP/1.1\r\nHost: %.*s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
	                   "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: binary, ticket.%s\r\n\r\n", path, (int)strcspn(host, "/"), host, key,
	                   ticket);
	rc = send_head(bridge, text, deadline_ms, e);
	secret_wipe(text);
	if (rc < 0 || read_head(bridge, head, deadline_ms, e) < 0)
		return -1;
	return is_accepted(head, key) ? 0 : err_set(e, ERR_GONE, NULL, "the server opens no view: %.*s", (int)strcspn(head, "\r"), head);
}

static int connect_to(struct bridge *bridge, const struct client *client, const char *path, struct err *e)
{
	auto_free char *url = util_printf("%s%s", client->base, path);
	CURLcode code;

	bridge->curl = curl_easy_init();
	if (!bridge->curl)
		DIE("libcurl does not start");
	client_prepare(client, bridge->curl, url);
	curl_easy_setopt(bridge->curl, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(bridge->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(bridge->curl, CURLOPT_TCP_KEEPALIVE, 1L);
	code = curl_easy_perform(bridge->curl);
	if (code == CURLE_OK)
		code = curl_easy_getinfo(bridge->curl, CURLINFO_ACTIVESOCKET, &bridge->socket);
	return code == CURLE_OK ? 0 : lost(e, code);
}

/* --- frames --- */

static ssize_t on_recv(wslay_event_context_ptr wslay, uint8_t *buf, size_t len, int flags, void *arg)
{
	struct bridge *bridge = arg;
	CURLcode code = CURLE_AGAIN;
	size_t n = 0;

	(void)flags;
	if (PIECE_BYTES - bridge->in_len >= CHUNK_BYTES)
		code = curl_easy_recv(bridge->curl, buf, len < CHUNK_BYTES ? len : CHUNK_BYTES, &n);
	if (code == CURLE_OK && n > 0)
		return (ssize_t)n;
	bridge->ended = bridge->ended || code != CURLE_AGAIN;
	wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t on_send(wslay_event_context_ptr wslay, const uint8_t *data, size_t len, int flags, void *arg)
{
	struct bridge *bridge = arg;
	size_t n = 0;
	CURLcode code = curl_easy_send(bridge->curl, data, len, &n);

	(void)flags;
	if (code == CURLE_OK)
		return (ssize_t)n;
	bridge->ended = bridge->ended || code != CURLE_AGAIN;
	wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static int on_mask(wslay_event_context_ptr wslay, uint8_t *buf, size_t len, void *arg)
{
	(void)wslay;
	(void)arg;
	util_random(buf, len);
	return 0;
}

static void on_frame(wslay_event_context_ptr wslay, const struct wslay_event_on_frame_recv_start_arg *frame, void *arg)
{
	(void)wslay;
	((struct bridge *)arg)->in_control = wslay_is_ctrl_frame(frame->opcode);
}

static void on_chunk(wslay_event_context_ptr wslay, const struct wslay_event_on_frame_recv_chunk_arg *chunk, void *arg)
{
	struct bridge *bridge = arg;

	(void)wslay;
	if (bridge->in_control || chunk->data_length > PIECE_BYTES - bridge->in_len)
		return;
	memcpy(bridge->in + bridge->in_len, chunk->data, chunk->data_length);
	bridge->in_len += chunk->data_length;
}

/* Its content begins with the code. */
static void on_message(wslay_event_context_ptr wslay, const struct wslay_event_on_msg_recv_arg *message, void *arg)
{
	struct bridge *bridge = arg;

	(void)wslay;
	if (message->opcode != WSLAY_CONNECTION_CLOSE)
		return;
	bridge->code = message->status_code;
	if (message->msg_length > 2)
		(void)snprintf(bridge->reason, sizeof(bridge->reason), "%.*s", (int)message->msg_length - 2, (const char *)message->msg + 2);
}

/* --- the viewer --- */

static void give_to_viewer(struct bridge *bridge)
{
	while (bridge->in_start < bridge->in_len) {
		ssize_t n = send(bridge->fd, bridge->in + bridge->in_start, bridge->in_len - bridge->in_start, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0) {
			bridge->fd_ended = bridge->fd_ended || errno != EAGAIN;
			return;
		}
		bridge->in_start += (size_t)n;
	}
	bridge->in_start = bridge->in_len = 0;
}

static void take_from_viewer(struct bridge *bridge)
{
	char data[PIECE_BYTES];
	ssize_t n;

	if (wslay_event_want_write(bridge->wslay))
		return;
	n = recv(bridge->fd, data, sizeof(data), MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		bridge->fd_ended = true;
	if (n > 0) {
		const struct wslay_event_msg message = {.opcode = WSLAY_BINARY_FRAME, .msg = (const uint8_t *)data, .msg_length = (size_t)n};

		if (wslay_event_queue_msg(bridge->wslay, &message) != 0)
			bridge->ended = true;
	}
}

/* Until something can go on. */
static void wait_for_either(const struct bridge *bridge)
{
	bool writes = wslay_event_want_write(bridge->wslay);
	struct pollfd ready[] = {
		{.fd = bridge->socket, .events = (short)((bridge->in_len == 0 ? POLLIN : 0) | (writes ? POLLOUT : 0))},
		{.fd = bridge->fd, .events = (short)((writes ? 0 : POLLIN) | (bridge->in_len > 0 ? POLLOUT : 0))},
	};

	(void)poll(ready, ARRAY_LEN(ready), -1);
}

/* What waits is taken before anything new is: so the TLS of libcurl never holds something that nobody is told of. */
static void carry(struct bridge *bridge)
{
	while (!bridge->ended && !bridge->fd_ended && !bridge->code) {
		give_to_viewer(bridge);
		if (bridge->in_len == 0 && wslay_event_recv(bridge->wslay) != 0)
			bridge->ended = true;
		give_to_viewer(bridge);
		take_from_viewer(bridge);
		if (wslay_event_want_write(bridge->wslay) && wslay_event_send(bridge->wslay) != 0)
			bridge->ended = true;
		if (bridge->in_len == 0 && !bridge->ended && wslay_event_recv(bridge->wslay) != 0)
			bridge->ended = true;
		if (!bridge->ended && !bridge->fd_ended && !bridge->code)
			wait_for_either(bridge);
	}
}

static int say_how(struct bridge *bridge, struct err *e)
{
	char shown[REASON_BYTES * 2];

	if (bridge->fd_ended) {
		(void)wslay_event_queue_close(bridge->wslay, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0);
		(void)wslay_event_send(bridge->wslay);
		return 0;
	}
	if (!bridge->code)
		return lost(e, CURLE_GOT_NOTHING);
	return err_set(e, ERR_GONE, NULL, "the server closes the view (%u): %s", bridge->code,
	               err_quote(shown, sizeof(shown), bridge->reason, strlen(bridge->reason)));
}

static int run(struct bridge *bridge, struct err *e)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_recv,
		.send_callback = on_send,
		.genmask_callback = on_mask,
		.on_frame_recv_start_callback = on_frame,
		.on_frame_recv_chunk_callback = on_chunk,
		.on_msg_recv_callback = on_message,
	};
	int rc;

	if (wslay_event_context_client_init(&bridge->wslay, &callbacks, bridge) != 0)
		DIE("no memory for a WebSocket");
	wslay_event_config_set_no_buffering(bridge->wslay, 1);
	carry(bridge);
	rc = say_how(bridge, e);
	wslay_event_context_free(bridge->wslay);
	return rc;
}

/* --- the ticket --- */

static int make_ticket(struct client *client, const struct view_wish *wish, char **ticket, struct err *e)
{
	auto_reply reply = {0};

	if (client_call(client, "POST", wish->path, wish->body, &reply, e) < 0)
		return -1;
	if (reply.status != 201)
		return err_set(e, ERR_FORBIDDEN, NULL, "the server gives no ticket: %s", form_string(reply.json, "detail", "and no reason"));
	*ticket = util_strdup(form_string(reply.json, "ticket", ""));
	return 0;
}

int view_bridge(struct client *client, const struct view_wish *wish, int fd, struct err *e)
{
	struct bridge bridge = {.fd = fd};
	char *ticket = NULL;
	int rc;

	if (make_ticket(client, wish, &ticket, e) < 0)
		return -1;
	rc = connect_to(&bridge, client, wish->path, e);
	if (rc == 0)
		rc = shake_hands(&bridge, client, wish->path, ticket, e);
	secret_wipe(ticket);
	if (rc == 0)
		rc = run(&bridge, e);
	curl_easy_cleanup(bridge.curl);
	return rc;
}
