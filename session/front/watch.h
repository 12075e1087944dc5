/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching a session: the front hears from its stage who holds the controls and which approvals wait, keeps it, and tells it to webhooks.
 * Owner: session/front. One thread.
 */
#ifndef FRONT_WATCH_H
#define FRONT_WATCH_H

#include "session/front/sessions.h"

/* Begins, for as long as the session serves. */
void watch_start(struct session *session);

/* A person holds the controls, or is waited for, as far as is known. */
bool watch_is_held(const struct session *session);

#endif
