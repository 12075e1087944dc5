/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Webhooks: the front says what happened to glovebox-egress (sandbox/egress/hook.h), which knows where that goes. Nothing of the screen, of
 * what was typed or of an action is in an event. Owner: session/front. One thread.
 */
#ifndef FRONT_HOOKS_H
#define FRONT_HOOKS_H

#include <jansson.h>

#include "session/base/loop.h"

struct metrics;

/* In the order of HOOK_EVENTS. */
enum hooks_kind { HOOKS_LEASE, HOOKS_APPROVAL, HOOKS_SESSION };

/* Zero-initialised but for fd, which is -1, there are no webhooks. */
struct hooks {
	int fd;
	struct loop_source *source;
	struct metrics *metrics;
	const char *console; /* where people reach it: "https://box.example.org" */
	bool drops;          /* said in the log, until an event is taken again */
};

/* From now on, if there are webhooks. All are borrowed. */
void hooks_start(struct hooks *hooks, struct loop *loop, struct metrics *metrics, const char *console);

/*
 * Sends {"id","event","session","at","url",MEMBER:VALUE}: `member` names the value, whose reference is taken. Never waits: what the link does
 * not take is dropped and counted. `hooks` may be NULL.
 */
void hooks_say(struct hooks *hooks, enum hooks_kind kind, const char *session, const char *member, json_t *value);

#endif
