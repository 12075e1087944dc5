/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The document as a whole: what all routes share. */
#include "session/front/openapi.h"

#include <stdio.h>
#include <string.h>

#include "session/base/hash.h"
#include "session/base/util.h"
#include "session/front/assets.h"
#include "session/front/openapi_path.h"
#include "session/front/operation.h"
#include "session/front/spec.h"

#define TAG_HEX 32 /* characters of the hash in the ETag */

static const char description[] =
	"Sandboxed desktops for computer-use agents. A session is a jail with a virtual display and real apps; an agent looks by pictures and acts "
	"by lists of actions.\n\n"
	"A request is checked as a whole before anything happens: unknown members, wrong types and numbers out of range are refused, nothing is "
	"clamped. Refusals are problem objects (RFC 9457); programs go by their `code`. GET paths answer HEAD, too.\n\n"
	"Replies may grow: pass over members that you do not know. New codes of refusals, events and lines of journals may come as well.";

static const struct {
	const char *name, *doc;
} tags[] = {
	{"sessions", "Their life: made, listed, shown, changed, ended."},
	{"calls", "What an agent does: acts and pictures."},
	{"files", "Files of a session, in and out."},
	{"approvals", "What a person is asked about, and answers."},
	{"streams", "What happens, as server-sent events."},
	{"mcp", "The Model Context Protocol."},
	{"views", "Looking at a session live, by RFB (VNC), and links for people who do."},
	{"tokens", "Who may do what with a session."},
	{"secrets", "What is stored to be typed by sessions, and never shown."},
	{"server", "What this server offers."},
	{"console", "The page that shows sessions."},
	{"health", "Whether it runs, and how."},
};

static json_t *tags_document(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(tags); i++)
		(void)json_array_append_new(list, json_pack("{s:s,s:s}", "name", tags[i].name, "description", tags[i].doc));
	return list;
}

static json_t *codes_schema(void)
{
	json_t *codes = json_array();

	for (int code = ERR_NONE + 1; code < ERR_N_CODES; code++)
		(void)json_array_append_new(codes, json_string(err_info((enum err_code)code)->wire));
	return json_pack("{s:s,s:s,s:o}", "type", "string", "description", "What a refusal can be.", "enum", codes);
}

static json_t *roles_schema(void)
{
	json_t *names = json_array();

	for (enum role role = 0; role < N_ROLES; role++)
		(void)json_array_append_new(names, json_string(role_name(role)));
	return json_pack("{s:s,s:s,s:o}", "type", "string", "description", "What a token may do.", "enum", names);
}

/* The stage's were made when Glovebox was built. */
static json_t *schemas_document(struct err *e)
{
	const struct asset *stage = assets_find(ASSETS_SCHEMAS);
	json_t *schemas = stage ? json_loadb(stage->start, (size_t)(stage->end - stage->start), 0, NULL) : NULL;

	if (!schemas) {
		(void)err_set(e, ERR_INTERNAL, NULL, "the schemas of the stage are not there");
		return NULL;
	}
	shape_add_all(schemas, shapes_front, shapes_n_front);
	for (size_t i = 0; i < operation_n_forms; i++)
		(void)json_object_set_new(schemas, operation_forms[i].name, form_schema(operation_forms[i].form));
	(void)json_object_set_new(schemas, "Spec", spec_create_schema());
	(void)json_object_set_new(schemas, "ErrorCode", codes_schema());
	(void)json_object_set_new(schemas, "Role", roles_schema());
	return schemas;
}

static json_t *components_document(struct err *e)
{
	json_t *schemas = schemas_document(e);

	if (!schemas)
		return NULL;
	return json_pack("{s:o,s:o,s:o,s:{s:{s:s,s:s,s:s}}}", "schemas", schemas, "parameters", openapi_parameters(), "headers", openapi_headers(),
	                 "securitySchemes", "bearer", "type", "http", "scheme", "bearer", "description",
	                 "The operator's token, that of a key of the configuration, or one of a session's.");
}

