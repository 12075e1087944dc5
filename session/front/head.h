/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The header fields of a request that mean something here, read so that nothing has two readings (request smuggling).
 * Owner: session/front. No threads.
 */
#ifndef FRONT_HEAD_H
#define FRONT_HEAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"
#include "session/base/limits.h"
#include "session/front/accept.h"
#include "session/mcp/revisions.h"

/* Values are borrowed from what head_add was given; NULL when the field is not there. */
struct head {
	const char *host, *origin, *authorization, *content_type, *idempotency_key, *last_event_id, *if_none_match, *range, *if_range;
	const char *if_match, *content_encoding, *content_range;
	const char *content_length, *transfer_encoding, *expect;
	const char *upgrade, *websocket_key, *websocket_version, *websocket_protocol;
	struct accept accept;
	struct mcp_head mcp;
	uint64_t length; /* of the body; 0 when chunked */
	bool chunked;
	bool has_body;   /* a body that is not empty, or chunked */
	bool connection_upgrade; /* a Connection field has the word */
};

/*
 * Adds one field (name and value as NUL-terminated strings of the given lengths). Refused as ERR_BAD_REQUEST: a name that is not
 * a token, control characters in a value, a second field of a name that may stand only once. After a refusal the framing of the
 * connection is not to be trusted.
 */
int head_add(struct head *head, const char *name, size_t name_len, const char *value, size_t value_len, struct err *e);

/* When all fields are added: the framing (Content-Length, Transfer-Encoding). Refused as ERR_BAD_REQUEST. */
int head_finish(struct head *head, struct err *e);

/* Has a list with commas, or NULL, this word, in any case? */
bool head_list_has(const char *list, const char *word);

/* The token of "Authorization: Bearer TOKEN", or NULL when the field is not of that form. */
const char *head_bearer(const struct head *head);

/*
 * Reads the Idempotency-Key into out: LIMIT_KEY_CHARS printable ASCII characters at most, as they are or in the quoted form of structured
 * fields ("k1" with its quotes is the key k1). *out is "" when there is none. ERR_BAD_REQUEST.
 */
int head_key(const struct head *head, char out[LIMIT_KEY_CHARS + 1], struct err *e);

/* The media type is application/json (UTF-8, by a charset parameter or without). */
bool head_is_json(const struct head *head);

/* Is the Content-Type application/octet-stream? */
bool head_is_bytes(const struct head *head);

/* Is it application/x-tar? */
bool head_is_tar(const struct head *head);

#endif
