/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON from outside, read strictly. The rows of forms are in form.c. */
#include "session/base/json.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

/* A fault of form at this byte: counts its line and column. */
static int bad_form(struct err *e, const char *text, size_t len, size_t offset, const char *why)
{
	int line = 1;
	int column = 1;

	for (size_t i = 0; i < offset && i < len; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	(void)err_set(e, ERR_BAD_JSON, NULL, "%s, at byte %zu (line %d, column %d)", why, offset, line, column);
	if (e) {
		e->offset = (long)offset;
		e->line = line;
		e->column = column;
	}
	return -1;
}

/* jansson's own limit on nesting is 2048 and fixed: a scan that knows only strings and brackets keeps ours. */
static int check_depth(const char *text, size_t len, struct err *e)
{
	int depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '[' || c == '{') {
			if (++depth > LIMIT_JSON_DEPTH)
				return bad_form(e, text, len, i, "nested too deeply: at most 32 arrays and objects inside each other");
		} else if (c == ']' || c == '}') {
			depth--;
		}
	}
	return 0;
}

/* jansson counts what it has read, which is one past the offending byte, or the end. */
static size_t fault_offset(const json_error_t *fault, size_t len)
{
	size_t offset = fault->position > 0 ? (size_t)fault->position - 1 : 0;

	return offset < len ? offset : len;
}

static const char *plain_reason(const json_error_t *fault)
{
	switch (json_error_code(fault)) {
	case json_error_premature_end_of_input:
		return "the JSON ends too early";
	case json_error_end_of_input_expected:
		return "something follows the JSON value";
	case json_error_invalid_utf8:
		return "a byte is not UTF-8";
	case json_error_duplicate_key:
		return "a key stands twice in an object";
	case json_error_numeric_overflow:
		return "a number is too large";
	case json_error_unknown:
	case json_error_out_of_memory:
	case json_error_stack_overflow:
	case json_error_cannot_open_file:
	case json_error_invalid_argument:
	case json_error_invalid_syntax:
	case json_error_invalid_format:
	case json_error_wrong_type:
	case json_error_null_character:
	case json_error_null_value:
	case json_error_null_byte_in_key:
	case json_error_item_not_found:
	case json_error_index_out_of_range:
	default:
		return "this is not JSON";
	}
}

int json_parse(const char *text, size_t len, json_t **out, struct err *e)
{
	json_error_t fault;
	json_t *value;

	if (len == 0)
		return bad_form(e, text, len, 0, "the body is empty, a JSON value is needed");
	if (check_depth(text, len, e) < 0)
		return -1;
	value = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &fault);
	if (!value)
		return bad_form(e, text, len, fault_offset(&fault, len), plain_reason(&fault));
	*out = value;
	return 0;
}
