/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON Schemas, made from the rows of forms. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"

static void set_number(json_t *schema, const char *key, double value)
{
	json_object_set_new(schema, key, json_integer((json_int_t)value));
}

static void set_string(json_t *schema, const char *key, const char *text)
{
	json_object_set_new(schema, key, json_string(text));
}

static void set_range(json_t *schema, const char *min_key, const char *max_key, const struct field *field)
{
	set_number(schema, min_key, field->min);
	set_number(schema, max_key, field->max);
}

static json_t *typed(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

static json_t *choices_schema(const char *choices)
{
	json_t *list = json_array();

	for (const char *at = choices; *at;) {
		size_t n = strcspn(at, " ");

		json_array_append_new(list, json_stringn(at, n));
		at += n + (at[n] == ' ');
	}
	return json_pack("{s:s,s:o}", "type", "string", "enum", list);
}

static json_t *point_schema(void)
{
	return json_pack("{s:s,s:{s:s,s:i},s:i,s:i}", "type", "array", "items", "type", "integer", "minimum", 0, "minItems", 2, "maxItems",
	                 2);
}

static json_t *array_schema(json_t *items, const struct field *field)
{
	json_t *schema = json_pack("{s:s,s:o}", "type", "array", "items", items);

	set_range(schema, "minItems", "maxItems", field);
	return schema;
}

/* What the code that checks it takes, as far as the row says it. */
static json_t *any_schema(const struct field *field)
{
	if (field->choices && field->form)
		return json_pack("{s:[o,o]}", "anyOf", choices_schema(field->choices), form_schema(field->form));
	return field->form ? json_pack("{s:[{s:s},o]}", "anyOf", "type", "boolean", form_schema(field->form)) : json_object();
}

static json_t *field_schema(const struct field *field)
{
	json_t *schema;

	switch (field->type) {
	case FIELD_INT:
		schema = typed("integer");
		set_range(schema, "minimum", "maximum", field);
		return schema;
	case FIELD_NUMBER:
		return json_pack("{s:s,s:f,s:f}", "type", "number", "minimum", field->min, "maximum", field->max);
	case FIELD_BOOL:
		return typed("boolean");
	case FIELD_STRING:
		schema = typed("string");
		set_range(schema, "minLength", "maxLength", field);
		return schema;
	case FIELD_ENUM:
		return choices_schema(field->choices);
	case FIELD_KEYS:
		return json_pack("{s:[{s:s,s:i,s:i},{s:s,s:{s:s},s:i,s:i}]}", "anyOf", "type", "string", "minLength", 1, "maxLength",
		                 LIMIT_CHORD_BYTES, "type", "array", "items", "type", "string", "minItems", 1, "maxItems", LIMIT_CHORD_KEYS);
	case FIELD_X:
	case FIELD_Y:
		return json_pack("{s:s,s:i}", "type", "integer", "minimum", 0);
	case FIELD_PATH:
		return array_schema(point_schema(), field);
	case FIELD_STRINGS:
		return array_schema(typed("string"), field);
	case FIELD_MAP:
		return json_pack("{s:s,s:{s:s},s:i}", "type", "object", "additionalProperties", "type", "string", "maxProperties", (int)field->max);
	case FIELD_OBJECT:
		return field->form ? form_schema(field->form) : typed("object");
	case FIELD_LIST:
		return array_schema(field->form ? form_schema(field->form) : typed("object"), field);
	case FIELD_RECT:
		return form_schema(&form_rect);
	case FIELD_ANY:
		return any_schema(field);
	}
	return json_object();
}

json_t *form_schema(const struct form *form)
{
	json_t *properties = json_object();
	json_t *required = json_array();
	json_t *schema;

	for (size_t i = 0; i < form->n_fields; i++) {
		const struct field *field = &form->fields[i];
		json_t *property = field_schema(field);
		auto_free char *doc = field->unit ? util_printf("%s (%s)", field->doc, field->unit) : util_strdup(field->doc);

		set_string(property, "description", doc);
		if (field->fallback)
			json_object_set_new(property, "default", json_loads(field->fallback, JSON_DECODE_ANY, NULL));
		json_object_set_new(properties, field->name, property);
		if (field->required)
			json_array_append_new(required, json_string(field->name));
	}
	schema = json_pack("{s:s,s:o,s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
	if (json_array_size(required) > 0)
		json_object_set_new(schema, "required", required);
	else
		json_decref(required);
	if (form->any_of_doc)
		set_string(schema, "description", form->any_of_doc);
	return schema;
}
