/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of a session's allow list: which hosts its programs may reach. The front refuses a list with a bad entry when a session is made, and
 * glovebox-egress judges each connection by it: both by this code.
 *
 * An entry is a text HOST or HOST:PORT, or an object {"host":HOST,"ports":[…],"methods":[…],"paths":[…]}. HOST is one name, exactly; "*.example.org", which is all
 * names below example.org and not that itself; or an address. Without ports it is for 80 and 443. Methods and paths are for requests that can be
 * read: plain HTTP, or what is intercepted; an entry that has them opens no tunnel. A path stands for itself and what is below it.
 * Owner: session/base. No threads.
 */
#ifndef BASE_EGRESS_RULE_H
#define BASE_EGRESS_RULE_H

#include <jansson.h>

#include "session/base/egress/egress_host.h"
#include "session/base/err.h"
#include "session/base/faults.h"
#include "session/base/json.h"

/* The object form of an entry. */
extern const struct form egress_entry_form;

/*
 * Checks a list of entries (a JSON array; NULL is none) and adds its faults: ERR_BAD_FIELD and its kin at `path`/N…, each with the entry and the
 * rule that it breaks. 0, or -1 when there are some.
 */
int egress_rules_check(const json_t *allow, const char *path, struct faults *faults);

struct egress_rules;

/* The list, ready for use; -1 with the first fault. *out is the caller's. */
int egress_rules_create(const json_t *allow, struct egress_rules **out, struct err *e);
void egress_rules_destroy(struct egress_rules *rules); /* NULL is fine */

/* What somebody wants to reach. */
struct egress_want {
	const struct egress_host *host;
	uint16_t port;
	const char *method; /* of a request that can be read; NULL: a tunnel */
	const char *path;   /* the same, without a query */
	bool says_other;    /* a field of it names another method or path, which some servers heed */
	bool is_read;       /* a tunnel whose requests will be judged one by one */
};

/*
 * The entry that lets it through, as it was written (borrowed); or NULL, and *why says what is missing: a constant. Hosts of the kinds ODD, LOCAL and
 * BAD are never let through.
 */
const char *egress_rules_find(const struct egress_rules *rules, const struct egress_want *want, const char **why);

/* Some entry has this host and port, whatever its methods and paths are. `host` is as in an entry, without "*.". */
bool egress_rules_names(const struct egress_rules *rules, const char *host, uint16_t port);

/* A path in which no server can see another one: no "." and ".." as a segment, no empty segment but the last, no backslash, and none of these, "/",
 * "." or "%" in escapes. */
bool egress_path_is_plain(const char *path);

#endif
