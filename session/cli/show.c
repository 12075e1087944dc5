/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command line prints. */
#include "session/cli/show.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "session/base/json_text.h"
#include "session/base/util.h"

/* Characters that a terminal obeys instead of showing: C0, DEL, C1, and the marks that turn or isolate the writing direction. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0x061c;
}

char *show_visible(const char *text, size_t len, int lines)
{
	char *out = util_alloc(4 * len + 1);
	size_t used = 0;

	for (size_t at = 0; at < len;) {
		uint32_t c = 0;
		size_t n = util_utf8_decode(text + at, len - at, &c);
		bool plain = n > 0 && (!is_control(c) || (lines && (c == '\n' || c == '\t')));

		n = n > 0 ? n : 1;
		for (size_t i = 0; i < n; i++, at++) {
			if (plain)
				out[used++] = text[at];
			else
				used += (size_t)sprintf(out + used, "\\x%02x", (unsigned char)text[at]);
		}
	}
	out[used] = '\0';
	return out;
}

void show_text(FILE *to, const char *text, size_t len)
{
	if (isatty(fileno(to))) {
		auto_free char *visible = show_visible(text, len, 1);

		fputs(visible, to);
	} else {
		fwrite(text, 1, len, to);
	}
}

/* The text of a value, on one line whoever reads it. */
static char *value_text(const json_t *value)
{
	auto_free char *dumped = NULL;

	if (!value || json_is_null(value))
		return util_strdup("-");
	if (json_is_string(value))
		return show_visible(json_string_value(value), json_string_length(value), 0);
	dumped = json_text(value, NULL);
	return dumped ? show_visible(dumped, strlen(dumped), 0) : util_strdup("-");
}

void show_value(FILE *to, const json_t *value, int width)
{
	auto_free char *text = value_text(value);

	/* What is too long for its column does not touch the next one. */
	fprintf(to, "%-*s%s", width, text, width > 0 && strlen(text) >= (size_t)width ? "  " : "");
}

void show_table(const json_t *list, const struct show_column *columns, size_t n_columns)
{
	const json_t *object;
	size_t i;

	for (size_t k = 0; k < n_columns; k++)
		printf("%-*s", columns[k].width, columns[k].title);
	putchar('\n');
	json_array_foreach(list, i, object) {
		for (size_t k = 0; k < n_columns; k++) {
			const json_t *value = json_object_get(object, columns[k].member);

			show_value(stdout, json_is_null(value) ? NULL : value, columns[k].width);
		}
		putchar('\n');
	}
}

void show_members(FILE *to, json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		auto_free char *visible = show_visible(name, strlen(name), 0);

		fprintf(to, "%-16s ", visible);
		show_value(to, value, 0);
		fputc('\n', to);
	}
}

void show_json(const json_t *value)
{
	if (isatty(STDOUT_FILENO)) {
		json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	} else {
		auto_free char *text = json_text(value, NULL);

		fputs(text, stdout);
	}
	fputc('\n', stdout);
}

void show_problem(const char *who, const json_t *problem)
{
	const json_t *detail = json_object_get(problem, "detail");
	const char *pointer = json_string_value(json_object_get(problem, "pointer"));

	fprintf(stderr, "%s: ", who);
	show_value(stderr, detail ? detail : json_object_get(problem, "title"), 0);
	fputs("\n  code ", stderr);
	show_value(stderr, json_object_get(problem, "code"), 0);
	if (pointer && *pointer) {
		fputs(", at ", stderr);
		show_value(stderr, json_object_get(problem, "pointer"), 0);
	}
	fputs(", to be mended by: ", stderr);
	show_value(stderr, json_object_get(problem, "fix"), 0);
	fputc('\n', stderr);
}
