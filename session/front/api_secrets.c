/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The routes of stored secrets. A value passes through here once, from the body of its request to the warden, in memory that is wiped; what it is for, its
 * rule, stays here and goes to the stages of sessions that name it.
 */
#include <stdio.h>
#include <string.h>

#include "session/base/egress/injection.h"
#include "session/base/limits.h"
#include "session/base/locked.h"
#include "session/base/log.h"
#include "session/base/origin.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/audit.h"
#include "session/front/describe.h"
#include "session/front/request.h"
#include "session/front/secrets.h"

#define NAME_SEGMENT 2 /* of "/v1/secrets/{secret}" */
#define APP_SIGNS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define SHOWN_MAX 80

static const char *parameter(const struct request *request, const char *name)
{
	return json_string_value(json_object_get(request->target.query, name));
}

static int refuse(const char *path, const char *value, const char *rule, struct err *e)
{
	char shown[SHOWN_MAX];

	return err_set(e, ERR_BAD_FIELD, path, "%s is refused: %s", err_quote(shown, sizeof(shown), value, strlen(value)), rule);
}

static int read_name(const struct request *request, const char **name, struct err *e)
{
	*name = request->target.segment[NAME_SEGMENT];
	return secrets_name_valid(*name) ? 0 : refuse("/secret", *name, "a name has 1 to 31 of a-z, A-Z, 0-9, _ and -, and begins with a letter", e);
}

/* With inject and header it is put into requests to that origin. */
static int read_injection(const struct request *request, struct store_secret *rule, struct err *e)
{
	const char *inject = parameter(request, "inject"), *header = parameter(request, "header"), *prefix = parameter(request, "prefix"), *fault;
	struct injection injection;

	if (!inject != !header)
		return err_set(e, ERR_MISSING_FIELD, inject ? "/header" : "/inject", "inject and header: both, or neither");
	if (inject && (fault = injection_read_origin(inject, &injection)))
		return refuse("/inject", inject, fault, e);
	if (header && (fault = injection_header_fault(header)))
		return refuse("/header", header, fault, e);
	if (prefix && (fault = inject ? injection_prefix_fault(prefix) : "it is beside inject and header"))
		return refuse("/prefix", prefix, fault, e);
	if (inject && parameter(request, "app"))
		return err_set(e, ERR_BAD_FIELD, "/inject", "what is put into requests is never typed: inject, or app and origin");
	rule->inject = inject ? inject : "";
	rule->header = header ? header : "";
	rule->prefix = prefix ? prefix : "";
	return 0;
}

/* With app and origin it can be typed there; with neither it is masked alone. */
static int read_typing(const struct request *request, struct store_secret *rule, struct err *e)
{
	const char *app = parameter(request, "app"), *origin = parameter(request, "origin"), *field = parameter(request, "field");

	if (!app != !origin)
		return err_set(e, ERR_MISSING_FIELD, app ? "/origin" : "/app", "app and origin: both, or neither");
	if (app && (!*app || strlen(app) >= SECRET_NAME_SIZE || app[strspn(app, APP_SIGNS)]))
		return refuse("/app", app, "it is the name of an app in the image's catalogue, such as firefox", e);
	if (origin && !origin_is(origin))
		return refuse("/origin", origin, "it is the origin of a page: https://host or https://host:port, in lower case and with nothing behind it", e);
	if (field && (!app || (strcmp(field, "password") != 0 && strcmp(field, "text") != 0)))
		return refuse("/field", field, "it is password or text, beside app and origin", e);
	rule->app = app ? app : "";
	rule->origin = origin ? origin : "";
	rule->field = !app ? "" : field ? field : "password";
	return 0;
}

/* What the keyboard of a session has keys for; no Tab and no Return. */
static int check_keys(const struct request *request, struct err *e)
{
	for (size_t i = 0; i < request->body_len; i++)
		if (request->body[i] < ' ' || request->body[i] > '~')
			return err_set(e, ERR_BAD_FIELD, NULL, "a secret that is typed has no characters but those of a US keyboard (and no end of a line)");
	return 0;
}

static int check_value(const struct request *request, const struct store_secret *rule, struct err *e)
{
	if (request->body_len == 0)
		return err_set(e, ERR_BAD_FIELD, NULL, "the body is empty; a secret has 1 to %d bytes", LIMIT_SECRET_BYTES);
	if (*rule->inject && injection_value_fault(request->body, request->body_len))
		return err_set(e, ERR_BAD_FIELD, NULL, "%s", injection_value_fault(request->body, request->body_len));
	return *rule->app ? check_keys(request, e) : 0;
}

static int send_value(const struct request *request, const char *name, struct err *e)
{
	struct warden_secret *record = locked_alloc(sizeof(*record));
	int rc;

	(void)snprintf(record->name, sizeof(record->name), "%s", name);
	record->len = (uint32_t)request->body_len;
	memcpy(record->value, request->body, request->body_len);
	explicit_bzero(request->body, request->body_len);
	rc = warden_put_secret(request->front->warden, record, util_now_ms() + LIMIT_STATE_MS, e);
	locked_free(record, sizeof(*record));
	return rc;
}

static void note(struct request *request, const char *event, const char *name)
{
	json_t *fields = audit_who(&request->who, request->id);

	(void)json_object_set_new(fields, "subject", json_pack("{s:s}", "secret", name));
	audit_note(request->front->audit, event, fields);
	log_info("the secret %s: %s", name, event);
}

static void on_before(void *arg, const struct store_secret *secret)
{
	int64_t *created_ms = arg;

	*created_ms = secret->created_ms;
}

/* An old rule never holds for a new value: it goes before that comes. */
static int store(struct request *request, struct store_secret *secret, struct err *e)
{
	struct store *rules = request->front->store;

	secret->changed_ms = secret->created_ms = store_now_ms();
	secret->by = request->who.owner;
	if (store_each_secret(rules, secret->name, on_before, &secret->created_ms, e) < 0 || store_drop_secret(rules, secret->name, e) < 0 ||
	    send_value(request, secret->name, e) < 0)
		return -1;
	return store_put_secret(rules, secret, e);
}

int api_put_secret(struct request *request, struct err *e)
{
	struct store_secret secret = {.name = NULL};

	if (read_name(request, &secret.name, e) < 0 || read_typing(request, &secret, e) < 0 || read_injection(request, &secret, e) < 0 ||
	    check_value(request, &secret, e) < 0 || store(request, &secret, e) < 0)
		return -1;
	note(request, "secret_stored", secret.name);
	reply_json(&request->reply, 200, secrets_describe(&secret));
	return 0;
}

static void add_secret(void *list, const struct store_secret *secret)
{
	(void)json_array_append_new(list, secrets_describe(secret));
}

int api_list_secrets(struct request *request, struct err *e)
{
	json_auto_t *list = json_array();

	if (store_each_secret(request->front->store, NULL, add_secret, list, e) < 0)
		return -1;
	reply_json(&request->reply, 200, json_pack("{s:O}", "secrets", list));
	return 0;
}

int api_drop_secret(struct request *request, struct err *e)
{
	const char *name;

	if (read_name(request, &name, e) < 0 || store_drop_secret(request->front->store, name, e) < 0 ||
	    warden_drop_secret(request->front->warden, name, util_now_ms() + LIMIT_STATE_MS, e) < 0)
		return -1;
	note(request, "secret_removed", name);
	reply_empty(&request->reply, 204);
	return 0;
}
