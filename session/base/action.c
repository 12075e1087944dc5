/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The action table: finding rows and describing them. */
#include "session/base/action.h"

#include <string.h>

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
