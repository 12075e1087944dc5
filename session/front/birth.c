/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of a create. */
#include "session/front/birth.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/audit.h"
#include "session/front/images.h"
#include "session/front/metrics.h"
#include "session/front/quota.h"
#include "session/front/secrets.h"
#include "session/front/spec.h"

/* "s" and 15 of a-z2-7. */
static void make_id(char id[SESSION_ID_SIZE])
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t random[SESSION_ID_LEN];

	util_random(random, sizeof(random));
	id[0] = 's';
	for (size_t i = 1; i < SESSION_ID_LEN; i++)
		id[i] = digits[random[i] % 32];
	id[SESSION_ID_LEN] = '\0';
}

static int ask(struct session *session, const char *name, const char *request_id, const char *body, int64_t limit_ms, json_t **answer,
               struct err *e)
{
	struct stage_call call = {
		.name = name, .role = "server", .request_id = request_id, .body = body, .body_len = body ? strlen(body) : 0};

	return stage_ask(session->stage, &call, util_now_ms() + limit_ms, answer, e);
}

static int open_stage(const struct front *front, struct session *session, json_t *spec, json_t *manifest, json_t *rules, const char *request_id,
                      struct err *e)
{
	json_auto_t *body = json_pack("{s:O, s:O, s:O, s:O*}", "spec", spec, "image", manifest, "secrets", rules, "approval", front->config.approval);
	auto_free char *text = json_dumps(body, JSON_COMPACT);

	return ask(session, "open", request_id, text, LIMIT_START_MS, NULL, e);
}

/* How long the setup phase may take. */
static int64_t setup_ms(const json_t *spec)
{
	const json_t *setup = json_object_get(spec, "setup");

	return json_array_size(json_object_get(setup, "commands")) > 0 ? form_int(setup, "timeout_s", 0) * INT64_C(1000) : 0;
}

/* All that can fail once the warden was asked. */
static int bring_up(struct front *front, struct session *session, json_t *spec, json_t *manifest, json_t *rules, const char *request_id,
                    json_t **state, struct err *e)
{
	struct warden_create create;

	spec_for_warden(spec, manifest, &create);
	create.injected = secrets_injected(rules);
	if (warden_start(front->warden, session->id, &create, util_now_ms() + LIMIT_START_MS, &session->isolation, e) < 0 ||
	    stage_greet(session->stage, util_now_ms() + LIMIT_START_MS, &session->hello, e) < 0 ||
	    open_stage(front, session, spec, manifest, rules, request_id, e) < 0 || warden_seal(front->warden, session->id, e) < 0 ||
	    ask(session, "start", request_id, NULL, LIMIT_START_MS + LIMIT_LAUNCH_MS + setup_ms(spec), state, e) < 0)
		return -1;
	if (co_cancelled(co_self()))
		return err_set(e, ERR_CANCELLED, NULL, "the caller left while the session was made");
	if (session->state != SESSION_STARTING)
		return err_set(e, ERR_SESSION_FAILED, NULL, "the session ended while it was made: %s", session->reason);
	session_is_ready(session);
	return session_save(session, e);
}

/* A part that dies shows in whatever was asked of it then. The caller asked for a session: that is what has failed. */
static void explain(const struct session *session, struct err *e)
{
	struct err why = *e;

	if (why.code == ERR_GONE || why.code == ERR_CONFLICT)
		(void)err_set(e, ERR_SESSION_FAILED, NULL, "the session ended while it was made: %s",
		              *session->reason ? session->reason : why.msg);
}

/* Waits until a session that was told to end has ended, cancelled or not: nothing is left behind. */
static void wait_undone(struct session *session)
{
	struct err e;

	co_shield();
	if (session_wait_end(session, util_now_ms() + LIMIT_START_MS, &e) < 0)
		log_err(LOG_ERROR, &e, "session %s, whose create failed, does not end", session->id);
	co_unshield();
}

static void begin_undo(struct session *session)
{
	session->unborn = true;
	session_end(session, "create_failed");
}

/* Is there room for so many more sessions of this owner? */
static int check_room(struct front *front, const char *owner, size_t n, struct err *e)
{
	size_t live = sessions_count_live(&front->sessions), max = front->sessions.max_live;

	if (live + n > max)
		return err_set(e, ERR_LIMIT, NULL, "there are %zu sessions, and %zu more were asked for; the server allows %zu", live, n, max);
	return quota_check_count(config_find_key(&front->config, owner), &front->sessions, n, e);
}

/* Nothing is made that is not in the audit log. */
static int tell_create(struct front *front, const struct session *session, const char *request_id, struct err *e)
{
	return audit_add(front->audit, "create", json_pack("{s:s,s:s,s:O,s:s}", "session", session->id, "owner", session->owner, "image",
	                                                   json_object_get(session->spec, "image"), "request", request_id), e);
}

