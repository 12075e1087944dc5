/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of what a session did that a guard stopped or noted, for the front's metrics (the call `watch`). What it was stands in the journal.
 * Owner: the stage. One thread.
 */
#ifndef STAGE_ALARMS_H
#define STAGE_ALARMS_H

#include <jansson.h>
#include <stdint.h>

#include "session/base/counted.h"

struct stage;

/* By the rows of counted.h. */
#define ALARM_OF(id, name) ALARM_##id,
enum alarm { COUNTED_ALARMS(ALARM_OF) N_ALARMS };
#undef ALARM_OF

/* Zero-initialised there were none. */
struct alarms {
	uint64_t n[N_ALARMS];
};

/* Its name: static. */
const char *alarms_name(enum alarm which);

void alarms_add(struct stage *stage, enum alarm which, uint64_t n);

/* {"masked":N} of those that there were. The caller's reference. */
json_t *alarms_json(const struct stage *stage);

#endif
