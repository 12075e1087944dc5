/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pausing: every process of the app jail stands still, nothing runs and nothing is held; only a resume (or the end) is taken. Display and
 * stage go on, so that X answers. Owner: the stage. Runs in the call's coroutine.
 */
#ifndef STAGE_PAUSE_H
#define STAGE_PAUSE_H

#include "session/stage/stage.h"

/*
 * Refuses new calls at once, cancels the act that runs, waits until those before it have been answered, and freezes the jail: returns when
 * it stands still, or after LIMIT_FREEZE_MS (a process in the kernel's hands freezes as soon as it comes out). A paused session stays
 * so. Errors: ERR_UNSUPPORTED where the host has no switch for it, those of stage_check_ready, ERR_INTERNAL.
 */
int pause_begin(struct stage *stage, const struct call *call, struct err *e);

/* Lets the jail go on. A session that is not paused goes on as it does. Errors: those of stage_check_ready, ERR_INTERNAL. */
int pause_end(struct stage *stage, const struct call *call, struct err *e);

#endif
