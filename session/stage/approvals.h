/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to a person: an action that a rule asks about waits for a yes (session/policy).
 *
 * A question is a card. It fixes the action as it will be sent, where it goes, and the frame, epoch and episode in which it was asked. The call that asked is
 * parked: it gives its turn up, and meanwhile other acts are refused but those that only look. Upon a yes everything is judged again, and
 * where it is not what it was, a new card is made and nothing is sent. A call that reaches its time limit ends; its card lives on until it is answered or its
 * own time is over, and whoever sends the same action with the same token joins it. Owner: the stage. One thread; what waits runs in coroutines.
 */
#ifndef STAGE_APPROVALS_H
#define STAGE_APPROVALS_H

#include <jansson.h>

#include "session/base/co.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/journal/journal.h"
#include "session/stage/batch.h"
#include "session/stage/connection.h"

struct approval;
struct judged;
struct policy;
struct stage;

enum approval_state {
	APPROVAL_WAITING,
	APPROVAL_ALLOWED,   /* and not acted on yet */
	APPROVAL_DONE,      /* it was */
	APPROVAL_DENIED,
	APPROVAL_EXPIRED,   /* nobody answered in time, which is a no */
	APPROVAL_WITHDRAWN, /* nobody needs an answer any more */
};

#define APPROVALS_TIMES 256 /* answers whose times are kept for the median */

struct approvals {
	struct policy *policy;
	struct approval *first;  /* oldest first; at most LIMIT_APPROVALS */
	unsigned int n_made;
	int64_t timeout_ms;      /* of a card */
	const struct call *parked; /* the call that waits for an answer, or NULL */
	struct co_event changed; /* a card was made, answered or withdrawn */
	json_t *grants;          /* answers "for this session", at most LIMIT_GRANTS: names of rule and key with a newline between them */
	struct approvals_counts {
		unsigned int asked, once, session, denied, expired, withdrawn;
		int64_t times_ms[APPROVALS_TIMES]; /* from a question to its answer, the latest at n_times % APPROVALS_TIMES */
		unsigned int n_times;
	} counts;
	json_t *untold;          /* what was counted since the front was last told, by name */
};

/* `spec` is the session's "approval", `operators` the configuration's. Errors of policy_create, with paths in the spec. */
int approvals_begin(struct stage *stage, const json_t *spec, const json_t *operators, struct err *e);
void approvals_finish(struct stage *stage);

/* Who asks. */
struct approvals_ask {
	const struct call *call;
	const struct batch *batch;
	size_t index; /* of the action in it */
	int64_t deadline_ms;
};

/* How an action got through, for its intent. */
struct approvals_verdict {
	char rule[LIMIT_RULE_NAME_BYTES + 1]; /* "": no rule asks */
	char approval[LIMIT_APPROVAL_ID_BYTES + 1]; /* "": nobody was asked */
	bool for_session; /* an earlier answer holds for it */
};

/*
 * Before an action: judges it and waits for an answer, if there must be one. Runs in the turn of the call, and returns with it; when it fails after it has waited
 * *has_turn is false. What it asks of the apps (nodes.h, typed.h) is as of its return; *text is what the journal may keep. Errors: ERR_DENIED, ERR_SENSITIVE,
 * ERR_APPROVAL_PENDING, ERR_BUSY when too many questions are open, ERR_CANCELLED (also when it was withdrawn), those of stage_check_ready and xconn_reply.
 */
int approvals_gate(struct stage *stage, const struct approvals_ask *ask, bool *has_turn, enum journal_text *text, struct approvals_verdict *verdict,
                   struct err *e);

/* Does it ask a person about anything, and so about what a model's own safety system warns of as well? */
bool approvals_asks(const struct stage *stage);

/* Has any rule a word for password fields? */
bool approvals_heeds_passwords(const struct stage *stage);

/* In the middle of an action that writes, of the focus that typed_look has found: ERR_SENSITIVE or ERR_DENIED when a rule refuses to write there. */
int approvals_check_writing(struct stage *stage, const struct batch_step *step, struct err *e);

/* May an act begin while another call is parked? One that only looks may (`batch` NULL: none may). ERR_WAITING. */
int approvals_check_begin(const struct stage *stage, const struct call *call, const struct batch *batch, struct err *e);

/* What the rules say of each action as things are now: a list of {"verdict","rule","why"}; the caller's reference. */
json_t *approvals_preview(struct stage *stage, const struct batch *batch);

/* No answer is needed any more: all open questions end, and their calls. */
void approvals_withdraw(struct stage *stage, const char *why);

/* [{"id","state"}…] of all cards that are kept; the caller's reference. */
json_t *approvals_brief(const struct stage *stage);

/* What was counted since the last time, {"asked":N,…}, or NULL; the caller's reference. For the front's metrics. */
json_t *approvals_take_counts(struct stage *stage);

/* approvals_calls.c: the calls of the link. */
void approvals_list_call(struct stage *stage, struct call *call);   /* query: wait */
void approvals_show_call(struct stage *stage, struct call *call);   /* query: id */
void approvals_answer_call(struct stage *stage, struct call *call); /* query: id; body: {"answer","reason"} */
void approvals_crop_call(struct stage *stage, struct call *call);   /* query: id */

#endif
