/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules by their names. */
#include "session/front/secrets.h"

#include <stdio.h>
#include <string.h>

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
	return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:s}", "name", secret->name, "app", text_or_null(secret->app), "origin",
	                 text_or_null(secret->origin), "field", text_or_null(secret->field), "created_at", describe_time(secret->created_ms), "changed_at",
	                 describe_time(secret->changed_ms), "by", secret->by);
}

static void add_rule(void *list, const struct store_secret *secret)
{
	(void)json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s}", "name", secret->name, "app", secret->app, "origin", secret->origin, "field",
	                                            secret->field));
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
