/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the front passes on under a stage's word: nothing that a browser would run. Owner: session/front. No threads.
 */
#ifndef FRONT_SAFE_H
#define FRONT_SAFE_H

#include <stdbool.h>

/* The media type as a constant, when it is one of those that pass, else application/octet-stream, also for NULL. */
const char *safe_type(const char *type);

/* May this header of a stage's reply be passed on? `value` may be NULL: no. */
bool safe_is_header(const char *name, const char *value);

#endif
