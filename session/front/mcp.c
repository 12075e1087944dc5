/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of MCP at work. */
#include "session/front/mcp.h"

#include <stdio.h>
#include <string.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/assets.h"
#include "session/front/routes.h"
#include "session/front/spec.h"
#include "session/mcp/envelope.h"
#include "session/mcp/more.h"

#define EVENT_BEFORE "event: message\ndata: "
#define EVENT_AFTER "\n\n"
#define RELAY_BYTES (32 * 1024)

struct mcp *mcp_create(struct front *front)
{
	const struct asset *asset = assets_find("/v1/actions");
	json_auto_t *actions = json_loadb(asset->start, (size_t)(asset->end - asset->start), 0, NULL);
	struct mcp *mcp = util_zalloc(sizeof(*mcp));

	if (!actions)
		DIE("the action document is no JSON");
	*mcp = (struct mcp){.front = front, .tools = tools_create(actions, &spec_form), .sessions = mcp_sessions_create(),
	                    .no_params = json_object()};
	util_random(mcp->handover_key, sizeof(mcp->handover_key));
	return mcp;
}

static bool may_use(void *arg, const char *method, const char *path)
{
	const struct identity *who = arg;
	const struct route *route = routes_row(method, path);

	return route && route->roles & ROLES_OF(who->role);
}

struct tools_view mcp_view(const struct mcp *mcp, const struct identity *who)
{
	return (struct tools_view){.tools = mcp->tools, .may = may_use, .arg = (void *)(uintptr_t)who};
}

/* --- the stream --- */

static void write_event(struct mcp_run *run, const char *text, size_t len)
{
	flow_write(run->flow, EVENT_BEFORE, strlen(EVENT_BEFORE));
	flow_write(run->flow, text, len);
	flow_write(run->flow, EVENT_AFTER, strlen(EVENT_AFTER));
	run->told_ms = util_now_ms();
}

static void on_reader_left(void *arg)
{
	mcp_run_cancel(arg);
}

static void on_moved(void *arg)
{
	struct mcp_run *run = arg;

	co_signal(&run->moved);
}

static void open_as(struct mcp_run *run, const char *type)
{
	run->type = type;
	run->flow = run->reader = flow_create(on_reader_left, on_moved, run);
	co_signal(&run->changed);
}

void mcp_run_open(struct mcp_run *run)
{
	if (!run->flow && !run->done && !run->cancelled)
		open_as(run, MCP_EVENTS);
}

static void send_ahead(struct mcp_call *call, json_t *taken)
{
	struct mcp_run *run = container_of(call, struct mcp_run, call);
	json_auto_t *message = taken;
	auto_free char *text = NULL;
	size_t len;

	/* What is sent by now is the answer. */
	if (!run->takes_events || run->cancelled || run->done || run->is_answering)
		return;
	mcp_run_open(run);
	if (flow_waiting(run->flow) > LIMIT_MCP_QUEUED_BYTES)
		return;
	text = json_text(message, &len);
	write_event(run, text, len);
}

/* --- an answer in pieces --- */

/* A piece that was read; the brace before the first is there already. */
static int take_piece(struct mcp_run *run, char *piece, size_t n, struct envelope_scan *scan, struct err *e)
{
	size_t skip = scan->depth == 0;

	if ((skip && piece[0] != '{') || !envelope_scan(scan, piece, n))
		return err_set(e, ERR_SESSION_FAILED, NULL, "the session's answer is no object");
	envelope_join_lines(piece, n);
	flow_write(run->flow, piece + skip, n - skip);
	return 0;
}

/* One piece of the stage's reply (RELAY_BYTES at most) on its way; *more is false at its end. What it waits for is room, or the next piece. */
static int relay_piece(struct mcp_run *run, struct stage_reply *reply, char *piece, struct envelope_scan *scan, bool *more, struct err *e)
{
	bool has_room = flow_waiting(run->flow) < RELAY_BYTES;
	size_t n = 0;
	enum stage_read found = has_room ? stage_reply_read(reply, piece, RELAY_BYTES, &n) : STAGE_READ_WAIT;

	*more = found != STAGE_READ_END;
	if (found == STAGE_READ_SOME)
		return take_piece(run, piece, n, scan, e);
	if (found == STAGE_READ_WAIT)
		return co_wait_event(&run->moved, has_room ? util_now_ms() + LIMIT_START_MS : CO_FOREVER, e);
	return found == STAGE_READ_END && scan->has_ended ? 0 : err_set(e, ERR_SESSION_FAILED, NULL, "the session's answer breaks off");
}

