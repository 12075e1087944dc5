/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kept connection of the bench's client: HTTP/1.1 to a server, or the link of a stage (session/stage/link.h).
 * Whatever fails ends the program with a line that says what. Blocking; one thread.
 */
#ifndef PERF_WIRE_H
#define PERF_WIRE_H

#include <jansson.h>
#include <stddef.h>

struct wire;

/* The answer to one request; its texts are the wire's, until the next request. */
struct answer {
	int status;
	const char *body;
	size_t len;
	char etag[128]; /* "" without one */
};

/*
 * Connects: to a stage if the target has a slash, else to ADDRESS:PORT of IPv4 over TCP without delay. `token` is the bearer token, "" for
 * none (a stage takes none).
 */
struct wire *wire_open(const char *target, const char *token);
void wire_close(struct wire *wire);

/*
 * Makes the next request ready: "GET /path" with the HTTP body, or the name of a stage's call. `fields` (an object of texts, or NULL) is the
 * query of a stage's call; over HTTP they are headers.
 * `etag` is what If-None-Match names, or "".
 */
void wire_prepare(struct wire *wire, const char *call, const json_t *fields, const char *body, const char *etag);

/* Sends it, and reads to the last byte of the answer: all that is measured. */
void wire_exchange(struct wire *wire);

/* Takes what was read apart. */
void wire_answer(struct wire *wire, struct answer *answer);

#endif
