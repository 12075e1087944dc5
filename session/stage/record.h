/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an act writes to the journal: `call`, for each action `intent` and `result`, and `observation`; with the pictures before and after. Owner:
 * the stage. Each runs in the coroutine of the act, in its turn.
 */
#ifndef STAGE_RECORD_H
#define STAGE_RECORD_H

#include "session/stage/approvals.h"
#include "session/stage/batch.h"
#include "session/stage/stage.h"

/* Before the first intent. Errors: those of journal_add. A list without actions goes on without its line, also in a journal that is full. */
int record_call(struct stage *stage, const struct call *call, const struct batch *batch, struct err *e);

/* Before the first event of action `index`, after record_call or the result of the one before; `text` is what is kept of that, `verdict` how it got through. Errors: those of journal_add. */
int record_intent(struct stage *stage, const struct call *call, const struct batch *batch, size_t index, enum journal_text text,
                  const struct approvals_verdict *verdict, struct err *e);

/* After it. That it cannot be written is logged: the events have happened. */
void record_result(struct stage *stage, const struct call *call, size_t index, const json_t *result);

/* After an observation, as observe_run made it. */
void record_observation(struct stage *stage, const struct call *call, const struct batch *batch, const json_t *observation);

#endif
