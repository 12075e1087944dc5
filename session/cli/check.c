/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Acts, checked against the server's schemas. */
#include "session/cli/check.h"

#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/util.h"

static int check_at(const json_t *schema, const json_t *value, char path[ERR_PATH_MAX], struct err *e);

/* A value in an error: a string quoted, others as bounded JSON. */
static const char *shown(char *out, size_t size, const json_t *value)
{
	auto_free char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);

	if (json_is_string(value))
		return err_quote(out, size, json_string_value(value), json_string_length(value));
	(void)snprintf(out, size, "%s", text ? text : "this");
	return out;
}

static bool is_type(const json_t *value, const char *type)
{
	static const struct {
		const char *type;
		json_type is, or;
	} rows[] = {
		{"object", JSON_OBJECT, JSON_OBJECT}, {"array", JSON_ARRAY, JSON_ARRAY}, {"string", JSON_STRING, JSON_STRING},
		{"integer", JSON_INTEGER, JSON_INTEGER}, {"number", JSON_INTEGER, JSON_REAL}, {"boolean", JSON_TRUE, JSON_FALSE},
		{"null", JSON_NULL, JSON_NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].type, type) == 0)
			return json_typeof(value) == rows[i].is || json_typeof(value) == rows[i].or;
	return true;
}

/* The number that `name` of the schema limits: the value itself, its length or how many it has. False: it limits nothing of this value. */
static bool measure(const char *name, const json_t *value, double *out)
{
	if (strcmp(name, "minimum") == 0 || strcmp(name, "maximum") == 0)
		*out = json_number_value(value);
	else if (strcmp(name + 3, "Length") == 0)
		*out = (double)json_string_length(value);
	else if (strcmp(name + 3, "Items") == 0)
		*out = (double)json_array_size(value);
	else
		*out = (double)json_object_size(value);
	return strcmp(name + 3, "imum") == 0 ? json_is_number(value) : strcmp(name + 3, "Length") == 0 ? json_is_string(value)
	     : strcmp(name + 3, "Items") == 0 ? json_is_array(value) : json_is_object(value);
}

static int check_limits(const json_t *schema, const json_t *value, const char *path, struct err *e)
{
	static const char *const limits[] = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"};
	double found, limit;

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		bool is_min = limits[i][1] == 'i';

		if (!json_object_get(schema, limits[i]) || !measure(limits[i], value, &found))
			continue;
		limit = json_number_value(json_object_get(schema, limits[i]));
		/* Lengths are of characters there, of bytes here: more bytes than that are looked at by the session. */
		if (is_min ? found < limit : found > limit && strcmp(limits[i], "maxLength") != 0)
			return err_set(e, ERR_BAD_FIELD, path, "%g is not allowed here: %s is %g", found, limits[i], limit);
	}
	return 0;
}

static int check_choice(const json_t *schema, const json_t *value, const char *path, struct err *e)
{
	const json_t *choices = json_object_get(schema, "enum"), *only = json_object_get(schema, "const"), *choice;
	auto_free char *wanted = NULL;
	char quoted[80];
	size_t i;

	json_array_foreach(choices, i, choice)
		if (json_equal(choice, value))
			return 0;
	if ((!choices && !only) || (only && json_equal(only, value)))
		return 0;
	wanted = json_dumps(choices ? choices : only, JSON_ENCODE_ANY | JSON_COMPACT);
	return err_set(e, ERR_BAD_FIELD, path, "%s is not allowed here: it must be one of %.160s", shown(quoted, sizeof(quoted), value),
	               wanted ? wanted : "");
}

/* In the words of the server's own check. */
static int refuse_member(const json_t *properties, const char *key, const char *path, struct err *e)
{
	char quoted[80], names[200] = "";
	const char *name;
	json_t *schema;

	json_object_foreach((json_t *)(uintptr_t)properties, name, schema)
		err_list(names, sizeof(names), ", ", name);
	return err_set(e, ERR_UNKNOWN_FIELD, path, "%s is not a field of this object; its fields: %s", err_quote(quoted, sizeof(quoted), key, strlen(key)),
	               *names ? names : "none");
}

