/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of the link. Each runs in a coroutine of its own. */
#include "session/stage/calls.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/stage/act.h"
#include "session/stage/computer.h"
#include "session/stage/files.h"
#include "session/stage/keyed.h"
#include "session/stage/lease.h"
#include "session/stage/looks.h"
#include "session/stage/pause.h"
#include "session/stage/stream.h"
#include "session/stage/thumbnail.h"
#include "session/stage/watch.h"

#define ANYBODY (ROLE_AGENT | ROLE_VIEWER | ROLE_CONTROLLER | ROLE_OPERATOR | ROLE_OWNER | ROLE_SERVER)
#define HANDS (ROLE_AGENT | ROLE_OPERATOR | ROLE_OWNER)
#define EYES (ROLE_VIEWER | ROLE_CONTROLLER | ROLE_OPERATOR | ROLE_OWNER)
#define WATCH (ROLE_CONTROLLER | ROLE_OPERATOR | ROLE_OWNER)

/* Answers with the object (a reference that is taken) or with the refusal. */
static void answer(struct call *call, int rc, json_t *value, const struct err *e)
{
	if (rc < 0)
		call_refuse(call, e);
	else
		call_reply_json(call, 200, NULL, value);
	json_decref(value);
}

static void handle_open(struct stage *stage, struct call *call)
{
	struct err e;

	answer(call, stage_open(stage, call->body, call->body_len, &e), json_object(), &e);
}

static void handle_start(struct stage *stage, struct call *call)
{
	struct err e;
	int rc = stage_start(stage, &e);

	answer(call, rc, stage_describe(stage), &e);
}

static void handle_state(struct stage *stage, struct call *call)
{
	answer(call, 0, stage_show(stage, call), NULL);
}

static void handle_cancel(struct stage *stage, struct call *call)
{
	answer(call, 0, json_pack("{s:b}", "cancelled", act_cancel(stage)), NULL);
}

static const struct field end_fields[] = {
	{"reason", FIELD_STRING, false, 1, 31, NULL, NULL, NULL, "\"asked\"", "why it ends"},
};
static const struct form end_form = {end_fields, ARRAY_LEN(end_fields), NULL};

static void handle_end(struct stage *stage, struct call *call)
{
	json_auto_t *body = NULL;
	struct err ignored;
	bool is_told = call->body_len > 0 && json_parse(call->body, call->body_len, &body, &ignored) == 0 &&
	               form_check(&end_form, body, "", NULL, &ignored) == 0;

	stage_stop(stage);
	/* Those before it get their answers first, and the journal their lines; but the end does not wait for ever. */
	if (turns_take(&stage->turns, util_now_ms() + LIMIT_X_WAIT_MS, NULL) == 0)
		turns_pass(&stage->turns);
	stage_end(stage, is_told ? form_string(body, "reason", "asked") : "asked");
	readers_finish(&stage->readers, util_now_ms() + LIMIT_LAST_EVENT_MS);
	answer(call, 0, journal_head(stage->journal), NULL);
}

static void handle_head(struct stage *stage, struct call *call)
{
	answer(call, 0, journal_head(stage->journal), NULL);
}

static const struct field revoke_fields[] = {
	{"token", FIELD_STRING, true, 1, 31, NULL, NULL, NULL, NULL, "the token's id"},
};
static const struct form revoke_form = {revoke_fields, ARRAY_LEN(revoke_fields), NULL};

static void revoke(struct stage *stage, const char *token)
{
	records_revoke(stage->records, token);
	lease_revoke(stage, token);
}

static void handle_revoke(struct stage *stage, struct call *call)
{
	struct err e;
	int rc = form_check(&revoke_form, call->query, "", NULL, &e);

	if (rc == 0)
		revoke(stage, form_string(call->query, "token", ""));
	answer(call, rc, json_object(), &e);
}

static void handle_events(struct stage *stage, struct call *call)
{
	events_call(stage->events, call);
}

static void handle_pause(struct stage *stage, struct call *call)
{
	struct err e;
	int rc = pause_begin(stage, call, &e);

	answer(call, rc, stage_describe(stage), &e);
}

static void handle_resume(struct stage *stage, struct call *call)
{
	struct err e;
	int rc = pause_end(stage, call, &e);

	answer(call, rc, stage_describe(stage), &e);
}

