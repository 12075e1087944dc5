/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop between standard input and output and the transfers. */
#include "session/cli/mcp_bridge.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/cli/mcp_post.h"

#define READ_BYTES 65536
#define WRITE_BYTES 4096 /* what a pipe or socket takes without waiting, once it takes anything */
#define LOOK_MS 500      /* between two looks whether somebody still reads the output */
#define CANCELLED "notifications/cancelled"

/* --- to the client --- */

void bridge_emit_text(struct bridge *bridge, const char *text, size_t len)
{
	/* A newline in JSON is white space: in strings it is escaped. */
	for (const char *end = text + len; text < end;) {
		size_t n = strcspn(text, "\r\n");

		n = n < (size_t)(end - text) ? n : (size_t)(end - text);
		buffer_add(&bridge->out, text, n);
		text += n;
		if (text < end) {
			buffer_add(&bridge->out, " ", 1);
			text++;
		}
	}
	buffer_add(&bridge->out, "\n", 1);
}

void bridge_emit(struct bridge *bridge, const json_t *message)
{
	auto_free char *text = json_dumps(message, JSON_COMPACT | JSON_ENCODE_ANY);

	if (!text)
		DIE("no memory for a message");
	bridge_emit_text(bridge, text, strlen(text));
}

static bool is_ready(int fd, short events)
{
	struct pollfd watched = {.fd = fd, .events = events};

	return poll(&watched, 1, 0) > 0 && (watched.revents & (events | POLLERR | POLLHUP | POLLNVAL));
}

static void write_out(struct bridge *bridge)
{
	while (bridge->out.len > 0 && !bridge->out_gone && is_ready(bridge->out_fd, POLLOUT)) {
		size_t len = bridge->out.len < WRITE_BYTES ? bridge->out.len : WRITE_BYTES;
		ssize_t n = write(bridge->out_fd, buffer_text(&bridge->out), len);

		if (n > 0)
			buffer_drop(&bridge->out, (size_t)n);
		else if (errno != EINTR && errno != EAGAIN)
			bridge->out_gone = true;
		else
			return;
	}
}

static void look_at_out(struct bridge *bridge)
{
	struct pollfd watched = {.fd = bridge->out_fd};

	if (poll(&watched, 1, 0) > 0 && (watched.revents & (POLLERR | POLLHUP | POLLNVAL)))
		bridge->out_gone = true;
}

/* --- from the client --- */

static void refuse_line(struct bridge *bridge, int code, const char *text)
{
	json_auto_t *error = message_error(NULL, code, text, NULL);

	log_error("a line was refused: %s", text);
	bridge_emit(bridge, error);
}

/* True when there is nothing to be sent any more: what it cancels has gone with its connection. */
static bool cancels(struct bridge *bridge, const struct message *message)
{
	struct post *post = post_find(bridge, json_object_get(message->params, "requestId"));

	if (message->kind != MESSAGE_NOTIFICATION || strcmp(message->method, CANCELLED) != 0)
		return false;
	if (!post || !post_is_modern(post)) {
		if (post)
			post_silence(post);
		return message->is_modern || !bridge->version;
	}
	post_drop(post);
	return true;
}

/* Lets the client in, if it is not yet. What cannot be done now is answered so. */
static bool opens(struct bridge *bridge, const struct message *message)
{
	struct err e = {0};

	if (bridge->is_open || strcmp(message->method, "server/discover") == 0)
		return true;
	bridge->is_open = bridge->door->open(bridge->door->arg, &bridge->token, &e) == 0;
	if (bridge->is_open)
		return true;
	log_error("%s", e.msg);
	if (message->kind == MESSAGE_REQUEST) {
		json_auto_t *error = message_error(message->id, MCP_INTERNAL_ERROR, e.msg, NULL);

		bridge_emit(bridge, error);
	}
	return false;
}

static void take_message(struct bridge *bridge, const char *text, size_t len)
{
	struct err e = {0};
	struct message message;
	json_t *json;

	if (json_parse(text, len, &json, &e)) {
		refuse_line(bridge, MCP_PARSE_ERROR, e.msg);
		return;
	}
	message = message_read(json);
	if (cancels(bridge, &message) || !opens(bridge, &message)) {
		json_decref(json);
	} else if (message.kind == MESSAGE_REQUEST && bridge->n_posts >= LIMIT_MCP_CALLS) {
		auto_free char *why = util_printf("%d requests run already", LIMIT_MCP_CALLS);
		json_auto_t *error = message_error(message.id, MCP_INTERNAL_ERROR, why, NULL);

		bridge_emit(bridge, error);
		json_decref(json);
	} else {
		post_start(bridge, json);
	}
}