void mcp_run_relay(struct mcp_run *run, struct stage_reply *reply)
{
	json_auto_t *members = mcp_result_members(&run->call);
	size_t len;
	auto_free char *head = envelope_splice_head(run->call.id, members, true, &len), *piece = util_alloc(RELAY_BYTES);
	struct envelope_scan scan = {.depth = 0};
	bool more = true;
	struct err e;

	if (!run->flow)
		open_as(run, run->takes_json ? "application/json" : MCP_EVENTS);
	run->is_answering = true;
	if (strcmp(run->type, MCP_EVENTS) == 0)
		flow_write(run->flow, EVENT_BEFORE, strlen(EVENT_BEFORE));
	flow_write(run->flow, head, len);
	flow_behind(run->flow, LIMIT_LINK_BYTES);
	stage_reply_watch(reply, on_moved, run);
	while (more)
		if (relay_piece(run, reply, piece, &scan, &more, &e) < 0) {
			run->is_broken = true;
			break;
		}
	stage_reply_watch(reply, NULL, NULL);
	flow_behind(run->flow, 0);
	flow_write(run->flow, ENVELOPE_SPLICE_TAIL, strlen(ENVELOPE_SPLICE_TAIL));
	if (strcmp(run->type, MCP_EVENTS) == 0)
		flow_write(run->flow, EVENT_AFTER, strlen(EVENT_AFTER));
}

/* --- how far it is --- */

/* Actions that are done, and of the one that runs how much of the longest time that a call may take has passed: it grows, and never reaches
 * the next whole number. */
static void tell(struct mcp_run *run)
{
	int64_t now_ms = util_now_ms();
	double share = (double)(now_ms - run->step_ms) / (LIMIT_CALL_MS * 2.0);
	double progress = (double)run->done_steps + (share < 0.99 ? share : 0.99);
	char message[96];

	if (progress <= run->told_progress)
		return;
	run->told_progress = progress;
	if (run->steps > 0)
		(void)snprintf(message, sizeof(message), "%ld of %ld actions done, %lld s", run->done_steps, run->steps,
		               (long long)(now_ms - run->started_ms) / 1000);
	else
		(void)snprintf(message, sizeof(message), "at work for %lld s", (long long)(now_ms - run->started_ms) / 1000);
	mcp_progress(&run->call, progress, (double)run->steps, message);
}

void mcp_run_step(void *arg, long done, long total)
{
	struct mcp_run *run = arg;

	run->steps = total;
	run->done_steps = done;
	/* Of the first step something may have been told while the call waited for its turn: then that goes on. */
	if ((double)done > run->told_progress)
		run->step_ms = util_now_ms();
	tell(run);
}

static void on_tick(void *arg)
{
	struct mcp_run *run = arg;
	int64_t every_ms = run->call.progress_token ? LIMIT_MCP_PROGRESS_MS : LIMIT_MCP_QUIET_MS;
	int64_t now_ms = util_now_ms();

	run->tick = loop_at(run->mcp->front->loop, now_ms + every_ms, on_tick, run);
	if (now_ms - run->told_ms < every_ms / 2 || run->is_answering)
		return;
	if (run->call.progress_token && run->takes_events)
		tell(run);
	else if (run->flow && flow_waiting(run->flow) == 0)
		flow_write(run->flow, ":\n\n", 3);
}

/* --- its life --- */

struct mcp_run *mcp_run_create(struct mcp *mcp, const struct mcp_call *call, json_t *message, const json_t *caps)
{
	struct mcp_run *run = util_zalloc(sizeof(*run));

	*run = (struct mcp_run){.call = *call, .mcp = mcp, .refs = 1, .message = json_incref(message), .caps = json_incref((json_t *)(uintptr_t)caps)};
	(void)snprintf(run->session, sizeof(run->session), "%s", call->session ? call->session : "");
	run->call.session = *run->session ? run->session : NULL;
	run->call.send = send_ahead;
	run->call.front = mcp->front;
	run->status = 200;
	run->started_ms = run->step_ms = run->told_ms = util_now_ms();
	run->told_progress = -1;
	return run;
}

/* A session's id that is no text is refused for that, whatever it is. */
static json_t *needed_arguments(const struct tool *tool, const json_t *arguments)
{
	json_t *session = json_object_get(arguments, "session_id");

	if (!(tool->flags & TOOL_STAGE))
		return json_incref((json_t *)(uintptr_t)arguments);
	if (session && !json_is_string(session) && !json_is_null(session))
		return json_pack("{s:b}", "session_id", 0);
	return json_pack("{s:O*}", "session_id", session);
}

