/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tools do: by the calls, the checks of rights and the sessions that the routes of the API have. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/audit.h"
#include "session/front/calls.h"
#include "session/front/describe.h"
#include "session/front/mcp.h"
#include "session/front/mcp_files.h"
#include "session/front/metrics.h"
#include "session/front/quota.h"
#include "session/front/routes.h"
#include "session/mcp/envelope.h"
#include "session/mcp/forms.h"
#include "session/mcp/result.h"

#define SHOWN_MAX 80

/* --- results --- */

static char *answer(const struct mcp_run *run, json_t *result, size_t *len)
{
	json_auto_t *members = mcp_result_members(&run->call), *whole = NULL;

	(void)json_object_update(members, result);
	json_decref(result);
	whole = envelope_result(run->call.id, json_incref(members));
	return json_text(whole, len);
}

/* What the front refuses is counted as a refused request is; what a stage refuses it counts itself. */
static char *refuse_all(struct mcp_run *run, const struct faults *faults, size_t *len)
{
	run->refused = faults->list[0].code;
	if (run->refused != ERR_CANCELLED)
		metrics_refused(run->mcp->front->metrics, run->refused);
	return answer(run, result_of_faults(faults), len);
}

static char *refuse(struct mcp_run *run, const struct err *e, size_t *len)
{
	struct err one = *e;
	const struct faults faults = {.list = &one, .max = 1, .n = 1};

	return refuse_all(run, &faults, len);
}

/* --- which session --- */

/* The session's id that a call names, or that of its token. */
static int read_session_id(const struct mcp_run *run, const char **id, struct err *e)
{
	const json_t *named = json_object_get(run->arguments, "session_id");

	*id = json_string_value(named);
	if (named && !json_is_null(named) && (!*id || strlen(*id) != json_string_length(named)))
		return err_set(e, ERR_BAD_FIELD, "/session_id", "session_id must be a string");
	if (!*id && *run->who.session)
		*id = run->who.session;
	if (!*id)
		return err_set(e, ERR_MISSING_FIELD, "/session_id", "session_id is required: this token is not of one session; session_list names them, session_create makes one");
	return 0;
}

/* Sets what the run is about. */
static int find_session(struct mcp_run *run, struct err *e)
{
	const struct front *front = run->mcp->front;
	const char *id;
	char shown[SHOWN_MAX];
	struct session *found;

	if (read_session_id(run, &id, e) < 0 || routes_permit(routes_row(run->tool->method, run->tool->path), &run->who, id, e) < 0)
		return -1;
	found = sessions_find(&front->sessions, id);
	if (!found || !session_is_shown_to(found, &run->who))
		return err_set(e, ERR_NOT_FOUND, "/session_id", "there is no session %s", err_quote(shown, sizeof(shown), id, strlen(id)));
	run->about = session_ref(found);
	return 0;
}

/* --- tools that the stage answers --- */

static int call_stage(struct mcp_run *run, struct stage_reply **reply, struct err *e)
{
	json_auto_t *query = json_pack("{s:s}", "dialect", "mcp");
	struct stage_call call = {.name = "computer", .role = role_name(run->who.role), .token = run->who.name, .request_id = run->request_id,
	                          .query = query, .is_whole = run->is_whole, .body = run->body, .body_len = run->body_len, .arg = run};

	if (run->body_len > LIMIT_BODY_BYTES)
		return err_set(e, ERR_TOO_LARGE, NULL, "the arguments have more than the %d bytes that are allowed", LIMIT_BODY_BYTES);
	if (run->call.progress_token)
		call.progress = mcp_run_step;
	return calls_ask_stage(run->about, &call, true, CALLS_ACT_MS, reply, e);
}

/* The stage's text within our envelope; what it refuses is told to the model. */
static char *wrap_reply(struct mcp_run *run, struct stage_reply *reply, size_t *len)
{
	int64_t left = stage_reply_left(reply);
	auto_free char *text = left > 0 ? stage_reply_take(reply) : NULL;
	json_auto_t *members = mcp_result_members(&run->call), *problem = NULL;
	char *out = NULL;
	struct err e;

	if (text && stage_reply_status(reply) == 200)
		out = envelope_splice(run->call.id, members, text, (size_t)left, len);
	if (out)
		return out;
	if (text && json_parse(text, (size_t)left, &problem, &e) == 0 && json_is_object(problem))
		return answer(run, result_of_problem(problem), len);
	(void)err_set(&e, ERR_SESSION_FAILED, NULL, "the session's answer is not understood");
	return refuse(run, &e, len);
}

