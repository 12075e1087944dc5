/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One WebSocket. wslay takes frames apart and makes them; it reads by on_recv and writes by on_send, which fills `out`: so a frame goes out
 * with its header in one piece. Events only say that there may be something to do; `watch` asks for what is waited for.
 */
#include "session/front/websocket.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define HEADERS_BYTES 64 /* of the frames in one filling of `out` */
#define DRAIN_BYTES 4096

enum state {
	OPEN,
	CLOSING,  /* our close is to go out */
	LINGERING, /* it has: until the peer ends, since ending first could take what it has not read yet from it */
	OVER
};

struct websocket {
	struct loop *loop;
	const struct websocket_ops *ops;
	void *arg;
	int fd;
	struct loop_source *source;
	uint32_t events;
	struct websocket_pace pace;
	wslay_event_context_ptr wslay;
	enum state state;
	uint8_t *early; /* of the peer: early[early_start..early_len) is not read yet */
	size_t early_start, early_len;
	size_t budget;  /* bytes that may be read in this turn */
	bool ended;     /* the peer sends nothing any more, or the socket has failed */
	bool blocked;   /* something waits to be sent: `writable` is owed */
	bool in_control; /* the frame that comes is one of the protocol's own */
	uint16_t refused; /* the code for what the peer did wrong; 0: nothing */
	uint8_t out[LIMIT_WEBSOCKET_TURN_BYTES + HEADERS_BYTES]; /* out[out_start..out_len) is not sent yet */
	size_t out_start, out_len;
	int64_t heard_ms, pinged_ms;
	int64_t tick_ms; /* when the tick is due */
	bool silent;
	struct loop_timer *tick; /* while OPEN for pings, then for the end */
	struct loop_timer *soon; /* what came early is still to be read */
};

/* --- its end --- */

static void on_tick(void *arg);

static void set_tick(struct websocket *websocket, int64_t at_ms)
{
	loop_cancel(websocket->tick);
	websocket->tick_ms = at_ms;
	websocket->tick = loop_at(websocket->loop, at_ms, on_tick, websocket);
}

static void finish(struct websocket *websocket)
{
	if (websocket->state == OVER)
		return;
	websocket->state = OVER;
	loop_cancel(websocket->tick);
	loop_cancel(websocket->soon);
	websocket->tick = websocket->soon = NULL;
	loop_remove(websocket->source);
	websocket->source = NULL;
	websocket->ops->closed(websocket->arg);
}

/* --- sending --- */

