/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front's records, checked as if it were hostile: what passes holds no byte that the warden would use unchecked. Pure: no state,
 * no system call.
 */
#ifndef WARDEN_REQUESTS_H
#define WARDEN_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "session/base/err.h"
#include "session/warden/ceilings.h"
#include "session/warden/proto.h"

/* Checks a record of `len` bytes. Errors name the field and are fit for a caller. */
int requests_check(const struct warden_request *request, size_t len, const struct ceilings *ceilings, struct err *e);

/* The same of a record with a secret. */
int requests_check_secret(const struct warden_secret *secret, size_t len, struct err *e);

/* True if the text is a session's id: "s" and 15 of a-z2-7. */
bool requests_id_valid(const char *id);

#endif
