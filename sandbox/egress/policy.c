/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage is not believed: its words are checked as those of a caller are. */
#include "sandbox/egress/policy.h"

#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define MODES "none allowlist open" /* in the order of enum warden_egress */
#define MAX_BYTES 1e15

static const struct field caps_fields[] = {
	{"connections", FIELD_INT, false, 0, LIMIT_EGRESS_CONNECTIONS, NULL, NULL, NULL, "0", "outward ones at once"},
	{"bytes_s", FIELD_INT, false, 0, MAX_BYTES, NULL, NULL, "bytes/s", "0", "both ways together"},
	{"bytes", FIELD_INT, false, 0, MAX_BYTES, NULL, NULL, "bytes", "0", "the same, ever"},
};
static const struct form caps_form = {caps_fields, ARRAY_LEN(caps_fields), NULL};

static const struct field policy_fields[] = {
	{"mode", FIELD_ENUM, true, 0, 0, MODES, NULL, NULL, NULL, "what may be reached"},
	{"allow", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, "[]", "entries"},
	{"caps", FIELD_OBJECT, false, 0, 0, NULL, &caps_form, NULL, "{}", "limits"},
	{"ask", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "before a first connection"},
	{"cut", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "what was connected before"},
	{"inject", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, "[]", "secrets for hosts"},
};
static const struct form policy_form = {policy_fields, ARRAY_LEN(policy_fields), NULL};

static enum warden_egress read_mode(const char *name)
{
	return strcmp(name, "open") == 0 ? EGRESS_OPEN : strcmp(name, "allowlist") == 0 ? EGRESS_ALLOWLIST : EGRESS_NONE;
}

static struct caps read_caps(const json_t *json)
{
	long connections = form_int(json, "connections", 0);

	return (struct caps){.connections = connections > 0 ? (size_t)connections : LIMIT_EGRESS_CONNECTIONS,
	                     .bytes_s = (uint64_t)form_int(json, "bytes_s", 0), .bytes = (uint64_t)form_int(json, "bytes", 0)};
}

int policy_read(const json_t *json, uint32_t ceiling, struct policy *policy, struct err *e)
{
	struct policy read = {.mode = EGRESS_NONE};

	if (form_check(&policy_form, json, "", NULL, e) < 0 || egress_rules_create(json_object_get(json, "allow"), &read.rules, e) < 0)
		return -1;
	read.mode = read_mode(form_string(json, "mode", "none"));
	if ((uint32_t)read.mode > ceiling)
		read.mode = EGRESS_NONE;
	read.caps = read_caps(json_object_get(json, "caps"));
	read.asks = form_bool(json, "ask", false);
	read.cuts = form_bool(json, "cut", false);
	*policy = read;
	return 0;
}

void policy_finish(struct policy *policy)
{
	egress_rules_destroy(policy->rules);
	policy->rules = NULL;
}

const char *policy_judge(const struct policy *policy, const struct egress_want *want, const char **why)
{
	if (want->host->kind == EGRESS_HOST_LOCAL)
		*why = "the session's own loopback is not reached through the proxy";
	else if (want->host->kind == EGRESS_HOST_ODD)
		*why = "an address must be in its usual spelling";
	else if (want->host->kind == EGRESS_HOST_BAD)
		*why = "it is no host";
	else if (policy->mode == EGRESS_OPEN)
		return "open";
	else if (policy->mode == EGRESS_ALLOWLIST)
		return egress_rules_find(policy->rules, want, why);
	else
		*why = "this session has no way out";
	return NULL;
}

bool policy_names(const struct policy *policy, const struct egress_want *want)
{
	const char *why;

	return policy->rules && egress_rules_find(policy->rules, want, &why);
}
