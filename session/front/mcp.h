/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MCP in the front: what its requests share, and one request that is at work. Such a request runs in a coroutine of its own: its answer is
 * one JSON text, or becomes a stream of events once there is something to tell before it, or when it takes long. Owner: session/front. One
 * thread.
 */
#ifndef FRONT_MCP_H
#define FRONT_MCP_H

#include "session/base/co.h"
#include "session/front/birth.h"
#include "session/front/flow.h"
#include "session/front/front.h"
#include "session/front/mcp_handover.h"
#include "session/mcp/call.h"
#include "session/mcp/sessions.h"
#include "session/mcp/tools.h"

#define MCP_EVENTS "text/event-stream"

struct mcp {
	struct front *front;
	struct tools *tools;
	struct mcp_sessions *sessions;
	json_t *no_params;    /* of requests without any: {} */
	uint8_t handover_key[32]; /* of what clients bring back */
	struct mcp_run *runs; /* at work */
	size_t n_runs, n_batches;
};

/* From the action document that the front carries. */
struct mcp *mcp_create(struct front *front);

/* What this token may use. */
struct tools_view mcp_view(const struct mcp *mcp, const struct identity *who);

/* One request at work. Those who hold it have a reference: its coroutine, and who waits for it. */
struct mcp_run {
	struct mcp_call call;       /* the first member: what notifies has this alone */
	struct mcp *mcp;
	struct mcp_run *next, **place;
	int refs;
	struct identity who;
	char request_id[20];
	struct session *about;      /* the session that its tool is about, with a reference; NULL: none, or not yet known */
	enum err_code refused;      /* why its tool did nothing; ERR_NONE: it did */
	char session[33];           /* its Mcp-Session-Id, "" without one */
	json_t *message;            /* what call borrows of: of a tool, what it is needed for alone */
	json_t *caps;
	struct mcp_handover handover;
	const struct tool *tool;    /* NULL: mcp_more answers */
	const json_t *arguments;    /* borrowed of message; NULL without any */
	char *body;                 /* of a tool that the stage answers: its arguments, as they go there */
	size_t body_len;
	bool takes_events;          /* the client takes a stream of events */
	bool takes_json;
	bool is_whole;              /* its answer is wanted as one text, as in a batch */
	bool is_answering, is_broken; /* its answer goes out in pieces; they have no end */
	struct co *co;              /* NULL when it has ended */
	struct co_event changed;    /* it has ended, or has become a stream */
	bool cancelled;             /* nothing more goes out */
	bool done;
	int status;                 /* of HTTP, unless it is a stream */
	char *answer;               /* when done, unless it is a stream or was cancelled */
	size_t answer_len;
	const char *type;           /* of a stream: MCP_EVENTS, or JSON when it is the answer alone in pieces */
	struct co_event moved;      /* the reader has taken something, or the stage has sent something */
	struct flow *flow, *reader; /* of a stream, the writer's end while it runs, and the reader's until somebody takes it */
	struct loop_timer *tick;
	int64_t started_ms, step_ms, told_ms;
	long done_steps, steps;     /* as the stage tells */
	double told_progress;       /* the last number; -1 before the first */
	struct birth born;          /* what it made: it ends when the answer does not get through */
};

/*
 * A run for a request that is found good, with a reference for the caller; `message` is borrowed. ERR_BUSY-like refusals are the caller's:
 * mcp->n_runs is below LIMIT_MCP_RUNS.
 */
struct mcp_run *mcp_run_create(struct mcp *mcp, const struct mcp_call *call, json_t *message, const json_t *caps);

/* The same for a tool: of the message, which may be much, it keeps what is needed. */
struct mcp_run *mcp_run_create_tool(struct mcp *mcp, const struct mcp_call *call, const struct tool *tool, const json_t *arguments);

/* Begins it, when who and request_id are filled in. */
void mcp_run_start(struct mcp_run *run);
void mcp_run_cancel(struct mcp_run *run);
void mcp_run_unref(struct mcp_run *run);

/* Makes a stream of its answer, unless it is one or is done. */
void mcp_run_open(struct mcp_run *run);

/* Is a request with this id at work in this legacy session of this token? NULL if not; `session` "" has none. */
struct mcp_run *mcp_run_find(const struct mcp *mcp, const char *token, const char *session, const json_t *id);

/* In the coroutine of a run with a tool: the text of its answer (malloced, the caller's); NULL when it went out by mcp_run_relay. */
char *mcp_tool_run(struct mcp_run *run, size_t *len);

/* In the coroutine of a run: sends the stage's reply, a JSON object, as the result in pieces. */
void mcp_run_relay(struct mcp_run *run, struct stage_reply *reply);

/* How far a call of the stage is, as stage_call tells it. */
void mcp_run_step(void *arg, long done, long total);

#endif
