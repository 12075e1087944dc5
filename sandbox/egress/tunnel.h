/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes both ways between a program of the session and what it was connected to. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_TUNNEL_H
#define EGRESS_TUNNEL_H

#include "sandbox/egress/passage.h"

/*
 * Runs, in a coroutine, until both sides have ended, each told of the other's end as it comes; or one is lost, a cap is used up, nothing has moved for
 * LIMIT_EGRESS_IDLE_MS (LIMIT_EGRESS_HALF_MS once one side has ended), or the coroutine is cancelled, as it also is by a loss. Each side holds at most
 * LIMIT_EGRESS_PIECE_BYTES that the other does not take.
 */
void tunnel_run(struct wire *client, struct passage *passage);

#endif
