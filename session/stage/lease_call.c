/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call `lease`: with a body something that is to happen, without one how it stands, at once or when that changes. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"
#include "session/stage/forms.h"
#include "session/stage/lease.h"
#include "session/stage/stage.h"
#include "session/stage/viewers.h"

#define PERSON (ROLE_CONTROLLER | ROLE_OPERATOR | ROLE_OWNER)

/* What can be asked for, and by whom. */
static const struct {
	const char *name;
	enum lease_event event;
	unsigned int roles;
} rows[] = {
	{"take", LEASE_TAKE, PERSON},
	{"give", LEASE_GIVE, PERSON},
	{"extend", LEASE_EXTEND, PERSON},
	{"clear", LEASE_CLEAR, ROLE_OPERATOR | ROLE_OWNER},
	{"withdraw", LEASE_WITHDRAW, ROLE_AGENT},
};

enum lease_kind lease_kind_of(const char *name)
{
	static const char *const names[LEASE_N_KINDS] = {"login", "approve", "captcha", "other"};
	unsigned int kind = 0;

	while (kind < LEASE_OTHER && strcmp(names[kind], name) != 0)
		kind++;
	return (enum lease_kind)kind;
}

/* "v3" */
static int read_viewer(const json_t *body, uint32_t *out, struct err *e)
{
	const char *text = form_string(body, "viewer", NULL);
	size_t digits = text ? strspn(text + 1, "0123456789") : 0;
	char shown[40];

	*out = 0;
	if (!text)
		return 0;
	if (text[0] != 'v' || digits == 0 || digits > 9 || text[1 + digits] != '\0' || text[1] == '0')
		return err_set(e, ERR_BAD_FIELD, "/viewer", "%s is the name of no viewer: it is v and a number", err_quote(shown, sizeof(shown), text, strlen(text)));
	*out = (uint32_t)strtoul(text + 1, NULL, 10);
	return 0;
}

/* Row of the action in the body, which may do it by its role. */
static int find(const struct call *call, const json_t *body, size_t *row, struct err *e)
{
	const char *name = form_string(body, "action", "");

	for (*row = 0; strcmp(rows[*row].name, name) != 0; ++*row)
		continue;
	if (rows[*row].roles & call->role)
		return 0;
	return err_set(e, ERR_FORBIDDEN, NULL, "a token of the role %s may not %s the controls", call->role_name, name);
}

/* A member that says something of another action is refused: it would do nothing. */
static int check_members(const json_t *body, enum lease_event event, struct err *e)
{
	static const struct {
		const char *pointer, *action;
		enum lease_event event;
	} of[] = {{"/viewer", "take", LEASE_TAKE}, {"/kind", "take", LEASE_TAKE}, {"/keep_running", "take", LEASE_TAKE}, {"/share", "take", LEASE_TAKE},
	          {"/note", "give", LEASE_GIVE}};

	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (event != of[i].event && json_object_get(body, of[i].pointer + 1))
			return err_set(e, ERR_BAD_FIELD, of[i].pointer, "it goes with %s alone", of[i].action);
	return 0;
}

/* The one that was named must be the caller's; else one that is there. */
static int find_viewer(const struct stage *stage, const struct call *call, uint32_t *viewer, struct err *e)
{
	uint32_t named = *viewer;

	*viewer = viewers_of(stage, call->token, named);
	if (*viewer > 0 || named == 0)
		return 0;
	return err_set(e, ERR_BAD_FIELD, "/viewer", "v%u is no viewer of this token that has controls", named);
}