static ssize_t on_send(wslay_event_context_ptr wslay, const uint8_t *data, size_t len, int flags, void *arg)
{
	struct websocket *websocket = arg;
	size_t n = MIN(len, sizeof(websocket->out) - websocket->out_len);

	(void)flags;
	if (n == 0) {
		wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	memcpy(websocket->out + websocket->out_len, data, n);
	websocket->out_len += n;
	return (ssize_t)n;
}

static void flush(struct websocket *websocket)
{
	while (websocket->out_start < websocket->out_len) {
		ssize_t n = send(websocket->fd, websocket->out + websocket->out_start, websocket->out_len - websocket->out_start,
		                 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			websocket->ended = true;
		if (n < 0)
			return;
		websocket->out_start += (size_t)n;
	}
	websocket->out_start = websocket->out_len = 0;
}

/* Sends what there is, as far as the socket takes it. */
static void push(struct websocket *websocket)
{
	flush(websocket);
	while (websocket->out_len == 0 && !websocket->ended && wslay_event_want_write(websocket->wslay)) {
		if (wslay_event_send(websocket->wslay) != 0)
			websocket->ended = true;
		flush(websocket);
	}
}

static bool has_unsent(const struct websocket *websocket)
{
	return websocket->out_len > 0 || wslay_event_get_queued_msg_count(websocket->wslay) > 0;
}

static void queue(struct websocket *websocket, uint8_t opcode, const void *data, size_t len)
{
	const struct wslay_event_msg message = {.opcode = opcode, .msg = data, .msg_length = len};

	if (wslay_event_queue_msg(websocket->wslay, &message) == WSLAY_ERR_NOMEM)
		DIE("no memory for a message");
}

/* --- receiving --- */

/* May the peer be read from? Its pings are answered, which takes memory until it has taken the answers. */
static bool may_read(const struct websocket *websocket)
{
	return websocket->state == OPEN && !websocket->refused && !websocket->ended && wslay_event_want_read(websocket->wslay) &&
	       wslay_event_get_queued_msg_count(websocket->wslay) < LIMIT_WEBSOCKET_CONTROL &&
	       websocket->ops->room(websocket->arg) >= WEBSOCKET_PIECE;
}

static ssize_t take_early(struct websocket *websocket, uint8_t *buf, size_t len)
{
	size_t n = MIN(len, websocket->early_len - websocket->early_start);

	memcpy(buf, websocket->early + websocket->early_start, n);
	explicit_bzero(websocket->early + websocket->early_start, n);
	websocket->early_start += n;
	if (websocket->early_start == websocket->early_len) {
		free(websocket->early);
		websocket->early = NULL;
	}
	return (ssize_t)n;
}

/* As recv; what fails is the end. */
static ssize_t receive(struct websocket *websocket, uint8_t *buf, size_t len)
{
	ssize_t n = recv(websocket->fd, buf, len, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN))
		websocket->ended = true;
	if (n <= 0)
		return -1;
	websocket->heard_ms = util_now_ms();
	websocket->silent = false;
	return n;
}

static ssize_t on_recv(wslay_event_context_ptr wslay, uint8_t *buf, size_t len, int flags, void *arg)
{
	struct websocket *websocket = arg;
	ssize_t n = -1;

	(void)flags;
	len = MIN(len, MIN(websocket->budget, WEBSOCKET_PIECE));
	if (len > 0 && may_read(websocket))
		n = websocket->early ? take_early(websocket, buf, len) : receive(websocket, buf, len);
	if (n < 0)
		wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
	else
		websocket->budget -= (size_t)n;
	return n;
}

static void on_frame(wslay_event_context_ptr wslay, const struct wslay_event_on_frame_recv_start_arg *frame, void *arg)
{
	struct websocket *websocket = arg;

	(void)wslay;
	websocket->in_control = wslay_is_ctrl_frame(frame->opcode);
	if (frame->opcode == WSLAY_TEXT_FRAME)
		websocket->refused = WSLAY_CODE_UNSUPPORTED_DATA;
	else if (frame->payload_length > LIMIT_WEBSOCKET_FRAME_BYTES)
		websocket->refused = WSLAY_CODE_MESSAGE_TOO_BIG;
	else
		return;
	wslay_event_shutdown_read(websocket->wslay);
}

/* A piece of a frame's content; of those that control the connection itself nothing is handed on. What people type and paste comes so: it is wiped
 * from wslay's buffer, which has no more use for it. */
static void on_chunk(wslay_event_context_ptr wslay, const struct wslay_event_on_frame_recv_chunk_arg *chunk, void *arg)
{
	struct websocket *websocket = arg;

	(void)wslay;
	if (!websocket->in_control && !websocket->refused && websocket->state == OPEN && chunk->data_length > 0)
		websocket->ops->data(websocket->arg, chunk->data, chunk->data_length);
	if (!websocket->in_control)
		explicit_bzero((void *)(uintptr_t)chunk->data, chunk->data_length);
}

/* What comes behind a close is of no use. */
static void drain(struct websocket *websocket)
{
	uint8_t data[DRAIN_BYTES];

	for (size_t n = 0; n < LIMIT_WEBSOCKET_TURN_BYTES && !websocket->ended; n += sizeof(data))
		if (receive(websocket, data, sizeof(data)) < 0)
			return;
}

/* --- what happens --- */

static void begin_close(struct websocket *websocket, uint16_t code, const char *reason)
{
	websocket->state = CLOSING;
	/* It fails when wslay has a close on its way already. */
	(void)wslay_event_queue_close(websocket->wslay, code, (const uint8_t *)reason, strlen(reason));
	wslay_event_shutdown_read(websocket->wslay);
	set_tick(websocket, util_now_ms() + LIMIT_WEBSOCKET_CLOSE_MS);
}

static void on_event(void *arg, uint32_t events);

static void on_soon(void *arg)
{
	struct websocket *websocket = arg;

	websocket->soon = NULL;
	on_event(websocket, 0);
}

static void watch(struct websocket *websocket)
{
	bool reads = may_read(websocket) || websocket->state != OPEN;
	uint32_t events = EPOLLRDHUP | (reads ? EPOLLIN : 0U) | (websocket->out_len > 0 ? EPOLLOUT : 0U);

	if (events != websocket->events)
		loop_modify(websocket->source, events);
	websocket->events = events;
	if (websocket->early && may_read(websocket) && !websocket->soon)
		websocket->soon = loop_at(websocket->loop, util_now_ms(), on_soon, websocket);
}

/* Sends what is to be sent, sees whether that was the last, and asks for what comes next. It may be gone after this. */
static void settle(struct websocket *websocket, uint32_t events)
{
	if (websocket->state == OPEN && (websocket->refused || !wslay_event_get_read_enabled(websocket->wslay)))
		begin_close(websocket, websocket->refused ? websocket->refused : WSLAY_CODE_PROTOCOL_ERROR, "");
	websocket->blocked = websocket->blocked || has_unsent(websocket); /* an answer to a ping may have been in the way */
	push(websocket);
	if (websocket->state == CLOSING && wslay_event_get_close_sent(websocket->wslay) && websocket->out_len == 0) {
		(void)shutdown(websocket->fd, SHUT_WR);
		websocket->state = LINGERING;
	}
	if (websocket->ended || (events & (EPOLLHUP | EPOLLERR)) || ((events & EPOLLRDHUP) && !(websocket->events & EPOLLIN))) {
		finish(websocket);
		return;
	}
	if (websocket->blocked && !has_unsent(websocket)) {
		websocket->blocked = false;
		websocket->ops->writable(websocket->arg);
	}
	watch(websocket);
}

static void on_event(void *arg, uint32_t events)
{
	struct websocket *websocket = arg;

	websocket->budget = LIMIT_WEBSOCKET_TURN_BYTES;
	if (websocket->state != OPEN)
		drain(websocket);
	else if (wslay_event_recv(websocket->wslay) != 0)
		websocket->refused = websocket->refused ? websocket->refused : WSLAY_CODE_PROTOCOL_ERROR;
	websocket->budget = 0;
	settle(websocket, events);
}

static void ping(struct websocket *websocket, int64_t now_ms)
{
	if (now_ms - MAX(websocket->heard_ms, websocket->pinged_ms) < websocket->pace.ping_ms || has_unsent(websocket))
		return;
	websocket->pinged_ms = now_ms;
	queue(websocket, WSLAY_PING, NULL, 0);
}

/* A ping that had to wait for what is being sent comes one time later. */
static int64_t next_tick_ms(const struct websocket *websocket, int64_t now_ms)
{
	const struct websocket_pace *pace = &websocket->pace;
	int64_t ping_at_ms = MAX(websocket->heard_ms, websocket->pinged_ms) + pace->ping_ms;
	int64_t at_ms = MIN(ping_at_ms > now_ms ? ping_at_ms : now_ms + pace->ping_ms, websocket->heard_ms + pace->dead_ms);

	return pace->silent_ms > 0 && !websocket->silent ? MIN(at_ms, websocket->heard_ms + pace->silent_ms) : at_ms;
}

/* Since when the peer says nothing. Time in which this process did not run is none of the peer's, nor is what it has said and nobody has read yet. */
static int64_t quiet_for_ms(struct websocket *websocket, int64_t now_ms)
{
	char byte;

	websocket->heard_ms = MIN(websocket->heard_ms + MAX(now_ms - websocket->tick_ms, 0), now_ms);
	if (recv(websocket->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0 && may_read(websocket))
		websocket->heard_ms = now_ms;
	return now_ms - websocket->heard_ms;
}

static void on_tick(void *arg)
{
	struct websocket *websocket = arg;
	const struct websocket_pace *pace = &websocket->pace;
	int64_t now_ms = util_now_ms(), quiet_ms = quiet_for_ms(websocket, now_ms);

	websocket->tick = NULL;
	if (websocket->state != OPEN || quiet_ms >= pace->dead_ms) {
		finish(websocket);
		return;
	}
	if (pace->silent_ms > 0 && !websocket->silent && quiet_ms >= pace->silent_ms) {
		websocket->silent = true;
		websocket->ops->silent(websocket->arg);
	}
	ping(websocket, now_ms);
	set_tick(websocket, next_tick_ms(websocket, now_ms));
	settle(websocket, 0);
}

/* --- for its owner --- */

struct websocket *websocket_create(struct loop *loop, int fd, const void *early, size_t early_len, const struct websocket_pace *pace,
                                   const struct websocket_ops *ops, void *arg)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_recv,
		.send_callback = on_send,
		.on_frame_recv_start_callback = on_frame,
		.on_frame_recv_chunk_callback = on_chunk,
	};
	struct websocket *websocket = util_zalloc(sizeof(*websocket));

	*websocket = (struct websocket){.loop = loop, .ops = ops, .arg = arg, .fd = fd, .pace = *pace, .early_len = early_len};
	if (wslay_event_context_server_init(&websocket->wslay, &callbacks, websocket) != 0)
		DIE("no memory for a WebSocket");
	wslay_event_config_set_no_buffering(websocket->wslay, 1);
	if (early_len > 0) {
		websocket->early = util_alloc(early_len);
		memcpy(websocket->early, early, early_len);
	}
	websocket->heard_ms = websocket->pinged_ms = util_now_ms();
	websocket->events = EPOLLRDHUP;
	websocket->source = loop_add(loop, fd, websocket->events, on_event, websocket);
	set_tick(websocket, next_tick_ms(websocket, websocket->heard_ms));
	watch(websocket);
	return websocket;
}

