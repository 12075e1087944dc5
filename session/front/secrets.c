/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules by their names. */
#include "session/front/secrets.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "session/base/egress/egress_rule.h"
#include "session/base/egress/injection.h"
#include "session/base/json.h"
#include "session/front/describe.h"
#include "session/warden/proto.h"

bool secrets_name_valid(const char *name)
{
	size_t len = strlen(name);
	bool begins = (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z');

	return begins && len < SECRET_NAME_SIZE && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == len;
}

static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

json_t *secrets_describe(const struct store_secret *secret)
{
	json_t *prefix = *secret->inject ? json_string(secret->prefix) : json_null();

	return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "name", secret->name, "app", text_or_null(secret->app), "origin",
	                 text_or_null(secret->origin), "field", text_or_null(secret->field), "inject", text_or_null(secret->inject), "header",
	                 text_or_null(secret->header), "prefix", prefix, "created_at", describe_time(secret->created_ms), "changed_at",
	                 describe_time(secret->changed_ms), "by", secret->by);
}

static void add_rule(void *list, const struct store_secret *secret)
{
	(void)json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "name", secret->name, "app", secret->app, "origin",
	                                            secret->origin, "field", secret->field, "inject", secret->inject, "header", secret->header, "prefix",
	                                            secret->prefix));
}

int secrets_rules(struct store *store, const json_t *spec, json_t **rules, struct err *e)
{
	json_auto_t *list = json_array();
	const json_t *name;
	char path[40];
	size_t i;

	json_array_foreach(json_object_get(spec, "secrets"), i, name) {
		if (store_each_secret(store, json_string_value(name), add_rule, list, e) < 0)
			return -1;
		if (json_array_size(list) > i)
			continue;
		(void)snprintf(path, sizeof(path), "/secrets/%zu", i);
		return err_set(e, ERR_BAD_FIELD, path, "there is no secret %s; the operator stores one with PUT /v1/secrets/NAME", json_string_value(name));
	}
	*rules = json_incref(list);
	return 0;
}

static bool injects(const json_t *rule)
{
	return *form_string(rule, "inject", "") != '\0';
}

uint32_t secrets_injected(const json_t *rules)
{
	const json_t *rule;
	uint32_t bits = 0;
	size_t i;

	json_array_foreach(rules, i, rule)
		if (injects(rule))
			bits |= UINT32_C(1) << i;
	return bits;
}

/* Is there a rule before this one for the same header of the same origin? */
static bool is_taken(const json_t *rules, size_t at)
{
	const json_t *rule = json_array_get(rules, at), *other;
	size_t i;

	json_array_foreach(rules, i, other)
		if (i < at && injects(other) && json_equal(json_object_get(rule, "inject"), json_object_get(other, "inject")) &&
		    strcasecmp(form_string(rule, "header", ""), form_string(other, "header", "")) == 0)
			return true;
	return false;
}

static bool lets_through(const json_t *egress, const struct injection *injection)
{
	const char *mode = form_string(egress, "mode", "none");
	struct egress_rules *rules;
	bool found;

	if (strcmp(mode, "allowlist") != 0)
		return strcmp(mode, "open") == 0;
	if (egress_rules_create(json_object_get(egress, "allow"), &rules, NULL) < 0)
		return false;
	found = egress_rules_names(rules, injection->host, injection->port);
	egress_rules_destroy(rules);
	return found;
}

static int check_way(const json_t *rules, size_t at, const json_t *spec, struct err *e)
{
	const json_t *rule = json_array_get(rules, at);
	const char *origin = form_string(rule, "inject", ""), *name = form_string(rule, "name", "");
	const char *fault;
	struct injection injection;
	char path[40];

	(void)snprintf(path, sizeof(path), "/secrets/%zu", at);
	/* One that was stored when another rule held. */
	if ((fault = injection_read_origin(origin, &injection)))
		return err_set(e, ERR_BAD_FIELD, path, "%s is put into requests to %s, which is refused: %s", name, origin, fault);
	/* Also what is for the setup phase alone may need it. */
	if (!lets_through(json_object_get(spec, "egress"), &injection) &&
	    !lets_through(json_object_get(json_object_get(spec, "setup"), "egress"), &injection))
		return err_set(e, ERR_BAD_FIELD, path, "%s is put into requests to %s, which egress does not let through: its mode must be open, or its list must have this host",
		               name, origin);
	if (is_taken(rules, at))
		return err_set(e, ERR_BAD_FIELD, path, "%s is put into the same header of the same requests as one before it", name);
	return 0;
}

/* A variable of the setup phase is seen in the session, where a secret that is put into requests never is. */
static int check_variables(const json_t *rules, const json_t *variables, struct err *e)
{
	const json_t *rule;
	const char *variable;
	json_t *name;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)variables, variable, name)
		json_array_foreach(rules, i, rule) {
			char path[ERR_PATH_MAX] = "/setup/secrets";

			if (!injects(rule) || !json_equal(name, json_object_get(rule, "name")))
				continue;
			(void)form_pointer_add(path, variable);
			return err_set(e, ERR_BAD_FIELD, path, "%s is put into requests outside of the session, and is in none of its environments", json_string_value(name));
		}
	return 0;
}

int secrets_check_ways(const json_t *rules, const json_t *spec, struct err *e)
{
	if (check_variables(rules, json_object_get(json_object_get(spec, "setup"), "secrets"), e) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(rules); i++)
		if (injects(json_array_get(rules, i)) && check_way(rules, i, spec, e) < 0)
			return -1;
	return 0;
}
