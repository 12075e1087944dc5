/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/dialects session/mcp session/stage session/policy session/journal display input apps */
/* longest: 1024 */
/*
 * All dialects. The input is JSON: a body, or {"body","reply"} as in tests/dialects, or a list of these. Whatever it is, an act that is asked is one of ours but for
 * its actions, the same each time; and what is answered is JSON whose errors are text that a vendor takes, and hold nothing but what is the model's.
 *
 * The place, the error and where it comes are picked by the input's bytes (fuzz_pick): trying all of them each time was six times slower.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "display/display.h"
#include "input/input.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/dialects/dialect.h"
#include "session/dialects/why.h"
#include "session/stage/batch.h"
#include "session/stage/rows.h"

#define ERROR_CHARS 4096
#define OPERATORS "/var/lib/secret" /* stands in errors that are not about what the model wrote */

static const struct dialect_place places[] = {
	{{1280, 800}, {1280, 800}, false}, {{640, 400}, {1920, 1080}, true}, {{4096, 2160}, {4096, 2160}, false}, {{1, 1}, {64, 64}, true},
};

static void insist(bool holds, const struct dialect *dialect, const char *what)
{
	if (!holds)
		DIE("%s: %s", dialect->name, what);
}

/* What is tried: a body, perhaps what was answered to it, and what is picked. */
struct turn {
	const json_t *body, *reply;
	const struct dialect_place *place;
	size_t pick;
};

/* How many actions stand before the first fault. */
static size_t cut_at_fault(json_t *actions)
{
	size_t n = 0;

	while (n < json_array_size(actions) && !dialect_fault_of(json_array_get(actions, n)))
		n++;
	while (json_array_size(actions) > n)
		(void)json_array_remove(actions, json_array_size(actions) - 1);
	return n;
}

/* What is wrong with an act is wrong with an action of it, which is the model's. */
static void check_act(const struct dialect *dialect, const json_t *act, const struct dialect_place *place)
{
	static const char LIST[] = "/actions/";
	const struct action_set joined[] = {{display_rows, display_n_rows, NULL}, {input_rows, input_n_rows, NULL}, {rows_own, rows_n_own, NULL}};
	static struct batch batch;
	struct err e = {.code = ERR_NONE};
	struct faults faults = {.list = &e, .max = 1};
	json_auto_t *copy = json_deep_copy(act);
	const struct batch_place where = {place->space, place->native, false, false};
	auto_free char *text = NULL;
	json_t *action;
	size_t i;

	insist(json_is_array(json_object_get(copy, "actions")), dialect, "an act has no list of actions");
	(void)cut_at_fault(json_object_get(copy, "actions"));
	json_array_foreach(json_object_get(copy, "actions"), i, action) {
		json_auto_t *warning = dialect_take_warning(action);

		insist(!warning || place->asks, dialect, "an action is to be asked about where nobody asks");
	}
	text = json_dumps(copy, JSON_COMPACT);
	if (batch_read(&batch, text, strlen(text), joined, ARRAY_LEN(joined), &where, &faults) == 0)
		batch_free(&batch);
	else if (!dialect->passes && strncmp(e.path, LIST, strlen(LIST)) != 0)
		DIE("%s: %s: %s\n%s", dialect->name, e.path, e.msg, text);
}

static size_t count_chars(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xC0) != 0x80;
	return n;
}

static void check_error(const struct dialect *dialect, const json_t *content)
{
	const json_t *block;
	size_t i;

	insist(json_array_size(content) > 0, dialect, "an error is empty");
	json_array_foreach(content, i, block) {
		const char *text = json_string_value(json_object_get(block, "text"));

		insist(text && text[0] && strcmp(form_string(block, "type", ""), "text") == 0, dialect, "an error is not text");
		insist(count_chars(text) <= ERROR_CHARS, dialect, "an error is too long");
	}
}

/* Every object in an answer. */
static void check_answer(const struct dialect *dialect, const json_t *value)
{
	const char *name;
	json_t *member;
	size_t i;

	/* Gemini's errors are a result like others, with their picture. */
	if (json_is_true(json_object_get(value, "is_error")) && !json_object_get(value, "result"))
		check_error(dialect, json_object_get(value, "content"));
	json_object_foreach((json_t *)(uintptr_t)value, name, member)
		check_answer(dialect, member);
	json_array_foreach(value, i, member)
		check_answer(dialect, member);
}

