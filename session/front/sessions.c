/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of sessions, their ends, and what is found again after a crash of the front. */
#include "session/front/sessions.h"

#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/audit.h"
#include "session/front/hooks.h"
#include "session/front/metrics.h"
#include "session/front/spec.h"
#include "session/front/watch.h"

static const char *const state_names[] = {
	[SESSION_STARTING] = "starting", [SESSION_READY] = "ready", [SESSION_PAUSED] = "paused",
	[SESSION_ENDING] = "ending",     [SESSION_ENDED] = "ended", [SESSION_FAILED] = "failed",
};

/* Why a session ended, as callers see it, and whether it failed. */
static const struct {
	const char *name;
	bool failed;
} reasons[] = {
	[WARDEN_ASKED] = {"asked", false},
	[WARDEN_DISPLAY_DIED] = {"display_died", true},
	[WARDEN_APPS_DIED] = {"apps_died", true},
	[WARDEN_STAGE_DIED] = {"stage_died", true},
	[WARDEN_TTL] = {"ttl", false},
};

const char *session_state_name(enum session_state state)
{
	return state_names[state];
}

static bool has_ended(const struct session *session)
{
	return session->state == SESSION_ENDED || session->state == SESSION_FAILED;
}

struct session *sessions_find(const struct sessions *all, const char *id)
{
	for (struct session *session = all->first; session; session = session->next)
		if (strcmp(session->id, id) == 0)
			return session;
	return NULL;
}

bool session_is_shown_to(const struct session *session, const struct identity *who)
{
	if (who->role == ROLE_OPERATOR)
		return true;
	return strcmp(who->role == ROLE_OWNER ? session->owner : session->id, who->role == ROLE_OWNER ? who->owner : who->session) == 0;
}

size_t sessions_count_live(const struct sessions *all)
{
	return sessions_count_live_of(all, NULL);
}

size_t sessions_count_live_of(const struct sessions *all, const char *owner)
{
	size_t n = 0;

	for (const struct session *session = all->first; session; session = session->next)
		n += !has_ended(session) && (!owner || strcmp(session->owner, owner) == 0);
	return n;
}

struct session *session_ref(struct session *session)
{
	session->refs++;
	return session;
}

void session_unref(struct session *session)
{
	if (!session || --session->refs > 0)
		return;
	stage_destroy(session->stage);
	json_decref(session->spec);
	json_decref(session->head);
	json_decref(session->lease);
	json_decref(session->approvals);
	json_decref(session->egress);
	json_decref(session->limits);
	json_decref(session->security);
	free(session);
}

struct session *sessions_add(struct sessions *all, const char *id, const json_t *spec, const char *owner)
{
	struct session *session = util_zalloc(sizeof(*session));
	struct session **end = &all->first;
	auto_free char *path = util_printf("%s/%s/stage.sock", all->run, id);

	*session = (struct session){.all = all, .refs = 1, .state = SESSION_STARTING, .unborn = true};
	(void)snprintf(session->id, sizeof(session->id), "%s", id);
	(void)snprintf(session->owner, sizeof(session->owner), "%s", owner);
	session->spec = spec_without_values(spec);
	session->created_ms = store_now_ms();
	session->expires_ms = session->created_ms + form_int(spec, "ttl_s", 0) * 1000;
	session->stage = stage_create(all->loop, path, &all->links);
	while (*end)
		end = &(*end)->next;
	*end = session;
	return session;
}

static void cancel_timers(struct session *session)
{
	loop_cancel(session->idle);
	loop_cancel(session->ttl);
	loop_cancel(session->warning);
	session->idle = session->ttl = session->warning = NULL;
}

void session_drop(struct session *session)
{
	struct session **place = &session->all->first;
	struct err e;

	cancel_timers(session);
	while (*place != session)
		place = &(*place)->next;
	*place = session->next;
	tokens_forget(session->all->tokens, session->id);
	shares_forget(session->all->shares, session->id);
	if (store_drop_session(session->all->store, session->id, &e) < 0)
		log_err(LOG_ERROR, &e, "forgetting session %s", session->id);
	session_unref(session);
}

int session_save(const struct session *session, struct err *e)
{
	auto_free char *spec = json_dumps(session->spec, JSON_COMPACT);
	struct store_session row = {
		.id = session->id, .image = form_string(session->spec, "image", ""), .owner = session->owner, .spec = spec,
		.state = state_names[session->state], .reason = session->reason, .made_by = session->made_by, .isolation = session->isolation,
		.created_ms = session->created_ms, .expires_ms = session->expires_ms, .ended_ms = session->ended_ms,
	};

	return store_put_session(session->all->store, &row, e);
}

static void save(const struct session *session)
{
	struct err e;

	if (session_save(session, &e) < 0)
		log_err(LOG_ERROR, &e, "storing session %s", session->id);
}

