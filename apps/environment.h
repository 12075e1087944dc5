/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment of processes in the app jail: an allow list that is made here, never inherited.
 *
 * On top of it come the variables of the session's spec, which may not touch what the server relies on, and those of one exec, which
 * may: it is the caller's own command, and `env NAME=value` would do the same.
 */
#ifndef APPS_ENVIRONMENT_H
#define APPS_ENVIRONMENT_H

#include <jansson.h>

#include "session/base/err.h"

#define ENVIRONMENT_HOME "/home/user"
#define ENVIRONMENT_RUNTIME "/run/user/1000"
#define ENVIRONMENT_BUS "unix:path=" ENVIRONMENT_RUNTIME "/bus"

/* A list of "NAME=value"; zeroed memory is the empty one. */
struct environment {
	char **list; /* ends in NULL */
	size_t n;
};

/* The environment of every process, with the variables of the spec (an object of strings, or NULL). Errors: ERR_BAD_FIELD with the path
 * /env/NAME for a name of no such form and for one of the server's own. */
int environment_create(struct environment *out, const json_t *spec, struct err *e);

/* A copy of base with the variables of `more` (an object of strings, or NULL) put over it. Errors: ERR_BAD_FIELD, path /env/NAME. */
int environment_extend(struct environment *out, const struct environment *base, const json_t *more, struct err *e);

/* A copy for a trusted program: with the X authority that only such a one can read. */
void environment_trust(struct environment *out, const struct environment *base);

/* Apps that are started from now on find the accessibility bus at this address, and use it; what the spec says of that stays. */
void environment_accessible(struct environment *environment, const char *bus);

/* Programs that are started from now on find the way out (apps/relay/proto.h); what the spec says of that stays. */
void environment_way_out(struct environment *environment);

/* Apps that are started from now on do without. */
void environment_without_accessibility(struct environment *environment);

void environment_finish(struct environment *environment);

#endif