static int change(struct stage *stage, struct call *call, struct err *e)
{
	const struct lease *lease = &stage->lease;
	bool holds = lease->holder == LEASE_HUMAN;
	json_auto_t *body = NULL;
	struct lease_by by = {.call = call};
	size_t row;

	if (json_parse(call->body, call->body_len, &body, e) < 0 || form_check(&forms_lease, body, "", NULL, e) < 0 ||
	    read_viewer(body, &by.viewer, e) < 0 || find(call, body, &row, e) < 0 || check_members(body, rows[row].event, e) < 0)
		return -1;
	by.has_kind = json_object_get(body, "kind");
	by.kind = lease_kind_of(form_string(body, "kind", "other"));
	/* Who takes them from the agent without a word has no kind of an earlier hold. */
	if (rows[row].event == LEASE_TAKE && stage->lease.holder == LEASE_AGENT)
		by.has_kind = true;
	if (rows[row].event == LEASE_TAKE && find_viewer(stage, call, &by.viewer, e) < 0)
		return -1;
	by.note = form_string(body, "note", NULL);
	/* Who has them already and takes them by another window has not changed his mind. */
	by.keeps = form_bool(body, "keep_running", holds && lease->keeps);
	by.shares = form_bool(body, "share", holds && lease->shares);
	if (lease_move(stage, rows[row].event, &by, e) < 0)
		return -1;
	if (rows[row].event == LEASE_TAKE)
		lease_wait_hands(stage);
	lease_wait_cleared(stage);
	return 0;
}

static int read_number(const json_t *query, const char *name, long most, long *out, struct err *e)
{
	const char *text = form_string(query, name, NULL);
	size_t digits = text ? strspn(text, "0123456789") : 0;
	char path[32], shown[40];

	*out = 0;
	if (!text)
		return 0;
	*out = digits > 0 && digits <= 16 && text[digits] == '\0' ? strtol(text, NULL, 10) : -1;
	if (*out >= 0 && *out <= most)
		return 0;
	(void)snprintf(path, sizeof(path), "/%s", name);
	return err_set(e, ERR_BAD_FIELD, path, "%s is not allowed here: it must be a whole number from 0 to %ld",
	               err_quote(shown, sizeof(shown), text, strlen(text)), most);
}

static bool is_over(const struct stage *stage)
{
	return stage->state == STAGE_IS_ENDED || stage->state == STAGE_IS_FAILED;
}

/* Until the epoch is past the one that the caller knows. That nothing happened is an answer as well. */
static int wait_change(struct stage *stage, const struct call *call, struct err *e)
{
	struct lease *lease = &stage->lease;
	long epoch, timeout_ms;
	int rc = 0;

	if (read_number(call->query, "wait_epoch", LIMIT_FRAME, &epoch, e) < 0 ||
	    read_number(call->query, "timeout_ms", LIMIT_CALL_MS, &timeout_ms, e) < 0)
		return -1;
	lease_wait_cleared(stage);
	if (!json_object_get(call->query, "wait_epoch") || stage->epoch > epoch)
		return 0;
	if (!json_object_get(call->query, "timeout_ms"))
		timeout_ms = LIMIT_CALL_DEFAULT_MS;
	if (lease->n_waiting >= LIMIT_LEASE_WAITS)
		return err_set(e, ERR_LIMIT, NULL, "%d callers wait for the lease of this session already", LIMIT_LEASE_WAITS);
	lease->n_waiting++;
	for (int64_t deadline_ms = util_now_ms() + timeout_ms; rc == 0 && (stage->epoch <= epoch || lease->clearing) && !is_over(stage);)
		rc = co_wait_event(&lease->changed, deadline_ms, e);
	lease->n_waiting--;
	return rc < 0 && e->code != ERR_TIMEOUT ? -1 : 0;
}

void lease_call(struct stage *stage, struct call *call)
{
	json_auto_t *told = NULL;
	struct err e;
	int rc = call->body_len > 0 ? change(stage, call, &e) : wait_change(stage, call, &e);

	if (rc < 0) {
		call_refuse(call, &e);
		return;
	}
	told = lease_json(stage, call);
	call_reply_json(call, 200, NULL, told);
}

static const struct field warn_fields[] = {
	{"ends_in_s", FIELD_INT, true, 0, LIMIT_TTL_S, NULL, NULL, "s", NULL, "until the session ends"},
};
static const struct form warn_form = {warn_fields, ARRAY_LEN(warn_fields), NULL};

void lease_warn(struct stage *stage, struct call *call)
{
	json_auto_t *body = NULL, *empty = json_object();
	struct err e;

	if (json_parse(call->body ? call->body : "", call->body_len, &body, &e) < 0 || form_check(&warn_form, body, "", NULL, &e) < 0) {
		call_refuse(call, &e);
		return;
	}
	lease_warn_end(stage, form_int(body, "ends_in_s", 0) * INT64_C(1000));
	call_reply_json(call, 200, NULL, empty);
}
