/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transfers of libcurl on the loop, each waited for in a coroutine. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_TRANSFERS_H
#define EGRESS_TRANSFERS_H

#include <curl/curl.h>

#include "session/base/loop.h"

struct transfers;

/* DIE when libcurl does not start. */
struct transfers *transfers_create(struct loop *loop);

/* NULL is fine. Nothing may run. */
void transfers_destroy(struct transfers *transfers);

/* Runs a transfer, which has a time limit of its own, and returns what came of it; one whose coroutine is cancelled is ended. CURLOPT_PRIVATE is
 * used for it. */
CURLcode transfers_run(struct transfers *transfers, CURL *easy);

#endif
