/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session as the warden sees it: three parts (display, apps, stage), the views of those who watch, their groups, folders and uids. It is made by a request,
 * it ends by a request, by its time or by the death of a part, and then nothing of it stays but its journal.
 */
#ifndef WARDEN_SESSION_H
#define WARDEN_SESSION_H

#include "session/warden/warden.h"

/* Starts a session as the checked request says. Answered by CREATED or FAILED. */
void session_create(struct warden *warden, const struct warden_request *request);

/* WARDEN_SEAL of a session; nothing if there is none. */
void session_seal(struct warden *warden, const char *id);

/* WARDEN_SET_TTL of a checked request. Answered by DONE, or by REFUSED when there is no such session or its whole life would be longer
 * than the ceiling. */
void session_set_ttl(struct warden *warden, const struct warden_request *request);

/* WARDEN_DROP_JOURNAL of a session that has ended. Answered by DONE or REFUSED. */
void session_drop_journal(struct warden *warden, const struct warden_request *request);

/* WARDEN_ADD_VIEWER of a checked request. Answered by VIEWER_ADDED with its stream, or by REFUSED. */
void session_add_viewer(struct warden *warden, const struct warden_request *request);

/* WARDEN_END: answered by ENDED when its last process is gone; at once if there is no such session. */
void session_end(struct warden *warden, const char *id);

/* Ends every session, or, with `starting_only`, those of whose start nobody was told yet. */
void session_end_all(struct warden *warden, bool starting_only);

#endif
