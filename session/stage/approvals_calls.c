/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of people about questions. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"
#include "session/policy/policy.h"
#include "session/stage/approval.h"
#include "session/stage/stage.h"

static int compare(const void *a, const void *b)
{
	int64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static json_t *median_ms(const struct approvals_counts *counts)
{
	size_t n = MIN(counts->n_times, APPROVALS_TIMES);
	int64_t times[APPROVALS_TIMES];

	if (n == 0)
		return json_null();
	memcpy(times, counts->times_ms, n * sizeof(times[0]));
	qsort(times, n, sizeof(times[0]), compare);
	return json_integer(times[n / 2]);
}

static size_t count_waiting(const struct stage *stage)
{
	size_t n = 0;

	for (const struct approval *approval = stage->approvals.first; approval; approval = approval->next)
		n += approval->state == APPROVAL_WAITING;
	return n;
}

static json_t *counts_json(const struct stage *stage)
{
	const struct approvals_counts *counts = &stage->approvals.counts;
	unsigned int yes = counts->once + counts->session, answered = yes + counts->denied;

	return json_pack("{s:s,s:I,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:o,s:o}", "session", stage->ends.session, "waiting", (json_int_t)count_waiting(stage), "asked",
	                 (int)counts->asked, "answered", (int)answered, "once", (int)counts->once, "for_session", (int)counts->session, "denied",
	                 (int)counts->denied, "expired", (int)counts->expired, "withdrawn", (int)counts->withdrawn, "median_ms", median_ms(counts),
	                 "yes_share", answered > 0 ? json_real((double)yes / answered) : json_null());
}

void approvals_list_call(struct stage *stage, struct call *call)
{
	int64_t deadline_ms = util_now_ms() + MIN(strtol(form_string(call->query, "wait", "0"), NULL, 10), LIMIT_APPROVAL_WAIT_MS);
	json_t *list = json_array();

	while (count_waiting(stage) == 0 && util_now_ms() < deadline_ms && stage->state != STAGE_IS_ENDED)
		if (co_wait_event(&stage->approvals.changed, deadline_ms, NULL) < 0)
			break;
	for (const struct approval *approval = stage->approvals.first; approval; approval = approval->next)
		if (approval->state <= APPROVAL_ALLOWED)
			json_array_append_new(list, approval_json(approval));
	json_auto_t *reply = json_pack("{s:o,s:[o]}", "approvals", list, "counts", counts_json(stage));

	call_reply_json(call, 200, NULL, reply);
}

/* The card that the call names; or it is refused. */
static struct approval *find(struct stage *stage, struct call *call)
{
	const char *id = form_string(call->query, "id", "");
	struct approval *approval = approval_find(stage, id);
	char shown[80];
	struct err e;

	if (approval)
		return approval;
	(void)err_set(&e, ERR_NOT_FOUND, NULL, "there is no question %s (any more)", err_quote(shown, sizeof(shown), id, strlen(id)));
	call_refuse(call, &e);
	return NULL;
}

static void reply_card(struct call *call, const struct approval *approval)
{
	json_auto_t *card = approval_json(approval);

	call_reply_json(call, 200, NULL, card);
}

void approvals_show_call(struct stage *stage, struct call *call)
{
	const struct approval *approval = find(stage, call);

	if (approval)
		reply_card(call, approval);
}

void approvals_crop_call(struct stage *stage, struct call *call)
{
	const struct approval *approval = find(stage, call);
	struct err e;

	if (!approval)
		return;
	if (approval->crop) {
		call_reply(call, 200, "image/png", NULL, approval->crop, approval->crop_len);
		return;
	}
	(void)err_set(&e, ERR_NOT_FOUND, NULL, "this question is about nothing on the screen");
	call_refuse(call, &e);
}

static int check_open(const struct approval *approval, struct err *e)
{
	if (approval->state == APPROVAL_WAITING)
		return 0;
	if (approval->answer[0])
		return err_set(e, ERR_CONFLICT, NULL, "this was answered already: %s, by the %s with the token %s", approval->answer, approval->by_role,
		               approval->by_token);
	return err_set(e, ERR_CONFLICT, NULL, "nobody waits for this answer any more: the question is %s", approval_state_name(approval->state));
}

/* What holds for the session from now on. */
static int grant(struct stage *stage, const struct approval *approval, struct err *e)
{
	json_t *grants = stage->approvals.grants;
	auto_free char *name = NULL;

	if (!approval->key)
		return err_set(e, ERR_CONFLICT, "/answer", "this cannot be answered for the session: %s",
		               form_string(approval->card, "not_session_why", "it has nothing that could be known again"));
	if (json_object_size(grants) >= LIMIT_GRANTS)
		return err_set(e, ERR_LIMIT, "/answer", "%d answers hold for this session already", LIMIT_GRANTS);
	name = approval_grant(approval->rule, approval->key);
	json_object_set_new(grants, name, json_true());
	return 0;
}

static int answer(struct stage *stage, const struct call *call, struct approval *approval, struct err *e)
{
	json_auto_t *body = NULL;
	const char *said;

	if (json_parse(call->body ? call->body : "", call->body_len, &body, e) < 0 || form_check(&policy_answer_form, body, "", NULL, e) < 0 ||
	    check_open(approval, e) < 0)
		return -1;
	said = form_string(body, "answer", "");
	if (strcmp(said, "session") == 0 && grant(stage, approval, e) < 0)
		return -1;
	(void)snprintf(approval->answer, sizeof(approval->answer), "%s", said);
	(void)snprintf(approval->by_role, sizeof(approval->by_role), "%s", call->role_name);
	(void)snprintf(approval->by_token, sizeof(approval->by_token), "%s", call->token);
	(void)snprintf(approval->reason, sizeof(approval->reason), "%s", form_string(body, "reason", ""));
	approval_end(approval, strcmp(said, "deny") == 0 ? APPROVAL_DENIED : APPROVAL_ALLOWED, call);
	return 0;
}

void approvals_answer_call(struct stage *stage, struct call *call)
{
	struct approval *approval = find(stage, call);
	struct err e;

	if (!approval)
		return;
	if (answer(stage, call, approval, &e) < 0) {
		call_refuse(call, &e);
		return;
	}
	call->counts = json_pack("{s:o*}", "approvals", approvals_take_counts(stage));
	reply_card(call, approval);
}