/* Ended sessions are listed for a while, and not too many of them. */
static void prune(struct sessions *all)
{
	int64_t oldest_ms = store_now_ms() - LIMIT_ENDED_MS;
	size_t n_ended = 0;

	for (const struct session *session = all->first; session; session = session->next)
		n_ended += has_ended(session);
	for (struct session *session = all->first, *next; session; session = next) {
		next = session->next;
		if (has_ended(session) && (n_ended > LIMIT_ENDED_SESSIONS || session->ended_ms < oldest_ms)) {
			session_drop(session);
			n_ended--;
		}
	}
}

/* The last process is gone. */
static void finish(struct session *session, const char *reason, bool failed)
{
	struct sessions *all = session->all;

	if (has_ended(session))
		return;
	if (!*session->reason)
		(void)snprintf(session->reason, sizeof(session->reason), "%s", reason);
	session->state = failed ? SESSION_FAILED : SESSION_ENDED;
	session->ended_ms = store_now_ms();
	cancel_timers(session);
	stage_destroy(session->stage);
	session->stage = NULL;
	log_info("session %s %s: %s", session->id, state_names[session->state], session->reason);
	metrics_ended(all->metrics, session->reason);
	audit_note(all->audit, "session_end", json_pack("{s:s,s:s,s:s,s:O*}", "session", session->id, "owner", session->owner, "reason",
	                                              session->reason, "journal", session->head));
	co_signal(&session->ended);
	if (!session->unborn)
		hooks_say(all->hooks, HOOKS_SESSION, session->id, "ended",
		          json_pack("{s:s,s:s}", "state", state_names[session->state], "reason", session->reason));
	if (session->unborn)
		session_drop(session);
	else
		save(session);
	prune(all);
}

void sessions_on_ended(struct sessions *all, const struct warden_event *event)
{
	struct session *session = sessions_find(all, event->session);
	bool known = event->reason > 0 && event->reason < ARRAY_LEN(reasons);

	if (session)
		finish(session, known ? reasons[event->reason].name : "unknown", known ? reasons[event->reason].failed : true);
}

static void run_end(void *arg)
{
	struct session *session = arg;
	json_auto_t *body = json_pack("{s:s}", "reason", session->reason);
	auto_free char *text = json_dumps(body, JSON_COMPACT);
	json_t *head = NULL;
	struct stage_call call = {.name = "end", .role = "server", .request_id = "end", .body = text, .body_len = strlen(text)};
	struct err e;

	/* Without an answer: what it has not tidied up by now goes with its processes. */
	if (session->stage && stage_ask(session->stage, &call, util_now_ms() + LIMIT_END_MS, &head, &e) < 0) {
		log_err(LOG_DEBUG, &e, "the stage of %s did not end tidily", session->id);
	} else if (head) {
		json_decref(session->head);
		session->head = head;
	}
	if (!has_ended(session) && warden_end(session->all->warden, session->id, &e) < 0)
		log_err(LOG_ERROR, &e, "ending session %s", session->id);
	session_unref(session);
}

void session_end(struct session *session, const char *reason)
{
	if (session->state == SESSION_ENDING || has_ended(session))
		return;
	session->state = SESSION_ENDING;
	(void)snprintf(session->reason, sizeof(session->reason), "%s", reason);
	save(session);
	(void)co_start(session->all->loop, run_end, session_ref(session));
}

int session_wait_end(struct session *session, int64_t deadline_ms, struct err *e)
{
	while (!has_ended(session))
		if (co_wait_event(&session->ended, deadline_ms, e) < 0)
			return -1;
	return 0;
}

static void arm_idle(struct session *session);

static void on_idle(void *arg)
{
	struct session *session = arg;
	int64_t idle_ms = form_int(session->spec, "idle_s", 0) * 1000;

	session->idle = NULL;
	if (session->state != SESSION_READY) /* a paused one is not idle: it counts anew once it goes on */
		return;
	if (watch_is_held(session)) /* by a person, or one is waited for: the agent has its whole time again afterwards */
		session->used_ms = util_now_ms();
	if (session->n_calls == 0 && util_now_ms() - session->used_ms >= idle_ms)
		session_end(session, "idle");
	else
		arm_idle(session);
}

/* While a call runs there is nothing to end: its end is looked for again after the whole time. */
static void arm_idle(struct session *session)
{
	int64_t idle_ms = form_int(session->spec, "idle_s", 0) * 1000;
	int64_t from_ms = session->n_calls > 0 ? util_now_ms() : session->used_ms;

	if (idle_ms > 0)
		session->idle = loop_at(session->all->loop, from_ms + idle_ms, on_idle, session);
}

void session_is_used(struct session *session)
{
	session->used_ms = MAX(session->used_ms, util_now_ms());
}

void session_begin_call(struct session *session)
{
	session->n_calls++;
	session->used_ms = util_now_ms();
}

void session_finish_call(struct session *session)
{
	session->n_calls--;
	session->used_ms = util_now_ms();
}

void session_call_goes_on(struct session *session)
{
	session->used_ms = util_now_ms() + LIMIT_CALL_MS;
}