/* NULL: it went out by itself. */
static char *pass_on(struct mcp_run *run, struct stage_reply *reply, size_t *len)
{
	if (stage_reply_left(reply) >= 0 || stage_reply_status(reply) != 200 || run->is_whole)
		return wrap_reply(run, reply, len);
	mcp_run_relay(run, reply);
	return NULL;
}

/* A call that was answered with an address comes back. False when it is to look now, in place of what it asked for. */
static bool come_back(struct mcp_run *run, char **text, size_t *len)
{
	enum mcp_handover_end end = mcp_handover_resume(run, text, len);

	if (end == MCP_HANDOVER_ANSWERED)
		return true;
	if (end == MCP_HANDOVER_DECLINED) {
		*text = answer(run, result_of_failure("declined: no person will come, and the controls are yours again; look before you act"), len);
		return true;
	}
	free(run->body);
	run->body = util_strdup("{\"name\":\"computer\",\"arguments\":{}}");
	run->body_len = strlen(run->body);
	return false;
}

static char *ask_stage(struct mcp_run *run, size_t *len)
{
	struct stage_reply *reply;
	char *text = NULL;
	struct err e;

	if (find_session(run, &e) < 0)
		return refuse(run, &e, len);
	if (run->handover.state && come_back(run, &text, len))
		return text;
	if (call_stage(run, &reply, &e) < 0)
		return refuse(run, &e, len);
	metrics_of_stage(run->mcp->front->metrics, stage_reply_counts(reply));
	run->refused = err_from_wire(form_string(stage_reply_counts(reply), "refused", ""));
	if (mcp_handover_wanted(run, stage_reply_counts(reply)))
		text = mcp_handover_ask(run, len);
	if (!text)
		text = pass_on(run, reply, len);
	stage_reply_finish(reply);
	return text;
}

/* --- tools that are calls for files --- */

static int check_arguments(const struct mcp_run *run, struct faults *faults)
{
	json_auto_t *arguments = run->arguments ? json_copy((json_t *)(uintptr_t)run->arguments) : json_object();

	if (run->tool->flags & TOOL_SESSION)
		(void)json_object_del(arguments, "session_id");
	return form_check_all(run->tool->input, arguments, "", NULL, faults);
}

static char *ask_files(struct mcp_run *run, size_t *len)
{
	struct err list[LIMIT_FAULTS];
	struct faults faults = {.list = list, .max = LIMIT_FAULTS};
	struct stage_reply *reply;
	json_t *result = NULL;
	char *text;

	if (find_session(run, &list[0]) < 0)
		return refuse(run, &list[0], len);
	if (check_arguments(run, &faults) < 0)
		return refuse_all(run, &faults, len);
	if (mcp_files_ask(run, &reply, &list[0]) < 0)
		return refuse(run, &list[0], len);
	metrics_of_stage(run->mcp->front->metrics, stage_reply_counts(reply));
	run->refused = err_from_wire(form_string(stage_reply_counts(reply), "refused", ""));
	if (stage_reply_status(reply) == 200)
		result = mcp_files_answer(run, reply);
	text = result ? answer(run, result, len) : wrap_reply(run, reply, len);
	stage_reply_finish(reply);
	return text;
}

/* --- tools of sessions --- */

/* A session as a model sees it: no token, no address. */
static json_t *show(const struct session *session, const json_t *state)
{
	static const char *const members[] = {"state", "image", "display", "space", "apps", "at", "held", "focus", "lease", "labels", "created_at", "expires_at",
	                                      "reason", "ended_at"};
	json_auto_t *all = describe_session(session, state);
	json_t *out = json_pack("{s:s}", "session_id", session->id);

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_get(all, members[i]))
			(void)json_object_set(out, members[i], json_object_get(all, members[i]));
	return out;
}

