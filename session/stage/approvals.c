/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gate before each action, and the wait for a yes. */
#include "session/stage/approvals.h"

#include <string.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/policy/policy.h"
#include "session/stage/approval.h"
#include "session/stage/secret_typing.h"
#include "session/stage/stage.h"

#define HOW_ELSE "ask for a person with request_human, or have a stored secret typed with type_secret"

int approvals_begin(struct stage *stage, const json_t *spec, const json_t *operators, struct err *e)
{
	const struct policy_words words = {.knows = judge_knows, .chord = judge_chord, .arg = stage};

	if (policy_create(&stage->approvals.policy, spec, operators, &words, e) < 0) {
		err_prefix(e, "/approval");
		return -1;
	}
	stage->approvals.grants = json_object();
	stage->approvals.timeout_ms = form_int(spec, "timeout_s", 600) * INT64_C(1000);
	return 0;
}

void approvals_finish(struct stage *stage)
{
	struct approvals *all = &stage->approvals;

	while (all->first) {
		struct approval *approval = all->first;

		all->first = approval->next;
		approval_free(approval);
	}
	policy_destroy(all->policy);
	json_decref(all->grants);
	json_decref(all->untold);
}

static bool only_looks(const struct batch *batch)
{
	for (size_t i = 0; i < batch->n_steps; i++)
		if (!judge_looks(&batch->steps[i]))
			return false;
	return true;
}

int approvals_check_begin(const struct stage *stage, const struct call *call, const struct batch *batch, struct err *e)
{
	const struct call *parked = stage->approvals.parked;

	if (!parked || parked == call || (batch && (batch->check_only || only_looks(batch))))
		return 0;
	return err_set(e, ERR_WAITING, NULL, "the call %s of this session waits for a person's answer; until then one can only look", parked->request_id);
}

/* --- the end of a question --- */

static int refuse_by_rule(struct stage *stage, const struct call *call, const struct batch_step *step, const struct judged *judged, struct err *e)
{
	const char *rule = policy_rule_name(judged->answer.rule), *why = policy_rule_why(judged->answer.rule);

	approval_note(stage, call, "refused", json_pack("{s:s,s:s}", "rule", rule, "action", step->row->name));
	if (judged->unsure && json_object_get(judged->answer.rule, "into"))
		return err_set(e, ERR_SENSITIVE, NULL,
		               "nothing is written there: the app that has the keys has not said in time whether it is a password field; look, and try again when it answers");
	if (judged->subject.password && json_object_get(judged->answer.rule, "into"))
		return err_set(e, ERR_SENSITIVE, NULL, "nothing is written there: %s; " HOW_ELSE, *why ? why : "a password field has the focus");
	return err_set(e, ERR_DENIED, NULL, "the rule %s refuses this%s%s", rule, *why ? ": " : "", why);
}

static int fail_by_card(const struct approval *approval, struct err *e)
{
	char quoted[ERR_MSG_MAX - 60];

	switch (approval->state) {
	case APPROVAL_DENIED:
		if (approval->reason[0])
			return err_set(e, ERR_DENIED, NULL, "a person has refused this, in the words: %s",
			               err_quote(quoted, sizeof(quoted), approval->reason, strlen(approval->reason)));
		return err_set(e, ERR_DENIED, NULL, "a person has refused this");
	case APPROVAL_EXPIRED:
		return err_set(e, ERR_DENIED, NULL, "a person was asked, and nobody has answered in time");
	case APPROVAL_WITHDRAWN:
		return err_set(e, ERR_CANCELLED, NULL, "the question to a person was withdrawn: %s", approval->reason);
	case APPROVAL_WAITING:
	case APPROVAL_ALLOWED:
	case APPROVAL_DONE:
		break;
	}
	return err_set(e, ERR_APPROVAL_PENDING, NULL, "a person is asked about this (%s, rule %s) and has not answered yet: send the same again to wait on", approval->id,
	               approval->rule);
}