/* Takes one line out of what was read. False when there is no whole one; at the end of input what is left counts as one. */
static bool take_line(struct bridge *bridge)
{
	const char *text = buffer_text(&bridge->in), *end = memchr(text, '\n', bridge->in.len);
	size_t len = end ? (size_t)(end - text) : bridge->in.len;

	if (!end && !(bridge->in_ended && len > 0)) {
		if (len <= LIMIT_BODY_BYTES)
			return false;
		if (!bridge->skips)
			refuse_line(bridge, MCP_INVALID_REQUEST, "the message is longer than a request may be");
		bridge->skips = true;
		buffer_clear(&bridge->in);
		return false;
	}
	if (!bridge->skips && strspn(text, " \t\r") < len)
		take_message(bridge, text, len);
	bridge->skips = false;
	buffer_drop(&bridge->in, len + (end ? 1 : 0));
	return true;
}

static void read_in(struct bridge *bridge)
{
	char piece[READ_BYTES];
	ssize_t n = read(bridge->in_fd, piece, sizeof(piece));

	if (n > 0)
		buffer_add(&bridge->in, piece, (size_t)n);
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		bridge->in_ended = true;
}

/* --- the loop --- */

static bool takes_lines(const struct bridge *bridge)
{
	return bridge->n_barriers == 0 && bridge->out.len < LIMIT_REPLY_BYTES;
}

/* One turn: waits for at most wait_ms, and does what can be done. */
static void turn(struct bridge *bridge, int signals_fd, int wait_ms)
{
	bool reads = takes_lines(bridge) && !bridge->in_ended;
	struct curl_waitfd fds[3] = {{.fd = signals_fd, .events = CURL_WAIT_POLLIN}};
	unsigned int n = 1;
	int running;

	wait_ms = keep_turn(&bridge->door->keep, bridge->multi, wait_ms);
	if (reads)
		fds[n++] = (struct curl_waitfd){.fd = bridge->in_fd, .events = CURL_WAIT_POLLIN};
	if (bridge->out.len > 0)
		fds[n++] = (struct curl_waitfd){.fd = bridge->out_fd, .events = CURL_WAIT_POLLOUT};
	/* A client that does not read gets no more made for it. */
	if (bridge->out.len < LIMIT_REPLY_BYTES) {
		curl_multi_poll(bridge->multi, fds, n, wait_ms, NULL);
		curl_multi_perform(bridge->multi, &running);
		post_reap(bridge);
	} else {
		struct pollfd waits[] = {{.fd = signals_fd, .events = POLLIN}, {.fd = bridge->out_fd, .events = POLLOUT}};

		(void)poll(waits, ARRAY_LEN(waits), wait_ms);
	}
	if (reads && is_ready(bridge->in_fd, POLLIN))
		read_in(bridge);
	while (takes_lines(bridge) && take_line(bridge))
		continue;
	write_out(bridge);
	look_at_out(bridge);
}

static bool waits_for_answers(const struct bridge *bridge)
{
	for (const struct post *post = bridge->posts; post; post = post_next(post)) {
		if (post_will_end(post))
			return true;
	}
	return bridge->in.len > 0 || bridge->out.len > 0;
}

static void carry(struct bridge *bridge, int signals_fd)
{
	int64_t end_ms = 0;

	while (!bridge->out_gone && !is_ready(signals_fd, POLLIN)) {
		int64_t left_ms = LOOK_MS;

		if (bridge->in_ended) {
			end_ms = end_ms ? end_ms : util_now_ms() + LIMIT_MCP_END_MS;
			left_ms = end_ms - util_now_ms();
			if (left_ms <= 0 || !waits_for_answers(bridge))
				return;
		}
		turn(bridge, signals_fd, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
	}
}

static int watch_signals(struct err *e)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return err_sys(e, "signals cannot be blocked");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? err_sys(e, "signals cannot be watched") : fd;
}

int bridge_run(const struct client *client, struct bridge_door *door, int in_fd, int out_fd, struct err *e)
{
	struct bridge bridge = {
		.client = client, .token = client->token, .door = door, .in_fd = in_fd, .out_fd = out_fd, .tools = json_object()};
	auto_fd signals_fd = watch_signals(e);

	if (signals_fd < 0)
		return -1;
	bridge.multi = curl_multi_init();
	if (!bridge.multi)
		DIE("libcurl does not start");
	carry(&bridge, signals_fd);
	while (bridge.posts)
		post_drop(bridge.posts);
	keep_finish(&door->keep);
	post_goodbye(&bridge);
	curl_multi_cleanup(bridge.multi);
	buffer_finish(&bridge.in);
	buffer_finish(&bridge.out);
	json_decref(bridge.hello);
	json_decref(bridge.tools);
	free(bridge.version);
	free(bridge.mcp_session);
	return 0;
}
