/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A queue of bytes with two ends. */
#include "session/front/flow.h"

#include <string.h>

#include "session/base/util.h"

struct flow {
	char *data; /* data[start..start + len) is not read yet */
	size_t start, len, size, behind;
	bool ended, broken, gone; /* the writer's end, that it is none, the reader's */
	loop_timer_fn *left, *taken, *more;
	flow_count_fn *count;
	void *arg, *more_arg, *count_arg;
};

struct flow *flow_create(loop_timer_fn *left, loop_timer_fn *taken, void *arg)
{
	struct flow *flow = util_zalloc(sizeof(*flow));

	flow->left = left;
	flow->taken = taken;
	flow->arg = arg;
	return flow;
}

static void free_unused(struct flow *flow)
{
	if (!flow->ended || !flow->gone)
		return;
	free(flow->data);
	free(flow);
}

static void tell(struct flow *flow)
{
	if (flow->more)
		flow->more(flow->more_arg);
}

static void count(struct flow *flow)
{
	if (flow->count)
		flow->count(flow->count_arg, flow->len + flow->behind);
}

void flow_write(struct flow *flow, const void *data, size_t len)
{
	if (flow->gone)
		return;
	if (flow->start > 0 && flow->start + flow->len + len > flow->size) {
		memmove(flow->data, flow->data + flow->start, flow->len);
		flow->start = 0;
	}
	if (flow->len + len > flow->size) {
		flow->size = flow->len + len;
		flow->data = util_realloc(flow->data, flow->size);
	}
	memcpy(flow->data + flow->start + flow->len, data, len);
	flow->len += len;
	count(flow);
	tell(flow);
}

size_t flow_waiting(const struct flow *flow)
{
	return flow->len;
}

void flow_behind(struct flow *flow, size_t n_bytes)
{
	flow->behind = n_bytes;
	count(flow);
}

void flow_end(struct flow *flow)
{
	if (!flow)
		return;
	flow->ended = true;
	if (!flow->gone)
		tell(flow);
	free_unused(flow);
}

void flow_break(struct flow *flow)
{
	flow->broken = true;
	flow_end(flow);
}

enum stage_read flow_read(struct flow *flow, char *out, size_t max, size_t *n)
{
	if (flow->broken)
		return STAGE_READ_BROKEN;
	if (flow->len == 0)
		return flow->ended ? STAGE_READ_END : STAGE_READ_WAIT;
	*n = flow->len < max ? flow->len : max;
	memcpy(out, flow->data + flow->start, *n);
	flow->start = *n == flow->len ? 0 : flow->start + *n;
	flow->len -= *n;
	count(flow);
	if (!flow->ended && flow->taken)
		flow->taken(flow->arg);
	return STAGE_READ_SOME;
}

void flow_watch(struct flow *flow, loop_timer_fn *fn, void *arg)
{
	flow->more = fn;
	flow->more_arg = arg;
}

void flow_count(struct flow *flow, flow_count_fn *fn, void *arg)
{
	flow->count = fn;
	flow->count_arg = arg;
	count(flow);
}

void flow_leave(struct flow *flow)
{
	if (!flow)
		return;
	flow->gone = true;
	flow->more = NULL;
	flow->count = NULL;
	if (!flow->ended && flow->left)
		flow->left(flow->arg);
	free_unused(flow);
}
