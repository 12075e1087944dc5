/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schemas of what this program says, made from rows. */
#include "session/base/shape.h"

#include <ctype.h>
#include <string.h>

#include "session/base/util.h"

static const struct plain {
	const char *word, *schema;
} plains[] = {
	{"string", "{\"type\":\"string\"}"},
	{"integer", "{\"type\":\"integer\"}"},
	{"number", "{\"type\":\"number\"}"},
	{"boolean", "{\"type\":\"boolean\"}"},
	{"null", "{\"type\":\"null\"}"},
	{"object", "{\"type\":\"object\"}"},
	{"any", "{}"},
	{"count", "{\"type\":\"integer\",\"minimum\":0}"},
	{"time", "{\"type\":\"string\",\"format\":\"date-time\"}"},
	{"base64", "{\"type\":\"string\",\"contentEncoding\":\"base64\"}"},
};

static json_t *words_schema(const char *text, size_t len)
{
	json_t *list = json_array();

	while (len > 0) {
		const char *space = memchr(text, ' ', len);
		size_t n = space ? (size_t)(space - text) : len;

		(void)json_array_append_new(list, json_stringn(text, n));
		n += n < len;
		text += n;
		len -= n;
	}
	return json_pack("{s:s,s:o}", "type", "string", "enum", list);
}

static json_t *one_schema(const char *text, size_t len)
{
	if (len > 1 && text[0] == '=')
		return words_schema(text + 1, len - 1);
	if (len > 0 && isupper((unsigned char)text[0]))
		return json_pack("{s:o}", "$ref", json_sprintf(SHAPE_REF "%.*s", (int)len, text));
	for (size_t i = 0; i < ARRAY_LEN(plains); i++)
		if (strlen(plains[i].word) == len && memcmp(plains[i].word, text, len) == 0)
			return json_loads(plains[i].schema, 0, NULL);
	return NULL;
}

/* One alternative, with what stands behind it. */
static json_t *part_schema(const char *text, size_t len)
{
	bool is_list = len > 2 && memcmp(text + len - 2, "[]", 2) == 0, is_map = len > 2 && memcmp(text + len - 2, "{}", 2) == 0;
	json_t *inner = is_list || is_map ? part_schema(text, len - 2) : one_schema(text, len);

	if (!inner || (!is_list && !is_map))
		return inner;
	return is_list ? json_pack("{s:s,s:o}", "type", "array", "items", inner)
	               : json_pack("{s:s,s:o}", "type", "object", "additionalProperties", inner);
}

json_t *shape_type(const char *type)
{
	json_auto_t *parts = json_array();

	for (const char *at = type;; at++) {
		size_t len = strcspn(at, "|");
		json_t *part = part_schema(at, len);

		if (!part)
			return NULL;
		(void)json_array_append_new(parts, part);
		at += len;
		if (!*at)
			break;
	}
	return json_array_size(parts) == 1 ? json_incref(json_array_get(parts, 0)) : json_pack("{s:O}", "anyOf", parts);
}

json_t *shape_described(const char *type, const char *doc)
{
	json_t *schema = shape_type(type);

	if (!schema)
		DIE("%s is no type of a shape", type);
	if (doc)
		(void)json_object_set_new(schema, "description", json_string(doc));
	return schema;
}

void shape_add(json_t *schema, json_t *required, const struct members *members)
{
	json_t *properties = json_object_get(schema, "properties");

	for (size_t i = 0; i < members->n; i++) {
		const struct member *member = &members->list[i];
		size_t len = strcspn(member->name, "?");

		(void)json_object_setn_new(properties, member->name, len, shape_described(member->type, member->doc));
		if (!member->name[len])
			(void)json_array_append_new(required, json_stringn(member->name, len));
	}
}

json_t *shape_schema(const struct shape *shape)
{
	json_t *required = json_array();
	json_t *schema = json_pack("{s:s,s:s,s:{},s:o}", "type", "object", "description", shape->doc, "properties", "required", required);

	shape_add(schema, required, &shape->members);
	if (json_array_size(required) == 0)
		(void)json_object_del(schema, "required");
	return schema;
}

void shape_add_all(json_t *schemas, const struct shape *shapes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)json_object_set_new(schemas, shapes[i].name, shape_schema(&shapes[i]));
}
