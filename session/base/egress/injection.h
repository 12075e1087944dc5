/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of stored secrets that are put into requests on their way out of a session: for which origin, in which header, behind which words. Checked when they
 * are stored, handed on by the stage, and read by glovebox-egress. Pure functions. Owner: session/base.
 */
#ifndef BASE_INJECTION_H
#define BASE_INJECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"

#define INJECTION_HOST_SIZE 254
#define INJECTION_HEADER_SIZE 64
#define INJECTION_PREFIX_SIZE 64
#define INJECTION_VALUE_MIN_BYTES 8 /* a shorter value stands in answers by chance: they could not be looked through for it */

struct injection {
	char host[INJECTION_HOST_SIZE]; /* in lower case: "api.example.com" */
	uint16_t port;
	bool is_plain;                  /* http; else TLS, which is taken apart for it */
	char header[INJECTION_HEADER_SIZE];
	char prefix[INJECTION_PREFIX_SIZE]; /* stands before the value: "Bearer " */
};

/* Reads an origin (session/base/origin.h) and leaves header and prefix alone. NULL, or the rule that it breaks; then *out is untouched. */
const char *injection_read_origin(const char *origin, struct injection *out);

/* NULL, or the rule that a header's name, a prefix or a value breaks. */
const char *injection_header_fault(const char *name);
const char *injection_prefix_fault(const char *prefix);
const char *injection_value_fault(const void *value, size_t len);

/* Of the rules that a stage is opened with those that inject, as a policy of egress has them: [{"secret","host","port","plain","header","prefix"}…].
 * The caller's reference. */
json_t *injection_list(const json_t *rules);

/* Reads a row of that list. *secret is the row's. ERR_BAD_FIELD. */
int injection_read(const json_t *row, const char **secret, struct injection *out, struct err *e);

#endif
