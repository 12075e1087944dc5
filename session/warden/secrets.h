/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stored secrets: a file each in STATE/secrets, root's alone. The warden knows names and bytes; what a secret is for is the front's business. Values leave as
 * sealed memory for the stage of a session that names them, and no other way. Owner: the warden. One thread.
 */
#ifndef WARDEN_SECRETS_H
#define WARDEN_SECRETS_H

#include "session/warden/proto.h"
#include "session/warden/state.h"

/* Stores a checked one in place of an older one, whole or not at all, on the disk when this returns. ERR_LIMIT at LIMIT_STORED_SECRETS. */
int secrets_put(const struct state *state, const struct warden_secret *secret, struct err *e);

/* Removes it. ERR_NOT_FOUND. */
int secrets_drop(const struct state *state, const char *name, struct err *e);

/* All that a checked create names are there: ERR_BAD_FIELD at /secrets/N. */
int secrets_check(const struct state *state, const struct warden_create *create, struct err *e);

/* A copy in memory that nobody can change, for reading alone; the caller's. */
int secrets_copy(const struct state *state, const char *name, int *copy, struct err *e);

#endif
