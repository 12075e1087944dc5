/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call `screenshot`: a picture as raw bytes, without waiting for an act that runs. Owner: the stage.
 */
#ifndef STAGE_LOOKS_H
#define STAGE_LOOKS_H

#include "session/stage/stage.h"

/* Answers the call. Runs in the call's coroutine. */
void looks_call(struct stage *stage, struct call *call);

/*
 * The query of a screenshot (region=x,y,width,height space=native or WxH cursor=true or false format quality compression max_bytes) as the
 * fields of the action, checked; the caller's reference. The space of `bounds` is the session's. A further parameter if_none_match holds tags of pictures that the caller has.
 */
int looks_read(const json_t *query, const struct bounds *bounds, json_t **fields, struct err *e);

#endif
