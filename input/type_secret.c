/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Typing what the caller never sees. */
#include <string.h>

#include "input/inner.h"
#include "input/typing.h"
#include "session/base/util.h"

#define LONG_MS 10000 /* one that takes longer than LIMIT_SECRET_TYPED_MS takes a whole number of these */

int type_secret_check(void *home, const json_t *args, struct err *e)
{
	const struct input *input = home;
	const char *name = form_string(args, "name", "");
	char shown[64];

	if (input->ops.has_secret && input->ops.has_secret(input->ops.arg, name))
		return 0;
	return err_set(e, ERR_BAD_FIELD, "/name", "this session has no secret %s: its spec names those that it may type",
	               err_quote(shown, sizeof(shown), name, strlen(name)));
}

static int type_lent(struct input *input, const struct action_run *run, struct err *e)
{
	struct typing typing = {.is_secret = true, .deadline_ms = run->deadline_ms};
	int rc;

	if (input->ops.secret_begin(input->ops.arg, form_string(run->args, "name", ""), &typing.text, &typing.len, e) < 0)
		return -1;
	rc = typing_run(&input->keyboard, &typing, e);
	if (!input->ops.secret_end(input->ops.arg))
		json_object_set_new(run->result, "note", json_string("the focus has moved meanwhile: look whether the form has gone on by itself"));
	return rc;
}

/* How long it took would say how much was typed. */
int type_secret_run(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	int64_t since_ms, took_ms;
	int rc;

	if (focus_settle(&input->focus, e) < 0)
		return -1;
	since_ms = util_now_ms();
	rc = type_lent(input, run, e);
	took_ms = util_now_ms() - since_ms;
	co_shield();
	(void)co_wait_until(since_ms + (took_ms <= LIMIT_SECRET_TYPED_MS ? LIMIT_SECRET_TYPED_MS : (took_ms + LONG_MS - 1) / LONG_MS * LONG_MS), NULL);
	co_unshield();
	return rc;
}
