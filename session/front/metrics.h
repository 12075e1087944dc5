/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What GET /metrics tells: the Prometheus text format 0.0.4, from a table of rows.
 *
 * Counters begin at zero with each start of the front; one row says how often that was. Labels hold names of this program's own tables
 * (routes, codes, actions, reasons of an end) and numbers, never text of a caller; ids of sessions are labels of gauges while they
 * live. Owner: session/front. One thread.
 */
#ifndef FRONT_METRICS_H
#define FRONT_METRICS_H

#include <jansson.h>
#include <stdint.h>

#include "session/base/err.h"

struct front;
struct route;

/* Counters by their labels: {"route=\"/v1\"": 3}; one without labels is under "". */
enum tally {
	REQUESTS, ABANDONED, REFUSED, BODY_BYTES, REPLY_BYTES, CREATED, NOT_CREATED, ENDED, ACTS, ACTIONS, WEBHOOKS, APPROVALS, EGRESS, EGRESS_BYTES, FILES, FILE_BYTES,
	LIMITS_HIT, SECURITY, N_TALLIES
};

#define HISTOGRAM_BUCKETS 14

struct histogram {
	uint64_t in[HISTOGRAM_BUCKETS]; /* at most the bound, and more than the one before */
	uint64_t n, sum_us;
};

struct metrics {
	json_t *tallies[N_TALLIES];
	json_t *actions;             /* the names that there are */
	struct histogram *by_route;  /* of each route, and one more for those that were not found */
	struct histogram created;
};

/* The bounds of all histograms, rising: in microseconds, and in seconds as text. */
struct metrics_bound {
	int64_t us;
	const char *text;
};
extern const struct metrics_bound metrics_bounds[HISTOGRAM_BUCKETS];

struct metrics *metrics_create(void);

/* Counters. All of these do nothing when `metrics` is NULL. */
void metrics_answered(struct metrics *metrics, const struct route *route, int status, int64_t elapsed_us); /* route NULL: none was found */
void metrics_abandoned(struct metrics *metrics, const struct route *route); /* the caller left before the answer */
void metrics_refused(struct metrics *metrics, enum err_code code);
void metrics_bytes(struct metrics *metrics, uint64_t of_bodies, uint64_t of_replies);
void metrics_created(struct metrics *metrics, int64_t elapsed_us);
void metrics_not_created(struct metrics *metrics, enum err_code code);
void metrics_ended(struct metrics *metrics, const char *reason);
void metrics_webhooks(struct metrics *metrics, const char *outcome, uint32_t n);
/* What went out of a session since the last time, as its stage tells totals: the ones before (NULL: none) and now. */
void metrics_egress(struct metrics *metrics, const json_t *before, const json_t *now);
/* Limits of a session that were met, and what its guards stopped: how often so far (an object of numbers), when it was last told (NULL: never) and now. */
void metrics_limits(struct metrics *metrics, const json_t *before, const json_t *now);
void metrics_security(struct metrics *metrics, const json_t *before, const json_t *now);
void metrics_wrong_code(struct metrics *metrics); /* of a link for the console */
/* What a stage said beside its reply (link.h); what it names is counted only if it is known. */
void metrics_of_stage(struct metrics *metrics, const json_t *said);

/* The whole text (metrics_text.c), malloced, the caller's; *len are its bytes. */
char *metrics_text(const struct front *front, size_t *len);

/* Refuses a table with two rows of a name, out of order, or without help. ERR_INTERNAL. */
int metrics_check(struct err *e);

#endif
