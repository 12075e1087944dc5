/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model's turn, in the forms in which a harness has it. */
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/dialects/anthropic.h"

/* A block that calls a tool; one that stands alone may lack its type. */
static bool is_tool_use(const json_t *block)
{
	if (!json_is_object(block))
		return false;
	return json_object_get(block, "type") ? form_is(json_object_get(block, "type"), "tool_use") : json_object_get(block, "name") && json_object_get(block, "input");
}

static enum anthropic_form form_of(const json_t *body)
{
	if (json_is_array(body))
		return ANTHROPIC_BLOCKS;
	if (is_tool_use(body))
		return ANTHROPIC_BLOCK;
	if (json_is_array(json_object_get(body, "content")))
		return ANTHROPIC_MESSAGE;
	return json_object_get(body, "action") ? ANTHROPIC_INPUT : ANTHROPIC_NO_FORM;
}

/* Blocks of other tools are not ours to answer. A call that is named after the toolset and is not of it is one that the model got wrong. */
static bool is_ours(const struct anthropic_tool *tool, const json_t *block)
{
	bool is_plain = form_string(block, "toolset_name", "")[0] == '\0';

	if (!is_tool_use(block))
		return false;
	if (is_plain)
		return form_is(json_object_get(block, "name"), ANTHROPIC_COMPUTER);
	return tool->is_toolset && form_is(json_object_get(block, "toolset_name"), ANTHROPIC_COMPUTER);
}

static void add_call(struct anthropic_turn *turn, const struct anthropic_tool *tool, const json_t *block, size_t index)
{
	const json_t *input = turn->form == ANTHROPIC_INPUT ? block : json_object_get(block, "input");
	const json_t *name = tool->is_toolset ? json_object_get(block, "name") : json_object_get(input, "action");

	turn->calls = util_realloc(turn->calls, (turn->n + 1) * sizeof(*turn->calls));
	turn->calls[turn->n++] = (struct anthropic_call){.name = json_is_string(name) ? json_string_value(name) : "",
	                                                 .name_len = json_string_length(name), .input = input, .block = block, .index = index};
}

struct anthropic_turn anthropic_turn_read(const struct anthropic_tool *tool, const json_t *body)
{
	struct anthropic_turn turn = {.form = form_of(body)};
	const json_t *blocks = turn.form == ANTHROPIC_MESSAGE ? json_object_get(body, "content") : body;
	const json_t *block;
	size_t i;

	if (turn.form == ANTHROPIC_INPUT ? !tool->is_toolset : turn.form == ANTHROPIC_BLOCK && is_ours(tool, body))
		add_call(&turn, tool, body, 0);
	if (turn.form != ANTHROPIC_MESSAGE && turn.form != ANTHROPIC_BLOCKS)
		return turn;
	json_array_foreach(blocks, i, block)
		if (is_ours(tool, block))
			add_call(&turn, tool, block, i);
	return turn;
}

void anthropic_turn_finish(struct anthropic_turn *turn)
{
	free(turn->calls);
}

bool anthropic_is(const struct dialect *dialect, const json_t *body)
{
	const struct anthropic_tool *tool = dialect->own;
	struct anthropic_turn turn = anthropic_turn_read(tool, body);
	bool found = !tool->is_toolset && turn.n > 0;

	for (size_t i = 0; i < turn.n; i++)
		found = found || form_is(json_object_get(turn.calls[i].block, "toolset_name"), ANTHROPIC_COMPUTER);
	anthropic_turn_finish(&turn);
	return found;
}
