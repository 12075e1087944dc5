/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anthropic's computer tools: the toolset, and the three before it. */
#include "session/dialects/anthropic.h"
#include "session/dialects/rows.h"

#define TOOL(id, version, is_toolset)                                                                                                     \
	static const struct anthropic_tool id = {version, is_toolset};                                                                   \
	static int ask_##id(const json_t *body, const struct dialect_place *place, json_t **act, struct err *e)                          \
	{                                                                                                                                \
		return anthropic_ask(&id, body, place, act, e);                                                                         \
	}                                                                                                                                \
	static json_t *answer_##id(const json_t *body, const struct dialect_place *place, const json_t *reply)                           \
	{                                                                                                                                \
		return anthropic_answer(&id, body, place, reply);                                                                       \
	}                                                                                                                                \
	static json_t *refuse_##id(const json_t *body, const struct dialect_place *place, const json_t *problem)                         \
	{                                                                                                                                \
		return anthropic_refuse(&id, body, place, problem);                                                                     \
	}

TOOL(toolset, ANTHROPIC_TOOLSET, true)
TOOL(v20251124, ANTHROPIC_20251124, false)
TOOL(v20250124, ANTHROPIC_20250124, false)
TOOL(v20241022, ANTHROPIC_20241022, false)

static bool is_toolset(const json_t *body)
{
	return anthropic_is(&toolset, body);
}

/* The newest has all that the older ones have. */
static bool is_single(const json_t *body)
{
	return anthropic_is(&v20251124, body);
}

const struct dialect dialect_anthropic_toolset = {
	.name = "computer_toolset_20260801",
	.doc = "Anthropic's computer toolset: tool_use blocks of its 17 members",
	.is = is_toolset,
	.runs_until_fault = true,
	.ask = ask_toolset,
	.answer = answer_toolset,
	.refuse = refuse_toolset,
};

const struct dialect dialect_anthropic_20251124 = {
	.name = "computer_20251124",
	.doc = "Anthropic's tool \"computer\", with zoom",
	.is = is_single,
	.runs_until_fault = true,
	.ask = ask_v20251124,
	.answer = answer_v20251124,
	.refuse = refuse_v20251124,
};

const struct dialect dialect_anthropic_20250124 = {
	.name = "computer_20250124",
	.doc = "Anthropic's tool \"computer\", with scroll and wait",
	.runs_until_fault = true,
	.ask = ask_v20250124,
	.answer = answer_v20250124,
	.refuse = refuse_v20250124,
};

const struct dialect dialect_anthropic_20241022 = {
	.name = "computer_20241022",
	.doc = "Anthropic's first tool \"computer\"",
	.runs_until_fault = true,
	.ask = ask_v20241022,
	.answer = answer_v20241022,
	.refuse = refuse_v20241022,
};
