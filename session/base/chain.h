/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that are chained: one JSON object a line, with "seq" (from 1, without gaps), "time" (wall, RFC 3339), "mono_ms" (monotonic),
 * "event", what belongs to the event, and last "hash": the SHA-256, in hex, of the hash of the line before (32 bytes; zeros before the
 * first) and the line's own text without that last member. A last line without newline is no line. Owner: session/base. No threads.
 */
#ifndef BASE_CHAIN_H
#define BASE_CHAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/base/hash.h"

#define CHAIN_HASH_BYTES HASH_BYTES
#define CHAIN_HEX_SIZE (2 * CHAIN_HASH_BYTES + 1)

/* Where a chain is; all zero at its beginning. */
struct chain {
	int64_t seq; /* of the last line */
	unsigned char hash[CHAIN_HASH_BYTES];
};

/* The next line without its hash, with `fields` (an object that stays the caller's, or NULL) after the event's name. The caller's. */
json_t *chain_line(const struct chain *chain, const char *event, const json_t *fields);

/* That line's text with hash and newline, malloced, the caller's. The chain is at *next once this was written. */
char *chain_text(const struct chain *chain, const json_t *line, struct chain *next);

/* The place of the chain after the last line of text[0..len), read from it. False if it has no whole line, or that is none of a chain. */
bool chain_resume(struct chain *chain, const char *text, size_t len);

/* {"seq","hash"}; the caller's reference. */
json_t *chain_head(const struct chain *chain);

#endif
