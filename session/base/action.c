/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The action table: finding rows and describing them. */
#include "session/base/action.h"

#include <ctype.h>
#include <string.h>

#include "session/base/util.h"

const struct action_row *action_find(const struct action_set *sets, size_t n_sets, const char *name, const struct action_set **set)
{
	for (size_t s = 0; s < n_sets; s++)
		for (size_t i = 0; i < sets[s].n_rows; i++)
			if (strcmp(sets[s].rows[i].name, name) == 0) {
				*set = &sets[s];
				return &sets[s].rows[i];
			}
	return NULL;
}

/* The row's form with the "action" field itself, as a caller has to send it. */
static json_t *row_schema(const struct action_row *row)
{
	json_t *schema = form_schema(&row->form);
	json_t *required = json_object_get(schema, "required");

	json_object_set_new(json_object_get(schema, "properties"), "action", json_pack("{s:s}", "const", row->name));
	if (!required) {
		required = json_array();
		json_object_set_new(schema, "required", required);
	}
	json_array_insert_new(required, 0, json_string("action"));
	return schema;
}

json_t *action_document(const struct action_set *sets, size_t n_sets)
{
	json_t *list = json_array();

	for (size_t s = 0; s < n_sets; s++)
		for (size_t i = 0; i < sets[s].n_rows; i++) {
			const struct action_row *row = &sets[s].rows[i];

			json_array_append_new(list, json_pack("{s:s,s:s,s:o}", "name", row->name, "doc", row->doc, "schema", row_schema(row)));
		}
	return json_pack("{s:o}", "actions", list);
}

/* "mouse_down" and "Action" make "MouseDownAction". */
static char *component_name(const struct action_row *row, const char *kind)
{
	char *name = util_printf("%s%s", row->name, kind), *to = name;
	bool is_first = true;

	for (const char *at = name; *at; at++) {
		if (*at != '_')
			*to++ = is_first ? (char)toupper((unsigned char)*at) : *at;
		is_first = *at == '_';
	}
	*to = '\0';
	return name;
}

static const struct member result_members[] = {
	{"ok", "boolean", "was it done?"},
	{"elapsed_ms", "count", "how long it took"},
	{"folded?", "boolean", "it was needless, and was not done"},
	{"withheld?", "boolean", "what it told is left out: a person got the controls before it was sent"},
	{"error?", "Problem", "why it failed"},
	{"limits?", "MetLimit[]", "of one that failed, and of a command that did: limits of the session that were met meanwhile"},
	{"node?", "MetNode|null", "what it met: the accessible node under its point, or that gets its keys; null: there was no answer, see node_reason"},
	{"node_to?", "MetNode|null", "of a drag, where it ended"},
	{"node_reason?", "=none late failed", "why there is no node: none is there, or its app did not answer in time, or not at all"},
};

#define WENT_WELL "{\"properties\":{\"ok\":{\"const\":true},\"folded\":false,\"withheld\":false}}"
#define ELSE_ERROR "{\"if\":{\"properties\":{\"folded\":false,\"withheld\":false}},\"then\":{\"required\":[\"error\"]}}"

/* What an action adds must be there when it was done, and what went wrong when it failed. */
static json_t *result_schema(const struct action_row *row)
{
	static const struct members common = MEMBERS(result_members);
	auto_free char *doc = row ? util_printf("what %s answers", row->name) : util_strdup("what most actions answer");
	json_t *required = json_array(), *own = json_array();
	json_t *schema = json_pack("{s:s,s:s,s:{},s:o,s:o,s:{s:o},s:o}", "type", "object", "description", doc, "properties", "required", required, "if",
	                           json_loads(WENT_WELL, 0, NULL), "then", "required", own, "else", json_loads(ELSE_ERROR, 0, NULL));

	shape_add(schema, required, &common);
	if (row)
		shape_add(schema, own, &row->result);
	return schema;
}

static void add_ref(json_t *list, const char *name)
{
	(void)json_array_append_new(list, json_pack("{s:o}", "$ref", json_sprintf(SHAPE_REF "%s", name)));
}

static void add_row(const struct action_row *row, json_t *schemas, json_t *actions, json_t *mapping, json_t *results)
{
	auto_free char *name = component_name(row, "Action"), *result = component_name(row, row->result.n > 0 ? "Result" : "");
	json_t *schema = row_schema(row);

	if (row->result.n > 0) {
		(void)json_object_set_new(schemas, result, result_schema(row));
		add_ref(results, result);
	}
	(void)json_object_set_new(schema, "x-result", json_sprintf(SHAPE_REF "%s", row->result.n > 0 ? result : "Result"));
	(void)json_object_set_new(schema, "description", json_string(row->doc));
	if (row->example)
		(void)json_object_set_new(schema, "examples", json_pack("[o]", json_loads(row->example, 0, NULL)));
	(void)json_object_set_new(schemas, name, schema);
	add_ref(actions, name);
	(void)json_object_set_new(mapping, row->name, json_sprintf(SHAPE_REF "%s", name));
}

void action_schemas(const struct action_set *sets, size_t n_sets, json_t *schemas)
{
	json_t *actions = json_array(), *mapping = json_object(), *results = json_array();

	(void)json_object_set_new(schemas, "Result", result_schema(NULL));
	add_ref(results, "Result");
	for (size_t s = 0; s < n_sets; s++)
		for (size_t i = 0; i < sets[s].n_rows; i++)
			add_row(&sets[s].rows[i], schemas, actions, mapping, results);
	(void)json_object_set_new(schemas, "Action", json_pack("{s:o,s:{s:s,s:o}}", "oneOf", actions, "discriminator", "propertyName", "action",
	                                                       "mapping", mapping));
	(void)json_object_set_new(schemas, "ActionResult", json_pack("{s:o}", "anyOf", results));
}

json_t *action_example_result(const struct action_row *row)
{
	json_t *result = json_pack("{s:b,s:i}", "ok", 1, "elapsed_ms", 2);
	json_auto_t *own = row->example_result ? json_loads(row->example_result, 0, NULL) : NULL;

	if (row->example_result && (!own || json_object_update(result, own) < 0))
		DIE("the example of %s is no JSON object", row->name);
	return result;
}
