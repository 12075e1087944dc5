/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's configuration: keys with what their sessions may be, names of hosts, defaults of specs. It is read once, at the start, and
 * checked whole: a wrong one is refused, and nothing of it is guessed. Owner: session/front. One thread.
 */
#ifndef FRONT_CONFIG_H
#define FRONT_CONFIG_H

#include <jansson.h>

#include "session/base/json.h"
#include "session/front/tokens.h"

struct config_key {
	const char *name;
	uint8_t hash[STORE_HASH_BYTES]; /* of its token */
	enum role role;                 /* ROLE_OWNER or ROLE_OPERATOR */
	const json_t *row;              /* the rest of it, by the form of a key */
	json_t *usual;                  /* defaults of its specs: the configuration's, as far as the key's limits allow them */
};

/* All zero: there is none, and everybody with the operator's token may do what the server allows. */
struct config {
	json_t *document;
	char sha256[2 * STORE_HASH_BYTES + 1]; /* of the file, in hex; "" if there is none */
	struct config_key *keys;
	size_t n_keys;
	const char *public_url;                /* where people reach the console, without a slash at its end; NULL: not said */
	const json_t *hosts;                   /* strings, or NULL */
	const json_t *defaults;                /* of specs, or NULL */
	const json_t *approval;                /* {"rules","places"}, or NULL */
};

/*
 * Reads the configuration from the beginning of `fd`, which stays the caller's; an empty one is none. ERR_BAD_JSON with line and column,
 * the errors of form_check and spec_complete, ERR_BAD_FIELD for rules between fields. Tokens are never in a text.
 */
int config_read(int fd, struct config *config, struct err *e);
void config_finish(struct config *config);

/* NULL if no key has this name. */
const struct config_key *config_find_key(const struct config *config, const char *name);

/* A key as its user may see it: its row without the hash; null for NULL. The caller's reference. */
json_t *config_describe_key(const struct config_key *key);

/* "3 keys, 1 host name, defaults", in out. Returns out. */
char *config_summary(const struct config *config, char *out, size_t size);

/* gloveboxd --check-config: the whole program. Says on standard output what is in the configuration called `name`, or on standard error
 * what is wrong with it. Returns the exit status. */
int config_check_only(int fd, const char *name);

#endif
