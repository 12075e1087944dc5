/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flat schemas. */
#include "session/mcp/flat.h"

#include <string.h>

#include "session/base/util.h"

/* Of a property whose rows do not say its type: what it can be said as. */
static const struct {
	const char *name, *schema;
} untyped[] = {
	{"space", "{\"type\":\"string\",\"enum\":[\"native\"]}"},
	{"commands", "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}"},
};

static json_t *untyped_schema(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(untyped); i++)
		if (strcmp(untyped[i].name, name) == 0)
			return json_loads(untyped[i].schema, 0, NULL);
	return json_pack("{s:s}", "type", "string");
}

/* The first alternative, or the object among them, with what stands beside the alternatives. */
static json_t *choose(const json_t *property)
{
	const json_t *list = json_object_get(property, "anyOf"), *option, *chosen = json_array_get(list, 0);
	json_t *out = json_copy((json_t *)(uintptr_t)property);
	size_t i;

	json_array_foreach(list, i, option)
		if (strcmp(json_string_value(json_object_get(option, "type")), "object") == 0)
			chosen = option;
	(void)json_object_del(out, "anyOf");
	(void)json_object_update_missing(out, (json_t *)(uintptr_t)chosen);
	return out;
}

static json_t *flat_property(const char *name, const json_t *property)
{
	json_t *typed, *flat;

	if (json_object_get(property, "const"))
		return json_pack("{s:s,s:[O]}", "type", "string", "enum", json_object_get(property, "const"));
	if (json_object_get(property, "anyOf"))
		typed = choose(property);
	else
		typed = json_copy((json_t *)(uintptr_t)property);
	if (!json_object_get(typed, "type"))
		(void)json_object_update_missing_new(typed, untyped_schema(name));
	flat = flat_schema(typed);
	json_decref(typed);
	return flat;
}

json_t *flat_schema(const json_t *schema)
{
	json_t *out = json_copy((json_t *)(uintptr_t)schema), *properties = json_object_get(out, "properties"), *items = json_object_get(out, "items");
	const char *name;
	json_t *property;

	if (properties) {
		json_t *flat = json_object();

		json_object_foreach(properties, name, property)
			(void)json_object_set_new(flat, name, flat_property(name, property));
		(void)json_object_set_new(out, "properties", flat);
	}
	if (items)
		(void)json_object_set_new(out, "items", flat_schema(items));
	return out;
}

static const struct {
	const char *name;
	bool is_upper;
} bounds[] = {
	{"minimum", false}, {"maximum", true}, {"minLength", false}, {"maxLength", true}, {"minItems", false}, {"maxItems", true},
};

/* What one of both does not bound, the two together do not either. */
static void widen_bound(json_t *into, const json_t *from, const char *name, bool is_upper)
{
	json_t *had = json_object_get(into, name), *other = json_object_get(from, name);
	double step = json_number_value(other) - json_number_value(had);

	if (!other)
		(void)json_object_del(into, name);
	else if (had && (is_upper ? step > 0 : step < 0))
		(void)json_object_set(into, name, other);
}

static void widen_enum(json_t *into, const json_t *from)
{
	json_t *more = json_object_get(from, "enum"), *all, *value;
	size_t i;

	if (!more || !json_object_get(into, "enum")) {
		(void)json_object_del(into, "enum");
		return;
	}
	all = json_copy(json_object_get(into, "enum")); /* the row's own stays as it is */
	json_array_foreach(more, i, value) {
		bool is_known = false;
		json_t *known;
		size_t j;

		json_array_foreach(all, j, known)
			is_known |= json_equal(known, value);
		if (!is_known)
			(void)json_array_append(all, value);
	}
	(void)json_object_set_new(into, "enum", all);
}