static void withdraw(struct approval *approval, const char *why)
{
	(void)snprintf(approval->reason, sizeof(approval->reason), "%s", why);
	approval_end(approval, APPROVAL_WITHDRAWN, NULL);
}

void approvals_withdraw(struct stage *stage, const char *why)
{
	for (struct approval *approval = stage->approvals.first; approval; approval = approval->next)
		if (approval->state <= APPROVAL_ALLOWED)
			withdraw(approval, why);
}

/* --- waiting --- */

/* The turn is given up meanwhile. When it returns 0 there was a yes, and the turn is back. */
static int park(struct stage *stage, const struct approvals_ask *ask, struct approval *approval, bool *has_turn, struct err *e)
{
	struct approvals *all = &stage->approvals;
	struct err why = {.code = ERR_NONE};
	int rc = 0;

	nodes_drop(stage);
	all->parked = ask->call;
	approval->has_caller = true;
	*has_turn = false;
	turns_pass(&stage->turns);
	while (rc == 0 && approval->state == APPROVAL_WAITING)
		rc = co_wait_event(&all->changed, ask->deadline_ms, &why);
	if (rc == 0 && approval->state == APPROVAL_ALLOWED) {
		rc = turns_take_first(&stage->turns, ask->deadline_ms, &why);
		*has_turn = rc == 0;
	}
	all->parked = NULL;
	approval->has_caller = false;
	if (rc < 0 && why.code == ERR_CANCELLED) {
		if (approval->state <= APPROVAL_ALLOWED)
			withdraw(approval, "the call was cancelled");
		*e = why;
		return -1;
	}
	if (!*has_turn)
		return fail_by_card(approval, e);
	return stage_check_ready(stage, e);
}

/* An answer for the session holds for this. */
static bool is_granted(const struct stage *stage, const struct batch_step *step, const struct judged *judged)
{
	const char *why;
	auto_free char *key = judge_key(step, judged, &why), *grant = key ? approval_grant(policy_rule_name(judged->answer.rule), key) : NULL;

	return grant && json_object_get(stage->approvals.grants, grant);
}

/* A question about the same action that this token has asked before, and that nobody waits for. */
static struct approval *find_same(const struct stage *stage, const struct approvals_ask *ask, const struct judged *judged)
{
	const struct batch_step *step = &ask->batch->steps[ask->index];
	json_auto_t *asked = json_copy(step->asked);

	json_object_set_new(asked, "action", json_string(step->row->name));
	for (struct approval *approval = stage->approvals.first; approval; approval = approval->next)
		if (approval->state <= APPROVAL_ALLOWED && !approval->has_caller && strcmp(approval->token, ask->call->token) == 0 &&
		    strcmp(approval->rule, policy_rule_name(judged->answer.rule)) == 0 && json_equal(approval->asked, asked))
			return approval;
	return NULL;
}

/* A yes that still holds is used up. */
static bool use(struct stage *stage, struct approval *approval, const struct judged *judged, struct approvals_verdict *verdict)
{
	if (!approval || approval->state != APPROVAL_ALLOWED)
		return false;
	if (!approval_holds(stage, approval, judged)) {
		withdraw(approval, "what it is about has changed since");
		return false;
	}
	(void)snprintf(verdict->approval, sizeof(verdict->approval), "%s", approval->id);
	approval_end(approval, APPROVAL_DONE, NULL);
	return true;
}

bool approvals_asks(const struct stage *stage)
{
	return stage->approvals.policy && strcmp(policy_mode(stage->approvals.policy), "never") != 0;
}

static int judge(struct stage *stage, const struct approvals_ask *ask, enum journal_text *text, struct judged *judged, struct err *e)
{
	const struct batch_step *step = &ask->batch->steps[ask->index];

	nodes_ask(stage, step);
	*text = typed_judge(stage, step);
	if (!stage->approvals.policy) {
		judged->answer.verdict = POLICY_ALLOW;
		return 0;
	}
	judged->warning = json_array_get(ask->call->warnings, ask->index);
	if (json_is_null(judged->warning))
		judged->warning = NULL;
	return judge_step(stage, step, true, judged, e);
}

