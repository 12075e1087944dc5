/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stored secrets of a session: values, handed over by the warden when it began, in locked memory; and where each may be typed, as the front says. Owner:
 * the stage.
 */
#ifndef STAGE_SECRETS_H
#define STAGE_SECRETS_H

#include <jansson.h>

#include "session/base/origin.h"
#include "session/policy/leaks.h"
#include "session/stage/ends.h"

struct secret {
	char name[SECRET_NAME_SIZE];
	const char *value; /* in `memory` */
	size_t len;
	char app[SECRET_NAME_SIZE]; /* name in the catalogue; "": it is never typed */
	char origin[ORIGIN_SIZE];
	bool any_field;    /* not only into a password field */
};

/* Zero-initialised is ready to use: none. */
struct secrets {
	struct secret list[LIMIT_SECRETS];
	size_t n;
	char *memory; /* of values */
	json_t *injections; /* rules of those that egress puts into requests (injection_list) */
};

/* Takes the descriptors of *ends and closes them. ERR_INTERNAL. */
int secrets_take(struct secrets *secrets, struct ends *ends, struct err *e);

/* Their rules, as `open` has them: [{"name","app","origin","field","inject","header","prefix"}…], one for each. ERR_INTERNAL. */
int secrets_read_rules(struct secrets *secrets, const json_t *rules, struct err *e);

/* NULL if the session has none of this name. */
const struct secret *secrets_find(const struct secrets *secrets, const char *name);

/* Wipes them. */
void secrets_finish(struct secrets *secrets);

#endif