/* Has `into` take what `from` takes as well; what they do not share of a default is no default. */
static void widen(json_t *into, const json_t *from)
{
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
		widen_bound(into, from, bounds[i].name, bounds[i].is_upper);
	widen_enum(into, from);
	if (!json_equal(json_object_get(into, "default"), json_object_get(from, "default")))
		(void)json_object_del(into, "default");
}

/* What each action says of a property, once where all say the same. */
static json_t *gather_doc(const json_t *actions, const char *name)
{
	const json_t *action;
	const char *first = NULL;
	auto_free char *text = util_strdup("");
	bool differ = false;
	size_t i;

	json_array_foreach(actions, i, action) {
		const json_t *property = json_object_get(json_object_get(json_object_get(action, "schema"), "properties"), name);
		const char *doc = json_string_value(json_object_get(property, "description"));
		char *longer;

		if (!doc)
			continue;
		first = first ? first : doc;
		differ |= strcmp(first, doc) != 0;
		longer = util_printf("%s%s%s: %s", text, *text ? "; " : "", json_string_value(json_object_get(action, "name")), doc);
		free(text);
		text = longer;
	}
	return json_string(differ ? text : first);
}

static void take_properties(json_t *into, const json_t *schema)
{
	json_auto_t *flat = flat_schema(schema);
	const char *name;
	json_t *property;

	json_object_foreach(json_object_get(flat, "properties"), name, property) {
		json_t *known = json_object_get(into, name);

		if (strcmp(name, "action") == 0)
			continue;
		if (known)
			widen(known, property);
		else
			(void)json_object_set_new(into, name, json_copy(property));
	}
}

json_t *flat_actions(const json_t *actions)
{
	json_t *names = json_array(), *properties = json_object(), *property;
	json_t *action;
	const char *name;
	size_t i;

	(void)json_object_set_new(properties, "action",
	                          json_pack("{s:s,s:O,s:s}", "type", "string", "enum", names, "description", "what to do"));
	json_array_foreach((json_t *)(uintptr_t)actions, i, action) {
		(void)json_array_append(names, json_object_get(action, "name"));
		take_properties(properties, json_object_get(action, "schema"));
	}
	json_decref(names);
	json_object_foreach(properties, name, property)
		if (strcmp(name, "action") != 0)
			(void)json_object_set_new(property, "description", gather_doc(actions, name));
	return json_pack("{s:s,s:o,s:[s]}", "type", "object", "properties", properties, "required", "action");
}

static bool is_required(const json_t *schema, const char *name)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, item)
		if (strcmp(json_string_value(item), name) == 0)
			return true;
	return false;
}

/* "{x?, y?}", or nothing. Malloced. */
static char *fields_doc(const json_t *schema)
{
	char *text = util_strdup("");
	const char *name;
	json_t *property;

	json_object_foreach(json_object_get(schema, "properties"), name, property) {
		char *longer;

		if (strcmp(name, "action") == 0)
			continue;
		longer = util_printf("%s%s%s%s", text, *text ? ", " : " {", name, is_required(schema, name) ? "" : "?");
		free(text);
		text = longer;
	}
	if (*text) {
		char *longer = util_printf("%s}", text);

		free(text);
		text = longer;
	}
	return text;
}

char *flat_actions_doc(const json_t *actions)
{
	char *text = util_strdup("");
	const json_t *action;
	size_t i;

	json_array_foreach(actions, i, action) {
		auto_free char *fields = fields_doc(json_object_get(action, "schema"));
		char *longer = util_printf("%s\n%s%s: %s", text, json_string_value(json_object_get(action, "name")), fields,
		                           json_string_value(json_object_get(action, "doc")));

		free(text);
		text = longer;
	}
	return text;
}

void flat_open(json_t *schema)
{
	const char *name;
	json_t *member;
	void *next;

	if (json_is_false(json_object_get(schema, "additionalProperties")))
		(void)json_object_del(schema, "additionalProperties");
	json_object_foreach_safe(schema, next, name, member)
		if (json_is_object(member))
			flat_open(member);
}
