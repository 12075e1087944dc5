/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of tools. */
#include "session/mcp/result.h"

#include <string.h>

#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/problem.h"
#include "session/base/util.h"

#define NOTHING_DONE "Nothing was done."
#define NOT_KNOWN "Some of it may have been done."

json_t *result_text(const char *text, size_t len)
{
	return json_pack("{s:s,s:o}", "type", "text", "text", json_stringn(text, len));
}

json_t *result_image(const char *media_type, json_t *base64)
{
	return json_pack("{s:s,s:o,s:s}", "type", "image", "data", base64, "mimeType", media_type);
}

json_t *result_of(json_t *structured)
{
	size_t len;
	auto_free char *text = json_text(structured, &len);

	return json_pack("{s:[o],s:o}", "content", result_text(text, len), "structuredContent", structured);
}

json_t *result_of_failure(const char *text)
{
	return json_pack("{s:[o],s:b}", "content", result_text(text, strlen(text)), "isError", 1);
}

/* "bad_field at /actions/0/x: 9 is not allowed here …" */
static char *line_of(const json_t *fault)
{
	const char *pointer = form_string(fault, "pointer", "");

	return util_printf("%s%s%s: %s", form_string(fault, "code", "internal"), *pointer ? " at " : "", pointer, form_string(fault, "detail", ""));
}

static json_t *result_under(const char *headline, const json_t *problem)
{
	json_auto_t *alone = json_pack("[O]", (json_t *)(uintptr_t)problem);
	const json_t *errors = json_object_get(problem, "errors"), *fault;
	bool later = strcmp(form_string(problem, "fix", ""), "later") == 0;
	char *text = util_strdup(headline);
	json_t *result;
	size_t i;

	json_array_foreach(json_is_array(errors) ? errors : alone, i, fault) {
		auto_free char *line = line_of(fault);
		char *longer = util_printf("%s\n%s", text, line);

		free(text);
		text = longer;
	}
	if (later) {
		char *longer = util_printf("%s\nTry again a little later.", text);

		free(text);
		text = longer;
	}
	result = result_of_failure(text);
	free(text);
	return result;
}

json_t *result_of_problem(const json_t *problem)
{
	return result_under(NOTHING_DONE, problem);
}

json_t *result_of_faults(const struct faults *faults)
{
	json_auto_t *problem = problem_of_faults(faults, NULL);

	return result_under(faults->list[0].begun ? NOT_KNOWN : NOTHING_DONE, problem);
}