static int create(struct front *front, json_t *spec, const char *owner, const char *request_id, struct session **out,
                 json_t **state, struct err *e)
{
	json_auto_t *manifest = NULL, *rules = NULL;
	struct session *session;
	char id[SESSION_ID_SIZE];

	if (images_read(front->images, json_string_value(json_object_get(spec, "image")), &manifest, e) < 0 ||
	    spec_check_apps(spec, manifest, e) < 0 || secrets_rules(front->store, spec, &rules, e) < 0 ||
	    secrets_check_ways(rules, spec, e) < 0)
		return -1;
	if (check_room(front, owner, 1, e) < 0)
		return -1;
	make_id(id);
	session = session_ref(sessions_add(&front->sessions, id, spec, owner));
	(void)snprintf(session->made_by, sizeof(session->made_by), "%s", request_id);
	/* The row is there before the warden is asked: after a crash the front knows what to end. */
	if (session_save(session, e) < 0 || tell_create(front, session, request_id, e) < 0) {
		session_drop(session);
		session_unref(session);
		return -1;
	}
	log_info("session %s of image %s begins", id, json_string_value(json_object_get(spec, "image")));
	if (bring_up(front, session, spec, manifest, rules, request_id, state, e) < 0) {
		explain(session, e);
		log_err(LOG_INFO, e, "session %s was not made", id);
		begin_undo(session);
		wait_undone(session);
		session_unref(session);
		return -1;
	}
	*out = session;
	return 0;
}

int birth_create(struct front *front, json_t *spec, const char *owner, const char *request_id, struct session **out,
                 json_t **state, struct err *e)
{
	int64_t start_us = util_now_us();
	int rc = create(front, spec, owner, request_id, out, state, e);

	if (rc == 0)
		metrics_created(front->metrics, util_now_us() - start_us);
	else
		metrics_not_created(front->metrics, e->code);
	return rc;
}

/* Several at once: each worker makes one after the other. */
struct litter {
	struct front *front;
	json_t *spec;
	const char *owner, *request_id;
	size_t n, next;
	struct birth *births;
	struct co *workers[LIMIT_BIRTHS]; /* NULL once it has ended */
	size_t n_working;
	struct co_event ended;
	struct err failure; /* of the first that failed */
};

static void stop_others(const struct litter *litter)
{
	for (size_t i = 0; i < LIMIT_BIRTHS; i++)
		if (litter->workers[i] && litter->workers[i] != co_self())
			co_cancel(litter->workers[i]);
}

static void run_worker(void *arg)
{
	struct litter *litter = arg;
	struct err e;

	while (litter->next < litter->n && litter->failure.code == ERR_NONE) {
		size_t i = litter->next++;

		if (birth_create(litter->front, litter->spec, litter->owner, litter->request_id, &litter->births[i].session,
		                 &litter->births[i].state, &e) == 0 || litter->failure.code != ERR_NONE)
			continue;
		(void)err_set(&litter->failure, e.code, e.path, "session %zu of %zu: %s", i + 1, litter->n, e.msg);
		stop_others(litter);
	}
	for (size_t i = 0; i < LIMIT_BIRTHS; i++)
		if (litter->workers[i] == co_self())
			litter->workers[i] = NULL;
	litter->n_working--;
	co_signal(&litter->ended);
}

/* Whoever leaves while they work takes them along. */
static void wait_for_workers(struct litter *litter)
{
	struct err e;

	while (litter->n_working > 0 && co_wait_event(&litter->ended, CO_FOREVER, &e) == 0)
		;
	if (litter->n_working == 0)
		return;
	if (litter->failure.code == ERR_NONE)
		litter->failure = e;
	stop_others(litter);
	co_shield();
	while (litter->n_working > 0)
		(void)co_wait_event(&litter->ended, CO_FOREVER, &e);
	co_unshield();
}

int birth_create_all(struct front *front, json_t *spec, const char *owner, const char *request_id, size_t n, struct birth *births,
                     struct err *e)
{
	struct litter litter = {.front = front, .spec = spec, .owner = owner, .request_id = request_id, .n = n, .births = births,
	                        .failure = {.code = ERR_NONE}};

	if (n == 1)
		return birth_create(front, spec, owner, request_id, &births->session, &births->state, e);
	if (check_room(front, owner, n, e) < 0) {
		metrics_not_created(front->metrics, e->code);
		return -1;
	}
	litter.n_working = n < LIMIT_BIRTHS ? n : LIMIT_BIRTHS;
	for (size_t i = 0; i < litter.n_working; i++)
		litter.workers[i] = co_start(front->loop, run_worker, &litter);
	wait_for_workers(&litter);
	if (litter.failure.code == ERR_NONE)
		return 0;
	birth_undo_all(births, n);
	*e = litter.failure;
	return -1;
}

void birth_undo_all(struct birth *births, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (births[i].session)
			begin_undo(births[i].session);
	for (size_t i = 0; i < n; i++) {
		if (births[i].session)
			wait_undone(births[i].session);
		session_unref(births[i].session);
		json_decref(births[i].state);
		births[i] = (struct birth){.session = NULL};
	}
}
