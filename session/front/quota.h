/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sessions of a key may be, and how many of them there may be. Owner: session/front. One thread. */
#ifndef FRONT_QUOTA_H
#define FRONT_QUOTA_H

#include "session/front/config.h"
#include "session/front/sessions.h"

/* Checks a completed spec against the key (NULL: there is nothing to check). -1 with the faults added: ERR_FORBIDDEN with the pointer of
 * the field and the rule. */
int quota_check_spec(const struct config_key *key, const json_t *spec, struct faults *faults);

/* Makes a whole spec of what somebody asks for whose key is `owner`, with the defaults that hold for it, and checks it. *spec is the caller's also
 * on failure, when it may be NULL. -1 with the faults added. */
int quota_complete_spec(const struct config *config, const char *owner, const json_t *asked, json_t **spec, struct faults *faults);

/* May the key have `n_more` sessions beside those that live? ERR_QUOTA. */
int quota_check_count(const struct config_key *key, const struct sessions *sessions, size_t n_more, struct err *e);

/* May a session of the key have a whole life of `life_s` seconds? ERR_FORBIDDEN at /ttl_s. */
int quota_check_life(const struct config_key *key, int64_t life_s, struct err *e);

#endif
