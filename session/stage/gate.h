/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate that everything goes through which this stage says in words: replies and refusals (connection.c) and lines of the journal, and so events. Values of
 * the session's secrets and what the spec's `results` name are masked in every text of it (policy/leaks.h); pictures are not looked into. What was found is in
 * the journal, by rule and number. Owner: the stage.
 */
#ifndef STAGE_GATE_H
#define STAGE_GATE_H

#include <jansson.h>

#include "session/policy/leaks.h"
#include "session/stage/connection.h"

#define GATE_MOST_HITS 3 /* of one secret in one answer, after which a text with it is withheld as a whole */
#define GATE_WITHHELD "[withheld: a stored secret is in it again and again]"

struct stage;

/* Zero-initialised lets everything pass. */
struct gate {
	struct leaks leaks;
};

/* The secrets and the spec are known now. */
void gate_begin(struct stage *stage);

/* What may leave in place of `value`; the caller's reference. `stage` is a struct stage; a connections_ops.pass. */
json_t *gate_reply(void *stage, const struct call *call, const json_t *value);

/* Notes what was found in bytes that went out beside the words. */
void gate_note(struct stage *stage, const struct call *call, const struct leak_hits *hits);

/* The same of a line; a journal_filter_fn. */
json_t *gate_line(void *stage, const json_t *fields);

#endif
