/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections that rules ask about. A card is of a host and a port: connections to the same wait for the same answer. One that is given up before
 * the answer leaves its card there, and a yes to it lets the next one through.
 */
#include <string.h>

#include "sandbox/egress/link.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/policy/policy.h"
#include "session/stage/approval.h"
#include "session/stage/egress.h"
#include "session/stage/stage.h"

/* Connections that wait for one card. */
struct parked {
	struct parked *next;
	struct stage *stage;
	struct approval *approval;
	json_int_t ids[LIMIT_PARKED];
	size_t n;
	int64_t until_ms;
	bool gone; /* they are no more */
};

bool egress_asks(const struct stage *stage)
{
	return stage->approvals.policy && policy_heeds_hosts(stage->approvals.policy);
}

static void tell(struct stage *stage, json_int_t id, bool allow, bool for_session)
{
	egress_tell(stage, EGRESS_VERDICT, json_pack("{s:I,s:b,s:b}", "id", id, "allow", allow, "session", for_session));
}

/* A person who takes the controls has said yes to nothing that was asked before: what waits then is refused, and the person's own next try goes through. */
static void answer(struct parked *parked)
{
	bool allow = parked->approval->state == APPROVAL_ALLOWED, for_session = strcmp(parked->approval->answer, "session") == 0;

	for (size_t i = 0; i < parked->n; i++)
		tell(parked->stage, parked->ids[i], allow, allow && for_session);
	if (parked->approval->state == APPROVAL_ALLOWED)
		approval_end(parked->approval, APPROVAL_DONE, NULL);
}

static struct parked *find_parked(struct stage *stage, const struct approval *approval)
{
	struct parked *parked = stage->egress.parked;

	while (parked && (parked->approval != approval || parked->gone))
		parked = parked->next;
	return parked;
}

static void wait_for_answer(void *arg)
{
	struct parked *parked = arg, **place = &parked->stage->egress.parked;
	struct approval *approval = parked->approval;
	int rc = 0;

	while (rc == 0 && !parked->gone && approval->state == APPROVAL_WAITING)
		rc = co_wait_event(&parked->stage->approvals.changed, parked->until_ms, NULL) < 0 && util_now_ms() >= parked->until_ms ? -1 : 0;
	if (!parked->gone && approval->state != APPROVAL_WAITING)
		answer(parked);
	while (*place != parked)
		place = &(*place)->next;
	*place = parked->next;
	approval->has_caller = find_parked(parked->stage, approval) != NULL;
	free(parked);
}

static struct parked *park(struct stage *stage, struct approval *approval)
{
	struct parked *parked = util_zalloc(sizeof(*parked));

	*parked = (struct parked){.next = stage->egress.parked, .stage = stage, .approval = approval};
	stage->egress.parked = parked;
	approval->has_caller = true;
	co_start(stage->loop, wait_for_answer, parked);
	return parked;
}

/* A card of this host and port that is not over. */
static struct approval *find_card(const struct stage *stage, const char *rule, const char *key)
{
	for (struct approval *approval = stage->approvals.first; approval; approval = approval->next)
		if (approval->state <= APPROVAL_ALLOWED && form_is(json_object_get(approval->asked, "action"), "connect") && approval->key &&
		    strcmp(approval->key, key) == 0 && strcmp(approval->rule, rule) == 0)
			return approval;
	return NULL;
}

static int make_card(struct stage *stage, const struct policy_answer *judged, const json_t *asked, const char *key, struct approval **out)
{
	json_auto_t *line = json_copy((json_t *)(uintptr_t)asked);
	struct err e;

	json_object_del(line, "id");
	json_object_set_new(line, "verdict", json_string("ask"));
	egress_note(stage, "egress", line);
	if (approval_make_connect(stage, judged, asked, key, out, &e) == 0)
		return 0;
	log_err(LOG_WARN, &e, "a connection that should be asked about");
	return -1;
}

static void ask_person(struct stage *stage, const struct policy_answer *judged, const json_t *asked, const char *key)
{
	struct approval *approval = find_card(stage, policy_rule_name(judged->rule), key);
	json_int_t id = json_integer_value(json_object_get(asked, "id"));
	struct parked *parked;

	if (approval && approval->state == APPROVAL_ALLOWED && !approval->has_caller) {
		approval_end(approval, APPROVAL_DONE, NULL);
		tell(stage, id, true, false);
		return;
	}
	if (!approval && make_card(stage, judged, asked, key, &approval) < 0) {
		tell(stage, id, false, false);
		return;
	}
	parked = find_parked(stage, approval);
	if (!parked)
		parked = park(stage, approval);
	if (parked->n == LIMIT_PARKED) {
		tell(stage, id, false, false);
		return;
	}
	parked->ids[parked->n++] = id;
	parked->until_ms = util_now_ms() + EGRESS_ASK_MS;
}

static bool is_granted(const struct stage *stage, const struct policy_answer *judged, const char *key)
{
	auto_free char *grant = approval_grant(policy_rule_name(judged->rule), key);

	return json_object_get(stage->approvals.grants, grant) != NULL;
}

void egress_ask(struct stage *stage, const json_t *asked)
{
	const char *host = form_string(asked, "host", "");
	const struct policy_subject subject = {.action = "connect", .does = POLICY_REACHES, .host = host,
	                                       .reach = form_string(stage->egress.policy, "mode", "none")};
	struct policy_answer judged = {.verdict = POLICY_ALLOW};
	auto_free char *key = util_printf("%s:%ld", host, form_int(asked, "port", 0));
	json_int_t id = json_integer_value(json_object_get(asked, "id"));

	if (stage->approvals.policy)
		judged = policy_judge(stage->approvals.policy, &subject);
	if (judged.verdict == POLICY_ASK && (stage->lease.holder == LEASE_HUMAN || stage->egress.in_setup))
		tell(stage, id, true, false);
	else if (judged.verdict != POLICY_ASK)
		tell(stage, id, judged.verdict == POLICY_ALLOW, judged.verdict == POLICY_ALLOW);
	else if (is_granted(stage, &judged, key))
		tell(stage, id, true, true);
	else
		ask_person(stage, &judged, asked, key);
}

/* The card stays: a yes to it lets the next one through. */
void egress_left(struct stage *stage, const json_t *said)
{
	json_int_t id = json_integer_value(json_object_get(said, "id"));

	for (struct parked *parked = stage->egress.parked; parked; parked = parked->next) {
		size_t kept = 0;

		if (parked->gone)
			continue;
		for (size_t i = 0; i < parked->n; i++)
			if (parked->ids[i] != id)
				parked->ids[kept++] = parked->ids[i];
		parked->n = kept;
		parked->gone = kept == 0;
	}
	co_signal(&stage->approvals.changed);
}

void egress_forget_asks(struct stage *stage)
{
	for (struct parked *parked = stage->egress.parked; parked; parked = parked->next)
		parked->gone = true;
	co_signal(&stage->approvals.changed);
}
