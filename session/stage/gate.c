/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking through what is said. An answer in which nothing is found, which is almost each, is not copied. */
#include "session/stage/gate.h"

#include <string.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

static json_t *pass(const struct leaks *leaks, const json_t *value, struct leak_hits *hits);

static bool is_too_often(const struct leak_hits *hits, const struct leak_hits *before)
{
	for (size_t i = 0; i < LIMIT_SECRETS; i++)
		if (hits->secrets[i] > GATE_MOST_HITS && hits->secrets[i] > before->secrets[i])
			return true;
	return false;
}

static json_t *pass_text(const struct leaks *leaks, const json_t *value, struct leak_hits *hits)
{
	const struct leak_hits before = *hits;
	size_t len = 0;
	auto_free char *masked = leaks_mask(leaks, json_string_value(value), json_string_length(value), hits, &len);

	if (!masked)
		return NULL;
	/* A value that is no text may have left half a character. */
	if (is_too_often(hits, &before) || !util_utf8_valid(masked, len))
		return json_string(GATE_WITHHELD);
	return json_stringn(masked, len);
}

static json_t *pass_list(const struct leaks *leaks, const json_t *list, struct leak_hits *hits)
{
	json_t *copy = NULL;
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		json_t *passed = pass(leaks, item, hits);

		if (!passed)
			continue;
		if (!copy)
			copy = json_copy((json_t *)(uintptr_t)list);
		(void)json_array_set_new(copy, i, passed);
	}
	return copy;
}

/* The end of what a program said, cut off there, without the beginning of a secret. */
static json_t *pass_cut(const struct leaks *leaks, const json_t *value, struct leak_hits *hits)
{
	size_t len = json_string_length(value), whole = leaks_whole(leaks, json_string_value(value), len);
	json_t *shorter = whole < len ? json_stringn(json_string_value(value), whole) : NULL, *passed;

	if (!shorter)
		return pass(leaks, value, hits);
	passed = pass(leaks, shorter, hits);
	if (!passed)
		return shorter;
	json_decref(shorter);
	return passed;
}

/* Names of members are this program's. */
static json_t *pass_object(const struct leaks *leaks, const json_t *object, struct leak_hits *hits)
{
	bool is_cut = json_is_true(json_object_get(object, "truncated"));
	json_t *copy = NULL, *item;
	const char *name;

	json_object_foreach((json_t *)(uintptr_t)object, name, item) {
		json_t *passed = strcmp(name, "picture") == 0 ? NULL : is_cut && json_is_string(item) ? pass_cut(leaks, item, hits) : pass(leaks, item, hits);

		if (!passed)
			continue;
		if (!copy)
			copy = json_copy((json_t *)(uintptr_t)object);
		(void)json_object_set_new(copy, name, passed);
	}
	return copy;
}

/* What stands in place of the value; NULL: it passes as it is. */
static json_t *pass(const struct leaks *leaks, const json_t *value, struct leak_hits *hits)
{
	if (json_is_string(value))
		return pass_text(leaks, value, hits);
	if (json_is_array(value))
		return pass_list(leaks, value, hits);
	return json_is_object(value) ? pass_object(leaks, value, hits) : NULL;
}

static void note(struct stage *stage, const struct call *call, const char *rule, const char *secret, size_t hits, enum alarm alarm)
{
	json_t *fields = json_pack("{s:{s:s,s:s},s:s,s:s,s:s,s:s*,s:I,s:s}", "actor", "role", call->role_name, "token", call->token, "request", call->request_id,
	                           "call", call->name, "rule", rule, "secret", secret, "hits", (json_int_t)hits, "done", alarms_name(alarm));
	struct err e;

	alarms_add(stage, alarm, 1);
	if (journal_add(stage->journal, "result_check", fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
}

void gate_note(struct stage *stage, const struct call *call, const struct leak_hits *hits)
{
	const struct leaks *leaks = &stage->gate.leaks;

	for (size_t i = 0; i < leaks->n_secrets; i++)
		if (hits->secrets[i] > 0)
			note(stage, call, "secret", stage->secrets.list[i].name, hits->secrets[i], hits->secrets[i] > GATE_MOST_HITS ? ALARM_WITHHELD : ALARM_MASKED);
	for (enum leak_rule rule = 0; rule < LEAK_N_RULES; rule++)
		if (hits->rules[rule] > 0)
			note(stage, call, leaks_rule_name(rule), NULL, hits->rules[rule], leaks->verdicts[rule] == LEAK_MASK ? ALARM_MASKED : ALARM_NOTED);
}

json_t *gate_reply(void *arg, const struct call *call, const json_t *value)
{
	struct stage *stage = arg;
	struct leak_hits hits = {.rules = {0}};
	json_t *passed = stage->gate.leaks.any ? pass(&stage->gate.leaks, value, &hits) : NULL;

	gate_note(stage, call, &hits);
	return passed ? passed : json_incref((json_t *)(uintptr_t)value);
}

json_t *gate_line(void *arg, const json_t *fields)
{
	const struct stage *stage = arg;
	struct leak_hits hits = {.rules = {0}};
	json_t *passed = stage->gate.leaks.any ? pass(&stage->gate.leaks, fields, &hits) : NULL;

	return passed ? passed : json_incref((json_t *)(uintptr_t)fields);
}

void gate_begin(struct stage *stage)
{
	static const struct {
		enum leak_rule rule;
		const char *member, *usual;
	} rules[] = {{LEAK_PRIVATE_KEY, "private_keys", "mask"}, {LEAK_CLOUD_KEY, "cloud_keys", "mask"}, {LEAK_CARD, "cards", "alert"}};
	const json_t *results = json_object_get(stage->spec, "results");
	struct leaks *leaks = &stage->gate.leaks;

	leaks->n_secrets = stage->secrets.n;
	for (size_t i = 0; i < stage->secrets.n; i++)
		leaks->secrets[i] = (struct leak_secret){(const uint8_t *)stage->secrets.list[i].value, stage->secrets.list[i].len};
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		leaks->verdicts[rules[i].rule] = leaks_verdict(form_string(results, rules[i].member, rules[i].usual));
	leaks_begin(leaks);
}
