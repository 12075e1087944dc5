/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sessions that the front knows: those that live, and for a while those that have ended. The
 * warden makes and ends its processes, the stage serves it, the store remembers it. Owner: session/front. One thread.
 */
#ifndef FRONT_SESSIONS_H
#define FRONT_SESSIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/base/co.h"
#include "session/front/shares.h"
#include "session/front/stage.h"
#include "session/front/store.h"
#include "session/front/tokens.h"
#include "session/front/warden.h"

enum session_state {
	SESSION_STARTING,
	SESSION_READY,
	SESSION_PAUSED,
	SESSION_ENDING,
	SESSION_ENDED,
	SESSION_FAILED,
	N_SESSION_STATES
};

struct session {
	struct sessions *all;
	struct session *next;
	int refs;
	char id[SESSION_ID_SIZE];
	enum session_state state;
	char reason[32];          /* of its end: "deleted", "ttl", "idle", "stage_died", …; "" while it lives */
	char made_by[20];         /* id of the request that made it */
	char owner[OWNER_SIZE];   /* the name of the key that made it, OWNER_OPERATOR */
	json_t *spec;             /* completed, without the values of its environment */
	uint32_t isolation;       /* enum warden_isolation */
	int64_t created_ms, expires_ms, ended_ms; /* wall clock */
	struct warden_usage usage; /* as the warden last told */
	int64_t ready_ms;         /* monotonic: since when it is ready, or was found again */
	struct stage *stage;      /* NULL once it has ended */
	struct stage_hello hello;
	json_t *lease;            /* as the stage last told the server; NULL before that */
	json_t *approvals;        /* [{"id","state"}…], the same */
	json_t *egress;           /* its totals, the same; NULL: it has no way out */
	json_t *limits, *security; /* met limits and alarms so far, the same */
	json_t *head;             /* of its journal, as it was last told; NULL before that */
	int64_t anchored_ms;      /* monotonic: when */
	bool restored;            /* it is older than this front */
	bool unborn;              /* its create has not succeeded: nothing is kept of its end */
	struct co_event ended;
	int n_calls;              /* of the agent that run now */
	int64_t used_ms;          /* monotonic: when the agent last began or ended one */
	int n_switching;          /* pauses and resumes that are on their way, */
	bool switches_met;        /* and whether two of them were at once: their answers may come in another order than they were done */
	struct loop_timer *idle, *ttl, *warning;
};

struct sessions {
	struct loop *loop;
	struct warden *warden;
	struct store *store;
	struct tokens *tokens;
	struct shares *shares;
	struct audit *audit;
	struct metrics *metrics;  /* NULL: none */
	struct hooks *hooks;      /* NULL: none */
	const char *run;          /* the folder of the stages' sockets */
	struct session *first;    /* oldest first */
	struct stage_links links;
	size_t max_live;
	int n_restoring;
};

const char *session_state_name(enum session_state state);

/* Reads the stored sessions. Those that lived are asked for in coroutines; sessions_restoring says whether some still are. */
int sessions_restore(struct sessions *all, struct err *e);
bool sessions_restoring(const struct sessions *all);

/* NULL if there is none. A pointer that is kept over a wait needs a reference. */
struct session *sessions_find(const struct sessions *all, const char *id);
/* May this identity know of the session at all? An operator of all, an owner of its own, other tokens of theirs. */
bool session_is_shown_to(const struct session *session, const struct identity *who);
size_t sessions_count_live(const struct sessions *all);
size_t sessions_count_live_of(const struct sessions *all, const char *owner); /* owner NULL: of all */
struct session *session_ref(struct session *session);
void session_unref(struct session *session);

/* Adds a session in the state starting, with its socket's path; `spec` is borrowed. */
struct session *sessions_add(struct sessions *all, const char *id, const json_t *spec, const char *owner);

/* Removes it at once, from the store too; its memory lives until the last reference. */
void session_drop(struct session *session);

/* Writes its present state to the store. */
int session_save(const struct session *session, struct err *e);

/* It is ready: its ends by time and by idleness start to count. */
void session_is_ready(struct session *session);

/* Its time without a call of the agent counts from now. */
void session_is_used(struct session *session);

/* Its times have changed (expires_ms, the spec's idle_s): both count from now. */
void session_times_changed(struct session *session);

/* It takes calls: ready, or paused, when its stage refuses most of them. */
bool session_serves(const struct session *session);

/* What the stage of one that serves says of itself ("ready", "paused") is true. A paused one is not idle. */
void session_take_state(struct session *session, const char *state);

/* Begins its end, unless that has begun: the stage tidies up (bounded), then the warden ends it. `reason` is kept. */
void session_end(struct session *session, const char *reason);
/* Waits until its last process is gone. */
int session_wait_end(struct session *session, int64_t deadline_ms, struct err *e);

/* What the warden says about an end. */
void sessions_on_ended(struct sessions *all, const struct warden_event *event);

/* A call of the agent begins and ends; the session is not idle meanwhile. */
void session_begin_call(struct session *session);
void session_finish_call(struct session *session);
/* A call under a key runs on without its caller: so the session is not idle for as long as that may take. */
void session_call_goes_on(struct session *session);

#endif
