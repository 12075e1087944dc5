/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target of a request ("/v1/sessions/ID/act?a=b"), decoded by ourselves: libmicrohttpd's own decoding cuts at a NUL and turns
 * "%2e%2e" into a path. Owner: session/front. No threads.
 */
#ifndef FRONT_TARGET_H
#define FRONT_TARGET_H

#include <jansson.h>
#include <stddef.h>

#include "session/base/err.h"

#define TARGET_SEGMENTS 72 /* of a file's path, and what stands before it */

struct target {
	char *text;                            /* storage of the segments */
	const char *segment[TARGET_SEGMENTS];  /* decoded, not empty, valid UTF-8; none for "/" */
	size_t n_segments;                     /* more than TARGET_SEGMENTS when the path is longer: no route has it */
	json_t *query;                         /* {"name":"value",…}, decoded strings */
};

/*
 * libmicrohttpd takes the query apart before a handler runs, and closes without a word when the parameters are more than the memory
 * of a head holds. -1: it is not to get so far. Every target that passes is still to be parsed.
 */
int target_check_size(const char *raw, struct err *e);

/*
 * Reads the raw target as it stood in the request line. Refused as ERR_BAD_REQUEST: not beginning with "/", bytes that must be
 * percent-encoded, bad percent-encoding, an encoded NUL or slash, empty and dot segments, text that is not UTF-8, a query
 * parameter given twice, more than LIMIT_QUERY_PARAMETERS of them. *out is untouched on failure, else ended by target_finish.
 */
int target_parse(const char *raw, struct target *out, struct err *e);
void target_finish(struct target *target);

/* The path again, decoded, from a segment on, as far as it is kept: malloced, the caller's. */
char *target_path_from(const struct target *target, size_t first);
char *target_path(const struct target *target);

#endif
