/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forms: objects checked by rows, and the schemas made from the same rows. */
#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define SHOWN_MAX 80

/* The pointer of the field at fault is built here, once, and copied into the error. */
struct checker {
	const struct space *space;
	char path[ERR_PATH_MAX];
	struct err *e;
};

static int check_form(struct checker *c, const struct form *form, const json_t *value);

/* Appends "/key" (escaped as RFC 6901 says) to the path; returns the old length, to cut back to. */
static size_t push(struct checker *c, const char *key)
{
	size_t old = strlen(c->path);
	size_t len = old;

	if (len + 1 < sizeof(c->path))
		c->path[len++] = '/';
	for (; *key && len + 3 < sizeof(c->path); key++) {
		bool escape = *key == '~' || *key == '/';

		if (escape)
			c->path[len++] = '~';
		c->path[len++] = *key == '~' ? '0' : *key == '/' ? '1' : *key;
	}
	c->path[len] = '\0';
	return old;
}

static size_t push_index(struct checker *c, size_t index)
{
	char key[24];

	(void)snprintf(key, sizeof(key), "%zu", index);
	return push(c, key);
}

static void pop(struct checker *c, size_t old)
{
	c->path[old] = '\0';
}

/* The value as it is shown in an error: JSON text, bounded. */
static const char *shown(const json_t *value, char out[SHOWN_MAX])
{
	auto_free char *text = NULL;

	if (json_is_string(value))
		return err_quote(out, SHOWN_MAX, json_string_value(value), json_string_length(value));
	if (json_is_object(value) || json_is_array(value)) {
		(void)snprintf(out, SHOWN_MAX, json_is_object(value) ? "an object" : "a list of %zu", json_array_size(value));
		return out;
	}
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	(void)snprintf(out, SHOWN_MAX, "%s", text ? text : "a value");
	return out;
}

static int refuse(struct checker *c, const json_t *value, const char *rule)
{
	char text[SHOWN_MAX];

	return err_set(c->e, ERR_BAD_FIELD, c->path, "%s is not allowed here: %s", shown(value, text), rule);
}

static int check_int(struct checker *c, const json_t *value, double min, double max, const char *what)
{
	char rule[120];

	if (json_is_integer(value) && (double)json_integer_value(value) >= min && (double)json_integer_value(value) <= max)
		return 0;
	(void)snprintf(rule, sizeof(rule), "%s must be a whole number from %.0f to %.0f", what, min, max);
	return refuse(c, value, rule);
}

static int check_number(struct checker *c, const json_t *value, double min, double max)
{
	char rule[120];

	if (json_is_number(value) && json_number_value(value) >= min && json_number_value(value) <= max)
		return 0;
	(void)snprintf(rule, sizeof(rule), "it must be a number from %g to %g", min, max);
	return refuse(c, value, rule);
}

static int check_string(struct checker *c, const json_t *value, double min, double max)
{
	char rule[120];
	size_t len = json_string_length(value);

	if (!json_is_string(value))
		return refuse(c, value, "it must be a string");
	if (strlen(json_string_value(value)) != len)
		return refuse(c, value, "a string must not contain a NUL character");
	if ((double)len >= min && (double)len <= max)
		return 0;
	(void)snprintf(rule, sizeof(rule), "it must have %.0f to %.0f bytes and has %zu", min, max, len);
	return refuse(c, value, rule);
}

static int check_choice(struct checker *c, const json_t *value, const char *choices)
{
	char rule[200];
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);

	for (const char *at = choices; text && len > 0 && *at;) {
		size_t n = strcspn(at, " ");

		if (n == len && memcmp(at, text, n) == 0)
			return 0;
		at += n + (at[n] == ' ');
	}
	(void)snprintf(rule, sizeof(rule), "it must be one of: %s", choices);
	return refuse(c, value, rule);
}

/* `doc` is shown to who sends a single string: it says what the list is made of. */
static int check_strings(struct checker *c, const json_t *value, double min, double max, const char *doc)
{
	char rule[200];
	const json_t *item;
	size_t i;

	(void)snprintf(rule, sizeof(rule), "it must be a list of %.0f to %.0f strings%s%s", min, max, json_is_string(value) ? ": " : "",
	               json_is_string(value) ? doc : "");
	if (!json_is_array(value) || (double)json_array_size(value) < min || (double)json_array_size(value) > max)
		return refuse(c, value, rule);
	json_array_foreach(value, i, item) {
		size_t old = push_index(c, i);

		if (check_string(c, item, 0, LIMIT_BODY_BYTES) < 0)
			return -1;
		pop(c, old);
	}
	return 0;
}

