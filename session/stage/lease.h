/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds the controls of the session: the agent, a person, or nobody.
 *
 * While it is not the agent there is a hold. What a hold means is decided here, for every call by its row (calls.c) and every action by its row
 * (session/base/action.h): once when a call starts, and once more when its answer leaves. In a hold agents, and all others who act "as agent", get nothing
 * but the lease itself and the bare state; what is made is private, and stays so. lease_rows.h has what can happen as a table.
 * Owner: the stage. One thread.
 */
#ifndef STAGE_LEASE_H
#define STAGE_LEASE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/base/co.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/stage/connection.h"
#include "session/stage/lease_rows.h"

struct stage;

enum lease_kind { LEASE_LOGIN, LEASE_APPROVE, LEASE_CAPTCHA, LEASE_OTHER, LEASE_N_KINDS };
#define LEASE_KINDS "login approve captcha other"

#define LEASE_TOKEN_BYTES 129

/* Zero-initialised the agent holds it. Fields are to be read only. */
struct lease {
	enum lease_holder holder;
	enum lease_kind kind;              /* of a hold */
	uint32_t viewer;                   /* of the person that holds; 0: none (yet, or any more) */
	char token[LEASE_TOKEN_BYTES];     /* of the person: its id */
	char asked_by[LEASE_TOKEN_BYTES];  /* of the agent that asked, until it holds again; "": none */
	char reason[LIMIT_REASON_BYTES + 1]; /* in its words */
	char note[LIMIT_REASON_BYTES + 1]; /* of the person that gave back last, for the agent */
	char since[32];                    /* wall clock, of the last change */
	bool keeps;                        /* the person wants the agent's processes kept */
	bool shares;                       /* and others to see the screen, in a login */
	bool has_come;                     /* a person has held since the agent last did */
	bool was_login;                    /* and it was a login */
	bool clearing;                     /* the agent holds it again, but what the person left is not cleared away yet */
	json_t *untold;                    /* the line that says so, until then */
	json_t *ended;                     /* names of programs of the agent that a hold has ended by itself: the last one */
	bool unsorted;                     /* the hold began or was taken while the session was paused: who is whose is looked for when it goes on */
	bool has_hands;                    /* the agent's processes stand still, or are ended: the person's input may reach X */
	uint64_t frame;                    /* the newest when the hold began */
	struct space native, space;        /* of the display and the session then: what agents are told meanwhile */
	long returned;                     /* the epoch in which the agent got the controls back; 0: it never did */
	bool unseen;                       /* and nobody has looked since */
	char looked[LIMIT_SEEN_TOKENS][LEASE_TOKEN_BYTES]; /* who has; the latest first */
	size_t n_looked;
	long return_after_s;               /* of the spec's on_lost; 0: never */
	int64_t idle_ms, lost_ms, warn_ms; /* how long a person may do nothing, its viewer be away; and how long before it is warned */
	int64_t over_ms;                   /* monotonic, when the countdown is over; 0: there is none */
	bool warned;                       /* that it will be */
	struct loop_timer *timer;
	size_t n_waiting;                  /* long polls */
	struct co_event changed;           /* at every change: stage->epoch is its number. Also at the end of the session */
};

/* Who does it, and what it says beside. Zero: the stage itself. */
struct lease_by {
	const struct call *call;
	bool has_kind;      /* else it stays what it was */
	enum lease_kind kind;
	const char *reason; /* of ASK and DEMAND */
	const char *note;   /* of GIVE; NULL: none */
	uint32_t viewer;    /* of TAKE; 0: as it was */
	bool keeps, shares; /* of TAKE */
};

/* A hold: what is made now is no agent's business, and goes into no journal, recording or event of theirs. */
bool lease_is_private(const struct stage *stage);

/* Nor may the screen be stored: it is private, or was and no agent has looked since. */
bool lease_is_unseen(const struct stage *stage);

/* This viewer's keys, pointer and cut text reach the session now. */
bool lease_may_input(const struct stage *stage, uint32_t viewer);

/* New pixels go to this viewer; to the token of this call. In a login only the holder sees them, unless it shares them. */
bool lease_may_look(const struct stage *stage, uint32_t viewer);
bool lease_may_see(const struct stage *stage, const struct call *call);

/* At the start of a call: may it begin? ERR_LEASE_HELD, and ERR_FORBIDDEN for a row that does not say. */
int lease_check(const struct stage *stage, const struct call *call, struct err *e);

