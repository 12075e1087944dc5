/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session uses of each of its limits, and what becomes known when it meets one.
 *
 * The kernel counts in files that the warden handed over (ends.h); they are read each LIMIT_METER_MS, and when somebody asks. Meeting a limit is
 * a journal line `limit`, a number in the session's state and in the answer to the front's `watch`, and a member of the result of an action that
 * failed meanwhile. Of one limit there is a line at once and then at most one in LIMIT_METER_TELL_MS, with the hits since the one before. A
 * line `usage` tells the most that was used, each LIMIT_METER_USAGE_MS and at the end. Programs that go on starting processes where there can be
 * no more (a fork bomb) cost everybody on the machine the processor, and are ended. Owner: the stage. One thread.
 */
#ifndef STAGE_METERS_H
#define STAGE_METERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/base/counted.h"
#include "session/base/loop.h"
#include "session/stage/xvfb.h"

struct stage;

/* The limits, by the rows of counted.h. */
#define METER_OF(id, name, fix) METER_##id,
enum meter { COUNTED_LIMITS(METER_OF) N_METERS };
#undef METER_OF

struct meter_state {
	double value;       /* the limit, in the unit of its name; 0: not known */
	double used, peak;
	bool known;         /* used and peak are */
	bool is_met;        /* of those that are met for a while: it is now */
	uint64_t counted;   /* by the kernel so far */
	uint64_t hits, told; /* hits so far, and those that the journal has */
	int64_t told_ms;    /* monotonic; 0: never */
	char hit_at[32];    /* the wall clock at the last hit */
};

/* Zero-initialised nothing is counted. */
struct meters {
	struct meter_state of[N_METERS];
	struct loop_timer *timer;
	int64_t begun_ms, looked_ms, usage_ms; /* monotonic */
	uint64_t cpu_us, periods, throttled;   /* as they were at the last look */
	int slow_looks;                        /* looks one after the other at which it was throttled */
	uint64_t refused;                      /* processes, at the last look by the clock */
	int flood_looks;                       /* such looks one after the other at which it was a flood */
	const char *ended;                     /* whose programs were ended for one, at last (culprits.h) */
	int n_ended;                           /* how often */
	uint64_t window_cpu_us;                /* where the average over LIMIT_METER_CPU_MS began */
	bool has_window;                       /* one is over */
	int64_t window_ms;
	struct xvfb xvfb;
};

/* Begins to count, with the limits of the stage's spec; `proc_fd` (borrowed, copied) is where the X server is found, or -1. */
void meters_begin(struct stage *stage, int proc_fd);

/* Looks for the last time and writes the last line. More than once, or without a begin, it does nothing. */
void meters_end(struct stage *stage);

/* Looks now. */
void meters_look(struct stage *stage);

/* A limit that somebody else enforces was met: `value` is the limit, `used` what was to be used, in the unit of its name. */
void meters_hit(struct stage *stage, enum meter which, double value, double used);

/* What somebody else counts of a limit: how much is used now, and whether it is met, which counts as a hit when it begins. */
void meters_use(struct stage *stage, enum meter which, double value, double used, bool is_met);

/* {"memory_mb":{"value","used","peak","hits","hit_at"}}; looks before. The caller's reference. */
json_t *meters_json(struct stage *stage);

/* {"memory_mb":HITS} of those that were met. The caller's reference. */
json_t *meters_hits(const struct stage *stage);

/* The hits so far, to be compared with later. */
struct meters_mark {
	uint64_t hits[N_METERS];
	int n_ended;
};
struct meters_mark meters_mark(const struct stage *stage);

/* The limits that were met since the mark, after a look, as they stand in a result: [{"limit","value","used","fix"}], with "ended" where
 * programs were for it, or NULL. The caller's reference. */
json_t *meters_since(struct stage *stage, const struct meters_mark *mark);

#endif
