/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to glovebox-access, each waited for in a coroutine; access.c has the link that carries them. */
#include <string.h>
#include <sys/param.h>

#include "apps/state.h"
#include "session/base/util.h"

static void unlink_question(struct access_question *question)
{
	struct access_question **place = &question->access->questions;

	while (*place && *place != question)
		place = &(*place)->next;
	if (*place) {
		*place = question->next;
		question->access->n_questions--;
	}
}

void access_end(struct access_question *question)
{
	question->answered = true;
	co_signal(&question->changed);
}

void access_fail(struct access_question *question, enum err_code code, const char *why)
{
	(void)err_set(&question->failed, code, NULL, "%s", why);
	access_end(question);
}

struct access_question *access_question(struct access *access, size_t max_items, int64_t deadline_ms)
{
	struct access_question *question = util_zalloc(sizeof(*question));

	*question = (struct access_question){.next = access->questions, .access = access, .max_items = max_items, .deadline_ms = deadline_ms};
	access->questions = question;
	if (++access->n_questions > LIMIT_ACCESS_ASKS)
		access_fail(question, ERR_BUSY, "too many questions about nodes at once");
	else if (!access->apps)
		access_fail(question, ERR_UNSUPPORTED, access_unavailable(access));
	return question;
}

void access_send(struct access_question *question, const struct access_record *record)
{
	struct access *access = question->access;
	struct access_record numbered = *record;

	if (question->answered)
		return;
	if (++access->last_question == 0)
		access->last_question = 1;
	question->number = numbered.question = access->last_question;
	if (access->reason[0] && record->op != ACCESS_FOCUS)
		access_fail(question, ERR_UNSUPPORTED, access->reason);
	else if (!access_send_record(access, &numbered))
		access_fail(question, ERR_TIMEOUT, "the accessibility helper does not take questions now");
}

int access_wait(struct access_question *question, int64_t until_ms, struct err *e)
{
	while (!question->answered)
		if (co_wait_event(&question->changed, until_ms, e) < 0)
			return -1;
	if (question->failed.code == ERR_NONE)
		return 0;
	if (e)
		*e = question->failed;
	return -1;
}

void access_drop(struct access_question *question)
{
	if (!question)
		return;
	if (question->aim) {
		question->dropped = true;
		co_cancel(question->aim);
		return;
	}
	unlink_question(question);
	free(question->items);
	free(question);
}

int access_focus_now(struct access *access, int64_t deadline_ms, struct access_focus *out, struct err *e)
{
	struct access_question *question = access_question(access, 0, deadline_ms);
	struct access_record record = {.op = ACCESS_FOCUS};
	struct err why = {.code = ERR_NONE};
	int rc = 0;

	access->moved = false;
	if (!question->answered)
		rc = access_aim(access->apps, XCB_NONE, &record.target, &why);
	if (rc == 0) {
		access->aimed_window = record.target.window;
		access->aimed_pid = record.target.pid;
		access_send(question, &record);
		rc = access_wait(question, deadline_ms, &why);
	}
	access_drop(question);
	if (rc < 0)
		access_forget_focus(access);
	*out = access->focus;
	if (!out->known && access->worked)
		out->late |= rc == 0 ? access->moved || access->parted : why.code == ERR_TIMEOUT || why.code == ERR_UNSUPPORTED || why.code == ERR_BUSY;
	if (rc < 0 && why.code == ERR_CANCELLED) {
		if (e)
			*e = why;
		return -1;
	}
	return 0;
}

static void aim(void *arg)
{
	struct access_question *question = arg;
	struct access *access = question->access;
	struct access_record record = {.op = ACCESS_AT, .x = question->x, .y = question->y};
	struct err e;
	int rc = access_aim_at(access->apps, question->x, question->y, &record.target, &e);

	question->aim = NULL;
	access->n_aims--;
	if (question->dropped) {
		access_drop(question);
	} else if (rc < 0) {
		access_fail(question, e.code, e.msg);
	} else if (record.target.pid == 0) {
		access_fail(question, ERR_NOT_FOUND, "there is no window of an app at this point");
	} else {
		question->target = record.target;
		access_send(question, &record);
	}
	apps_rest(access->apps);
}

struct access_question *access_ask_at(struct access *access, int x, int y, int64_t deadline_ms)
{
	struct access_question *question = access_question(access, 1, deadline_ms);

	question->x = x;
	question->y = y;
	if (question->answered)
		return question;
	access->n_aims++;
	question->aim = co_start(access->apps->x->loop, aim, question);
	return question;
}

int access_wait_at(struct access_question *question, int64_t until_ms, struct access_node *out, struct err *e)
{
	if (access_wait(question, MIN(until_ms, question->deadline_ms), e) < 0)
		return -1;
	if (question->n_items == 0)
		return err_set(e, ERR_NOT_FOUND, NULL, "there is no accessible node at this point");
	access_fill_node(out, &question->items[0], question->target.window);
	return 0;
}

int access_pid_at(const struct access_question *question)
{
	return question->target.pid;
}

int access_at(struct access *access, int x, int y, int64_t deadline_ms, struct access_node *out, struct err *e)
{
	struct access_question *question = access_ask_at(access, x, y, deadline_ms);
	int rc = access_wait_at(question, deadline_ms, out, e);

	access_drop(question);
	return rc;
}

int access_place(struct access *access, uint32_t id, int64_t deadline_ms, struct access_node *out, bool *shows, struct err *e)
{
	const struct access_record record = {.op = ACCESS_PLACE, .id = id};
	struct access_question *question;
	int rc;

	/* One that was started again does not know whether it is gone. */
	if (id < access->first_id)
		return err_set(e, ERR_UNSUPPORTED, NULL, "accessibility was started again since");
	question = access_question(access, 1, deadline_ms);
	access_send(question, &record);
	rc = access_wait(question, deadline_ms, e);
	if (rc == 0 && question->n_items == 0)
		rc = err_set(e, ERR_UNSUPPORTED, NULL, "nothing was told of the node");
	if (rc == 0) {
		access_fill_node(out, &question->items[0], 0);
		*shows = question->items[0].states >> STATE_SHOWING & 1;
	}
	access_drop(question);
	return rc;
}

/* Where accessibility never came up nothing is on its bus. */
int access_clients(struct access *access, int64_t deadline_ms, int pids[LIMIT_ACCESS_CLIENTS], size_t *n, struct err *e)
{
	const struct access_record record = {.op = ACCESS_CLIENTS};
	struct access_question *question;
	int rc;

	*n = 0;
	if (!access->worked)
		return 0;
	question = access_question(access, LIMIT_ACCESS_CLIENTS, deadline_ms);
	access_send(question, &record);
	rc = access_wait(question, deadline_ms, e);
	if (rc == 0 && question->done.truncated)
		rc = err_set(e, ERR_LIMIT, NULL, "there are more than %d names on the accessibility bus", LIMIT_ACCESS_CLIENTS);
	for (size_t i = 0; rc == 0 && i < question->n_items; i++)
		pids[(*n)++] = question->items[i].pid;
	access_drop(question);
	return rc;
}
