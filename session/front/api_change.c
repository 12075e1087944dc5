/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changing a session that lives: its size, its labels and its times. */
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/calls.h"
#include "session/front/describe.h"
#include "session/front/quota.h"
#include "session/front/request.h"
#include "session/front/spec.h"

static int merge(struct request *request, json_t *change, json_t **changed, struct err *e)
{
	struct faults *faults = request_faults(request);

	if (spec_change(request->session->spec, change, changed, faults) == 0)
		return 0;
	*e = faults->list[0];
	return -1;
}

/* The body, found to be a change that can be made. */
static int read_change(struct request *request, json_t **change, struct err *e)
{
	json_auto_t *body = NULL, *changed = NULL;

	if (request_json(request, &body, e) < 0)
		return -1;
	if (!json_is_object(body))
		return err_set(e, ERR_BAD_FIELD, "", "the body must be an object with display, labels, ttl_s or idle_s");
	if (merge(request, body, &changed, e) < 0)
		return -1;
	*change = json_incref(body);
	return 0;
}

/* On disk before it counts; a change that cannot be stored has not happened. */
static int take_change(struct session *session, json_t *changed, int64_t expires_ms, struct err *e)
{
	json_t *old_spec = session->spec;
	int64_t old_expires_ms = session->expires_ms;

	session->spec = json_incref(changed);
	session->expires_ms = expires_ms;
	if (session_save(session, e) == 0) {
		json_decref(old_spec);
		return 0;
	}
	json_decref(session->spec);
	session->spec = old_spec;
	session->expires_ms = old_expires_ms;
	return -1;
}

/* Whoever asks may leave: what the warden then did is kept all the same, or it would end the session at another time than is told. */
static int tell_warden(const struct request *request, long ttl_s, struct err *e)
{
	int rc;

	co_shield();
	rc = warden_set_ttl(request->front->warden, request->session->id, (uint32_t)ttl_s, util_now_ms() + LIMIT_STATE_MS, e);
	co_unshield();
	return rc;
}

/* As an act of one action: in order with others, and in the journal. */
static int resize(struct request *request, const json_t *size, struct err *e)
{
	json_auto_t *body = json_pack("{s:[{s:s,s:O,s:O}]}", "actions", "action", "resize_display", "width", json_object_get(size, "width"), "height",
	                              json_object_get(size, "height"));
	auto_free char *text = json_dumps(body, JSON_COMPACT);
	const struct stage_call call = {.name = "act", .role = role_name(request->who.role), .token = request->who.name,
	                                .request_id = request->id, .body = text, .body_len = text ? strlen(text) : 0};
	json_auto_t *answer = NULL;
	const json_t *error;

	if (stage_ask(request->session->stage, &call, util_now_ms() + CALLS_ACT_MS, &answer, e) < 0)
		return calls_explain_end(request->session, e);
	error = json_object_get(json_array_get(json_object_get(answer, "results"), 0), "error");
	if (json_is_true(json_object_get(answer, "ok")))
		return 0;
	return err_set(e, err_from_wire(form_string(error, "code", "internal")), "/display", "%s", form_string(error, "detail", "it failed"));
}

int api_change(struct request *request, struct err *e)
{
	struct session *session = request->session;
	json_auto_t *change = NULL, *changed = NULL, *state = NULL;
	long ttl_s;
	int64_t expires_ms;

	if (calls_check_ready(session, e) < 0 || read_change(request, &change, e) < 0)
		return -1;
	ttl_s = form_int(change, "ttl_s", 0);
	expires_ms = ttl_s > 0 ? store_now_ms() + ttl_s * INT64_C(1000) : session->expires_ms;
	/* The limit of who asks counts, for the whole life: the operator may give an owner's session more. */
	if (ttl_s > 0 && quota_check_life(config_find_key(&request->front->config, request->who.owner),
	                                  (expires_ms - session->created_ms + 999) / 1000, e) < 0)
		return -1;
	/* What can be refused comes first. */
	if (json_object_get(change, "display") && resize(request, json_object_get(change, "display"), e) < 0)
		return -1;
	/* The warden first: it may refuse. It ends the session some seconds after the front should have. */
	if (ttl_s > 0 && tell_warden(request, ttl_s, e) < 0)
		return -1;
	/* Others may have changed it meanwhile. */
	if (calls_check_ready(session, e) < 0 || merge(request, change, &changed, e) < 0 ||
	    take_change(session, changed, expires_ms, e) < 0)
		return -1;
	if (ttl_s > 0 || json_object_get(change, "idle_s"))
		session_times_changed(session);
	if (calls_ask_state(&request->who, request->id, request->session, &state, e) < 0)
		return -1;
	reply_json(&request->reply, 200, describe_session(session, state));
	return 0;
}