static int pass(struct stage *stage, const struct approvals_ask *ask, bool *has_turn, enum journal_text *text, struct approvals_verdict *verdict,
                struct judged *judged, struct err *e)
{
	const struct batch_step *step = &ask->batch->steps[ask->index];
	struct approval *approval;

	for (;;) {
		if (judge(stage, ask, text, judged, e) < 0)
			return -1;
		if (judged->answer.rule)
			(void)snprintf(verdict->rule, sizeof(verdict->rule), "%s", policy_rule_name(judged->answer.rule));
		if (judged->answer.verdict == POLICY_DENY)
			return refuse_by_rule(stage, ask->call, step, judged, e);
		if (judged->answer.verdict == POLICY_ALLOW)
			return 0;
		approval = find_same(stage, ask, judged);
		if (use(stage, approval, judged, verdict))
			return 0;
		verdict->for_session = is_granted(stage, step, judged);
		if (verdict->for_session)
			return 0;
		/* Nobody is asked about what would be refused after a yes. */
		if (judge_is_secret(step) && secret_typing_check(stage, form_string(step->args, "name", ""), e) < 0)
			return -1;
		/* One that only looks, where a rule asks about looks as well. */
		if (stage->approvals.parked)
			return approvals_check_begin(stage, ask->call, NULL, e);
		if ((!approval || approval->state != APPROVAL_WAITING) && approval_make(stage, ask, judged, &approval, e) < 0)
			return -1;
		if (park(stage, ask, approval, has_turn, e) < 0)
			return -1;
	}
}

int approvals_gate(struct stage *stage, const struct approvals_ask *ask, bool *has_turn, enum journal_text *text, struct approvals_verdict *verdict,
                   struct err *e)
{
	auto_free struct judged *judged = util_zalloc(sizeof(*judged));

	*verdict = (struct approvals_verdict){.rule = ""};
	return pass(stage, ask, has_turn, text, verdict, judged, e);
}

bool approvals_heeds_passwords(const struct stage *stage)
{
	return stage->approvals.policy && policy_heeds_passwords(stage->approvals.policy);
}

int approvals_check_writing(struct stage *stage, const struct batch_step *step, struct err *e)
{
	auto_free struct judged *judged = util_zalloc(sizeof(*judged));

	if (judge_step(stage, step, true, judged, e) < 0)
		return -1;
	return judged->answer.verdict == POLICY_DENY ? refuse_by_rule(stage, NULL, step, judged, e) : 0;
}

/* --- telling --- */

json_t *approvals_preview(struct stage *stage, const struct batch *batch)
{
	auto_free struct judged *judged = util_zalloc(sizeof(*judged));
	json_t *list = json_array();
	struct err ignored;

	for (size_t i = 0; i < batch->n_steps && stage->approvals.policy; i++) {
		if (judge_step(stage, &batch->steps[i], false, judged, &ignored) < 0)
			break;
		json_array_append_new(list, json_pack("{s:s,s:s,s:s}", "verdict", policy_verdict_name(judged->answer.verdict), "rule",
		                                      policy_rule_name(judged->answer.rule), "why", policy_rule_why(judged->answer.rule)));
	}
	return list;
}

json_t *approvals_brief(const struct stage *stage)
{
	json_t *list = json_array();

	for (const struct approval *approval = stage->approvals.first; approval; approval = approval->next)
		json_array_append_new(list, json_pack("{s:s,s:s}", "id", approval->id, "state", approval_state_name(approval->state)));
	return list;
}

json_t *approvals_take_counts(struct stage *stage)
{
	return steal_ptr(&stage->approvals.untold);
}
