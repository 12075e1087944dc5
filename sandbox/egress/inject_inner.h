/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What inject.c and inject_gate.c share. */
#ifndef EGRESS_INJECT_INNER_H
#define EGRESS_INJECT_INNER_H

#include "sandbox/egress/inject.h"
#include "session/base/limits.h"
#include "session/base/egress/injection.h"
#include "session/warden/proto.h"

/* Locked. */
struct inject_memory {
	char values[LIMIT_SECRETS][LIMIT_SECRET_BYTES + 1];
	char texts[LIMIT_SECRETS][INJECTION_PREFIX_SIZE + LIMIT_SECRET_BYTES]; /* by their rules: as they stand in a request */
};

struct injected {
	char name[SECRET_NAME_SIZE];
	const char *value; /* in `memory`, with a NUL behind it */
	size_t len;
};

struct inject_rule {
	struct injection injection;
	const struct injected *secret;
	const char *text; /* in `memory` */
};

struct inject {
	struct injected secrets[LIMIT_SECRETS];
	size_t n_secrets;
	struct inject_memory *memory; /* NULL: there is no secret */
	uint64_t pairs[1024];         /* a bit for each two bytes that a value may begin with */
	struct inject_rule rules[LIMIT_SECRETS];
	size_t n_rules;
	struct tls *tls;
	struct ca *ca;
	int keep;
	char *folder;
	char *trusted; /* its text */
};

/* inject_gate.c: the secret's value is among those that are looked for. */
void inject_look_for(struct inject *inject, const struct injected *secret);

#endif
