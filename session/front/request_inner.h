/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request's body from inside: what request.c, which sees a request from its first header to its end, asks of request_body.c. */
#ifndef FRONT_REQUEST_INNER_H
#define FRONT_REQUEST_INNER_H

#include "session/front/request.h"

/* The next bytes of a body that its route gets as a whole. What is too much, or finds no room, makes the request a refused one. False: more came behind a refusal than is read. */
bool request_take_body(struct request *request, const char *data, size_t len);

/* The next bytes of a body that is taken as it comes: as much of it as there is room for; *len is what is left. */
void request_take_coming(struct request *request, const char *data, size_t *len);

/* There is no memory for the body, and nobody takes longer: the calls at work have all. The request is refused. */
void request_refuse_body(struct request *request);

/* That of ROUTE_BYTES is wiped. */
void request_free_body(struct request *request);

#endif
