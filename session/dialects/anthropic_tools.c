/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anthropic's computer tools: the toolset, and the three before it. */
#include "session/dialects/anthropic.h"
#include "session/dialects/rows.h"

const struct dialect dialect_anthropic_toolset = {
	.name = "computer_toolset_20260801",
	.doc = "Anthropic's computer toolset: tool_use blocks of its 17 members",
	.own = &(const struct anthropic_tool){ANTHROPIC_TOOLSET, true},
	.is = anthropic_is,
	.runs_until_fault = true,
	.ask = anthropic_ask,
	.answer = anthropic_answer,
	.refuse = anthropic_refuse,
};

const struct dialect dialect_anthropic_20251124 = {
	.name = "computer_20251124",
	.doc = "Anthropic's tool \"computer\", with zoom",
	.own = &(const struct anthropic_tool){ANTHROPIC_20251124, false},
	.is = anthropic_is, /* the newest has all that the older ones have */
	.runs_until_fault = true,
	.ask = anthropic_ask,
	.answer = anthropic_answer,
	.refuse = anthropic_refuse,
};

const struct dialect dialect_anthropic_20250124 = {
	.name = "computer_20250124",
	.doc = "Anthropic's tool \"computer\", with scroll and wait",
	.own = &(const struct anthropic_tool){ANTHROPIC_20250124, false},
	.runs_until_fault = true,
	.ask = anthropic_ask,
	.answer = anthropic_answer,
	.refuse = anthropic_refuse,
};

const struct dialect dialect_anthropic_20241022 = {
	.name = "computer_20241022",
	.doc = "Anthropic's first tool \"computer\"",
	.own = &(const struct anthropic_tool){ANTHROPIC_20241022, false},
	.runs_until_fault = true,
	.ask = anthropic_ask,
	.answer = anthropic_answer,
	.refuse = anthropic_refuse,
};