static void answer(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *reply)
{
	json_auto_t *told = dialect->answer(dialect, body, place, reply), *again = dialect->answer(dialect, body, place, reply);
	auto_free char *text = told ? json_dumps(told, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	insist(text != NULL, dialect, "an answer is no JSON");
	insist(dialect->passes || !strstr(text, OPERATORS), dialect, "an error says what is not the model's to know");
	insist(json_equal(told, again), dialect, "an answer is not the same twice");
	check_answer(dialect, told);
}

static json_t *bad_result(enum err_code code)
{
	json_t *error = json_pack("{s:s,s:s}", "code", err_info(code)->wire, "detail", "a detail");

	if (!why_is_input(error))
		(void)json_object_set_new(error, "detail", json_string(OPERATORS));
	return json_pack("{s:b,s:o}", "ok", 0, "error", error);
}

/* The act's actions go well up to this one, which fails, if it is one of them. */
static json_t *make_reply(const json_t *act, size_t fails_at)
{
	json_auto_t *picture = json_pack("{s:s,s:i,s:i,s:s}", "format", "png", "width", 1, "height", 1, "data", "QUJD");
	size_t n = json_array_size(json_object_get(act, "actions"));
	json_t *results = json_array();

	for (size_t i = 0; i < n && i <= fails_at; i++) {
		bool fails = i == fails_at || dialect_fault_of(json_array_get(json_object_get(act, "actions"), i));

		(void)json_array_append_new(results, fails ? bad_result(1 + i % (ERR_N_CODES - 1))
		                                           : json_pack("{s:b,s:i,s:i,s:O,s:s}", "ok", 1, "x", 5, "y", 6, "picture", picture, "text", "t"));
		if (fails)
			break;
	}
	return json_pack("{s:b,s:i,s:o,s:{s:b,s:O}}", "ok", fails_at >= n, "done", (int)json_array_size(results), "results", results, "observation",
	                 "settled", 1, "picture", picture);
}

static void check_refuse(const struct dialect *dialect, const struct turn *turn)
{
	const enum err_code code = (enum err_code)(ERR_NONE + 1 + turn->pick % (ERR_N_CODES - 1));
	json_auto_t *problem = json_pack("{s:s,s:s,s:s,s:{s:{s:s,s:s}}}", "code", err_info(code)->wire, "detail", "a detail", "pointer",
	                                 code % 2 ? "/actions/0/x" : "/actions/3/keys/0", "observation", "picture", "format", "png", "data", "QUJD");
	json_auto_t *told = dialect->refuse ? dialect->refuse(dialect, turn->body, turn->place, problem) : NULL;

	check_answer(dialect, told);
}

static void try_dialect(const struct dialect *dialect, const struct turn *turn)
{
	json_auto_t *act = NULL, *again = NULL, *made = NULL;
	const json_t *body = turn->body;
	const struct dialect_place *place = turn->place;
	struct err e = {.code = ERR_NONE};

	if (dialect->ask(dialect, body, place, &act, &e) < 0) {
		insist(e.code != ERR_NONE && e.msg[0], dialect, "a refusal says nothing");
		return;
	}
	insist(dialect->ask(dialect, body, place, &again, &e) == 0 && json_equal(act, again), dialect, "an act is not the same twice");
	check_act(dialect, act, place);
	made = make_reply(act, turn->pick % (json_array_size(json_object_get(act, "actions")) + 1));
	answer(dialect, body, place, made);
	if (turn->reply)
		answer(dialect, body, place, turn->reply);
	check_refuse(dialect, turn);
}

static void try_turn(const json_t *body, const json_t *reply, size_t pick)
{
	const struct turn turn = {.body = body, .reply = reply, .place = &places[pick % ARRAY_LEN(places)], .pick = pick / ARRAY_LEN(places)};
	struct err e;

	for (size_t i = 0; i < dialects_n; i++)
		try_dialect(dialects[i], &turn);
	(void)dialect_find(NULL, body, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t pick = fuzz_pick(data, size);
	json_auto_t *value = NULL;
	json_t *turn;
	size_t i;
	struct err e;

	/* What a model wrote itself is told to it. */
	if (memmem(data, size, OPERATORS, strlen(OPERATORS)) || json_parse((const char *)data, size, &value, &e) < 0)
		return 0;
	if (!json_object_get(json_array_get(value, 0), "body"))
		try_turn(json_object_get(value, "body") ? json_object_get(value, "body") : value, json_object_get(value, "reply"), pick);
	else
		json_array_foreach(value, i, turn)
			try_turn(json_object_get(turn, "body"), json_object_get(turn, "reply"), pick + i);
	return 0;
}
