/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lane is a coroutine that lives while something waits in it. */
#include "sandbox/egress/lanes.h"

#include <stddef.h>
#include <string.h>

#include "session/base/co.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define WHY_SIZE 200
#define PAUSE_GROWS 4

/* One event for one target. */
struct delivery {
	struct delivery *next;
	struct hook_event *event; /* no longer than its body */
};

struct lane {
	struct lane *next;
	struct lanes *lanes;
	const struct target *target;
	char session[sizeof(((struct hook_event *)0)->session)];
	struct delivery *first;
	size_t n;
};

/* What the lanes to one target have in common: a receiver that hangs is no matter to the others. */
struct road {
	size_t n;               /* deliveries in its lanes */
	size_t n_at_once;       /* tries that run now */
	struct co_event fewer;  /* of these */
	bool drops;             /* said in the log, until something has room again */
};

struct lanes {
	const struct poster *poster;
	const struct lanes_ops *ops;
	struct lane *first;
	struct road roads[LIMIT_HOOKS]; /* in the order of the targets */
};

struct lanes *lanes_create(const struct poster *poster, const struct lanes_ops *ops)
{
	struct lanes *lanes = util_zalloc(sizeof(*lanes));

	*lanes = (struct lanes){.poster = poster, .ops = ops};
	return lanes;
}

static struct road *road_to(struct lanes *lanes, const struct target *target)
{
	return &lanes->roads[target - lanes->poster->targets->list];
}

static void tell(const struct lanes *lanes, struct hook_report report)
{
	lanes->ops->report(lanes->ops->arg, &report);
}

static enum post_result try_once(const struct lane *lane, const struct hook_event *event, char *why)
{
	const struct lanes *lanes = lane->lanes;
	struct road *road = road_to(lane->lanes, lane->target);
	enum post_result result;
	struct err e;

	while (road->n_at_once >= LIMIT_HOOKS_AT_ONCE)
		(void)co_wait_event(&road->fewer, CO_FOREVER, &e);
	road->n_at_once++;
	result = lanes->ops->post(lanes->poster, lane->target, event, why, WHY_SIZE);
	road->n_at_once--;
	co_signal(&road->fewer);
	return result;
}

static void deliver(const struct lane *lane, const struct hook_event *event)
{
	int64_t pause_ms = lane->lanes->ops->pause_ms;
	int tries = lane->lanes->poster->targets->tries;
	enum post_result result = POST_LATER;
	char why[WHY_SIZE] = "";
	struct err e;

	for (int i = 1; i <= tries && result == POST_LATER; i++) {
		result = try_once(lane, event, why);
		if (result == POST_DELIVERED)
			break;
		log_warn("%s: delivery %s of session %s failed: %s%s", lane->target->name, event->id, lane->session, why,
		         result == POST_LATER && i < tries ? "; it is tried again" : "; it is given up");
		if (result == POST_LATER && i < tries)
			(void)co_wait_until(util_now_ms() + pause_ms, &e);
		pause_ms *= PAUSE_GROWS;
	}
	tell(lane->lanes, result == POST_DELIVERED ? (struct hook_report){.delivered = 1} : (struct hook_report){.failed = 1});
}

static void drop_lane(struct lane *lane)
{
	struct lane **place = &lane->lanes->first;

	while (*place != lane)
		place = &(*place)->next;
	*place = lane->next;
	if (!lane->lanes->first)
		lane->lanes->ops->idle(lane->lanes->ops->arg);
	free(lane);
}

static void run(void *arg)
{
	struct lane *lane = arg;
	struct delivery *delivery;

	while ((delivery = lane->first)) {
		deliver(lane, delivery->event);
		lane->first = delivery->next;
		lane->n--;
		road_to(lane->lanes, lane->target)->n--;
		free(delivery->event);
		free(delivery);
	}
	drop_lane(lane);
}

static struct lane *find_lane(struct lanes *lanes, const struct target *target, const char *session)
{
	struct lane *lane = lanes->first;

	while (lane && (lane->target != target || strcmp(lane->session, session) != 0))
		lane = lane->next;
	return lane;
}

static struct lane *open_lane(struct lanes *lanes, const struct target *target, const char *session)
{
	struct lane *lane = util_zalloc(sizeof(*lane));

	*lane = (struct lane){.next = lanes->first, .lanes = lanes, .target = target};
	(void)snprintf(lane->session, sizeof(lane->session), "%s", session);
	lanes->first = lane;
	(void)co_start(lanes->poster->loop, run, lane);
	return lane;
}

static void drop(struct lanes *lanes, const struct target *target, const struct hook_event *event)
{
	struct road *road = road_to(lanes, target);

	if (!road->drops)
		log_warn("%s: too much waits to be delivered; events are dropped, the first one of session %s", target->name, event->session);
	road->drops = true;
	tell(lanes, (struct hook_report){.dropped = 1});
}

static void add(struct lanes *lanes, const struct target *target, const struct hook_event *event)
{
	size_t size = offsetof(struct hook_event, body) + event->len;
	struct lane *lane = find_lane(lanes, target, event->session);
	struct road *road = road_to(lanes, target);
	struct delivery *delivery, **end;

	if (road->n >= LIMIT_HOOK_QUEUE || (lane && lane->n >= LIMIT_HOOK_LANE)) {
		drop(lanes, target, event);
		return;
	}
	road->drops = false;
	lane = lane ? lane : open_lane(lanes, target, event->session);
	delivery = util_zalloc(sizeof(*delivery));
	delivery->event = util_alloc(size);
	memcpy(delivery->event, event, size);
	for (end = &lane->first; *end; end = &(*end)->next)
		;
	*end = delivery;
	lane->n++;
	road->n++;
}

void lanes_add(struct lanes *lanes, const struct hook_event *event)
{
	const struct targets *targets = lanes->poster->targets;

	for (size_t i = 0; i < targets->n; i++)
		if (targets->list[i].events & (1U << event->kind))
			add(lanes, &targets->list[i], event);
}

bool lanes_are_empty(const struct lanes *lanes)
{
	return !lanes->first;
}