static int check_members(const json_t *schema, const json_t *value, char path[ERR_PATH_MAX], struct err *e)
{
	const json_t *properties = json_object_get(schema, "properties"), *name;
	const char *key;
	json_t *member;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, name)
		if (!json_object_get(value, json_string_value(name)))
			return err_set(e, ERR_MISSING_FIELD, path, "\"%s\" is required", json_string_value(name));
	json_object_foreach((json_t *)(uintptr_t)value, key, member) {
		const json_t *wanted = json_object_get(properties, key);
		size_t old;

		if (!wanted && json_is_false(json_object_get(schema, "additionalProperties")))
			return refuse_member(properties, key, path, e);
		old = form_pointer_add(path, key);
		if (wanted && check_at(wanted, member, path, e) < 0)
			return -1;
		path[old] = '\0';
	}
	return 0;
}

static int check_items(const json_t *schema, const json_t *value, char path[ERR_PATH_MAX], struct err *e)
{
	const json_t *wanted = json_object_get(schema, "items"), *item;
	size_t i;

	json_array_foreach(value, i, item) {
		char key[24];
		size_t old;

		(void)snprintf(key, sizeof(key), "%zu", i);
		old = form_pointer_add(path, key);
		if (wanted && check_at(wanted, item, path, e) < 0)
			return -1;
		path[old] = '\0';
	}
	return 0;
}

/* The fault that is told is that of the form whose type is right, or else the first. */
static int check_any(const json_t *schema, const json_t *value, const char *path, struct err *e)
{
	const json_t *forms = json_object_get(schema, "anyOf"), *form;
	bool told = false;
	size_t i;

	json_array_foreach(forms, i, form) {
		const char *type = json_string_value(json_object_get(form, "type"));
		struct err why = {0};

		if (check_schema(form, value, path, &why) == 0)
			return 0;
		if (!told || (type && is_type(value, type)))
			*e = why;
		told = true;
	}
	return told ? -1 : 0;
}

static int check_at(const json_t *schema, const json_t *value, char path[ERR_PATH_MAX], struct err *e)
{
	const char *type = json_string_value(json_object_get(schema, "type"));
	char quoted[80];

	if (type && !is_type(value, type))
		return err_set(e, ERR_BAD_FIELD, path, "%s is not allowed here: it must be of type %s", shown(quoted, sizeof(quoted), value), type);
	if (check_choice(schema, value, path, e) < 0 || check_limits(schema, value, path, e) < 0 || check_any(schema, value, path, e) < 0)
		return -1;
	if (json_is_object(value) && check_members(schema, value, path, e) < 0)
		return -1;
	return json_is_array(value) ? check_items(schema, value, path, e) : 0;
}

int check_schema(const json_t *schema, const json_t *value, const char *path, struct err *e)
{
	char at[ERR_PATH_MAX];

	(void)snprintf(at, sizeof(at), "%s", path);
	return check_at(schema, value, at, e);
}

static int check_action(const json_t *document, const json_t *action, const char *path, struct err *e)
{
	const json_t *row, *name = json_object_get(action, "action");
	char quoted[80];
	size_t i;

	if (!json_is_string(name))
		return err_set(e, name ? ERR_BAD_FIELD : ERR_MISSING_FIELD, path, "\"action\" is required: the name of the action");
	json_array_foreach(json_object_get(document, "actions"), i, row)
		if (json_equal(json_object_get(row, "name"), name))
			return check_schema(json_object_get(row, "schema"), action, path, e);
	return err_set(e, ERR_UNKNOWN_ACTION, path, "%s is not an action; GET /v1/actions lists them",
	               err_quote(quoted, sizeof(quoted), json_string_value(name), json_string_length(name)));
}

static int check_act(const json_t *document, const json_t *act, const char *path, struct err *e)
{
	const json_t *action;
	char at[64];
	size_t i;

	if (check_schema(json_object_get(document, "act"), act, path, e) < 0)
		return -1;
	json_array_foreach(json_object_get(act, "actions"), i, action) {
		(void)snprintf(at, sizeof(at), "%s/actions/%zu", path, i);
		if (check_action(document, action, at, e) < 0)
			return -1;
	}
	return 0;
}

int check_before(struct cli *cli, const json_t *acts)
{
	auto_reply reply = {0};
	struct err e = {0};
	const json_t *act;
	char path[32];
	size_t i;
	int status = cli_call(cli, "GET", "/v1/actions", NULL, &reply);

	if (status != CLI_DONE)
		return status;
	json_array_foreach(acts, i, act) {
		(void)snprintf(path, sizeof(path), "/steps/%zu", i);
		if (check_act(reply.json, act, path, &e) < 0)
			return cli_fail(cli, CLI_USAGE, &e);
	}
	return CLI_DONE;
}