/* When its answer leaves: ERR_LEASE_LOST when that was not made under the lease that the agent has now. */
int lease_check_answer(const struct stage *stage, const struct call *call, struct err *e);

/* Before an action: the same as at the start, by the action's row; ERR_LEASE_LOST for a call that began under another lease; and, unless it only looks,
 * ERR_MUST_OBSERVE when the call's token has not looked since the agent got the controls back. */
int lease_check_act(const struct stage *stage, const struct call *call, bool only_looks, struct err *e);

/*
 * The token of the call gets a picture, `width` by `height`, of this part of the screen as it is (native pixels; width 0: all of it). That counts as its look at what
 * a person left if all that has changed since the hold began is in it, at no less than a quarter of its size (LEASE_SMALLEST).
 */
#define LEASE_SMALLEST 4
void lease_looked(struct stage *stage, const struct call *call, struct rect region, int width, int height);

/* The same of the picture of an observation or a result ({"picture":{"width","height"}}), if it has one. */
void lease_looked_at(struct stage *stage, const struct call *call, struct rect region, const json_t *object);

/* The number of the frame that is told: in a hold the one before it. */
uint64_t lease_frame(const struct stage *stage);

/* What a hold takes from a result of an action: all but how long it took, what was delivered and why it failed. */
void lease_bare(json_t *result);

/*
 * Something happens. ERR_LEASE_HELD when another person holds the controls, ERR_CONFLICT for what has no row in this state. What has to be waited
 * for is lease_wait_hands's.
 */
int lease_move(struct stage *stage, enum lease_event event, const struct lease_by *by, struct err *e);

/* For the action request_human and for policies: nobody holds the controls from now on. `call` is that of the agent. Errors of lease_move. */
int lease_request(struct stage *stage, enum lease_kind kind, const char *reason, const struct call *call, struct err *e);

/* After what begins a hold, and after each take: makes the agent's processes stand still, or ends them, and waits for that: then a person has
 * the hands. Must run in a coroutine; works although that was cancelled. */
void lease_wait_hands(struct stage *stage);

/* The session goes on after a pause: what a hold could not look for while all stood still. Waits for nothing. */
void lease_resumed(struct stage *stage);

/* After what ends a hold: until what the person left is cleared away, and the agent's processes go on. In a coroutine. */
void lease_wait_cleared(struct stage *stage);

/* What the spec says: on_lost, or NULL. */
void lease_begin(struct stage *stage, const json_t *on_lost);

/* The session begins with nobody at the controls. */
void lease_begin_held(struct stage *stage);
/* It has ended or failed: countdowns and waits stop. */
void lease_end(struct stage *stage);

/* A viewer's connection has ended; one of this token has come; the holder's has sent something. */
void lease_viewer_gone(struct stage *stage, uint32_t viewer);
void lease_viewer_here(struct stage *stage, uint32_t viewer, const char *token);
void lease_touch(struct stage *stage);

/* The token is revoked. */
void lease_revoke(struct stage *stage, const char *token);

/* Tells a person who holds the controls that the session ends in so long. */
void lease_warn_end(struct stage *stage, int64_t in_ms);

/* The object of GET lease for the caller of a call (NULL: the server); the caller's reference. */
json_t *lease_json(const struct stage *stage, const struct call *call);

/* (lease_call.c) The call `lease`; the call `warn`. */
void lease_call(struct stage *stage, struct call *call);
void lease_warn(struct stage *stage, struct call *call);

/* (lease_call.c) The kind of one of LEASE_KINDS. */
enum lease_kind lease_kind_of(const char *name);

/* (lease_ask.c) The action request_human, whose home is the stage. */
struct action_run;
int lease_ask(void *arg, struct action_run *run, struct err *e);

/* (lease_jail.c) The agent's own processes. freeze and thaw wait for nothing. end: they are killed, by init where there is no switch; wait until they
 * stand still, or, of those that are `ended`, until they are gone, at most LIMIT_FREEZE_MS. */
void lease_jail_freeze(struct stage *stage);
void lease_jail_thaw(struct stage *stage);
void lease_jail_end(struct stage *stage);
void lease_jail_wait(struct stage *stage, bool ended);
bool lease_jail_has_switch(const struct stage *stage);
bool lease_jail_is_empty(const struct stage *stage); /* with a switch: none of them is there */

#endif
