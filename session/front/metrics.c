/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting. */
#include "session/front/metrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session/base/counted.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/assets.h"
#include "session/front/routes.h"

#define LABELS_MAX 256

const struct metrics_bound metrics_bounds[HISTOGRAM_BUCKETS] = {
	{1000, "0.001"}, {5000, "0.005"},  {10000, "0.01"},  {25000, "0.025"}, {50000, "0.05"},   {100000, "0.1"},   {250000, "0.25"},
	{500000, "0.5"}, {1000000, "1"},   {2500000, "2.5"}, {5000000, "5"},   {10000000, "10"},  {30000000, "30"},  {60000000, "60"},
};

static void count(struct metrics *metrics, enum tally which, uint64_t n, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void count(struct metrics *metrics, enum tally which, uint64_t n, const char *fmt, ...)
{
	char labels[LABELS_MAX];
	json_t *tally = metrics->tallies[which], *value;
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(labels, sizeof(labels), fmt, args);
	va_end(args);
	value = json_object_get(tally, labels);
	if (value)
		(void)json_integer_set(value, json_integer_value(value) + (json_int_t)n);
	else if (json_object_set_new(tally, labels, json_integer((json_int_t)n)) < 0)
		DIE("no memory for a counter");
}

static void observe(struct histogram *histogram, int64_t us)
{
	size_t i = 0;

	while (i < HISTOGRAM_BUCKETS && us > metrics_bounds[i].us)
		i++;
	if (i < HISTOGRAM_BUCKETS)
		histogram->in[i]++;
	histogram->n++;
	histogram->sum_us += us > 0 ? (uint64_t)us : 0;
}

static json_t *action_names(void)
{
	const struct asset *asset = assets_find("/v1/actions");
	json_t *document = json_loadb(asset->start, (size_t)(asset->end - asset->start), 0, NULL), *names = json_object();
	const json_t *action;
	size_t i;

	json_array_foreach(json_object_get(document, "actions"), i, action)
		(void)json_object_set_new(names, form_string(action, "name", ""), json_true());
	if (json_object_size(names) == 0)
		DIE("the action document has no actions");
	json_decref(document);
	return names;
}

struct metrics *metrics_create(void)
{
	static const enum tally plain[] = {BODY_BYTES, REPLY_BYTES, CREATED};
	struct metrics *metrics = util_zalloc(sizeof(*metrics));

	for (int i = 0; i < N_TALLIES; i++)
		metrics->tallies[i] = json_object();
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		count(metrics, plain[i], 0, "%s", "");
	metrics->actions = action_names();
	metrics->by_route = util_zalloc((routes_n + 1) * sizeof(struct histogram));
	return metrics;
}

/* A row's place in the table; the one behind it for a path that is not in it. */
static size_t index_of(const struct route *route)
{
	return route ? (size_t)(route - routes) : routes_n;
}

static const char *method_of(const struct route *route)
{
	return route ? route->method : "";
}

static const char *path_of(const struct route *route)
{
	return route ? route->path : "";
}

void metrics_answered(struct metrics *metrics, const struct route *route, int status, int64_t elapsed_us)
{
	if (!metrics)
		return;
	count(metrics, REQUESTS, 1, "method=\"%s\",route=\"%s\",status=\"%d\"", method_of(route), path_of(route), status);
	observe(&metrics->by_route[index_of(route)], elapsed_us);
}

void metrics_abandoned(struct metrics *metrics, const struct route *route)
{
	if (metrics)
		count(metrics, ABANDONED, 1, "method=\"%s\",route=\"%s\"", method_of(route), path_of(route));
}

/* Refusals that a guard made, and what they are called as events of security. */
static const struct {
	enum err_code code;
	const char *event;
} guards[] = {
	{ERR_UNAUTHORIZED, "bad_token"}, {ERR_FORBIDDEN, "forbidden"},    {ERR_BAD_ORIGIN, "bad_origin"},      {ERR_MISDIRECTED, "bad_host"},
	{ERR_LEASE_HELD, "lease_refused"}, {ERR_LEASE_LOST, "lease_refused"}, {ERR_SECRET, "secret_refused"}, {ERR_DENIED, "denied"},
	{ERR_TIER_UNAVAILABLE, "weaker_tier_refused"},
};

/* What stages count. */
#define ALARM_NAME(id, name) name,
#define LIMIT_NAME(id, name, fix) name,
static const char *const alarms[] = {COUNTED_ALARMS(ALARM_NAME)};
static const char *const limits[] = {COUNTED_LIMITS(LIMIT_NAME)};
#undef ALARM_NAME
#undef LIMIT_NAME

void metrics_refused(struct metrics *metrics, enum err_code code)
{
	if (!metrics)
		return;
	count(metrics, REFUSED, 1, "code=\"%s\"", err_info(code)->wire);
	for (size_t i = 0; i < ARRAY_LEN(guards); i++)
		if (guards[i].code == code)
			count(metrics, SECURITY, 1, "event=\"%s\"", guards[i].event);
}

void metrics_wrong_code(struct metrics *metrics)
{
	if (metrics)
		count(metrics, SECURITY, 1, "event=\"wrong_code\"");
}

/* A number that went down is of another life. */
static void count_more(struct metrics *metrics, enum tally which, const char *label, const char *name, const json_t *before, const json_t *now)
{
	json_int_t new = json_integer_value(json_object_get(now, name)), old = json_integer_value(json_object_get(before, name));

	if (metrics && new > old && old >= 0)
		count(metrics, which, (uint64_t)(new - old), "%s=\"%s\"", label, name);
}

void metrics_limits(struct metrics *metrics, const json_t *before, const json_t *now)
{
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		count_more(metrics, LIMITS_HIT, "limit", limits[i], before, now);
}

void metrics_security(struct metrics *metrics, const json_t *before, const json_t *now)
{
	for (size_t i = 0; i < ARRAY_LEN(alarms); i++)
		count_more(metrics, SECURITY, "event", alarms[i], before, now);
}

void metrics_bytes(struct metrics *metrics, uint64_t of_bodies, uint64_t of_replies)
{
	if (!metrics)
		return;
	count(metrics, BODY_BYTES, of_bodies, "%s", "");
	count(metrics, REPLY_BYTES, of_replies, "%s", "");
}

void metrics_created(struct metrics *metrics, int64_t elapsed_us)
{
	if (!metrics)
		return;
	count(metrics, CREATED, 1, "%s", "");
	observe(&metrics->created, elapsed_us);
}

void metrics_not_created(struct metrics *metrics, enum err_code code)
{
	if (metrics)
		count(metrics, NOT_CREATED, 1, "code=\"%s\"", err_info(code)->wire);
}

void metrics_ended(struct metrics *metrics, const char *reason)
{
	if (metrics)
		count(metrics, ENDED, 1, "reason=\"%s\"", reason);
	if (metrics && (strcmp(reason, "ttl") == 0 || strcmp(reason, "idle") == 0))
		count(metrics, LIMITS_HIT, 1, "limit=\"%s_s\"", reason);
}

void metrics_webhooks(struct metrics *metrics, const char *outcome, uint32_t n)
{
	if (metrics && n > 0)
		count(metrics, WEBHOOKS, n, "outcome=\"%s\"", outcome);
}

static void count_actions(struct metrics *metrics, const json_t *actions)
{
	static const char *const outcomes[] = {"ok", "failed"};
	const char *name;
	json_t *numbers;

	json_object_foreach((json_t *)(uintptr_t)actions, name, numbers)
		for (size_t i = 0; i < ARRAY_LEN(outcomes) && json_object_get(metrics->actions, name); i++) {
			json_int_t n = json_integer_value(json_array_get(numbers, i));

			if (n > 0 && n <= LIMIT_ACTIONS)
				count(metrics, ACTIONS, (uint64_t)n, "action=\"%s\",outcome=\"%s\"", name, outcomes[i]);
		}
}

static void count_approvals(struct metrics *metrics, const json_t *approvals)
{
	static const char *const outcomes[] = {"asked", "once", "session", "denied", "expired", "withdrawn"};

	for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
		json_int_t n = json_integer_value(json_object_get(approvals, outcomes[i]));

		if (n > 0 && n <= LIMIT_ACTIONS)
			count(metrics, APPROVALS, (uint64_t)n, "what=\"%s\"", outcomes[i]);
	}
}

