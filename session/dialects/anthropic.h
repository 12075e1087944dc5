/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Anthropic's computer toolset and its three older computer tools share: the actions (anthropic_action.c), what is said of them
 * (anthropic_say.c), the turns in which they come (anthropic_turn.c, anthropic_ask.c) and their answers (anthropic_answer.c).
 *
 * Sources: the types and the texts of @anthropic-ai/sdk 1.14.0 (helpers/beta/toolsets), and what the vendor's reference implementation takes.
 * Owner: session/dialects. No threads, no state.
 */
#ifndef DIALECTS_ANTHROPIC_H
#define DIALECTS_ANTHROPIC_H

#include "session/dialects/dialect.h"

#define ANTHROPIC_SETTLE_MS 2000 /* a picture waits for quiet no longer than the reference implementation sleeps */

/* The tools that have an action. */
enum anthropic_version {
	ANTHROPIC_20241022 = 1 << 0,
	ANTHROPIC_20250124 = 1 << 1,
	ANTHROPIC_20251124 = 1 << 2,
	ANTHROPIC_TOOLSET = 1 << 3,
};

/* One of these tools. */
struct anthropic_tool {
	enum anthropic_version version;
	bool is_toolset; /* its actions are members, named by their blocks, and answered with a line of text; else with a picture */
};

#define ANTHROPIC_COMPUTER "computer" /* the name of the tool, and of the toolset */

/* One action as the model wrote it; borrowed. */
struct anthropic_call {
	const char *name; /* of the action; never NULL, "" if there is none */
	size_t name_len;
	const json_t *input;
	const json_t *block; /* that it came in */
	size_t index;        /* of that in its list */
};

/* How a turn comes. */
enum anthropic_form {
	ANTHROPIC_NO_FORM,
	ANTHROPIC_BLOCK,   /* one tool_use block */
	ANTHROPIC_BLOCKS,  /* a list of content blocks */
	ANTHROPIC_MESSAGE, /* a message with such a list */
	ANTHROPIC_INPUT,   /* the input of a tool_use block, with the "action" in it */
};

/* The calls of one tool in it, in order; other blocks are not in here. */
struct anthropic_turn {
	enum anthropic_form form;
	struct anthropic_call *calls;
	size_t n;
};

struct anthropic_turn anthropic_turn_read(const struct anthropic_tool *tool, const json_t *body);
void anthropic_turn_finish(struct anthropic_turn *turn);

struct anthropic_reading;

/* A row of the table of actions. */
struct anthropic_action {
	const char *name;
	unsigned int in;    /* enum anthropic_version: the tools that have it */
	const char *fields; /* the members that its input may have, separated by spaces */
	int (*read)(const struct anthropic_reading *reading);
	const char *said;   /* what the SDK answers once it is done; NULL: its answer is a picture or a place */
	const char *button; /* of a click */
	int count;          /* and how often */
};

/* What one call comes to. */
struct anthropic_step {
	const struct anthropic_action *action;
	json_t *acts;  /* actions of an act */
	json_t *look;  /* the picture that is taken then: fields of a screenshot; NULL: none */
	long takes_ms; /* what it waits by itself */
};

/*
 * Reads a call; place->space is the one that coordinates are in. 0, and the step is to be finished; or -1 with a fault of the model, whose text is
 * for the model as it is.
 */
int anthropic_read(const struct anthropic_tool *tool, const struct anthropic_call *call, const struct dialect_place *place,
                   struct anthropic_step *step, struct err *e);
void anthropic_step_finish(struct anthropic_step *step);

/* The text that acknowledges it ("Clicked."), filled in as the SDK does, or NULL: it is answered otherwise. Malloced. */
char *anthropic_acknowledge(const struct anthropic_action *action, const json_t *input);

/* A text on one line: control and bidi characters become spaces, at most `max` characters. Malloced. */
char *anthropic_one_line(const char *text, size_t len, size_t max);

/* A name to be told back between quotes, without quotes and runs of spaces of its own. Malloced. */
char *anthropic_name(const char *name, size_t len);

/* What is wrong with a call that is named after the toolset and is not of it, which a model writes with a list of "actions" in its input. Malloced. */
char *anthropic_malformed(const json_t *input);

/* What the model is told of a call that failed: `error` has "code" and "detail", as in an act's reply. Never any text of the screen. Malloced. */
char *anthropic_explain(const struct anthropic_tool *tool, const struct anthropic_call *call, const json_t *error);

/* A toolset's pictures are refused when they are too large, and nobody tells the model a size: it gets those that fit. The older tools are told one. */
struct dialect_place anthropic_place(const struct anthropic_tool *tool, const struct dialect_place *session);

/* A turn and its answer: the functions of a dialect, whose own is the struct anthropic_tool. */
bool anthropic_is(const struct dialect *dialect, const json_t *body);
int anthropic_ask(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, json_t **act, struct err *e);
json_t *anthropic_answer(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *reply);
json_t *anthropic_refuse(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *problem);

#endif
