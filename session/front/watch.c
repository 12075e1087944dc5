/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One call of the stage after the other, each of which waits there for something new. */
#include "session/front/watch.h"

#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/hooks.h"
#include "session/front/metrics.h"

#define AGAIN_MS 1000

bool watch_is_held(const struct session *session)
{
	return strcmp(form_string(session->lease, "holder", "agent"), "agent") != 0;
}

/* What of it leaves the server: neither who the person is nor what of the session's inside persons are shown. */
static json_t *for_webhooks(const json_t *lease)
{
	static const char *const members[] = {"holder", "epoch", "kind", "since", "reason", "requested_by", "expires_at"};
	json_t *out = json_object();

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_get(lease, members[i]))
			(void)json_object_set(out, members[i], json_object_get(lease, members[i]));
	return out;
}

/* The first answer to a front that has just started is told only if somebody is waited for: it cannot know whether the one before it did. */
static void take_lease(struct session *session, json_t *lease)
{
	bool is_first = !session->lease, was_held = watch_is_held(session), is_new = form_int(session->lease, "epoch", -1) != form_int(lease, "epoch", 0);

	if (is_new && !(is_first && strcmp(form_string(lease, "holder", "agent"), "nobody") != 0))
		hooks_say(session->all->hooks, HOOKS_LEASE, session->id, "lease", for_webhooks(lease));
	json_decref(session->lease);
	session->lease = json_incref(lease);
	session->hello.epoch = form_int(lease, "epoch", session->hello.epoch);
	if (was_held && !watch_is_held(session))
		session_is_used(session);
}

static const char *state_in(const json_t *approvals, const char *id)
{
	const json_t *approval;
	size_t i;

	json_array_foreach(approvals, i, approval)
		if (strcmp(form_string(approval, "id", ""), id) == 0)
			return form_string(approval, "state", "");
	return "";
}

static void take_approvals(struct session *session, json_t *approvals)
{
	json_t *approval;
	size_t i;

	json_array_foreach(approvals, i, approval) {
		const char *id = form_string(approval, "id", ""), *state = form_string(approval, "state", "");
		bool is_first = !session->approvals && strcmp(state, "waiting") != 0;

		if (!is_first && strcmp(state_in(session->approvals, id), state) != 0)
			hooks_say(session->all->hooks, HOOKS_APPROVAL, session->id, "approval", json_pack("{s:s,s:s}", "id", id, "state", state));
	}
	json_decref(session->approvals);
	session->approvals = json_incref(approvals);
}

/* The first answer to a front that finds a session again is where it begins to count; of a session that it made nothing is old. */
static void take_egress(struct session *session, json_t *egress)
{
	if (session->egress || !session->restored)
		metrics_egress(session->all->metrics, session->egress, egress);
	json_decref(session->egress);
	session->egress = json_incref(egress);
}

/* As of egress. */
static void take_counts(struct session *session, json_t *answer)
{
	json_t *limits = json_object_get(answer, "limits"), *security = json_object_get(answer, "security");

	if (session->limits || !session->restored)
		metrics_limits(session->all->metrics, session->limits, limits);
	if (session->security || !session->restored)
		metrics_security(session->all->metrics, session->security, security);
	json_decref(session->limits);
	json_decref(session->security);
	session->limits = json_incref(limits);
	session->security = json_incref(security);
}

static int ask(struct session *session, json_int_t *seen, struct err *e)
{
	json_auto_t *query = *seen >= 0 ? json_pack("{s:o}", "seen", json_sprintf("%lld", (long long)*seen)) : NULL;
	struct stage_call call = {.name = "watch", .role = "server", .request_id = "watch", .query = query};
	json_auto_t *answer = NULL;

	if (stage_ask(session->stage, &call, util_now_ms() + LIMIT_WATCH_MS + LIMIT_STATE_MS, &answer, e) < 0)
		return -1;
	*seen = json_integer_value(json_object_get(answer, "seen"));
	if (json_is_object(json_object_get(answer, "lease")))
		take_lease(session, json_object_get(answer, "lease"));
	if (json_is_array(json_object_get(answer, "approvals")))
		take_approvals(session, json_object_get(answer, "approvals"));
	if (json_is_object(json_object_get(answer, "egress")))
		take_egress(session, json_object_get(answer, "egress"));
	take_counts(session, answer);
	return 0;
}

static void run(void *arg)
{
	struct session *session = arg;
	json_int_t seen = -1;
	struct err e;

	while (session_serves(session))
		if (ask(session, &seen, &e) < 0 && session_serves(session)) {
			log_err(LOG_DEBUG, &e, "watching %s", session->id);
			(void)co_wait_until(util_now_ms() + AGAIN_MS, &e);
		}
	session_unref(session);
}

void watch_start(struct session *session)
{
	(void)co_start(session->all->loop, run, session_ref(session));
}
