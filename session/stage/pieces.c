/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Typing from field to field. */
#include "session/stage/pieces.h"

#include <string.h>

#include "session/base/util.h"
#include "session/stage/approvals.h"
#include "session/stage/stage.h"

/* The text up to its next Tabs, and these. */
static size_t piece_len(const char *text)
{
	size_t len = strcspn(text, "\t");

	return len + strspn(text + len, "\t");
}

bool pieces_are_apart(const struct stage *stage, const struct batch_step *step)
{
	const char *text = form_string(step->args, "text", NULL);
	const struct access_focus *focus = &stage->typed.focus;

	return text && step->row->flags & ACTION_TYPES && text[piece_len(text)] && focus->known && focus->has_node && focus->node.editable && !focus->node.multi_line &&
	       approvals_heeds_passwords(stage);
}

static int run_piece(const struct batch_step *step, struct action_run *run, const json_t *whole, const char *text, size_t len, struct err *e)
{
	json_auto_t *args = json_copy((json_t *)(uintptr_t)whole);
	json_int_t before = json_integer_value(json_object_get(run->result, "delivered"));
	int rc;

	json_object_set_new(args, "text", json_stringn(text, len));
	run->args = args;
	rc = step->row->run(run, e);
	run->args = whole;
	json_object_set_new(run->result, "delivered", json_integer(before + json_integer_value(json_object_get(run->result, "delivered"))));
	return rc;
}

int pieces_run(struct stage *stage, const struct batch_step *step, struct action_run *run, struct err *e)
{
	const json_t *whole = run->args;
	const char *text = form_string(whole, "text", "");
	size_t len = piece_len(text);

	for (;;) {
		if (run_piece(step, run, whole, text, len, e) < 0)
			return -1;
		text += len;
		len = piece_len(text);
		if (len == 0)
			return 0;
		typed_note(stage, step);
		typed_look(stage);
		if (approvals_check_writing(stage, step, e) < 0)
			return -1;
	}
}
