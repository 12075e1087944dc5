/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of dialects, and what they share. */
#include "session/dialects/dialect.h"

#include <string.h>

#include "session/base/util.h"
#include "session/dialects/rows.h"

#define FAULT "fault"
#define WARNING "warning"
#define NAMES_MAX 240

/* The first one that recognises a body is taken. */
const struct dialect *const dialects[] = {
	&dialect_anthropic_toolset,
	&dialect_openai_preview,
	&dialect_openai,
	&dialect_anthropic_20251124,
	&dialect_anthropic_20250124,
	&dialect_anthropic_20241022,
	&dialect_mcp,
	&dialect_gemini_legacy,
	&dialect_gemini,
};
const size_t dialects_n = ARRAY_LEN(dialects);

static const char *names(char out[NAMES_MAX])
{
	out[0] = '\0';
	for (size_t i = 0; i < dialects_n; i++)
		err_list(out, NAMES_MAX, ", ", dialects[i]->name);
	return out;
}

static const struct dialect *find_named(const char *name, struct err *e)
{
	char known[NAMES_MAX], quoted[60];

	for (size_t i = 0; i < dialects_n; i++)
		if (strcmp(dialects[i]->name, name) == 0)
			return dialects[i];
	(void)err_set(e, ERR_BAD_FIELD, "/dialect", "%s is not a dialect; they are: %s", err_quote(quoted, sizeof(quoted), name, strlen(name)),
	              names(known));
	return NULL;
}

const struct dialect *dialect_find(const char *name, const json_t *body, struct err *e)
{
	char known[NAMES_MAX];

	if (name)
		return find_named(name, e);
	for (size_t i = 0; i < dialects_n; i++)
		if (dialects[i]->is && dialects[i]->is(dialects[i], body))
			return dialects[i];
	(void)err_set(e, ERR_BAD_FIELD, NULL, "this is no turn that is known by its shape: send the object of a model as its vendor's "
	              "API gives it, or name the dialect with ?dialect=NAME: %s", names(known));
	return NULL;
}

json_t *dialect_fault(const struct err *e)
{
	return json_pack("{s:{s:s,s:s}}", FAULT, "code", err_info(e->code)->wire, "detail", e->msg);
}

void dialect_warn(json_t *action, const char *text)
{
	json_object_set_new(action, WARNING, json_string(text));
}

json_t *dialect_take_warning(json_t *action)
{
	json_t *warning = json_incref(json_object_get(action, WARNING));

	(void)json_object_del(action, WARNING);
	return warning;
}

const json_t *dialect_fault_of(const json_t *action)
{
	return json_object_get(action, FAULT);
}
