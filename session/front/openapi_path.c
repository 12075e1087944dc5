/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One operation: what follows from its route's flags, and what its row says. */
#include "session/front/openapi_path.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/front/openapi_refusals.h"
#include "session/front/operation.h"

#define PARAMETER_REF "#/components/parameters/"

/* --- what has a name of its own --- */

/* Parameters of paths, and header fields of requests. */
static const struct {
	const char *name, *in, *type, *doc, *example;
} parameters[] = {
	{"id", "path", "string", "id of the session", "s4v6kq2mzx7hw3pd"},
	{"token", "path", "string", "id of the token", "t8f2c41d"},
	{"approval", "path", "string", "id of the question", "s4v6kq2mzx7hw3pd.3"},
	{"file", "path", "string", "of a file of the console; it may have slashes", "main.js"},
	{"path", "path", "string", "of a file of the session, without its first slash; it may have slashes", "home/user/notes.txt"},
	{"secret", "path", "string", "name of the stored secret", "shop"},
	{"viewer", "path", "string", "as POST /v1/sessions/{id}/rfb has called it", "v3"},
	{"share", "path", "string", "id of the share link", "s4v6kq2mzx7hw3pd-7k2m9x4a"},
	{"Sec-WebSocket-Protocol", "header", "string", "binary, and the ticket behind \"ticket.\"", "binary, ticket.AAAAA-BBBBB-CCCCC-DDDDD"},
	{"Sec-WebSocket-Version", "header", "string", "of WebSocket", "13"},
	{"Sec-WebSocket-Key", "header", "string", "16 random bytes in Base64", "dGhlIHNhbXBsZSBub25jZQ=="},
	{"Idempotency-Key", "header", "string", "1 to 255 printable ASCII characters, a new one for each call: sent again with it, the call is not done again",
	 "click-17"},
	{"If-None-Match", "header", "string", "an ETag that was sent before: 304 while it is still that", "\"11.1.1\""},
	{"Range", "header", "string", "bytes=FIRST-LAST of the file, bytes=FIRST- or bytes=-LAST; others are not heeded", "bytes=0-99"},
	{"If-Range", "header", "string", "an ETag: the range is heeded while it is still that", "\"0123456789abcdef\""},
	{"MCP-Protocol-Version", "header", "string", "the revision that is spoken", "2025-11-25"},
	{"Mcp-Session-Id", "header", "string", "what initialize answered with", "0f6c1d2e3b4a59687f8e9dacbb0a1928"},
	{"Last-Event-ID", "header", "string", "the last event that is there already; 0: all from the first", "7"},
};

static const struct {
	const char *name, *type, *doc;
	bool always; /* it stands in each reply whose row names it */
} headers[] = {
	{"X-Request-Id", "string", "of this request, as in the log and the journal", true},
	{"ETag", "string", "goes back as If-None-Match", false},
	{"Accept-Ranges", "string", "bytes", false},
	{"Content-Range", "string", "bytes FIRST-LAST/ALL", true},
	{"Glovebox-Masked", "string", "true: something in it was masked by the result check", false},
	{"Glovebox-Entries", "string", "files, folders and links in the archive", false},
	{"Glovebox-Skipped", "string", "what is not in it: other kinds, links that lead out, files with several names", false},
	{"Location", "string", "of what was made, unless it is a list", false},
	{"Idempotency-Replayed", "string", "true: the call was made before, and this is what came of it", false},
	{"Retry-After", "string", "seconds, where a refusal passes by itself", false},
	{"WWW-Authenticate", "string", "Bearer", true},
	{"Allow", "string", "the methods that there are", true},
	{"Upgrade", "string", "websocket", true},
	{"Sec-WebSocket-Version", "string", "the version that is spoken", true},
	{"Sec-WebSocket-Accept", "string", "to the key of the request, as RFC 6455 says", true},
	{"Sec-WebSocket-Protocol", "string", "binary", true},
	{"X-Accel-Buffering", "string", "no, of events: a proxy must not collect them", false},
	{"Mcp-Session-Id", "string", "of initialize: what the client sends from then on", false},
	{"Content-Disposition", "string", "attachment, for what no browser is to show", false},
	{"Glovebox-At", "string", "frame=F, epoch=E, episode=N: when the picture was true", true},
	{"Glovebox-Space", "string", "WIDTHxHEIGHT of the coordinates", true},
	{"Glovebox-Native", "string", "WIDTHxHEIGHT of the display", true},
	{"Glovebox-Size", "string", "WIDTHxHEIGHT of the picture itself", true},
	{"Glovebox-Region", "string", "x,y,width,height of the part that it shows", false},
	{"Glovebox-Covered", "boolean", "of a window alone: lies something else over a part of it?", false},
	{"Glovebox-Fallback", "string", "what was asked for, when the picture had to have fewer bytes", false},
};