static json_t *paths_document(const struct route *rows, size_t n_rows, struct err *e)
{
	json_t *paths = json_object();

	for (size_t i = 0; i < n_rows; i++) {
		json_t *path = json_object_get(paths, rows[i].path);
		json_t *operation = openapi_operation(&rows[i], e);

		if (!operation) {
			json_decref(paths);
			return NULL;
		}
		if (!path) {
			path = openapi_path(rows[i].path);
			(void)json_object_set_new(paths, rows[i].path, path);
		}
		openapi_add_operation(path, rows[i].method, operation);
	}
	return paths;
}

/* The first of a status is Refused409, then comes Refused409-2. */
static char *free_name(json_t *responses, const char *status)
{
	char *name = util_printf("Refused%s", status);

	for (int n = 2; json_object_get(responses, name); n++) {
		free(name);
		name = util_printf("Refused%s-%d", status, n);
	}
	return name;
}

/* Puts a refusal into components/responses, if none that is the same is there, and a reference in its place. `names` has them by their texts. */
static void share(json_t *operation, const char *status, json_t *names, json_t *responses)
{
	json_t *all = json_object_get(operation, "responses"), *own = json_object_get(all, status);
	auto_free char *text = json_dumps(own, JSON_COMPACT), *key = util_printf("%s %s", status, text ? text : "");
	const char *name = json_string_value(json_object_get(names, key));

	if (!name) {
		auto_free char *fresh = free_name(responses, status);

		(void)json_object_set(responses, fresh, own);
		(void)json_object_set_new(names, key, json_string(fresh));
		name = json_string_value(json_object_get(names, key));
	}
	(void)json_object_set_new(all, status, json_pack("{s:o}", "$ref", json_sprintf("#/components/responses/%s", name)));
}

/* Most operations refuse the same: said once, the document is little more than half as long. */
static json_t *share_refusals(json_t *paths)
{
	json_t *responses = json_object(), *operation, *path;
	json_auto_t *names = json_object();
	const char *key, *method;

	json_object_foreach(paths, key, path)
		json_object_foreach(path, method, operation) {
			json_auto_t *before = json_copy(json_object_get(operation, "responses"));
			const char *status;
			json_t *value;

			json_object_foreach(before, status, value)
				if (status[0] >= '4')
					share(operation, status, names, responses);
		}
	return responses;
}

json_t *openapi_document(const struct route *rows, size_t n_rows, struct err *e)
{
	json_t *components = components_document(e), *paths = components ? paths_document(rows, n_rows, e) : NULL;

	if (!paths) {
		json_decref(components);
		return NULL;
	}
	(void)json_object_set_new(components, "responses", share_refusals(paths));
	return json_pack("{s:s,s:{s:s,s:s,s:s,s:{s:s,s:s},s:{s:s}},s:[{s:s,s:s}],s:o,s:[{s:[]}],s:o,s:o}", "openapi", "3.1.0", "info", "title", "Glovebox",
	                 "version", GLOVEBOX_VERSION, "description", description, "license", "name", "GPL-2.0-or-later", "identifier",
	                 "GPL-2.0-or-later", "contact", "name", "the operator of this server", "servers", "url", "/", "description", "this server",
	                 "tags", tags_document(), "security", "bearer", "paths", paths, "components", components);
}

int openapi_init(struct openapi *openapi, struct err *e)
{
	json_auto_t *document = openapi_document(routes, routes_n, e);
	uint8_t hash[HASH_BYTES];
	char hex[2 * HASH_BYTES + 1];

	if (!document)
		return -1;
	openapi->text = json_dumps(document, JSON_COMPACT);
	if (!openapi->text)
		DIE("no memory for the OpenAPI document");
	openapi->len = strlen(openapi->text);
	hash_sha256(openapi->text, openapi->len, hash);
	util_hex(hex, hash, sizeof(hash));
	(void)snprintf(openapi->tag, sizeof(openapi->tag), "\"%.*s\"", TAG_HEX, hex);
	return 0;
}

void openapi_finish(struct openapi *openapi)
{
	free(openapi->text);
	*openapi = (struct openapi){.text = NULL};
}
