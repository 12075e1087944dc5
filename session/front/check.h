/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a request. Owner: session/front. One thread. */
#ifndef FRONT_CHECK_H
#define FRONT_CHECK_H

#include <microhttpd.h>

#include "session/base/err.h"

struct request;

/*
 * Fills in what the head says: target, header fields, route, whose token it has, its Idempotency-Key, its session (with a reference). -1
 * with the refusal in *e; the reply then has what belongs to it already (Allow, and must_close where the framing is in doubt).
 */
int check_head(struct request *request, struct MHD_Connection *mhd, const char *method, struct err *e);

/* How many bytes its body may have; once its route is known. */
size_t check_body_limit(const struct request *request);

#endif
