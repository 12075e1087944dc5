/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking a token back. Owner: session/front. One thread. */
#ifndef FRONT_REVOKE_H
#define FRONT_REVOKE_H

#include "session/base/err.h"

struct request;

/*
 * The token of the request's session with this id opens nothing from now on, and what is open by it ends: calls, streams, views, tickets. Runs in
 * a coroutine. ERR_NOT_FOUND when the session has no such token.
 */
int revoke_token(struct request *request, const char *id, struct err *e);

#endif
