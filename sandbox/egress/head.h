/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heads of HTTP/1 messages (RFC 9112), read strictly: what two programs could read differently is refused. Owner: sandbox/egress. No threads.
 */
#ifndef EGRESS_HEAD_H
#define EGRESS_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/base/limits.h"

struct head_field {
	const char *name, *value; /* value: without space at its ends */
};

/* Texts are borrowed: those read from the bytes of the head, those set from who set them. */
struct head {
	const char *method, *target; /* of a request */
	int status;                  /* of a response */
	const char *reason;
	int minor;                   /* HTTP/1.`minor`, 0 or 1 */
	struct head_field fields[LIMIT_EGRESS_FIELDS];
	size_t n_fields;
};

/*
 * How many bytes a head has that begins at data, with its empty line; 0 if more must be read; -1 if it is none: a line that does not end in CR LF, a NUL,
 * more than LIMIT_HEAD_BYTES.
 */
ssize_t head_length(const char *data, size_t len);

/* Take apart the `len` bytes of a whole head, which are changed and must live as long as it. NULL, or what is wrong: a constant. */
const char *head_read_request(char *text, size_t len, struct head *out);
const char *head_read_response(char *text, size_t len, struct head *out);

/* The value of the field, NULL if there is none; *n is how many there are of this name. Names are compared without regard to case. */
const char *head_value(const struct head *head, const char *name, size_t *n);

/* The field's values, a list with commas, name this token. */
bool head_names(const struct head *head, const char *name, const char *token);

/* Is it the same name to a server that takes "_" for "-", as some do? */
bool head_is_alike(const char *a, const char *b);

/* Takes away all fields of this name. */
void head_drop(struct head *head, const char *name);

/* One field of this name, in place of those that are there. Both texts are borrowed; the value must be without CR, LF and NUL. -1: there is no room. */
int head_set(struct head *head, const char *name, const char *value);

/* Takes away what is for one connection only (RFC 9110, 7.6.1), and what is written anew: Host, the fields of the body's length, Expect. */
void head_drop_hop(struct head *head);

/* A head being written, in locked memory: there may be a secret in it. */
struct head_text {
	char *data;
	size_t len, size;
};

void head_text_add(struct head_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void head_text_add_fields(struct head_text *text, const struct head *head);
void head_text_finish(struct head_text *text);

#endif