void metrics_egress(struct metrics *metrics, const json_t *before, const json_t *now)
{
	static const struct {
		const char *member;
		enum tally tally;
		const char *labels;
	} rows[] = {
		{"allowed", EGRESS, "verdict=\"allowed\""}, {"denied", EGRESS, "verdict=\"denied\""},
		{"bytes_up", EGRESS_BYTES, "direction=\"up\""}, {"bytes_down", EGRESS_BYTES, "direction=\"down\""},
	};

	for (size_t i = 0; metrics && i < ARRAY_LEN(rows); i++) {
		json_int_t more = json_integer_value(json_object_get(now, rows[i].member)) - json_integer_value(json_object_get(before, rows[i].member));

		if (more > 0)
			count(metrics, rows[i].tally, (uint64_t)more, "%s", rows[i].labels);
	}
}

static void count_file(struct metrics *metrics, const json_t *said)
{
	static const char *const names[] = {"file_get", "file_put", "file_delete"};
	const char *name = form_string(said, "file", "");
	long bytes = form_int(said, "bytes", 0);

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		count(metrics, FILES, 1, "what=\"%s\"", names[i]);
		count(metrics, FILE_BYTES, bytes > 0 && bytes <= LIMIT_UPLOAD_BYTES ? (uint64_t)bytes : 0, "what=\"%s\"", names[i]);
	}
}

void metrics_of_stage(struct metrics *metrics, const json_t *said)
{
	enum err_code code = err_from_wire(form_string(said, "refused", ""));
	const json_t *ok = json_object_get(said, "ok");

	if (!metrics)
		return;
	if (code != ERR_NONE)
		metrics_refused(metrics, code);
	count_approvals(metrics, json_object_get(said, "approvals"));
	count_file(metrics, said);
	if (json_is_boolean(ok)) {
		count(metrics, ACTS, 1, "outcome=\"%s\"", json_is_true(ok) ? "ok" : "failed");
		count_actions(metrics, json_object_get(said, "actions"));
	}
}
