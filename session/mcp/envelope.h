/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON-RPC 2.0 as MCP narrows it: what a message is, and the texts of answers. Owner: session/mcp. No threads.
 */
#ifndef MCP_ENVELOPE_H
#define MCP_ENVELOPE_H

#include <jansson.h>
#include <stddef.h>

#include "session/mcp/error.h"

enum envelope_kind { ENVELOPE_REQUEST, ENVELOPE_NOTIFICATION, ENVELOPE_RESPONSE };

/* All is borrowed from the message. */
struct envelope {
	enum envelope_kind kind;
	const json_t *id;     /* a string or an integer; NULL for a notification */
	const char *method;   /* NULL for a response */
	const json_t *params; /* an object; NULL when there are none */
};

/*
 * Takes one message apart. MCP_INVALID: no object, not of version 2.0, an id that is neither a string (LIMIT_MCP_ID_BYTES at most) nor an
 * integer, a method that is no text, params that are no object, neither a request nor a response. out->id is then set if there is one to
 * answer with.
 */
int envelope_read(const json_t *message, struct envelope *out, struct mcp_error *e);

/* Are both ids the same value of the same type? */
bool envelope_same_id(const json_t *a, const json_t *b);

/* Answers as objects; id NULL is null; `result` is taken. The caller's reference. */
json_t *envelope_result(const json_t *id, json_t *result);
json_t *envelope_error(const json_t *id, const struct mcp_error *e);
json_t *envelope_notification(const char *method, json_t *params);

/*
 * Follows a text from outside of this process only as far as to know where its first object or list ends: what goes on behind that end would
 * stand beside the result, in an answer that is not its own. Zero-initialised is the beginning.
 */
struct envelope_scan {
	int depth;
	bool in_string, is_escaped;
	bool has_ended;
};

/* Reads on; the text may be cut anywhere. False when it does not begin with { or [, or goes on behind the end. */
bool envelope_scan(struct envelope_scan *scan, const char *text, size_t len);

/*
 * The answer whose result is the JSON object of text[0..len), unread, with `first` (an object, or NULL) as its first members: malloced,
 * the caller's, *out_len bytes on one line. NULL when the text is no object from its outside.
 */
char *envelope_splice(const json_t *id, const json_t *first, const char *text, size_t len, size_t *out_len);

/*
 * The same for a text that comes in pieces: envelope_splice_head is what stands before the text without its first brace, which has more
 * members (`more`) or none; each piece goes through envelope_scan and envelope_join_lines, and the end is ENVELOPE_SPLICE_TAIL.
 */
#define ENVELOPE_SPLICE_TAIL "}"
char *envelope_splice_head(const json_t *id, const json_t *first, bool more, size_t *out_len);
void envelope_join_lines(char *text, size_t len); /* line breaks, which stand between two tokens, become blanks */

#endif