json_t *openapi_parameters(void)
{
	json_t *out = json_object();

	for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
		(void)json_object_set_new(out, parameters[i].name,
		                          json_pack("{s:s,s:s,s:s,s:b,s:o,s:s}", "name", parameters[i].name, "in", parameters[i].in, "description",
		                                    parameters[i].doc, "required", strcmp(parameters[i].in, "path") == 0, "schema",
		                                    shape_described(parameters[i].type, NULL), "example", parameters[i].example));
	return out;
}

json_t *openapi_headers(void)
{
	json_t *out = json_object();

	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		(void)json_object_set_new(out, headers[i].name, json_pack("{s:s,s:b,s:o}", "description", headers[i].doc, "required", headers[i].always,
		                                                          "schema", shape_described(headers[i].type, NULL)));
	return out;
}

static bool is_header(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		if (strlen(headers[i].name) == len && memcmp(headers[i].name, name, len) == 0)
			return true;
	return false;
}

static void add_ref(json_t *list, const char *prefix, const char *name, size_t len)
{
	(void)json_array_append_new(list, json_pack("{s:o}", "$ref", json_sprintf("%s%.*s", prefix, (int)len, name)));
}

/* X-Request-Id and those of the row. */
static json_t *headers_of(const char *names, struct err *e)
{
	json_t *out = json_pack("{s:{s:s}}", "X-Request-Id", "$ref", HEADER_REF "X-Request-Id");

	for (const char *at = names; at && *at;) {
		size_t len = strcspn(at, " ");

		if (!is_header(at, len)) {
			json_decref(out);
			(void)err_set(e, ERR_INTERNAL, NULL, "the header %.*s is not known", (int)len, at);
			return NULL;
		}
		(void)json_object_setn_new(out, at, len, json_pack("{s:o}", "$ref", json_sprintf(HEADER_REF "%.*s", (int)len, at)));
		at += len + (at[len] == ' ');
	}
	return out;
}

/* --- what it takes --- */

/* "label.*" as an object of parameters whose names begin so: in the query each member stands for itself. */
static json_t *prefix_parameter(const struct parameter *row)
{
	int len = (int)strlen(row->name) - 2; /* of what stands before ".*" */
	auto_free char *pattern = util_printf("^%.*s\\..", len, row->name), *name = util_printf("%.*s.job", len, row->name);
	json_t *schema = json_pack("{s:s,s:{s:o},s:b}", "type", "object", "patternProperties", pattern, shape_described(row->type, NULL),
	                           "additionalProperties", 0);

	return json_pack("{s:o,s:s,s:s,s:b,s:o,s:{s:s}}", "name", json_stringn(row->name, (size_t)len), "in", "query", "style", "form", "explode", 1, "schema",
	                 schema, "example", name, row->example);
}

static json_t *plain_parameter(const struct parameter *row)
{
	json_t *out = json_pack("{s:s,s:s,s:o}", "name", row->name, "in", "query", "schema", shape_described(row->type, NULL)), *value;

	if (!row->example)
		return out;
	value = strcmp(row->type, "string") == 0 ? NULL : json_loads(row->example, JSON_DECODE_ANY, NULL);
	(void)json_object_set_new(out, "example", value ? value : json_string(row->example));
	return out;
}

static json_t *query_parameter(const struct parameter *row)
{
	json_t *out = strchr(row->name, '*') ? prefix_parameter(row) : plain_parameter(row);

	if (row->doc)
		(void)json_object_set_new(out, "description", json_string(row->doc));
	return out;
}

static json_t *parameters_of(const struct route *route)
{
	const struct operation *operation = route->operation;
	json_t *list = json_array();

	if (route->flags & ROUTE_KEY)
		add_ref(list, PARAMETER_REF, "Idempotency-Key", strlen("Idempotency-Key"));
	for (const char *at = operation->headers; at && *at;) {
		size_t len = strcspn(at, " ");

		add_ref(list, PARAMETER_REF, at, len);
		at += len + (at[len] == ' ');
	}
	for (size_t i = 0; i < operation->n_query; i++)
		(void)json_array_append_new(list, query_parameter(&operation->query[i]));
	return list;
}

