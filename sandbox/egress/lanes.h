/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deliveries that wait: a lane for each target and session, in which one follows the other, and a try that failed is made again after a
 * while. Bounded, in all and for each lane: what has no room is dropped, and counted. Owner: sandbox/egress. One thread.
 */
#ifndef EGRESS_LANES_H
#define EGRESS_LANES_H

#include "sandbox/egress/post.h"

struct lanes;

struct lanes_ops {
	/* Something came of deliveries; the numbers are those since the last call. */
	void (*report)(void *arg, const struct hook_report *report);
	void (*idle)(void *arg); /* nothing waits any more */
	/* One try: post_event, or what a test has in its place. */
	enum post_result (*post)(const struct poster *poster, const struct target *target, const struct hook_event *event, char *why, size_t size);
	int64_t pause_ms; /* after the first try that failed; four times as long after each other */
	void *arg;
};

/* All borrowed. */
struct lanes *lanes_create(const struct poster *poster, const struct lanes_ops *ops);

/* The event is to go to every target that wants its kind; it is copied. */
void lanes_add(struct lanes *lanes, const struct hook_event *event);

bool lanes_are_empty(const struct lanes *lanes);

#endif
