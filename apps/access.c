/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage's end of glovebox-access. */
#include "apps/access.h"

#include "apps/state.h"
#include "session/base/util.h"

struct access_question {
	struct access *access;
};

static const char *const NOT_THERE = "this session has no accessibility";

const struct access_focus *access_focus(const struct access *access)
{
	return &access->focus;
}

struct co_event *access_changed(struct access *access)
{
	return &access->changed;
}

int access_focus_now(struct access *access, int64_t deadline_ms, struct access_focus *out, struct err *e)
{
	(void)deadline_ms;
	(void)e;
	*out = access->focus;
	return 0;
}

const char *access_unavailable(const struct access *access)
{
	(void)access;
	return NOT_THERE;
}

struct access_question *access_ask_at(struct access *access, int x, int y, int64_t deadline_ms)
{
	struct access_question *question = util_zalloc(sizeof(*question));

	(void)x;
	(void)y;
	(void)deadline_ms;
	question->access = access;
	return question;
}

int access_wait_at(struct access_question *question, int64_t until_ms, struct access_node *out, struct err *e)
{
	(void)until_ms;
	(void)out;
	return err_set(e, ERR_UNSUPPORTED, NULL, "%s", access_unavailable(question->access));
}

void access_drop(struct access_question *question)
{
	free(question);
}

int access_at(struct access *access, int x, int y, int64_t deadline_ms, struct access_node *out, struct err *e)
{
	struct access_question *question = access_ask_at(access, x, y, deadline_ms);
	int rc = access_wait_at(question, deadline_ms, out, e);

	access_drop(question);
	return rc;
}
