/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A coroutine for each way. */
#include "sandbox/egress/tunnel.h"

#include "session/base/co.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define PIECES_IN_TURN 8 /* then others have theirs */

struct tunnel {
	struct passage *passage;
	struct wire *client;
	int64_t moved_ms;
	bool has_ended;        /* one of its sides */
	struct co *up, *down;  /* up is the caller's own */
	bool down_is_over;
	struct co_event over;
};

/* When it will have been idle for too long, if nothing moves. */
static int64_t idle_at(const struct tunnel *tunnel)
{
	return tunnel->moved_ms + (tunnel->has_ended ? LIMIT_EGRESS_HALF_MS : LIMIT_EGRESS_IDLE_MS);
}

/* The other way may have moved meanwhile. */
static ssize_t read_piece(const struct tunnel *tunnel, struct wire *from, char *piece, struct err *e)
{
	ssize_t n;

	do
		n = wire_read(from, piece, LIMIT_EGRESS_PIECE_BYTES, idle_at(tunnel), e);
	while (n < 0 && e->code == ERR_TIMEOUT && util_now_ms() < idle_at(tunnel));
	return n;
}

static int pump(struct tunnel *tunnel, enum meter_way way, struct err *e)
{
	struct wire *from = way == METER_UP ? tunnel->client : tunnel->passage->server;
	struct wire *to = way == METER_UP ? tunnel->passage->server : tunnel->client;
	auto_free char *piece = util_alloc(LIMIT_EGRESS_PIECE_BYTES);
	ssize_t n;

	for (int i = 1; (n = read_piece(tunnel, from, piece, e)) > 0; i++) {
		if (passage_pay(tunnel->passage, way, (size_t)n, e) < 0 ||
		    wire_write(to, piece, (size_t)n, util_now_ms() + LIMIT_EGRESS_IDLE_MS, e) < 0)
			return -1;
		tunnel->moved_ms = util_now_ms();
		if (i % PIECES_IN_TURN == 0 && co_wait_until(tunnel->moved_ms, e) < 0)
			return -1;
	}
	if (n < 0)
		return -1;
	tunnel->has_ended = true;
	tunnel->moved_ms = util_now_ms();
	wire_shut(to);
	return 0;
}

static void run_down(void *arg)
{
	struct tunnel *tunnel = arg;
	struct err e = {0};

	if (pump(tunnel, METER_DOWN, &e) < 0)
		co_cancel(tunnel->up);
	tunnel->down_is_over = true;
	co_signal(&tunnel->over);
}

void tunnel_run(struct wire *client, struct passage *passage)
{
	struct tunnel tunnel = {.passage = passage, .client = client, .moved_ms = util_now_ms(), .up = co_self()};
	struct err e = {0};
	int rc;

	tunnel.down = co_start(passage->proxy->loop, run_down, &tunnel);
	rc = pump(&tunnel, METER_UP, &e);
	while (rc == 0 && !tunnel.down_is_over)
		rc = co_wait_event(&tunnel.over, CO_FOREVER, &e);
	if (!tunnel.down_is_over)
		co_cancel(tunnel.down);
	co_shield();
	while (!tunnel.down_is_over)
		(void)co_wait_event(&tunnel.over, CO_FOREVER, &e);
	co_unshield();
}
