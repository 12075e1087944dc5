/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the lease changes, and what a change does. */
#include <stdio.h>
#include <string.h>

#include "session/base/action.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/act.h"
#include "session/stage/lease_inner.h"
#include "session/stage/stage.h"
#include "session/stage/viewers.h"
#include "session/stage/watch.h"

#define FREED_MS 200 /* for what the agent's processes had taken */
#define UNHEARD_MS 1500 /* for those on the accessibility bus to be found and ended */

/* A line that says that there is a gap, and why: never what was done in it. Lines like it are no secret. */
static void note(struct stage *stage, const char *event, json_t *fields)
{
	struct err e;

	if (journal_add(stage->journal, event, fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
	journal_sync(stage->journal);
}

static json_t *change_fields(const struct stage *stage, const char *why, const struct call *call)
{
	const struct lease *lease = &stage->lease;
	json_t *fields = json_pack("{s:s,s:s,s:I,s:I}", "holder", lease_holder_name(lease->holder), "why", why, "epoch", (json_int_t)stage->epoch,
	                           "episode", (json_int_t)stage->episode);

	if (lease->holder != LEASE_AGENT)
		json_object_set_new(fields, "kind", json_string(lease_kind_name(lease->kind)));
	if (call) {
		json_object_set_new(fields, "actor", json_pack("{s:s,s:s}", "role", call->role_name, "token", call->token));
		json_object_set_new(fields, "request", json_string(call->request_id));
	}
	return fields;
}

/* That the agent has the controls again. */
static void note_end(struct stage *stage)
{
	if (stage->lease.untold)
		note(stage, "lease", stage->lease.untold);
	stage->lease.untold = NULL;
}

/* Whoever hears that the agent has the controls may act at once: so that is told when what the person left is cleared away. */
static void note_change(struct stage *stage, const char *why, const struct call *call)
{
	json_t *fields = change_fields(stage, why, call);

	note_end(stage);
	if (stage->lease.clearing && stage->lease.holder == LEASE_AGENT) {
		stage->lease.untold = fields;
		return;
	}
	egress_flush(stage);
	journal_hide(stage->journal, lease_is_private(stage));
	note(stage, "lease", fields);
}

/* To all who wait for it. */
static void tell(struct stage *stage)
{
	co_signal(&stage->lease.changed);
	watch_note(stage);
}

static void on_time(void *arg);

static int64_t next_ms(const struct lease *lease)
{
	return lease->warned ? lease->over_ms : lease->over_ms - lease->warn_ms;
}

static void count(struct stage *stage, int64_t from_now_ms, bool warns)
{
	struct lease *lease = &stage->lease;

	loop_cancel(lease->timer);
	lease->timer = NULL;
	lease->over_ms = from_now_ms > 0 ? util_now_ms() + from_now_ms : 0;
	lease->warned = !warns;
	if (lease->over_ms > 0)
		lease->timer = loop_at(stage->loop, next_ms(lease), on_time, stage);
}

static void warn(struct stage *stage, const char *reason, int64_t in_ms)
{
	char at[32];

	(void)util_wall_second(at, in_ms);
	note(stage, "warning", json_pack("{s:s,s:s,s:I}", "reason", reason, "ends_at", at, "epoch", (json_int_t)stage->epoch));
}

static void on_time(void *arg)
{
	const struct lease_by itself = {.call = NULL};
	struct stage *stage = arg;
	struct lease *lease = &stage->lease;
	int64_t now_ms = util_now_ms();

	lease->timer = NULL;
	if (now_ms >= lease->over_ms) {
		(void)lease_move(stage, LEASE_RUN_OUT, &itself, NULL);
		return;
	}
	if (!lease->warned && now_ms >= next_ms(lease)) {
		lease->warned = true;
		warn(stage, "idle", lease->over_ms - now_ms);
	}
	lease->timer = loop_at(stage->loop, next_ms(lease), on_time, stage);
}

void lease_warn_end(struct stage *stage, int64_t in_ms)
{
	if (lease_is_private(stage))
		warn(stage, "ttl", in_ms);
}

/* The agent's processes are ended: so that nothing of theirs hears what is typed, now or later. */
static bool ends_jail(const struct lease *lease)
{
	return lease->holder == LEASE_HUMAN && lease->kind == LEASE_LOGIN && !lease->keeps;
}

/* The call that asks goes on to wait; a command stands still with its processes, unless these are ended. */
static void stop_running(struct stage *stage, const struct lease_by *by)
{
	enum action_lease row = stage->acting_row ? stage->acting_row->lease : ACTION_ACTS;
	bool asks = row == ACTION_ASKS || (by->call && by->call->co == stage->turns.running), stands = row == ACTION_STANDS;

	if (!asks && (!stands || ends_jail(&stage->lease)))
		(void)act_cancel(stage);
}

/* As agents are told it until it ends. */
static void note_screen(struct stage *stage)
{
	stage->lease.frame = lease_frame(stage);
	stage->lease.native = stage->native;
	stage->lease.space = stage->space;
}

/* Where a hold begins. */
static void enter(struct stage *stage)
{
	stage->lease.has_come = stage->lease.was_login = stage->lease.shares = stage->lease.unsorted = false;
	json_decref(stage->lease.ended);
	stage->lease.ended = json_array();
	if (stage->input)
		input_pause_carry(stage->input, true);
	if (stage->apps)
		apps_hold(stage->apps, true);
}

/* What the person left goes before the agent's processes can see it. Somebody may have taken the controls again meanwhile. */
static void clear(void *arg)
{
	struct stage *stage = arg;
	struct lease *lease = &stage->lease;
	struct err e;

	if (stage->input && input_hold_end(stage->input, &e) < 0)
		log_err(LOG_WARN, &e, "clearing away what a person left");
	lease->clearing = false;
	tell(stage);
	if (lease->holder != LEASE_AGENT)
		return;
	egress_flush(stage);
	journal_hide(stage->journal, false);
	note_end(stage);
	lease_jail_thaw(stage);
	if (stage->apps)
		apps_hold(stage->apps, false);
	if (stage->input)
		input_pause_carry(stage->input, false);
	stage->acted_ms = util_now_ms();
	co_signal(&stage->readers.news);
}

/* Where it ends. */
static void leave(struct stage *stage)
{
	struct lease *lease = &stage->lease;

	lease->token[0] = lease->asked_by[0] = lease->reason[0] = '\0';
	lease->viewer = 0;
	lease->has_come = lease->was_login = lease->shares = lease->keeps = lease->has_hands = false;
	lease->returned = stage->epoch;
	lease->unseen = true;
	lease->n_looked = 0;
	recording_forget(stage);
	if (!lease->clearing)
		(void)co_start(stage->loop, clear, stage);
	lease->clearing = true;
}

static void take_values(struct stage *stage, enum lease_event event, const struct lease_by *by)
{
	struct lease *lease = &stage->lease;

	if (event == LEASE_ASK || event == LEASE_DEMAND) {
		(void)snprintf(lease->reason, sizeof(lease->reason), "%s", by->reason ? by->reason : "");
		(void)snprintf(lease->asked_by, sizeof(lease->asked_by), "%s", by->call ? by->call->token : "");
		lease->note[0] = '\0';
	}
	if (by->has_kind)
		lease->kind = by->kind;
	if (event == LEASE_GIVE)
		(void)snprintf(lease->note, sizeof(lease->note), "%s", by->note ? by->note : "");
	if (event != LEASE_TAKE)
		return;
	(void)snprintf(lease->token, sizeof(lease->token), "%s", by->call ? by->call->token : "");
	if (by->viewer > 0)
		lease->viewer = by->viewer;
	lease->keeps = by->keeps;
	lease->shares = by->shares;
}

/* The person has the hands once lease_wait_hands is done; one that has them already keeps them. */
static void take(struct lease *lease)
{
	lease->has_come = true;
	lease->was_login = lease->was_login || lease->kind == LEASE_LOGIN;
}

static void set_countdown(struct stage *stage, unsigned int effects)
{
	struct lease *lease = &stage->lease;

	if (effects & LEASE_RENEW)
		count(stage, lease->idle_ms, true);
	else if (effects & LEASE_LOSS)
		count(stage, lease->lost_ms, false);
	else if (effects & LEASE_RETURN)
		count(stage, lease->return_after_s * 1000, false);
	else if (effects & LEASE_EPOCH)
		count(stage, 0, false);
}

static void apply(struct stage *stage, const struct lease_row *row, const struct lease_by *by)
{
	struct lease *lease = &stage->lease;

	if (row->effects & LEASE_HOLD)
		note_screen(stage);
	lease->holder = row->to;
	if (row->effects & LEASE_EPOCH) {
		approvals_withdraw(stage, "the controls have changed hands");
		stage->epoch++;
		(void)util_wall_second(lease->since, 0);
		lease->has_hands = false;
	}
	if (row->effects & LEASE_HOLD)
		enter(stage);
	take_values(stage, row->event, by);
	if (row->effects & LEASE_STOP || row->event == LEASE_TAKE)
		stop_running(stage, by);
	if (row->effects & LEASE_RELEASE && stage->input) {
		input_release(stage->input);
		viewers_release(stage);
	}
	if (row->event == LEASE_TAKE)
		take(lease);
	if (row->event == LEASE_LOSE || row->to == LEASE_NOBODY)
		lease->viewer = 0;
	if (row->effects & LEASE_FREE)
		leave(stage);
	set_countdown(stage, row->effects);
	note_change(stage, lease_event_name(row->event), by->call);
	tell(stage);
	co_signal(&stage->readers.news);
}

/* A hold is ended by who holds, a request by who made it. */
static int check_who(const struct stage *stage, enum lease_event event, const struct call *call, struct err *e)
{
	const struct lease *lease = &stage->lease;
	bool is_holders = event == LEASE_TAKE || event == LEASE_GIVE || event == LEASE_EXTEND;

	if (lease->holder == LEASE_HUMAN && is_holders && call && strcmp(call->token, lease->token) != 0)
		return err_set(e, ERR_LEASE_HELD, NULL, "another person holds the controls since %s; the operator can clear that", lease->since);
	if (event != LEASE_WITHDRAW || lease->holder != LEASE_NOBODY)
		return 0;
	if (lease->has_come || (call && strcmp(call->token, lease->asked_by) != 0))
		return err_set(e, ERR_LEASE_HELD, NULL, "%s", lease->has_come ? "a person has come; the controls come back when a person gives them"
		                                                              : "it is not this token that asked for a person");
	return 0;
}

int lease_move(struct stage *stage, enum lease_event event, const struct lease_by *by, struct err *e)
{
	const struct lease *lease = &stage->lease;
	const struct lease_row *row = lease_row(lease->holder, event);

	if (stage->state == STAGE_IS_ENDED || stage->state == STAGE_IS_FAILED || stage->state == STAGE_IS_STARTING)
		return stage_check_ready(stage, e);
	if (check_who(stage, event, by->call, e) < 0)
		return -1;
	if (!row && event == LEASE_WITHDRAW && lease->holder == LEASE_HUMAN)
		return lease_refuse_held(stage, e);
	if (!row)
		return err_set(e, ERR_CONFLICT, NULL, "%s cannot be done now: the controls are with %s", lease_event_name(event),
		               lease->holder == LEASE_AGENT ? "the agent" : lease->holder == LEASE_HUMAN ? "a person" : "nobody");
	apply(stage, row, by);
	return 0;
}

int lease_request(struct stage *stage, enum lease_kind kind, const char *reason, const struct call *call, struct err *e)
{
	const struct lease_by by = {.call = call, .has_kind = true, .kind = kind, .reason = reason};

	if (lease_move(stage, stage->acting_row && stage->acting_row->lease == ACTION_ASKS ? LEASE_ASK : LEASE_DEMAND, &by, e) < 0)
		return -1;
	lease_wait_hands(stage);
	return 0;
}

void lease_wait_cleared(struct stage *stage)
{
	co_shield();
	while (stage->lease.clearing && co_wait_event(&stage->lease.changed, util_now_ms() + LIMIT_X_DEAD_MS, NULL) == 0)
		continue;
	co_unshield();
}

/* X has to notice what has gone. */
static bool is_still_grabbed(struct stage *stage)
{
	bool is_grabbed = true;

	for (int64_t deadline_ms = util_now_ms() + FREED_MS; is_grabbed && util_now_ms() < deadline_ms;)
		if (co_wait_until(util_now_ms() + 2, NULL) < 0 || input_is_grabbed(stage->input, &is_grabbed, NULL) < 0)
			return false;
	return is_grabbed;
}

/* What would take a person's clicks goes off the screen, and with it menus that are open. One that has all keys for itself all the same would get what the person
 * types: what is the agent's is ended then, whatever was asked for. What has them still is a browser's menu, which is no agent's. */
static void free_hands(struct stage *stage)
{
	bool is_grabbed = false;
	struct err e;

	if (stage->apps && !stage->frozen && apps_uncover(stage->apps, &e) < 0) {
		log_err(LOG_WARN, &e, "looking for windows over the screen");
		return;
	}
	if (!stage->input || stage->lease.holder != LEASE_HUMAN || input_is_grabbed(stage->input, &is_grabbed, NULL) < 0 || !is_grabbed)
		return;
	log_warn("something has taken the keys or the pointer for itself: the agent's processes are ended");
	lease_jail_end(stage);
	lease_jail_wait(stage, true);
	(void)is_still_grabbed(stage);
}

/* What apps tell on the accessibility bus would wait there for who stands still. Who cannot be found there is ended with all that is the agent's. */
static void end_listeners(struct stage *stage)
{
	struct err e;

	if (!stage->apps || !lease_jail_has_switch(stage) || ends_jail(&stage->lease) || stage->frozen)
		return;
	if (apps_end_listeners(stage->apps, util_now_ms() + UNHEARD_MS, stage->lease.ended, &e) == 0 || !lease_is_private(stage))
		return;
	log_err(LOG_WARN, &e, "the agent's processes are ended, since one of them may listen to what apps tell");
	lease_jail_end(stage);
	lease_jail_wait(stage, true);
}

void lease_wait_hands(struct stage *stage)
{
	long epoch = stage->epoch;
	struct err e;

	co_shield();
	while (stage->lease.clearing && co_wait_event(&stage->lease.changed, CO_FOREVER, NULL) == 0)
		continue;
	/* The clipboards can be read as long as their owners run. */
	if (stage->input && stage->epoch == epoch)
		(void)input_hold_begin(stage->input, NULL);
	co_unshield();
	if (stage->epoch != epoch)
		return;
	co_shield();
	/* A script that a file manager was told to run is the agent's as well; and an editor may run what the agent has put into its home. */
	if (stage->apps && apps_sort(stage->apps, ends_jail(&stage->lease), util_now_ms() + (stage->frozen ? 0 : LIMIT_FREEZE_MS), &e) < 0)
		log_err(LOG_WARN, &e, "finding what apps have started");
	if (stage->epoch != epoch) {
		co_unshield();
		return;
	}
	lease_jail_freeze(stage);
	if (ends_jail(&stage->lease))
		lease_jail_end(stage);
	lease_jail_wait(stage, ends_jail(&stage->lease));
	end_listeners(stage);
	free_hands(stage);
	stage->lease.unsorted = stage->frozen;
	co_unshield();
	if (stage->epoch != epoch || stage->lease.holder != LEASE_HUMAN || stage->lease.has_hands)
		return;
	stage->lease.has_hands = true;
	tell(stage);
}

static void sort_again(void *arg)
{
	lease_wait_hands(arg);
}

void lease_resumed(struct stage *stage)
{
	struct lease *lease = &stage->lease;

	if (!lease->unsorted || !lease_is_private(stage))
		return;
	lease->has_hands = false;
	tell(stage);
	(void)co_start(stage->loop, sort_again, stage);
}

void lease_begin(struct stage *stage, const json_t *on_lost)
{
	struct lease *lease = &stage->lease;

	lease->idle_ms = LIMIT_HOLD_IDLE_MS;
	lease->lost_ms = LIMIT_VIEWER_LOST_MS;
	lease->warn_ms = LIMIT_WARN_MS;
	lease->return_after_s = form_int(on_lost, "return_after_s", 0);
	(void)util_wall_second(stage->lease.since, 0);
}

void lease_begin_held(struct stage *stage)
{
	struct lease *lease = &stage->lease;

	note_screen(stage);
	lease->holder = LEASE_NOBODY;
	lease->kind = LEASE_OTHER;
	(void)util_wall_second(lease->since, 0);
	enter(stage);
	lease_jail_freeze(stage);
	note_change(stage, "start", NULL);
	tell(stage);
}

void lease_end(struct stage *stage)
{
	count(stage, 0, false);
	note_end(stage);
	json_decref(stage->lease.ended);
	stage->lease.ended = NULL;
	tell(stage);
}

void lease_viewer_gone(struct stage *stage, uint32_t viewer)
{
	const struct lease_by itself = {.call = NULL};

	if (viewer != 0 && stage->lease.viewer == viewer)
		(void)lease_move(stage, LEASE_LOSE, &itself, NULL);
}

void lease_viewer_here(struct stage *stage, uint32_t viewer, const char *token)
{
	const struct lease_by itself = {.call = NULL};

	if (stage->lease.holder != LEASE_HUMAN || stage->lease.viewer != 0 || strcmp(stage->lease.token, token) != 0)
		return;
	stage->lease.viewer = viewer;
	(void)lease_move(stage, LEASE_COME, &itself, NULL);
}

void lease_touch(struct stage *stage)
{
	/* A lost viewer's countdown is not its own. */
	if (stage->lease.holder != LEASE_HUMAN || stage->lease.over_ms == 0 || stage->lease.viewer == 0)
		return;
	stage->lease.over_ms = util_now_ms() + stage->lease.idle_ms;
	stage->lease.warned = false;
}

void lease_revoke(struct stage *stage, const char *token)
{
	const struct lease_by itself = {.call = NULL};

	if (stage->lease.holder == LEASE_HUMAN && strcmp(stage->lease.token, token) == 0)
		(void)lease_move(stage, LEASE_REVOKE, &itself, NULL);
}