static int check_map(struct checker *c, const json_t *value, double max)
{
	char rule[120];
	const char *key;
	json_t *item;

	(void)snprintf(rule, sizeof(rule), "it must be an object of at most %.0f strings", max);
	if (!json_is_object(value) || (double)json_object_size(value) > max)
		return refuse(c, value, rule);
	/* The macro wants a json_t that may change; nothing is changed. */
	json_object_foreach((json_t *)(uintptr_t)value, key, item) {
		size_t old = push(c, key);

		if (check_string(c, item, 0, 64.0 * 1024) < 0)
			return -1;
		pop(c, old);
	}
	return 0;
}

static int check_point(struct checker *c, const json_t *value)
{
	static const char *const WHAT[2] = {"x", "y"};
	const int size[2] = {c->space->width_px, c->space->height_px};

	if (!json_is_array(value) || json_array_size(value) != 2)
		return refuse(c, value, "a point must be a list of two whole numbers, [x, y]");
	for (size_t i = 0; i < 2; i++) {
		size_t old = push_index(c, i);

		if (check_int(c, json_array_get(value, i), 0, size[i] - 1, WHAT[i]) < 0)
			return -1;
		pop(c, old);
	}
	return 0;
}

static int check_path(struct checker *c, const json_t *value, double min, double max)
{
	char rule[120];
	const json_t *item;
	size_t i;

	(void)snprintf(rule, sizeof(rule), "it must be a list of %.0f to %.0f points [x, y]", min, max);
	if (!json_is_array(value) || (double)json_array_size(value) < min || (double)json_array_size(value) > max)
		return refuse(c, value, rule);
	json_array_foreach(value, i, item) {
		size_t old = push_index(c, i);

		if (check_point(c, item) < 0)
			return -1;
		pop(c, old);
	}
	return 0;
}

static int check_keys(struct checker *c, const json_t *value)
{
	if (json_is_string(value))
		return check_string(c, value, 1, LIMIT_CHORD_BYTES);
	if (!json_is_array(value))
		return refuse(c, value, "it must be a string such as \"ctrl+shift+t\" or a list of key names");
	return check_strings(c, value, 1, LIMIT_CHORD_KEYS, "");
}

static int check_list(struct checker *c, const struct field *field, const json_t *value)
{
	char rule[120];
	const json_t *item;
	size_t i;

	(void)snprintf(rule, sizeof(rule), "it must be a list of %.0f to %.0f objects", field->min, field->max);
	if (!json_is_array(value) || (double)json_array_size(value) < field->min || (double)json_array_size(value) > field->max)
		return refuse(c, value, rule);
	json_array_foreach(value, i, item) {
		size_t old = push_index(c, i);

		if (field->form ? check_form(c, field->form, item) < 0 : (!json_is_object(item) && refuse(c, item, "it must be an object") < 0))
			return -1;
		pop(c, old);
	}
	return 0;
}

static const struct field rect_fields[] = {
	{"x", FIELD_INT, true, 0, 65535, NULL, NULL, "px", NULL, "left column"},
	{"y", FIELD_INT, true, 0, 65535, NULL, NULL, "px", NULL, "top row"},
	{"width", FIELD_INT, true, 1, 65535, NULL, NULL, "px", NULL, "width"},
	{"height", FIELD_INT, true, 1, 65535, NULL, NULL, "px", NULL, "height"},
};
static const struct form rect_form = {rect_fields, ARRAY_LEN(rect_fields), NULL};

static int check_rect(struct checker *c, const json_t *value)
{
	char rule[120];

	if (check_form(c, &rect_form, value) < 0)
		return -1;
	if (form_int(value, "x", 0) + form_int(value, "width", 0) <= c->space->width_px &&
	    form_int(value, "y", 0) + form_int(value, "height", 0) <= c->space->height_px)
		return 0;
	(void)snprintf(rule, sizeof(rule), "it must lie inside the space of %dx%d", c->space->width_px, c->space->height_px);
	return refuse(c, value, rule);
}

