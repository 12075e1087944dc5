/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Anchors: where the chains of the journals are goes to the audit log, which another uid writes, so that a journal that was written anew
 * is noticed. Every LIMIT_AUDIT_TICK_MS for those that went on, and at the end of a session. Owner: session/front. One thread.
 */
#ifndef FRONT_ANCHOR_H
#define FRONT_ANCHOR_H

#include "session/front/front.h"

/* Begins, for as long as the front lives. */
void anchor_start(struct front *front);

#endif
