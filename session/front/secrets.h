/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of stored secrets, as the front keeps them; values are the warden's. Owner: session/front. */
#ifndef FRONT_SECRETS_H
#define FRONT_SECRETS_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/err.h"
#include "session/front/store.h"

/* 1 to 31 of a-z, A-Z, 0-9, "_" and "-", the first a letter. */
bool secrets_name_valid(const char *name);

/* A secret as the operator sees it; the caller's reference. */
json_t *secrets_describe(const struct store_secret *secret);

/* The rules of the secrets that a spec names, [{"name","app","origin","field","inject","header","prefix"}…]: the caller's reference in *rules. ERR_BAD_FIELD at /secrets/N. */
int secrets_rules(struct store *store, const json_t *spec, json_t **rules, struct err *e);

/* A bit for each of these rules that puts its secret into requests. */
uint32_t secrets_injected(const json_t *rules);

/*
 * Rules that put secrets into requests and what the spec says of its way out: the origin must be one that its requests may go to, no header of it that of two
 * secrets, and none a variable of the setup phase. ERR_BAD_FIELD at /secrets/N or /setup/secrets/NAME.
 */
int secrets_check_ways(const json_t *rules, const json_t *spec, struct err *e);

#endif
