/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front as the warden sees it: a child that is started again whenever it ends, and a socket of records. Sessions go on
 * without it. Events that its socket does not take wait here.
 */
#ifndef WARDEN_FRONT_H
#define WARDEN_FRONT_H

#include <stdbool.h>

#include "session/warden/warden.h"

struct front_ops {
	/* A record that passed requests_check; what did not is answered here. */
	void (*request)(struct warden *warden, const struct warden_request *request);
	/* The same of one with a secret, which is wiped when this returns. */
	void (*secret)(struct warden *warden, const struct warden_secret *secret);
	void (*serving)(struct warden *warden); /* it serves for the first time */
	/* It ended. `served` is false if it never said that it serves: it will not be started again. */
	void (*gone)(struct warden *warden, bool served);
};

struct front *front_create(struct warden *warden, const struct front_ops *ops);
void front_destroy(struct front *front);

/* Sends an event; in order, never blocking. Nothing while no front is there: a new one asks for nothing that is past. */
void front_send(struct front *front, const struct warden_event *event);
/* The same with a descriptor, which is the front's from now on: it is closed here also when there is none. */
void front_send_with(struct front *front, const struct warden_event *event, int *fd);

/* Answers a request that is of no running session: DONE, or REFUSED with *e when rc is -1. */
void front_answer(struct front *front, uint32_t tag, const char *session, int rc, const struct err *e);

/* Opens certificate and key again, and hands them over. */
void front_renew(struct front *front);

/* Has it end: by closing its socket, by force after two seconds. It is not started again; ops.gone comes at once or later. */
void front_stop(struct front *front);

#endif
