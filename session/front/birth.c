/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of a create. */
#include "session/front/birth.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/images.h"
#include "session/front/metrics.h"
#include "session/front/quota.h"
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

static int open_stage(struct session *session, json_t *spec, json_t *manifest, const char *request_id, struct err *e)
{
	json_auto_t *body = json_pack("{s:O, s:O}", "spec", spec, "image", manifest);
	auto_free char *text = json_dumps(body, JSON_COMPACT);

	return ask(session, "open", request_id, text, LIMIT_START_MS, NULL, e);
}

/* All that can fail once the warden was asked. */
static int bring_up(struct front *front, struct session *session, json_t *spec, json_t *manifest, const char *request_id,
                    json_t **state, struct err *e)
{
	struct warden_create create;

	spec_for_warden(spec, manifest, &create);
	if (warden_start(front->warden, session->id, &create, util_now_ms() + LIMIT_START_MS, &session->isolation, e) < 0 ||
	    stage_greet(session->stage, util_now_ms() + LIMIT_START_MS, &session->hello, e) < 0 ||
	    open_stage(session, spec, manifest, request_id, e) < 0 || warden_seal(front->warden, session->id, e) < 0 ||
	    ask(session, "start", request_id, NULL, LIMIT_START_MS + LIMIT_LAUNCH_MS, state, e) < 0)
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

/* Nothing is left behind: returns when its last process is gone. */
static void undo(struct session *session)
{
	struct err e;

	session->unborn = true;
	session_end(session, "create_failed");
	co_shield();
	if (session_wait_end(session, util_now_ms() + LIMIT_START_MS, &e) < 0)
		log_err(LOG_ERROR, &e, "session %s, whose create failed, does not end", session->id);
	co_unshield();
}

static int create(struct front *front, json_t *spec, const char *owner, const char *request_id, struct session **out,
                 json_t **state, struct err *e)
{
	json_auto_t *manifest = NULL;
	struct session *session;
	char id[SESSION_ID_SIZE];

	if (images_read(front->images, json_string_value(json_object_get(spec, "image")), &manifest, e) < 0 ||
	    spec_check_apps(spec, manifest, e) < 0)
		return -1;
	if (sessions_count_live(&front->sessions) >= front->sessions.max_live)
		return err_set(e, ERR_LIMIT, NULL, "there are %zu sessions; the server allows no more", front->sessions.max_live);
	if (quota_check_count(config_find_key(&front->config, owner), &front->sessions, 1, e) < 0)
		return -1;
	make_id(id);
	session = session_ref(sessions_add(&front->sessions, id, spec, owner));
	/* The row is there before the warden is asked: after a crash the front knows what to end. */
	if (session_save(session, e) < 0) {
		session_drop(session);
		session_unref(session);
		return -1;
	}
	log_info("session %s of image %s is made", id, json_string_value(json_object_get(spec, "image")));
	if (bring_up(front, session, spec, manifest, request_id, state, e) < 0) {
		explain(session, e);
		log_err(LOG_INFO, e, "session %s was not made", id);
		undo(session);
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
