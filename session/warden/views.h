/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The views of a session: a process for each viewer, between a stream of the front's and a socket of the stage's. Each has a uid of its own, an empty
 * root, no network, and a segment that the stage writes for it alone. Used by session.c alone.
 */
#ifndef WARDEN_VIEWS_H
#define WARDEN_VIEWS_H

#include "session/warden/parts.h"

struct view; /* of one viewer; the session's */

/*
 * Starts a view as the checked request says, and hands the stage its ends; *stream is the front's. ERR_VIEWER_LIMIT when there are LIMIT_VIEWERS;
 * ERR_BUSY when the stage does not take its labels.
 */
int views_add(struct session *session, const struct warden_viewer *viewer, int *stream, struct err *e);

/* Kills them all; `session->view_gone` is called for each that has ended, also for those that end by themselves. */
void views_kill(struct session *session);

#endif
