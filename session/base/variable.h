/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of variables of the environment that callers set: who takes them from a caller asks here, before anything is started.
 * Owner: session/base. No threads.
 */
#ifndef BASE_VARIABLE_H
#define BASE_VARIABLE_H

#include "session/base/err.h"

/* 0 if a caller may give a variable this name. Errors: ERR_BAD_FIELD, path /env, for a name that is not letters, digits and _ with no digit
 * first. */
int variable_check(const char *name, struct err *e);

/* As variable_check, for a whole session: also ERR_BAD_FIELD, path /env/NAME, for those that the server sets and relies on. */
int variable_check_session(const char *name, struct err *e);

#endif
