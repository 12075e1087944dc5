/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/dialects session/mcp input */
/*
 * Recorded turns: tests/dialects/NAME/FILE.json, for the dialect NAME. A file is one turn or a list of them:
 *   {"body", "act"}                     what is asked becomes this act
 *   {"body", "reply", "answer"}         and the reply of that act is told so (with or without "act")
 *   {"body", "problem", "answer"}       a refusal of the act is told so; null: it stays a problem
 *   {"body", "refused":{"code","pointer","detail"}}   the harness's fault; what is named here must be so
 * "place" is {"space":[W,H],"native":[W,H]}, 1280x800 both if absent; "is": false says that the body is not known by its shape, "is": NAME that
 * by its shape it is of that dialect. "what" says what a turn is about.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/dialects/dialect.h"

#define FOLDER "tests/dialects"

static const char *file; /* and turn that are looked at */
static size_t turn_at;

static char *shown(const json_t *value)
{
	return value ? json_dumps(value, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_ENCODE_ANY) : util_strdup("nothing");
}

static void expect(const char *what, const json_t *found, const json_t *wanted)
{
	auto_free char *a = NULL, *b = NULL;

	if ((!found && !wanted) || json_equal(found, wanted))
		return;
	a = shown(found);
	b = shown(wanted);
	fail_msg("%s, turn %zu: %s is\n%s\nand not\n%s", file, turn_at, what, a, b);
}

static struct space read_space(const json_t *place, const char *name)
{
	const json_t *pair = json_object_get(place, name);

	if (!pair)
		return (struct space){1280, 800};
	return (struct space){(int)json_integer_value(json_array_get(pair, 0)), (int)json_integer_value(json_array_get(pair, 1))};
}

static void check_refused(const json_t *wanted, const struct err *e)
{
	json_auto_t *found = json_pack("{s:s,s:s,s:s}", "code", err_info(e->code)->wire, "pointer", e->path, "detail", e->msg);
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)wanted, name, value)
		expect(name, json_object_get(found, name), value);
}

static void check_act(const struct dialect *dialect, const json_t *turn, const struct dialect_place *place)
{
	const json_t *wanted = json_object_get(turn, "act"), *refused = json_object_get(turn, "refused");
	json_auto_t *act = NULL;
	struct err e;
	int rc = dialect->ask(dialect, json_object_get(turn, "body"), place, &act, &e);

	if (refused) {
		if (rc == 0)
			expect("what should be refused", act, NULL);
		check_refused(refused, &e);
		return;
	}
	if (rc < 0)
		fail_msg("%s, turn %zu: refused: %s %s", file, turn_at, e.path, e.msg);
	if (wanted)
		expect("the act", act, wanted);
}

static void check_told(const struct dialect *dialect, const json_t *turn, const struct dialect_place *place)
{
	const json_t *body = json_object_get(turn, "body"), *reply = json_object_get(turn, "reply"), *problem = json_object_get(turn, "problem");
	const json_t *wanted = json_object_get(turn, "answer");
	json_auto_t *answer = NULL;

	if (reply)
		answer = dialect->answer(dialect, body, place, reply);
	else if (problem && dialect->refuse)
		answer = dialect->refuse(dialect, body, place, problem);
	if (reply || problem)
		expect("the answer", answer, json_is_null(wanted) ? NULL : wanted);
}

/* A turn that checks nothing, or has a member that nobody looks at, is a slip of the pen. */
static void check_members(const json_t *turn)
{
	static const char *const known[] = {"what", "place", "is", "body", "act", "refused", "reply", "problem", "answer"};
	bool has_told = json_object_get(turn, "reply") || json_object_get(turn, "problem");
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)turn, name, value) {
		size_t i = 0;

		while (i < ARRAY_LEN(known) && strcmp(known[i], name) != 0)
			i++;
		if (i == ARRAY_LEN(known))
			fail_msg("%s, turn %zu: %s is no member of a turn", file, turn_at, name);
	}
	if (!json_object_get(turn, "answer") != !has_told)
		fail_msg("%s, turn %zu: an answer goes with a reply or a problem", file, turn_at);
	if (!json_object_get(turn, "act") && !json_object_get(turn, "refused") && !has_told)
		fail_msg("%s, turn %zu: nothing is checked", file, turn_at);
}

static void check_turn(const struct dialect *dialect, const json_t *turn)
{
	const json_t *where = json_object_get(turn, "place");
	const struct dialect_place place = {read_space(where, "space"), read_space(where, "native"), json_is_true(json_object_get(where, "asks"))};
	const json_t *is = json_object_get(turn, "is");
	const struct dialect *found, *wanted = json_is_false(is) ? NULL : json_is_string(is) ? dialect_find(json_string_value(is), NULL, NULL) : dialect;
	struct err e;

	check_members(turn);
	found = dialect_find(NULL, json_object_get(turn, "body"), &e);
	if (dialect->is && found != wanted)
		fail_msg("%s, turn %zu: by its shape it is of %s and not of %s", file, turn_at, found ? found->name : "none", wanted ? wanted->name : "none");
	check_act(dialect, turn, &place);
	check_told(dialect, turn, &place);
}

static void check_file(const struct dialect *dialect, const char *path)
{
	json_error_t fault;
	json_auto_t *turns = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
	const json_t *turn;

	file = path;
	turn_at = 0;
	if (!turns)
		fail_msg("%s:%d: %s", path, fault.line, fault.text);
	if (json_is_object(turns))
		check_turn(dialect, turns);
	json_array_foreach(turns, turn_at, turn)
		check_turn(dialect, turn);
}

static size_t check_dialect(const struct dialect *dialect)
{
	auto_free char *folder = util_printf(FOLDER "/%s", dialect->name);
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t n = 0;

	if (!dir)
		fail_msg("there are no recorded turns in %s", folder);
	while ((entry = readdir(dir))) {
		auto_free char *path = util_printf("%s/%s", folder, entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		check_file(dialect, path);
		n++;
	}
	(void)closedir(dir);
	return n;
}

static void test_recorded_turns(void **state)
{
	(void)state;
	for (size_t i = 0; i < dialects_n; i++)
		if (check_dialect(dialects[i]) == 0)
			fail_msg("%s has no recorded turn", dialects[i]->name);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < dialects_n; i++) {
		struct err e;

		assert_true(dialects[i]->doc && dialects[i]->ask && dialects[i]->answer);
		assert_ptr_equal(dialect_find(dialects[i]->name, NULL, &e), dialects[i]);
	}
}

static void test_what_is_none(void **state)
{
	static const char *const BODIES[] = {"{}", "[]", "1", "\"x\"", "null", "[[]]", "[null]", "{\"type\":\"text\"}", "{\"content\":\"no\"}"};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(BODIES); i++) {
		json_auto_t *body = json_loads(BODIES[i], JSON_DECODE_ANY, NULL);

		assert_null(dialect_find(NULL, body, &e));
		assert_int_equal(e.code, ERR_BAD_FIELD);
		assert_string_equal(e.path, "");
		assert_non_null(strstr(e.msg, "send the object of a model as its vendor's API gives it, or name the dialect"));
		assert_non_null(strstr(e.msg, dialects[0]->name));
		assert_non_null(strstr(e.msg, dialects[dialects_n - 1]->name));
	}
	assert_null(dialect_find("computer", NULL, &e));
	assert_string_equal(e.path, "/dialect");
	assert_non_null(strstr(e.msg, dialects[0]->name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded_turns),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