static int check_field(struct checker *c, const struct field *field, const json_t *value)
{
	bool needs_space = field->type == FIELD_X || field->type == FIELD_Y || field->type == FIELD_PATH || field->type == FIELD_RECT;

	if (needs_space && !c->space)
		DIE("field %s needs a space", field->name);
	switch (field->type) {
	case FIELD_INT:
		return check_int(c, value, field->min, field->max, "it");
	case FIELD_NUMBER:
		return check_number(c, value, field->min, field->max);
	case FIELD_BOOL:
		return json_is_boolean(value) ? 0 : refuse(c, value, "it must be true or false");
	case FIELD_STRING:
		return check_string(c, value, field->min, field->max);
	case FIELD_ENUM:
		return check_choice(c, value, field->choices);
	case FIELD_KEYS:
		return check_keys(c, value);
	case FIELD_X:
		return check_int(c, value, 0, c->space->width_px - 1, "x");
	case FIELD_Y:
		return check_int(c, value, 0, c->space->height_px - 1, "y");
	case FIELD_PATH:
		return check_path(c, value, field->min, field->max);
	case FIELD_STRINGS:
		return check_strings(c, value, field->min, field->max, field->doc);
	case FIELD_MAP:
		return check_map(c, value, field->max);
	case FIELD_OBJECT:
		if (field->form)
			return check_form(c, field->form, value);
		return json_is_object(value) ? 0 : refuse(c, value, "it must be an object");
	case FIELD_LIST:
		return check_list(c, field, value);
	case FIELD_RECT:
		return check_rect(c, value);
	case FIELD_ANY:
		return 0;
	}
	return 0;
}

static const struct field *find_field(const struct form *form, const char *name)
{
	for (size_t i = 0; i < form->n_fields; i++)
		if (strcmp(form->fields[i].name, name) == 0)
			return &form->fields[i];
	return NULL;
}

/* The names of a form's fields, as many as fit, then "…". */
static const char *field_names(const struct form *form, char *out, size_t size)
{
	static const char MORE[] = "…";
	size_t used = 0;

	(void)snprintf(out, size, "%s", form->n_fields ? "" : "none");
	for (size_t i = 0; i < form->n_fields; i++) {
		const char *name = form->fields[i].name;
		bool fits = used + strlen(name) + strlen(", ") + sizeof(MORE) <= size;

		used += (size_t)snprintf(out + used, size - used, "%s%s", fits ? name : MORE, fits && i + 1 < form->n_fields ? ", " : "");
		if (!fits)
			break;
	}
	return out;
}

static int unknown_field(struct checker *c, const struct form *form, const char *name)
{
	char quoted[SHOWN_MAX];
	char names[200];

	(void)push(c, name);
	return err_set(c->e, ERR_UNKNOWN_FIELD, c->path, "%s is not a field of this object; its fields: %s",
	               err_quote(quoted, sizeof(quoted), name, strlen(name)), field_names(form, names, sizeof(names)));
}

static int check_form(struct checker *c, const struct form *form, const json_t *value)
{
	const char *key;
	json_t *item;

	if (!json_is_object(value))
		return refuse(c, value, "it must be an object");
	json_object_foreach((json_t *)(uintptr_t)value, key, item) {
		const struct field *field = find_field(form, key);
		size_t old;

		if (!field)
			return unknown_field(c, form, key);
		old = push(c, key);
		if (check_field(c, field, item) < 0)
			return -1;
		pop(c, old);
	}
	for (size_t i = 0; i < form->n_fields; i++) {
		const struct field *field = &form->fields[i];

		if (!field->required || json_object_get(value, field->name))
			continue;
		(void)push(c, field->name);
		return err_set(c->e, ERR_MISSING_FIELD, c->path, "\"%s\" is required: %s", field->name, field->doc);
	}
	return 0;
}

int form_check(const struct form *form, const json_t *value, const char *path, const struct space *space, struct err *e)
{
	struct checker c = {.space = space, .e = e};

	(void)snprintf(c.path, sizeof(c.path), "%s", path);
	return check_form(&c, form, value);
}

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
		return form_schema(&rect_form);
	case FIELD_ANY:
		return json_object();
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

long form_int(const json_t *object, const char *name, long fallback)
{
	const json_t *value = json_object_get(object, name);

	return json_is_integer(value) ? (long)json_integer_value(value) : fallback;
}

double form_number(const json_t *object, const char *name, double fallback)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

bool form_bool(const json_t *object, const char *name, bool fallback)
{
	const json_t *value = json_object_get(object, name);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

const char *form_string(const json_t *object, const char *name, const char *fallback)
{
	const json_t *value = json_object_get(object, name);

	return json_is_string(value) ? json_string_value(value) : fallback;
}
