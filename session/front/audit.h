/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front's own record of what happens outside of sessions: audit.jsonl, chained lines (session/base/chain.h), the chain going on over
 * restarts and over the files that were put aside: at `max_bytes` the file becomes audit.1.jsonl, the one before audit.2.jsonl, to
 * audit.4.jsonl. Lines hold who, what and why; never a token, a spec or what a session shows.
 *
 * A line that must be there before its event goes on is added: it is on disk then. Others are noted: they are on disk within a second,
 * and a full disk loses them with a line in the log. Owner: session/front. One thread.
 */
#ifndef FRONT_AUDIT_H
#define FRONT_AUDIT_H

#include <jansson.h>
#include <stddef.h>

#include "session/base/loop.h"
#include "session/front/tokens.h"

struct audit;

/* What is counted instead of being told one by one: anybody can make it happen as often as he likes. */
enum audit_count { AUDIT_UNAUTHORIZED, AUDIT_WRONG_CODES, AUDIT_REFUSALS_LEFT_OUT, N_AUDIT_COUNTS };

/* Opens the file at `path`, which ends in ".jsonl", and takes up its chain. NULL with *e. */
struct audit *audit_open(struct loop *loop, const char *path, size_t max_bytes, struct err *e);
/* Writes what was counted, and hands everything to the disk. NULL is fine, as for all functions here: then nothing is written. */
void audit_close(struct audit *audit);

/* `fields` (a reference, taken) come after the event's name. ERR_INTERNAL if the line is not on disk: then nothing of it is there. */
int audit_add(struct audit *audit, const char *event, json_t *fields, struct err *e);
void audit_note(struct audit *audit, const char *event, json_t *fields);

/* A note of a create that was refused for `why`. Beyond LIMIT_AUDIT_REFUSALS in LIMIT_AUDIT_TICK_MS they are counted. */
void audit_refusal(struct audit *audit, const struct identity *who, const char *request_id, const struct err *why);

/* Counted events are written with their number, LIMIT_AUDIT_TICK_MS after the first. */
void audit_count(struct audit *audit, enum audit_count what);

/* {"owner","role","token","request"}: who asked; the token by its id. The caller's reference. */
json_t *audit_who(const struct identity *who, const char *request_id);

#endif