static char *stage_body(const struct tool *tool, const json_t *arguments, size_t *len)
{
	json_auto_t *copy = arguments ? json_copy((json_t *)(uintptr_t)arguments) : json_object();
	json_auto_t *body = json_pack("{s:s,s:O}", "name", tool->name, "arguments", copy);

	(void)json_object_del(copy, "session_id");
	return json_text(body, len);
}

struct mcp_run *mcp_run_create_tool(struct mcp *mcp, const struct mcp_call *call, const struct tool *tool, const json_t *arguments)
{
	json_auto_t *message = json_pack("{s:O,s:O*}", "id", (json_t *)(uintptr_t)call->id, "token", (json_t *)(uintptr_t)call->progress_token);
	struct mcp_run *run;

	if (arguments)
		(void)json_object_set_new(message, "arguments", needed_arguments(tool, arguments));
	run = mcp_run_create(mcp, call, message, NULL);
	mcp_handover_read(&run->handover, call, message);
	run->call.id = json_object_get(message, "id");
	run->call.progress_token = json_object_get(message, "token");
	run->call.method = "tools/call";
	run->call.params = mcp->no_params;
	run->call.caps = NULL;
	run->call.log_level = NULL;
	run->tool = tool;
	run->arguments = json_object_get(message, "arguments");
	if (tool->flags & TOOL_STAGE)
		run->body = stage_body(tool, arguments, &run->body_len);
	return run;
}

void mcp_run_unref(struct mcp_run *run)
{
	if (--run->refs > 0)
		return;
	flow_leave(run->reader);
	session_unref(run->about);
	session_unref(run->born.session);
	json_decref(run->born.state);
	json_decref(run->message);
	json_decref(run->caps);
	free(run->body);
	free(run->answer);
	free(run);
}

static void join(struct mcp_run *run)
{
	struct mcp *mcp = run->mcp;

	run->place = &mcp->runs;
	run->next = mcp->runs;
	if (run->next)
		run->next->place = &run->next;
	mcp->runs = run;
	mcp->n_runs++;
}

static void leave(struct mcp_run *run)
{
	*run->place = run->next;
	if (run->next)
		run->next->place = run->place;
	run->mcp->n_runs--;
}

struct mcp_run *mcp_run_find(const struct mcp *mcp, const char *token, const char *session, const json_t *id)
{
	for (struct mcp_run *run = mcp->runs; run && *session; run = run->next)
		if (strcmp(run->who.name, token) == 0 && strcmp(run->session, session) == 0 && envelope_same_id(run->call.id, id))
			return run;
	return NULL;
}

void mcp_run_cancel(struct mcp_run *run)
{
	run->cancelled = true;
	if (run->co)
		co_cancel(run->co);
}


/* Takes the text of the answer. */
static void finish(struct mcp_run *run, char *text, size_t len)
{
	loop_cancel(run->tick);
	run->tick = NULL;
	run->co = NULL;
	leave(run);
	/* A session that nobody hears of must not stay. */
	if (run->born.session && run->cancelled)
		session_end(run->born.session, "caller_left");
	if (run->cancelled) {
		free(text);
	} else if (run->flow && text) {
		write_event(run, text, len);
		free(text);
	} else {
		run->answer = text;
		run->answer_len = len;
	}
	run->done = true;
	if (run->is_broken)
		flow_break(run->flow);
	else
		flow_end(run->flow);
	run->flow = NULL;
	co_signal(&run->changed);
	mcp_run_unref(run);
}

/* The answer of who adds to MCP. */
static char *run_more(struct mcp_run *run, size_t *len)
{
	json_auto_t *members = mcp_result_members(&run->call), *answer = NULL;
	struct mcp_error e = {0};
	json_t *result = NULL;

	if (mcp_more->run(&run->call, &result, &e) < 0) {
		run->status = e.status;
		answer = envelope_error(run->call.id, &e);
		mcp_error_finish(&e);
	} else {
		(void)json_object_update_missing(result, members);
		answer = envelope_result(run->call.id, result);
	}
	return json_text(answer, len);
}

static void work(void *arg)
{
	struct mcp_run *run = arg;
	size_t len = 0;
	char *text = run->tool ? mcp_tool_run(run, &len) : run_more(run, &len);

	finish(run, text, len);
}

void mcp_run_start(struct mcp_run *run)
{
	run->refs++;
	join(run);
	run->tick = loop_at(run->mcp->front->loop, util_now_ms() + LIMIT_MCP_PROGRESS_MS, on_tick, run);
	run->co = co_start(run->mcp->front->loop, work, run);
}