const struct call_row calls_rows[] = {
	{"open", ROLE_SERVER, CALL_FREE, false, handle_open},
	{"start", ROLE_SERVER, CALL_FREE, false, handle_start},
	{"end", ROLE_SERVER, CALL_FREE, false, handle_end},
	{"head", ROLE_SERVER, CALL_FREE, false, handle_head},
	{"revoke", ROLE_SERVER, CALL_FREE, false, handle_revoke},
	{"warn", ROLE_SERVER, CALL_FREE, false, lease_warn},
	{"watch", ROLE_SERVER, CALL_FREE, false, watch_call},
	{"state", ANYBODY, CALL_BARE, false, handle_state},
	{"lease", ANYBODY, CALL_FREE, false, lease_call},
	{"act", HANDS, CALL_HANDS, true, keyed_act},
	{"computer", HANDS, CALL_HANDS, true, computer_call},
	{"screenshot", HANDS, CALL_HANDS, true, looks_call},
	{"file_get", HANDS, CALL_HANDS, true, files_get_call},
	{"file_put", HANDS, CALL_HANDS, true, files_put_call},
	{"file_drop", HANDS, CALL_HANDS, true, files_drop_call},
	{"thumbnail", EYES, CALL_EYES, true, thumbnail_call},
	{"events", ANYBODY, CALL_BARE, false, handle_events},
	{"stream", HANDS, CALL_HANDS, true, stream_call},
	{"cancel", HANDS, CALL_HANDS, false, handle_cancel},
	{"viewer", ROLE_SERVER, CALL_FREE, false, viewers_call_give},
	{"viewers", ROLE_SERVER, CALL_FREE, false, viewers_call_list},
	{"viewer_silent", ROLE_SERVER, CALL_FREE, false, viewers_call_silent},
	{"viewer_end", ROLE_SERVER, CALL_FREE, false, viewers_call_end},
	{"pause", WATCH, CALL_FREE, false, handle_pause},
	{"resume", WATCH, CALL_FREE, false, handle_resume},
	{"approvals", WATCH, CALL_FREE, false, approvals_list_call},
	{"approval", WATCH, CALL_FREE, false, approvals_show_call},
	{"answer", WATCH, CALL_FREE, false, approvals_answer_call},
	{"crop", WATCH, CALL_FREE, false, approvals_crop_call},
};
const size_t calls_n_rows = ARRAY_LEN(calls_rows);

static const struct call_row *find(const struct call *call, struct err *e)
{
	char quoted[80];

	for (size_t i = 0; i < calls_n_rows; i++) {
		if (strcmp(calls_rows[i].name, call->name) != 0)
			continue;
		if (calls_rows[i].roles & call->role)
			return &calls_rows[i];
		(void)err_set(e, ERR_FORBIDDEN, NULL, "the role %s may not make this call", call->role_name);
		return NULL;
	}
	(void)err_set(e, ERR_NOT_FOUND, NULL, "%s is not a call of a session", err_quote(quoted, sizeof(quoted), call->name, strlen(call->name)));
	return NULL;
}

struct work {
	struct stage *stage;
	struct call *call;
	const struct call_row *row;
};

/* Who was told that the agent has the controls again waits for what the person left to be cleared away. */
static int wait_turn(const struct work *task, struct err *e)
{
	if (!task->stage->lease.clearing)
		return 0;
	lease_wait_cleared(task->stage);
	task->call->epoch = task->stage->epoch;
	return lease_check(task->stage, task->call, e);
}

static void work(void *arg)
{
	struct work *task = arg;
	struct err e;

	if (task->row->lease == CALL_HANDS && wait_turn(task, &e) < 0) {
		task->call->is_bare = true;
		call_refuse(task->call, &e);
	} else {
		task->row->handle(task->stage, task->call);
	}
	call_finish(task->call);
	free(task);
}

bool calls_body_comes(void *arg, const struct call *call)
{
	(void)arg;
	for (size_t i = 0; i < calls_n_rows; i++)
		if (strcmp(calls_rows[i].name, call->name) == 0)
			return calls_rows[i].handle == files_put_call;
	return false;
}

int calls_check_answer(void *arg, const struct call *call, struct err *e)
{
	return lease_check_answer(arg, call, e);
}

/* Under which lease it is made, and whether that lets it. */
static int begin(const struct stage *stage, struct call *call, const struct call_row *row, struct err *e)
{
	call->lease = row->lease;
	call->epoch = stage->epoch;
	/* What the display does in a hold is no agent's business. */
	if (stage->display_is_silent && lease_check(stage, call, e) < 0)
		return -1;
	if (row->needs_ready && stage_check_ready(stage, e) < 0)
		return -1;
	return lease_check(stage, call, e);
}

void calls_take(void *arg, struct call *call)
{
	struct stage *stage = arg;
	struct err e;
	const struct call_row *row = find(call, &e);

	if (!row || begin(stage, call, row, &e) < 0) {
		call->is_bare = true;
		call_refuse(call, &e);
		call_finish(call);
		return;
	}
	struct work *task = util_alloc(sizeof(*task));

	*task = (struct work){.stage = stage, .call = call, .row = row};
	call->co = co_start(stage->loop, work, task);
}
