/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observations: waits for quiet, looks, says what has changed. Owner: the stage.
 */
#ifndef STAGE_OBSERVE_H
#define STAGE_OBSERVE_H

#include "session/stage/stage.h"

struct observe {
	const struct call *call; /* who gets it */
	const json_t *wanted;    /* checked, in the caller's space; NULL is the defaults */
	struct space space;      /* the caller's */
	uint64_t since;          /* what has changed since this frame */
	int64_t deadline_ms;
	bool with_picture;       /* also when the caller wants none */
};

/*
 * *observation is {"settled","elapsed_ms","changed","native","space","picture","at"}, the caller's reference; *frame the frame of "at". Errors
 * of xconn_reply: the observation is there as well then, with the "error" in place of a picture. Must run in a coroutine.
 */
int observe_run(struct stage *stage, const struct observe *ask, json_t **observation, uint64_t *frame, struct err *e);

#endif
