/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls whose answer is taken as a value. */
#include "session/front/stage.h"

#include "session/base/json.h"
#include "session/base/util.h"

/* A refusal of the stage as an error of ours. */
static int take_problem(const json_t *problem, struct err *e)
{
	enum err_code code = err_from_wire(form_string(problem, "code", ""));

	return err_set(e, code == ERR_NONE ? ERR_SESSION_FAILED : code, form_string(problem, "pointer", NULL), "%s",
	               form_string(problem, "detail", "the session refused without a reason"));
}

int stage_ask(struct stage *stage, const struct stage_call *call, int64_t deadline_ms, json_t **answer, struct err *e)
{
	struct stage_reply *reply;
	auto_free char *body = NULL;
	json_t *value = NULL;
	struct err ignored;
	int64_t left;
	int rc = 0;

	if (stage_call(stage, call, deadline_ms, &reply, e) < 0)
		return -1;
	left = stage_reply_left(reply);
	body = left >= 0 ? stage_reply_take(reply) : NULL;
	if (left < 0)
		rc = err_set(e, ERR_SESSION_FAILED, NULL, "the session answered with too much");
	else if (json_parse(body ? body : "", (size_t)left, &value, &ignored) < 0 || !json_is_object(value))
		rc = err_set(e, ERR_SESSION_FAILED, NULL, "the session's answer is not understood");
	if (rc == 0 && stage_reply_status(reply) >= 400)
		rc = take_problem(value, e);
	stage_reply_finish(reply);
	if (rc == 0 && answer)
		*answer = json_incref(value);
	json_decref(value);
	return rc;
}