/* NULL with *e when the example is no JSON. */
static json_t *request_body(const struct route *route, struct err *e)
{
	const struct operation *operation = route->operation;
	json_t *example;

	if (!operation->body && route->flags & ROUTE_UPLOAD)
		return json_pack("{s:b,s:{s:{s:{s:s,s:s}},s:{s:{s:s,s:s}}}}", "required", 0, "content", "application/octet-stream", "schema", "type", "string",
		                 "format", "binary", "application/x-tar", "schema", "type", "string", "format", "binary");
	if (!operation->body)
		return json_pack("{s:b,s:{s:{s:{s:s,s:s}}}}", "required", 1, "content", "application/octet-stream", "schema", "type", "string", "format", "binary");
	example = json_loads(operation->request, 0, NULL);
	if (!example) {
		(void)err_set(e, ERR_INTERNAL, NULL, "the request of %s is no JSON", operation->id);
		return NULL;
	}
	return json_pack("{s:b,s:{s:{s:o,s:o}}}", "required", 1, "content", "application/json", "schema", shape_described(operation->body, NULL), "example",
	                 example);
}

json_t *openapi_path(const char *path)
{
	json_t *out = json_object(), *list = json_array();

	for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{'))
		add_ref(list, PARAMETER_REF, at + 1, strcspn(at + 1, "}"));
	if (json_array_size(list) > 0)
		(void)json_object_set(out, "parameters", list);
	json_decref(list);
	return out;
}

/* --- what it says --- */

/* "NAME Shape, NAME Shape": what each event is, its data taken as JSON. */
static json_t *events_of(const char *text)
{
	json_t *list = json_array();

	for (const char *at = text; *at;) {
		size_t name = strcspn(at, " "), type = strcspn(at + name + 1, ",");
		auto_free char *shape = util_printf("%.*s", (int)type, at + name + 1);

		(void)json_array_append_new(list, json_pack("{s:s,s:{s:{s:o},s:o},s:[s,s]}", "type", "object", "properties", "event", "const",
		                                            json_stringn(at, name), "data", shape_described(shape, NULL), "required", "event", "data"));
		at += name + 1 + type;
		at += strspn(at, ", ");
	}
	if (json_array_size(list) > 1)
		return json_pack("{s:o}", "oneOf", list);
	json_t *one = json_incref(json_array_get(list, 0));

	json_decref(list);
	return one;
}

/* A body that is no JSON as a whole: text, events, lines of JSON. contentSchema is for one event or line. */
static json_t *text_schema(const char *media, const char *type)
{
	bool is_events = strcmp(media, "text/event-stream") == 0;
	json_t *schema = shape_described("string", NULL);

	if (!type)
		return schema;
	(void)json_object_set_new(schema, "contentMediaType", json_string(media));
	(void)json_object_set_new(schema, "contentSchema", is_events ? events_of(type) : shape_described(type, NULL));
	return schema;
}

/* The content of one media type. NULL with *e when its example is no JSON. */
static json_t *content_of(const char *id, const char *media, const struct said *row, struct err *e)
{
	bool is_json = strcmp(media, "application/json") == 0;
	json_t *out = json_object(), *example;

	if (is_json)
		(void)json_object_set_new(out, "schema", shape_described(row->type, NULL));
	else if (strncmp(media, "text/", 5) == 0 || row->type)
		(void)json_object_set_new(out, "schema", text_schema(media, row->type));
	if (!row->example)
		return out;
	example = is_json ? json_loads(row->example, 0, NULL) : json_string(row->example);
	if (!example) {
		json_decref(out);
		(void)err_set(e, ERR_INTERNAL, NULL, "the reply of %s is no JSON", id);
		return NULL;
	}
	(void)json_object_set_new(out, "example", example);
	return out;
}

static json_t *reply_of(const struct operation *operation, const struct said *row, struct err *e)
{
	json_t *own = headers_of(row->headers, e), *content = json_object();
	const char *media = row->media;

	/* Of text types the parameters stand behind a space. */
	for (const char *at = media; own && at && *at;) {
		size_t len = strchr(media, ';') ? strlen(at) : strcspn(at, " ");
		auto_free char *name = util_printf("%.*s", (int)len, at);
		json_t *one = content_of(operation->id, name, row, e);

		if (!one) {
			json_decref(own);
			own = NULL;
			break;
		}
		(void)json_object_set_new(content, name, one);
		at += len + (at[len] == ' ');
	}
	if (!own) {
		json_decref(content);
		return NULL;
	}
	if (json_object_size(content) > 0)
		return json_pack("{s:s,s:o,s:o}", "description", row->doc, "headers", own, "content", content);
	json_decref(content);
	return json_pack("{s:s,s:o}", "description", row->doc, "headers", own);
}

/* --- all of it --- */

/* Several replies of one status are one, whose bodies are of several types. */
static void put_reply(json_t *responses, const char *status, json_t *taken)
{
	json_t *before = json_object_get(responses, status);

	if (!before) {
		(void)json_object_set_new(responses, status, taken);
		return;
	}
	(void)json_object_set_new(before, "description", json_sprintf("%s; %s", json_string_value(json_object_get(before, "description")),
	                                                              json_string_value(json_object_get(taken, "description"))));
	(void)json_object_update(json_object_get(before, "headers"), json_object_get(taken, "headers"));
	(void)json_object_update(json_object_get(before, "content"), json_object_get(taken, "content"));
	json_decref(taken);
}

static json_t *responses_of(const struct route *route, struct err *e)
{
	const struct operation *operation = route->operation;
	json_auto_t *refusals = NULL;
	json_t *out = json_object(), *refusal;
	const char *status;

	for (size_t i = 0; i < operation->n_said; i++) {
		json_t *reply = reply_of(operation, &operation->said[i], e);
		char number[12];

		if (!reply) {
			json_decref(out);
			return NULL;
		}
		(void)snprintf(number, sizeof(number), "%d", operation->said[i].status);
		put_reply(out, number, reply);
	}
	refusals = openapi_refusals(route, e);
	if (!refusals) {
		json_decref(out);
		return NULL;
	}
	json_object_foreach(refusals, status, refusal)
		put_reply(out, status, json_incref(refusal));
	return out;
}

/* The route's line as a sentence, what the row says beside it, and who may. */
static char *description_of(const struct route *route)
{
	const char *more = route->operation->doc;
	auto_free char *roles = NULL;
	char *text;

	for (enum role role = 0; role < N_ROLES; role++) {
		char *longer;

		if (!(route->roles & ROLES_OF(role)) || route->flags & ROUTE_PUBLIC)
			continue;
		longer = util_printf("%s%s%s", roles ? roles : "For tokens of the role ", roles ? ", " : "", role_name(role));
		free(roles);
		roles = longer;
	}
	text = util_printf("%s.%s%s\n\n%s.", route->doc, more ? " " : "", more ? more : "", roles ? roles : "Needs no token");
	text[0] = (char)toupper((unsigned char)text[0]);
	return text;
}

json_t *openapi_operation(const struct route *route, struct err *e)
{
	const struct operation *operation = route->operation;
	json_t *responses = responses_of(route, e), *list, *body = NULL;
	auto_free char *text = description_of(route);
	json_t *out;

	if (responses && (operation->body || route->flags & (ROUTE_BYTES | ROUTE_UPLOAD)) && !(body = request_body(route, e))) {
		json_decref(responses);
		return NULL;
	}
	if (!responses)
		return NULL;
	list = parameters_of(route);
	out = json_pack("{s:s,s:[s],s:s,s:s,s:O*,s:o*,s:o}", "operationId", operation->id, "tags", operation->tag, "summary", route->doc, "description", text,
	                "parameters", json_array_size(list) > 0 ? list : NULL, "requestBody", body, "responses", responses);
	json_decref(list);
	if (route->flags & (ROUTE_PUBLIC | ROUTE_UPGRADE))
		(void)json_object_set_new(out, "security", json_array());
	return out;
}

void openapi_add_operation(json_t *path, const char *method, json_t *operation)
{
	char name[8];
	size_t len = 0;

	for (; method[len] && len + 1 < sizeof(name); len++)
		name[len] = (char)tolower((unsigned char)method[len]);
	name[len] = '\0';
	(void)json_object_set_new(path, name, operation);
}
