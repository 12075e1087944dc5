/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the body of an HTTP/1 message ends (RFC 9112, 6 and 7), read strictly: no two ways to tell it. Owner: sandbox/egress. No threads. */
#ifndef EGRESS_BODY_H
#define EGRESS_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/egress/head.h"

enum body_kind {
	BODY_NONE,
	BODY_LENGTH,  /* `left` bytes */
	BODY_CHUNKED,
	BODY_CLOSE,   /* until the connection ends; of responses alone */
};

struct body {
	enum body_kind kind;
	uint64_t left;   /* of the length, or of the chunk */
	int state;       /* within chunks */
	unsigned digits; /* of the size of a chunk, or bytes of a line that is passed over */
	size_t trailer;  /* bytes behind the last chunk */
	bool is_over;
};

/* How the message's body is told. NULL, or what is wrong: a constant. */
const char *body_of_request(const struct head *head, struct body *out);
const char *body_of_response(const struct head *head, bool answers_head, struct body *out);

/*
 * Takes bytes of the body: returns how many were taken, 0 when the body is over (or there were none), SIZE_MAX when they are no chunks. *piece (NULL when these
 * bytes hold none) and *piece_len are the content among them.
 */
size_t body_take(struct body *body, const char *data, size_t len, const char **piece, size_t *piece_len);

#endif
