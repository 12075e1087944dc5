/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The header fields of a request that mean something here, read so that nothing has two readings (request smuggling), and who
 * may be named by Host and Origin. Owner: session/front. No threads.
 */
#ifndef FRONT_HEAD_H
#define FRONT_HEAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"
#include "session/base/limits.h"

/* Values are borrowed from what head_add was given; NULL when the field is not there. */
struct head {
	const char *host, *origin, *authorization, *content_type, *idempotency_key, *last_event_id, *if_none_match;
	const char *content_length, *transfer_encoding, *expect;
	uint64_t length; /* of the body; 0 when chunked */
	bool chunked;
	bool has_body;   /* a body that is not empty, or chunked */
};

/*
 * Adds one field (name and value as NUL-terminated strings of the given lengths). Refused as ERR_BAD_REQUEST: a name that is not
 * a token, control characters in a value, a second field of a name that may stand only once. After a refusal the framing of the
 * connection is not to be trusted.
 */
int head_add(struct head *head, const char *name, size_t name_len, const char *value, size_t value_len, struct err *e);

/* When all fields are added: the framing (Content-Length, Transfer-Encoding). Refused as ERR_BAD_REQUEST. */
int head_finish(struct head *head, struct err *e);

/* The token of "Authorization: Bearer TOKEN", or NULL when the field is not of that form. */
const char *head_bearer(const struct head *head);

/*
 * Reads the Idempotency-Key into out: LIMIT_KEY_CHARS printable ASCII characters at most, as they are or in the quoted form of structured
 * fields ("k1" with its quotes is the key k1). *out is "" when there is none. ERR_BAD_REQUEST.
 */
int head_key(const struct head *head, char out[LIMIT_KEY_CHARS + 1], struct err *e);

/* The media type is application/json (UTF-8, by a charset parameter or without). */
bool head_is_json(const struct head *head);

/* The names that a server answers to. */
struct hosts {
	char address[64]; /* where it listens: "127.0.0.1", "[::1]" or a name, lower case */
	char port[8];
	bool wildcard;    /* it listens on all addresses: any numeric address is then right */
	const json_t *names; /* of the configuration (a list of strings, borrowed) or NULL: with any port, as a proxy may have another */
};

/* `url` is "http://ADDRESS:PORT". 0, or -1 with ERR_INTERNAL when it is not. */
int hosts_init(struct hosts *hosts, const char *url, struct err *e);

/* `value` is a Host field: the listening address, localhost, 127.0.0.1 or [::1], with the server's port, or one of the names. */
bool hosts_has(const struct hosts *hosts, const char *value);

/* `value` is an Origin field: http:// and one of these hosts. */
bool hosts_has_origin(const struct hosts *hosts, const char *value);

/* May this stand among the names: a host's name, or a numeric address (IPv6 in brackets), without a port? */
bool hosts_is_name(const char *text);

#endif
