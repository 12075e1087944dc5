/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One card, as the files approval*.c share it; not for others (approvals.h is). One thread.
 */
#ifndef STAGE_APPROVAL_H
#define STAGE_APPROVAL_H

#include "session/stage/approvals.h"
#include "session/stage/guard.h"
#include "session/stage/judge.h"

struct approval {
	struct approval *next;
	struct stage *stage;
	char id[LIMIT_APPROVAL_ID_BYTES + 1]; /* the session's, ".", its number */
	enum approval_state state;
	bool has_caller;                  /* a call waits for it */
	char token[GUARD_TOKEN_BYTES];    /* whose call it was */
	json_t *asked;                    /* the action as it was sent, whole: never shown */
	json_t *card;                     /* what is shown of it and does not change */
	char rule[LIMIT_RULE_NAME_BYTES + 1];
	char *key;                        /* that an answer for the session is for, or NULL */
	struct rect target;               /* native pixels; width 0: none is known */
	uint32_t window;
	char title[LIMIT_TITLE_BYTES + 1], url[LIMIT_NODE_URL_BYTES + 1], role[LIMIT_NODE_ROLE_BYTES + 1];
	uint64_t frame;
	long epoch, episode;
	int64_t asked_ms;                 /* monotonic */
	struct loop_timer *expiry;        /* while it waits, or its yes does */
	/* Its answer. */
	char by_token[GUARD_TOKEN_BYTES], by_role[16], answer[8], reason[LIMIT_REASON_BYTES + 1];
	/* The part of the screen around the target, marked, as PNG; NULL: there is none. In memory alone. */
	char *crop;
	size_t crop_len;
};

/* The card as it is shown; the caller's reference. */
json_t *approval_json(const struct approval *approval);
const char *approval_state_name(enum approval_state state);

/* Makes and adds one; ERR_BUSY, those of a picture. */
int approval_make(struct stage *stage, const struct approvals_ask *ask, const struct judged *judged, struct approval **out, struct err *e);

/* The same of a connection of the session's programs: `asked` has its host, port and method. ERR_BUSY. */
struct policy_answer;
int approval_make_connect(struct stage *stage, const struct policy_answer *answer, const json_t *asked, const char *key, struct approval **out, struct err *e);

/* Ends one that waits, or whose yes does; writes the journal's line and wakes who waits. `call`: who answered, or NULL. */
void approval_end(struct approval *approval, enum approval_state state, const struct call *call);

/* NULL: none is kept under this id. */
struct approval *approval_find(const struct stage *stage, const char *id);

/* Is what is at the target and what has the focus as it was? */
bool approval_holds(struct stage *stage, const struct approval *approval, const struct judged *now);

/* The name in approvals.grants of an answer for the session; malloced. */
char *approval_grant(const char *rule, const char *key);

void approval_free(struct approval *approval);

/* approval_crop.c */
int approval_crop(struct stage *stage, struct rect target, struct rect *shown, char **png, size_t *len, struct err *e);

/* The line of the journal. */
void approval_note(struct stage *stage, const struct call *call, const char *state, json_t *fields);

#endif
