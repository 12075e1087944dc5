/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking the stages where their journals are. */
#include "session/front/anchor.h"

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/audit.h"

static void arm(struct front *front);

/* Has its journal grown, as far as the front can know? */
static bool went_on(const struct session *session)
{
	return session_serves(session) && (session->n_calls > 0 || session->used_ms > session->anchored_ms);
}

/* Adds the head of one journal, if there is a new one, to the object. A stage that does not answer is asked again next time. */
static void ask(struct session *session, json_t *heads)
{
	struct stage_call call = {.name = "head", .role = "server", .request_id = "anchor"};
	int64_t since_ms = util_now_ms();
	json_t *head = NULL;
	struct err e;

	if (!went_on(session) || stage_ask(session->stage, &call, since_ms + LIMIT_STATE_MS, &head, &e) < 0)
		return;
	if (!json_equal(head, session->head))
		(void)json_object_set(heads, session->id, head);
	json_decref(session->head);
	session->head = head;
	session->anchored_ms = since_ms;
}

static void run(void *arg)
{
	struct front *front = arg;
	json_t *heads = json_object();
	auto_free struct session **list = NULL;
	size_t n = 0;

	/* The list may change while a stage is asked. */
	for (struct session *session = front->sessions.first; session; session = session->next) {
		if (!went_on(session))
			continue;
		list = util_realloc(list, (n + 1) * sizeof(struct session *));
		list[n++] = session_ref(session);
	}
	for (size_t i = 0; i < n; i++) {
		ask(list[i], heads);
		session_unref(list[i]);
	}
	if (json_object_size(heads) > 0)
		audit_note(front->audit, "journals", json_pack("{s:O}", "heads", heads));
	json_decref(heads);
	arm(front);
}

static void on_time(void *arg)
{
	struct front *front = arg;

	(void)co_start(front->loop, run, front);
}

static void arm(struct front *front)
{
	(void)loop_at(front->loop, util_now_ms() + LIMIT_AUDIT_TICK_MS, on_time, front);
}

void anchor_start(struct front *front)
{
	arm(front);
}
