/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of what a session did that a guard stopped or noted, for the front's metrics (the call `watch`). What it was stands in the journal.
 * Owner: the stage. One thread.
 */
#ifndef STAGE_ALARMS_H
#define STAGE_ALARMS_H

#include <jansson.h>
#include <stdint.h>

struct stage;

enum alarm {
	ALARM_MASKED,   /* something secret, in what it said */
	ALARM_WITHHELD, /* so often that the text was kept back */
	ALARM_NOTED,    /* found and told all the same */
	ALARM_SIGSYS,   /* a command was killed for a system call of another kind of machine, or by a filter of its own */
	ALARM_RETURNED, /* an answer held a secret that was put into its request, and was cut */
	ALARM_ENDED,    /* programs were ended: one of them kept the display or the kernel busy for itself */
	N_ALARMS
};

/* Zero-initialised there were none. */
struct alarms {
	uint64_t n[N_ALARMS];
};

void alarms_add(struct stage *stage, enum alarm which, uint64_t n);

/* {"masked":N} of those that there were. The caller's reference. */
json_t *alarms_json(const struct stage *stage);

#endif
