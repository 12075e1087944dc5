/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a stored secret may be typed now: what has the keys must be the field that its rule names, in a page of its origin, in a window of its app. Functions
 * of input_ops with a struct stage. Owner: the stage. In coroutines.
 */
#ifndef STAGE_SECRET_TYPING_H
#define STAGE_SECRET_TYPING_H

#include "session/base/err.h"

struct stage;

#define SECRET_FOCUS_MS 1500 /* for what has the keys to be told */

bool secret_typing_has(void *stage, const char *name);
/* May it be typed now? Errors of secret_typing_begin. */
int secret_typing_check(struct stage *stage, const char *name, struct err *e);
int secret_typing_begin(void *stage, const char *name, const char **value, size_t *len, struct err *e);
bool secret_typing_end(void *stage);

#endif