static int run_list(struct mcp_run *run, json_t **out, struct faults *faults)
{
	bool ended = form_bool(run->arguments, "ended", false);
	json_t *list = json_array();

	(void)faults;
	for (const struct session *session = run->mcp->front->sessions.first; session; session = session->next)
		if (session_is_shown_to(session, &run->who) && (ended || session->ended_ms == 0))
			(void)json_array_append_new(list, show(session, NULL));
	*out = json_pack("{s:o}", "sessions", list);
	return 0;
}

static int run_get(struct mcp_run *run, json_t **out, struct faults *faults)
{
	struct err *e = faults_next(faults);
	json_auto_t *state = NULL;

	if (find_session(run, e) < 0 || calls_ask_state(&run->who, run->request_id, run->about, &state, e) < 0)
		return -1;
	*out = show(run->about, state);
	return 0;
}

static int run_end(struct mcp_run *run, json_t **out, struct faults *faults)
{
	struct err *e = faults_next(faults);

	if (find_session(run, e) < 0 || calls_check_end(&run->who, run->request_id, run->about, e) < 0)
		return -1;
	session_end(run->about, "deleted");
	if (session_wait_end(run->about, util_now_ms() + LIMIT_START_MS, e) < 0)
		return -1;
	*out = json_pack("{s:s,s:s}", "session_id", run->about->id, "state", session_state_name(run->about->state));
	return 0;
}

static int create(struct mcp_run *run, json_t **out, struct faults *faults)
{
	struct front *front = run->mcp->front;
	json_auto_t *none = json_object(), *spec = NULL;

	if (quota_complete_spec(&front->config, run->who.owner, run->arguments ? run->arguments : none, &spec, faults) < 0 ||
	    birth_create_all(front, spec, run->who.owner, run->request_id, 1, &run->born, faults_next(faults)) < 0)
		return -1;
	run->about = session_ref(run->born.session);
	*out = show(run->about, run->born.state);
	return 0;
}

static int run_create(struct mcp_run *run, json_t **out, struct faults *faults)
{
	if (create(run, out, faults) == 0)
		return 0;
	audit_refusal(run->mcp->front->audit, &run->who, run->request_id, &faults->list[0]);
	return -1;
}

static const struct {
	const char *tool;
	int (*run)(struct mcp_run *run, json_t **out, struct faults *faults); /* at least one fault on failure */
} rows[] = {
	{"session_create", run_create},
	{"session_list", run_list},
	{"session_get", run_get},
	{"session_end", run_end},
};

static char *run_here(struct mcp_run *run, size_t *len)
{
	struct err list[LIMIT_FAULTS];
	struct faults faults = {.list = list, .max = LIMIT_FAULTS};
	json_t *out = NULL;
	int rc = -1;

	if (!run->tool->input || check_arguments(run, &faults) == 0) {
		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			if (strcmp(rows[i].tool, run->tool->name) == 0)
				rc = rows[i].run(run, &out, &faults);
	}
	if (rc < 0 && faults.n == 0)
		DIE("the tool %s has nothing that runs it", run->tool->name);
	return rc < 0 ? refuse_all(run, &faults, len) : answer(run, result_of(out), len);
}

/* The line of the request says /mcp alone. Readings of the front's own come as often as those of the API, which are not told either. */
static void write_line(const struct mcp_run *run)
{
	unsigned int flags = run->tool->flags & (TOOL_READS | TOOL_STAGE | TOOL_FILES);
	const struct log_field fields[] = {
		{.name = "request", .text = run->request_id},
		{.name = "tool", .text = run->tool->name},
		{.name = "ms", .number = util_now_ms() - run->started_ms},
		{.name = "role", .text = role_name(run->who.role)},
		{.name = "token", .text = run->who.name},
		{.name = "session", .text = run->about ? run->about->id : ""},
		{.name = "code", .text = run->refused == ERR_NONE ? "" : err_info(run->refused)->wire},
	};

	log_event(flags == TOOL_READS && run->refused == ERR_NONE ? LOG_DEBUG : LOG_INFO, "called", fields, ARRAY_LEN(fields));
}

char *mcp_tool_run(struct mcp_run *run, size_t *len)
{
	char *text;

	if (run->tool->flags & TOOL_STAGE)
		text = ask_stage(run, len);
	else if (run->tool->flags & TOOL_FILES)
		text = ask_files(run, len);
	else
		text = run_here(run, len);
	write_line(run);
	return text;
}
