/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quotas: a row per member of a key. */
#include "session/front/quota.h"

#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/front/spec.h"

/* "image", "egress/mode", "limits/cpu": a place in a spec of at most two steps. */
static const json_t *value_at(const json_t *spec, const char *place)
{
	const char *slash = strchr(place, '/');
	char group[32];

	if (!slash)
		return json_object_get(spec, place);
	(void)snprintf(group, sizeof(group), "%.*s", (int)(slash - place), place);
	return value_at(json_object_get(spec, group), slash + 1);
}

static void add_fault(struct faults *faults, const struct config_key *key, const char *place, const json_t *value, const json_t *limit)
{
	auto_free char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY), *allowed = json_dumps(limit, JSON_ENCODE_ANY);
	char path[48];

	(void)snprintf(path, sizeof(path), "/%s", place);
	if (!faults_full(faults))
		(void)err_set(faults_next(faults), ERR_FORBIDDEN, path, "%s is more than the key %s may have: %.100s", text, key->name, allowed);
}

/* Texts: one of a list. */
static bool is_listed(const json_t *value, const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (json_equal(item, value))
			return true;
	return false;
}

/* Lists: each one of a list. */
static bool are_listed(const json_t *values, const json_t *list)
{
	const json_t *value;
	size_t i;

	json_array_foreach(values, i, value)
		if (!is_listed(value, list))
			return false;
	return true;
}

/* Modes: at most this one, in the order of their names here. */
static bool is_within(const json_t *value, const json_t *most)
{
	static const char *const modes[] = {"none", "allowlist", "open"};
	size_t mode = 0, limit = 0;

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		mode = strcmp(modes[i], json_string_value(value)) == 0 ? i : mode;
		limit = strcmp(modes[i], json_string_value(most)) == 0 ? i : limit;
	}
	return mode <= limit;
}

static bool is_at_most(const json_t *value, const json_t *most)
{
	return json_number_value(value) <= json_number_value(most);
}

/* Members of a key, the places of a spec that they bound, and how. Those of "limits" are rows of the spec's own form. */
static const struct {
	const char *member, *place;
	bool (*allows)(const json_t *value, const json_t *limit);
} rows[] = {
	{"images", "image", is_listed},
	{"isolation", "isolation", is_listed},
	{"egress", "egress/mode", is_within},
	{"egress", "setup/egress/mode", is_within},
	{"secrets", "secrets", are_listed},
	{"ttl_s", "ttl_s", is_at_most},
};

int quota_check_spec(const struct config_key *key, const json_t *spec, struct faults *faults)
{
	size_t before = faults->n;

	if (!key)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *none = json_string("none"), *empty = json_array();
		const json_t *value = value_at(spec, rows[i].place), *limit = json_object_get(key->row, rows[i].member);

		/* Only the way out and secrets must be given. */
		if (!limit && strcmp(rows[i].member, "egress") == 0)
			limit = none;
		if (!limit && rows[i].allows == are_listed && key->role == ROLE_OWNER)
			limit = empty;
		if (limit && value && !rows[i].allows(value, limit))
			add_fault(faults, key, rows[i].place, value, limit);
	}
	for (size_t i = 0; i < spec_limits_form.n_fields; i++) {
		const json_t *limit = json_object_get(json_object_get(key->row, "limits"), spec_limits_form.fields[i].name);
		char place[40];

		(void)snprintf(place, sizeof(place), "limits/%s", spec_limits_form.fields[i].name);
		if (limit && !is_at_most(value_at(spec, place), limit))
			add_fault(faults, key, place, value_at(spec, place), limit);
	}
	return faults->n > before ? -1 : 0;
}

int quota_complete_spec(const struct config *config, const char *owner, const json_t *asked, json_t **spec, struct faults *faults)
{
	const struct config_key *key = config_find_key(config, owner);

	return spec_complete_all(asked, key ? key->usual : config->defaults, spec, faults) < 0 ? -1 : quota_check_spec(key, *spec, faults);
}

int quota_check_count(const struct config_key *key, const struct sessions *sessions, size_t n_more, struct err *e)
{
	const json_t *limit = key ? json_object_get(key->row, "sessions") : NULL;
	size_t n = limit ? sessions_count_live_of(sessions, key->name) : 0;

	if (!limit || n + n_more <= (size_t)json_integer_value(limit))
		return 0;
	return err_set(e, ERR_QUOTA, NULL, "the key %s has %zu session%s and may have %lld at once; end one first", key->name, n,
	               n == 1 ? "" : "s", (long long)json_integer_value(limit));
}

int quota_check_life(const struct config_key *key, int64_t life_s, struct err *e)
{
	const json_t *limit = key ? json_object_get(key->row, "ttl_s") : NULL;

	if (!limit || life_s <= json_integer_value(limit))
		return 0;
	return err_set(e, ERR_FORBIDDEN, "/ttl_s", "the session would live for %lld s in all; the key %s may have %lld", (long long)life_s,
	               key->name, (long long)json_integer_value(limit));
}