static void on_ttl(void *arg)
{
	struct session *session = arg;

	session->ttl = NULL;
	session_end(session, "ttl");
}

/* Whoever holds the controls is told before the session ends under their hands. */
static void run_warning(void *arg)
{
	struct session *session = arg;
	auto_free char *body = util_printf("{\"ends_in_s\":%lld}", (long long)MAX(0, session->expires_ms - store_now_ms()) / 1000);
	const struct stage_call call = {.name = "warn", .role = "server", .request_id = "warn", .body = body, .body_len = strlen(body)};
	struct err e;

	if (session_serves(session) && stage_ask(session->stage, &call, util_now_ms() + LIMIT_STATE_MS, NULL, &e) < 0)
		log_err(LOG_DEBUG, &e, "warning %s of its end", session->id);
	session_unref(session);
}

static void on_warning(void *arg)
{
	struct session *session = arg;

	session->warning = NULL;
	(void)co_start(session->all->loop, run_warning, session_ref(session));
}

void session_times_changed(struct session *session)
{
	int64_t left_ms = session->expires_ms - store_now_ms();

	cancel_timers(session);
	session->used_ms = util_now_ms();
	arm_idle(session);
	session->ttl = loop_at(session->all->loop, util_now_ms() + left_ms, on_ttl, session);
	session->warning = loop_at(session->all->loop, util_now_ms() + left_ms - LIMIT_WARN_MS, on_warning, session);
}

void session_is_ready(struct session *session)
{
	session->state = SESSION_READY;
	session->ready_ms = util_now_ms();
	session->unborn = false;
	session_times_changed(session);
	watch_start(session);
}

bool session_serves(const struct session *session)
{
	return session->state == SESSION_READY || session->state == SESSION_PAUSED;
}

void session_take_state(struct session *session, const char *name)
{
	enum session_state state = strcmp(name, state_names[SESSION_PAUSED]) == 0 ? SESSION_PAUSED : SESSION_READY;

	if (!session_serves(session) || session->state == state || strcmp(name, state_names[state]) != 0)
		return;
	session->state = state;
	log_info("session %s is %s", session->id, name);
	loop_cancel(session->idle);
	session->idle = NULL;
	session->used_ms = util_now_ms();
	arm_idle(session);
	save(session);
}

/* Looks for the stage of a session that lived when the front was last up. */
static void run_restore(void *arg)
{
	struct session *session = arg;
	struct err e;

	if (!*session->reason && !session->unborn &&
	    stage_greet(session->stage, util_now_ms() + LIMIT_STATE_MS, &session->hello, &e) == 0 &&
	    (strcmp(session->hello.state, state_names[SESSION_READY]) == 0 ||
	     strcmp(session->hello.state, state_names[SESSION_PAUSED]) == 0)) {
		session_is_ready(session);
		session_take_state(session, session->hello.state);
		if (session->hello.n_running > 0)
			session_call_goes_on(session);
		log_info("session %s goes on", session->id);
	} else {
		/* It may be half made (nobody has heard of it), half ended, or its stage may hang: whatever there is of it is ended. */
		if (warden_end(session->all->warden, session->id, &e) < 0)
			log_err(LOG_ERROR, &e, "ending session %s", session->id);
		finish(session, "server_restarted", !*session->reason);
	}
	session->all->n_restoring--;
	session_unref(session);
}

static void take_stored(void *arg, const struct store_session *row)
{
	struct sessions *all = arg;
	json_t *spec = json_loads(row->spec, 0, NULL);
	struct session *session;

	if (strlen(row->id) != SESSION_ID_LEN || !spec) {
		log_warn("a stored session is malformed and left out");
		json_decref(spec);
		return;
	}
	session = sessions_add(all, row->id, spec, row->owner);
	json_decref(spec);
	session->isolation = (uint32_t)row->isolation;
	session->created_ms = row->created_ms;
	session->expires_ms = row->expires_ms;
	session->ended_ms = row->ended_ms;
	session->restored = true;
	session->unborn = strcmp(row->state, state_names[SESSION_STARTING]) == 0;
	(void)snprintf(session->reason, sizeof(session->reason), "%s", row->reason);
	(void)snprintf(session->made_by, sizeof(session->made_by), "%s", row->made_by);
	if (row->ended_ms > 0) {
		session->state = strcmp(row->state, state_names[SESSION_FAILED]) == 0 ? SESSION_FAILED : SESSION_ENDED;
		stage_destroy(session->stage);
		session->stage = NULL;
	}
}

int sessions_restore(struct sessions *all, struct err *e)
{
	if (store_each_session(all->store, take_stored, all, e) < 0)
		return -1;
	for (struct session *session = all->first; session; session = session->next)
		if (!has_ended(session)) {
			all->n_restoring++;
			(void)co_start(all->loop, run_restore, session_ref(session));
		}
	prune(all);
	return 0;
}

bool sessions_restoring(const struct sessions *all)
{
	return all->n_restoring > 0;
}
