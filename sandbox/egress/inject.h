/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stored secrets that are put into requests: their values in locked memory, their rules, and what else changes for the origins that they are for. TLS to such
 * an origin ends here and begins anew (tls.h), with a certificate that the session trusts. Owner: glovebox-egress of a session. One thread.
 */
#ifndef EGRESS_INJECT_H
#define EGRESS_INJECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "sandbox/egress/head.h"
#include "sandbox/egress/tls.h"

struct inject;

/* Where a request goes, as its CONNECT or its absolute address says; host in lower case. */
struct inject_origin {
	const char *host;
	uint16_t port;
	bool is_plain; /* http */
};

/*
 * `folder` is where files for the session are written: bundle.pem, with all that is trusted, at once; ca.pem and chromium.json, a policy of Chromium's, with the
 * authority. `trusted` is the machine's file of certificates in PEM. `keep` is a file that outlives a restart of this process, and stays the caller's; -1: none.
 * ERR_INTERNAL.
 */
struct inject *inject_create(const char *folder, const char *trusted, int keep, struct err *e);
/* Wipes the values; NULL is fine. */
void inject_destroy(struct inject *inject);

/* Takes the descriptor of a secret's value. ERR_INTERNAL. */
int inject_take(struct inject *inject, const char *name, int fd, struct err *e);

/*
 * The rules, as a policy has them ("inject"), stand in place of those before. The first ones with TLS make the authority and its files. ERR_BAD_FIELD for rules
 * that break the form, name a secret that did not come, or a host that was not among the first; then there are none.
 */
int inject_set(struct inject *inject, const json_t *rules, struct err *e);

/* There is an authority. */
bool inject_has_ca(const struct inject *inject);

/* Borrowed. */
struct tls *inject_tls(const struct inject *inject);

/* Does a secret go there? For one with TLS this means that the tunnel is taken apart. */
bool inject_is_for(const struct inject *inject, const struct inject_origin *origin);

/* The names of the secrets that go there, with ", " between two. Malloced, the caller's. */
char *inject_names(const struct inject *inject, const struct inject_origin *origin);

/* --- requests to such an origin --- */

/* NULL, or why a request with this method is refused there. */
const char *inject_method_fault(const char *method);

/*
 * Takes out of a request's head the fields of its own that the secrets have, whichever way these are written, and those that would have an answer come in pieces or
 * compressed, where no value is found; and puts in the secrets'. Their texts are in locked memory, borrowed until the next inject_set. -1: there is no room.
 */
int inject_fields(const struct inject *inject, const struct inject_origin *origin, struct head *request);

/* --- answers --- */

/* NULL, or why an answer with this status, or with this field, cannot be looked through, and is refused. */
const char *inject_status_fault(int status);
const char *inject_answer_fault(const char *name, const char *value);

/*
 * Looks through an answer. Printable ASCII at its end, in which a value may have begun, is held back until more has come, or its end: a line's end lets it go.
 * Borrowed: the values must outlive it.
 */
struct gate;
struct gate *gate_create(const struct inject *inject);
void gate_destroy(struct gate *gate);

/*
 * Takes bytes of an answer: its head as the session gets it, then its body without the frames of its transfer. *out and *out_len are those that may be
 * passed on, valid until the next call. -1: a value is in them, nothing may be passed on any more, and the connection is to be cut; gate_found says which.
 */
int gate_pass(struct gate *gate, const char *bytes, size_t len, const char **out, size_t *out_len);

/* The end of what belongs together: what was held back was no value. */
void gate_end(struct gate *gate, const char **out, size_t *out_len);

/* The name of the secret that was found, or NULL. */
const char *gate_found(const struct gate *gate);

#endif
