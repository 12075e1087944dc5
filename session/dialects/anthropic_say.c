/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Anthropic's models are told in words. */
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/dialects/anthropic.h"
#include "session/dialects/why.h"

#define FIELD_CHARS 4096 /* the vendor's limit of one text */
#define NAME_CHARS 200   /* of a name that is told back, as in the SDK */
#define NAMES_BYTES 100  /* of several, after which there comes no other: the text of a fault has to hold them */

/* Characters that would break or turn the one line that they are put into: controls, separators of lines, marks of direction. */
static bool breaks_line(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
	       (c >= 0x2066 && c <= 0x2069);
}

char *anthropic_one_line(const char *text, size_t len, size_t max)
{
	char *out = util_alloc(len + 1);
	size_t used = 0, n_chars = 0;
	bool is_folding = false;

	for (size_t at = 0, n; at < len && n_chars < max; at += n) {
		uint32_t c;
		bool was_folding = is_folding;

		n = util_utf8_decode(text + at, len - at, &c);
		if (n == 0)
			break;
		is_folding = breaks_line(c);
		if (is_folding ? was_folding || used == 0 : c == ' ' && used == 0)
			continue;
		memcpy(out + used, is_folding ? " " : text + at, is_folding ? 1 : n);
		used += is_folding ? 1 : n;
		n_chars++;
	}
	while (used > 0 && out[used - 1] == ' ')
		used--;
	out[used] = '\0';
	return out;
}

char *anthropic_name(const char *name, size_t len)
{
	char *line = anthropic_one_line(name, len, NAME_CHARS), *end = line;

	for (const char *c = line; *c; c++) {
		if (*c != '\'' && *c != ' ')
			*end++ = *c;
		else if (end > line && end[-1] != ' ')
			*end++ = ' ';
	}
	end -= end > line && end[-1] == ' ';
	*end = '\0';
	return line;
}

/* The names of these actions between quotes, ten at most, and fewer where they are long. Malloced. */
static char *names_of(const json_t *actions)
{
	char *names = util_strdup("");
	size_t i, n = json_array_size(actions);

	for (i = 0; i < n && i < 10 && strlen(names) < NAMES_BYTES; i++) {
		const json_t *action = json_object_get(json_array_get(actions, i), "action");
		auto_free char *name = anthropic_name(json_string_value(action), json_string_length(action)), *before = names;

		names = util_printf("%s%s'%s'", before, i > 0 ? ", " : "", name);
	}
	if (i < n) {
		auto_free char *before = names;

		names = util_printf("%s, and %zu more", before, n - i);
	}
	return names;
}

char *anthropic_malformed(const json_t *input)
{
	const json_t *actions = json_object_get(input, "actions"), *one = json_object_get(input, "action"), *action;
	size_t i;

	if (!actions && json_is_string(one)) {
		auto_free char *name = anthropic_name(json_string_value(one), json_string_length(one));

		return util_printf("the call has no 'actions' list (action: '%s')", name);
	}
	if (!actions)
		return util_strdup("the call has no 'actions' list");
	if (json_is_string(actions))
		return util_strdup("'actions' is text, not a list of actions");
	if (!json_is_array(actions))
		return util_strdup("'actions' is not a list of actions");
	if (json_array_size(actions) == 0)
		return util_strdup("the 'actions' list is empty");
	json_array_foreach(actions, i, action)
		if (!json_is_string(json_object_get(action, "action")))
			return util_printf("action %zu must be an object with a string 'action' field", i);
	auto_free char *names = names_of(actions);

	return util_printf("its actions could not be run as sent (actions: %s)", names);
}

/* A number of seconds as JavaScript writes it: as few digits as tell it from all other numbers. With three the largest, 100, has no exponent. */
static char *number_text(double number)
{
	for (int digits = 3;; digits++) {
		char *text = util_printf("%.*g", digits, number);

		if (digits == 17 || !(strtod(text, NULL) < number || strtod(text, NULL) > number))
			return text;
		free(text);
	}
}

/* What stands in the place of a word in braces. Malloced. */
static char *value_of(const json_t *input, const char *name)
{
	const json_t *value = json_object_get(input, name);

	/* Keys may have been written as "key". */
	if (!json_is_string(value) && !json_is_number(value))
		value = json_object_get(input, "key");
	if (json_is_string(value))
		return anthropic_one_line(json_string_value(value), json_string_length(value), FIELD_CHARS);
	return number_text(json_number_value(value));
}

char *anthropic_acknowledge(const struct anthropic_action *action, const json_t *input)
{
	const char *brace = action->said ? strchr(action->said, '{') : NULL;
	char *line = action->said ? util_strdup("") : NULL;
	const char *at = action->said;

	while (brace) {
		size_t len = strcspn(brace, "}");
		auto_free char *name = util_printf("%.*s", (int)len - 1, brace + 1);
		auto_free char *value = value_of(input, name);
		char *more = util_printf("%s%.*s%s", line, (int)(brace - at), at, value);

		free(line);
		line = more;
		at = brace + len + 1;
		brace = strchr(at, '{');
	}
	if (line) {
		char *whole = util_printf("%s%s", line, at);

		free(line);
		line = whole;
	}
	return line;
}

static char *bad_input(const struct anthropic_tool *tool, const struct anthropic_call *call, const json_t *error)
{
	const char *why = why_text(error);
	auto_free char *line = anthropic_one_line(why, strlen(why), FIELD_CHARS / 2);
	auto_free char *name = NULL;

	if (!line[0]) /* an error without a text is none that the vendor takes */
		return util_strdup("The action failed.");
	if (!tool->is_toolset || err_from_wire(form_string(error, "code", "")) == ERR_UNKNOWN_ACTION)
		return util_strdup(line);
	name = anthropic_name(call->name, call->name_len);
	return util_printf("invalid input for computer member '%s': %s", name, line);
}

char *anthropic_explain(const struct anthropic_tool *tool, const struct anthropic_call *call, const json_t *error)
{
	return why_is_input(error) ? bad_input(tool, call, error) : util_printf("%s.", why_text(error));
}
