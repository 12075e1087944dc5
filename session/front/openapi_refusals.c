/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codes by a row for each flag. */
#include "session/front/openapi_refusals.h"

#include <stdio.h>
#include <string.h>

#include "session/base/problem.h"
#include "session/base/util.h"
#include "session/front/operation.h"

static bool always(const struct route *route)
{
	(void)route;
	return true;
}

static bool has_token(const struct route *route)
{
	return !(route->flags & ROUTE_PUBLIC);
}

static bool has_name(const struct route *route)
{
	return strchr(route->path, '{');
}

static bool has_body(const struct route *route)
{
	return route->flags & (ROUTE_BODY | ROUTE_BYTES);
}

static bool has_query(const struct route *route)
{
	return route->operation->n_query > 0;
}

static bool has_key(const struct route *route)
{
	return route->flags & ROUTE_KEY;
}

static bool refuses_key(const struct route *route)
{
	return strcmp(route->method, "POST") == 0 && !(route->flags & (ROUTE_KEY | ROUTE_REPEATABLE));
}

static bool is_upgrade(const struct route *route)
{
	return route->flags & ROUTE_UPGRADE;
}

static bool is_stream(const struct route *route)
{
	return route->flags & ROUTE_STREAM;
}

/* What follows from a route's flags and path. */
static const struct {
	bool (*applies)(const struct route *route);
	const char *codes;
} usual[] = {
	{always, "bad_request unknown_field misdirected bad_origin request_timeout too_large busy internal"},
	{has_token, "unauthorized forbidden"},
	{has_name, "not_found"},
	{has_body, "bad_json bad_field missing_field unsupported_media_type"},
	{has_query, "bad_field"},
	{has_key, "key_reused already_done limit_reached"},
	{refuses_key, "unsupported"},
	{is_stream, "limit_reached"},
	{is_upgrade, "upgrade_required"},
};

/* Adds the codes, each to the list of its status. */
static int add_codes(json_t *by_status, const char *codes, struct err *e)
{
	for (const char *at = codes; at && *at;) {
		size_t len = strcspn(at, " ");
		auto_free char *name = util_printf("%.*s", (int)len, at);
		enum err_code code = err_from_wire(name);
		char status[12];
		json_t *list;

		if (code == ERR_NONE)
			return err_set(e, ERR_INTERNAL, NULL, "%s is no code of an error", name);
		(void)snprintf(status, sizeof(status), "%d", err_info(code)->status);
		list = json_object_get(by_status, status);
		if (!list) {
			list = json_object();
			(void)json_object_set_new(by_status, status, list);
		}
		(void)json_object_set_new(list, name, json_string(err_info(code)->title));
		at += len + (at[len] == ' ');
	}
	return 0;
}

/* A refusal with one of some codes. */
static json_t *refusal_of(const char *status, json_t *codes)
{
	json_t *names = json_array(), *own = json_pack("{s:{s:s},s:{s:s}}", "X-Request-Id", "$ref", HEADER_REF "X-Request-Id", "Retry-After", "$ref",
	                                               HEADER_REF "Retry-After");
	auto_free char *doc = NULL;
	const char *name;
	json_t *title;

	json_object_foreach(codes, name, title) {
		char *more = util_printf("%s%s%s", doc ? doc : "", doc ? "; " : "", json_string_value(title));

		free(doc);
		doc = more;
		(void)json_array_append_new(names, json_string(name));
	}
	if (strcmp(status, "401") == 0)
		(void)json_object_set_new(own, "WWW-Authenticate", json_pack("{s:s}", "$ref", HEADER_REF "WWW-Authenticate"));
	if (strcmp(status, "426") == 0)
		(void)json_object_update_new(own, json_pack("{s:{s:s},s:{s:s}}", "Upgrade", "$ref", HEADER_REF "Upgrade", "Sec-WebSocket-Version", "$ref",
		                                            HEADER_REF "Sec-WebSocket-Version"));
	if (strcmp(status, "405") == 0)
		(void)json_object_set_new(own, "Allow", json_pack("{s:s}", "$ref", HEADER_REF "Allow"));
	return json_pack("{s:s,s:o,s:{s:{s:{s:s,s:{s:{s:o}}}}}}", "description", doc, "headers", own, "content", PROBLEM_MEDIA_TYPE, "schema", "$ref",
	                 SHAPE_REF "Problem", "properties", "code", "enum", names);
}

json_t *openapi_refusals(const struct route *route, struct err *e)
{
	json_auto_t *by_status = json_object();
	const char *status;
	json_t *codes, *out;

	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (usual[i].applies(route) && add_codes(by_status, usual[i].codes, e) < 0)
			return NULL;
	if (add_codes(by_status, route->operation->errors, e) < 0)
		return NULL;
	out = json_object();
	json_object_foreach(by_status, status, codes)
		(void)json_object_set_new(out, status, refusal_of(status, codes));
	return out;
}
