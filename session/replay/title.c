/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions in words. */
#include "session/replay/title.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/util.h"

/* A line that is being written; what does not fit is left out. */
struct title {
	char text[TITLE_MAX];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct title *title, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(title->text + title->len, sizeof(title->text) - title->len, fmt, args);
	va_end(args);
	title->len += strlen(title->text + title->len);
}

static char *finish(struct title *title)
{
	title->text[util_utf8_prefix(title->text, title->len)] = '\0';
	return util_strdup(title->text);
}

/* A word of the journal: as it is, but for what has no place on a line. */
static void add_word(struct title *title, const char *word)
{
	char quoted[48];

	err_quote(quoted, sizeof(quoted), word, strlen(word));
	add(title, "%.*s", (int)strlen(quoted) - 2, quoted + 1);
}

static void add_quoted(struct title *title, const json_t *text)
{
	char quoted[72];

	add(title, "%s", err_quote(quoted, sizeof(quoted), json_string_value(text), json_string_length(text)));
}

static void add_node(struct title *title, const char *before, const json_t *node)
{
	const json_t *name = json_object_get(node, "name");

	if (!json_is_object(node))
		return;
	add(title, "%s", before);
	add_word(title, form_string(node, "role", "?"));
	if (json_string_length(name) > 0) {
		add(title, " ");
		add_quoted(title, name);
	}
}

char *title_node(const json_t *node)
{
	struct title title = {.len = 0};

	add_node(&title, "", node);
	return finish(&title);
}

/* "hello world", quoted and bounded, or numbers bare; of what was not recorded the length. */
static void add_value(struct title *title, const char *name, const json_t *value)
{
	const json_t *bytes = json_object_get(value, "bytes");
	auto_free char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	add(title, " %s%s", name, *name ? "=" : "");
	if (json_is_string(value))
		add_quoted(title, value);
	else if (json_is_integer(bytes))
		add(title, "%jd bytes, not recorded", (intmax_t)json_integer_value(bytes));
	else
		add(title, "%.60s", text ? text : "");
}

/* Where it was done: a number for x and y is of the pointer, but not that of a window. */
static void add_place(struct title *title, const json_t *action, const char *before)
{
	const json_t *x = json_object_get(action, "x"), *y = json_object_get(action, "y");

	if (json_is_integer(x) && json_is_integer(y))
		add(title, "%s %jd, %jd", before, (intmax_t)json_integer_value(x), (intmax_t)json_integer_value(y));
}

static void add_fields(struct title *title, const json_t *action)
{
	static const char *const bare[] = {"text", "keys", "app", "argv", "title"};
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)action, key, value) {
		bool is_bare = false;

		for (size_t i = 0; i < ARRAY_LEN(bare); i++)
			is_bare |= strcmp(bare[i], key) == 0;
		if (strcmp(key, "action") != 0 && strcmp(key, "x") != 0 && strcmp(key, "y") != 0)
			add_value(title, is_bare ? "" : key, value);
	}
}

/* Keys go into what has them: it stands behind them. */
static bool is_of_keys(const json_t *action)
{
	return json_object_get(action, "keys") || strcmp(form_string(action, "action", ""), "type") == 0;
}

static void add_action(struct title *title, const json_t *action, const json_t *result)
{
	const json_t *node = json_object_get(result, "node");

	add_word(title, form_string(action, "action", "?"));
	if (!is_of_keys(action)) {
		add_node(title, " ", node);
		add_node(title, " to ", json_object_get(result, "node_to"));
	}
	add_place(title, action, json_is_object(node) ? " at" : "");
	add_fields(title, action);
	if (is_of_keys(action))
		add_node(title, " into ", node);
}

char *title_action(const json_t *action, const json_t *result)
{
	struct title title = {.len = 0};

	add_action(&title, action, result);
	return finish(&title);
}

char *title_call(const struct reader_call *call)
{
	struct title title = {.len = 0};

	for (size_t i = 0; i < call->n_actions && title.len + 8 < sizeof(title.text); i++) {
		add(&title, "%s", i ? "; " : "");
		add_action(&title, call->actions[i].action, call->actions[i].result);
	}
	return title.len > 0 ? finish(&title) : util_strdup("look");
}