void websocket_destroy(struct websocket *websocket)
{
	if (!websocket)
		return;
	loop_cancel(websocket->tick);
	loop_cancel(websocket->soon);
	loop_remove(websocket->source);
	wslay_event_context_free(websocket->wslay);
	if (websocket->early)
		explicit_bzero(websocket->early, websocket->early_len);
	free(websocket->early);
	explicit_bzero(websocket->out, sizeof(websocket->out));
	free(websocket);
}

size_t websocket_room(const struct websocket *websocket)
{
	return websocket->state == OPEN && !websocket->ended && !has_unsent(websocket) ? LIMIT_WEBSOCKET_TURN_BYTES : 0;
}

/* Sends from outside of our own events: what that finds out is seen to in the next one. */
static void send_now(struct websocket *websocket)
{
	push(websocket);
	websocket->blocked = websocket->blocked || has_unsent(websocket);
	if (websocket->ended)
		(void)shutdown(websocket->fd, SHUT_RDWR); /* the loop tells of it */
	watch(websocket);
}

void websocket_send(struct websocket *websocket, const void *data, size_t len)
{
	queue(websocket, WSLAY_BINARY_FRAME, data, len);
	send_now(websocket);
}

void websocket_go_on(struct websocket *websocket)
{
	if (websocket->state == OPEN)
		watch(websocket);
}

void websocket_close(struct websocket *websocket, enum websocket_code code, const char *reason)
{
	if (websocket->state != OPEN)
		return;
	begin_close(websocket, (uint16_t)code, reason);
	send_now(websocket);
}

unsigned int websocket_code_of_peer(const struct websocket *websocket)
{
	return wslay_event_get_close_received(websocket->wslay) ? wslay_event_get_status_code_received(websocket->wslay) : 0;
}
