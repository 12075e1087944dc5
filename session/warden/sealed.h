/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files for the front, as they were when they were read: what happens to them later changes nothing until they are read again. */
#ifndef WARDEN_SEALED_H
#define WARDEN_SEALED_H

#include <stddef.h>

#include "session/base/err.h"

/* A file in memory with these bytes that nobody can change; *copy is the caller's. `what` is for the error: ERR_INTERNAL. */
int sealed_copy(const char *what, const void *bytes, size_t len, int *copy, struct err *e);

#endif
