/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model's turn as one act. */
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/util.h"
#include "session/dialects/anthropic.h"

/* The envelope is the harness's: the pointer shows where it is to be mended. */
static int check_block(enum anthropic_form form, const struct anthropic_call *call, struct err *e)
{
	const json_t *id = json_object_get(call->block, "id");
	char path[48] = "/id";

	if (form == ANTHROPIC_INPUT)
		return 0;
	if (form != ANTHROPIC_BLOCK)
		(void)snprintf(path, sizeof(path), "%s/%zu/id", form == ANTHROPIC_MESSAGE ? "/content" : "", call->index);
	if (!id)
		return err_set(e, ERR_MISSING_FIELD, path, "a tool_use block has an id, which its result names");
	if (json_string_length(id) == 0)
		return err_set(e, ERR_BAD_FIELD, path, "the id of a tool_use block must be a string that is not empty");
	return 0;
}

static int check_turn(const struct anthropic_tool *tool, const struct anthropic_turn *turn, struct err *e)
{
	if (turn->form == ANTHROPIC_NO_FORM)
		return err_set(e, ERR_BAD_FIELD, NULL, "this is none of: a tool_use block, a list of content blocks, a message with \"content\"%s",
		               tool->is_toolset ? "" : ", an input with \"action\"");
	if (turn->n == 0)
		return err_set(e, ERR_BAD_FIELD, turn->form == ANTHROPIC_MESSAGE ? "/content" : NULL, "no call of the computer is in it");
	for (size_t i = 0; i < turn->n; i++)
		if (check_block(turn->form, &turn->calls[i], e) < 0)
			return -1;
	return 0;
}

/* What the whole turn comes to. */
struct asking {
	json_t *actions, *observe;
	long takes_ms;
};

/* The last picture of a turn is the act's observation, which is there again for whoever has lost the answer. */
static void add_look(struct asking *asking, json_t *look, bool is_last)
{
	asking->takes_ms += ANTHROPIC_SETTLE_MS;
	if (is_last) {
		asking->observe = json_incref(look);
		(void)json_object_set_new(look, "timeout_ms", json_integer(ANTHROPIC_SETTLE_MS));
		return;
	}
	(void)json_array_append_new(asking->actions, json_pack("{s:s,s:i}", "action", "wait_settled", "timeout_ms", ANTHROPIC_SETTLE_MS));
	(void)json_object_set_new(look, "action", json_string("screenshot"));
	(void)json_array_append(asking->actions, look);
}

/* False when the model's fault ends the list. */
static bool add_call(const struct anthropic_tool *tool, const struct anthropic_call *call, const struct dialect_place *place, bool is_last,
                     struct asking *asking)
{
	struct anthropic_step step;
	struct err e;
	int rc = anthropic_read(tool, call, place, &step, &e);

	if (rc == 0 && json_array_size(asking->actions) + json_array_size(step.acts) + 2 > LIMIT_ACTIONS) {
		anthropic_step_finish(&step);
		rc = err_set(&e, ERR_BAD_FIELD, NULL, "too many actions in one turn");
	}
	if (rc < 0) {
		(void)json_array_append_new(asking->actions, dialect_fault(&e));
		return false;
	}
	(void)json_array_extend(asking->actions, step.acts);
	asking->takes_ms += step.takes_ms;
	if (step.look)
		add_look(asking, step.look, is_last);
	anthropic_step_finish(&step);
	return true;
}

static bool is_same(struct space a, struct space b)
{
	return a.width_px == b.width_px && a.height_px == b.height_px;
}

struct dialect_place anthropic_place(const struct anthropic_tool *tool, const struct dialect_place *session)
{
	struct dialect_place place = *session;

	if (tool->is_toolset && !space_suits_models(place.space))
		place.space = space_for_models(place.native);
	return place;
}

int anthropic_ask(const struct dialect *dialect, const json_t *body, const struct dialect_place *session, json_t **act, struct err *e)
{
	const struct anthropic_tool *tool = dialect->own;
	const struct dialect_place place = anthropic_place(tool, session);
	struct anthropic_turn turn = anthropic_turn_read(tool, body);
	struct asking asking = {.actions = NULL};
	int rc = check_turn(tool, &turn, e);

	if (rc == 0) {
		asking.actions = json_array();
		for (size_t i = 0; i < turn.n; i++)
			if (!add_call(tool, &turn.calls[i], &place, i + 1 == turn.n, &asking))
				break;
		*act = json_pack("{s:o,s:o*}", "actions", asking.actions, "observe", asking.observe);
		if (!is_same(place.space, session->space))
			(void)json_object_set_new(*act, "space", space_json(place.space));
		if (asking.takes_ms > 0)
			(void)json_object_set_new(*act, "timeout_ms", json_integer(MIN(LIMIT_CALL_DEFAULT_MS + asking.takes_ms, LIMIT_CALL_MS)));
	}
	anthropic_turn_finish(&turn);
	return rc;
}
