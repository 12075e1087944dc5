/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front's end of the link to the warden (session/warden/proto.h). Owner: session/front. One thread; what waits runs in a
 * coroutine.
 */
#ifndef FRONT_WARDEN_H
#define FRONT_WARDEN_H

#include "session/base/loop.h"
#include "session/warden/proto.h"

struct warden;

struct warden_ops {
	/* A label, before the hello or later, when something was replaced; `fd` is the callee's, -1 if there is none. -1 with *e: refused. */
	int (*label)(void *arg, const struct front_label *label, int fd, struct err *e);
	/* A session ended, asked for or not. */
	void (*ended)(void *arg, const struct warden_event *event);
	/* What a session uses, or, without a session, the front. */
	void (*used)(void *arg, const struct warden_event *event);
	/* The warden is gone: so is everything. */
	void (*gone)(void *arg);
	void *arg;
};

/* Reads the first records of the link up to the hello, and waits for them (the loop does not run yet). */
int warden_hello(int fd, const struct warden_ops *ops, struct warden_hello *hello, struct err *e);

/* fd is taken. `ops` must outlive it. */
struct warden *warden_create(struct loop *loop, int fd, const struct warden_ops *ops);

/* Tells the warden that requests are answered. */
int warden_serving(struct warden *warden, struct err *e);

/*
 * Asks for a session with this id and waits until its processes run. *isolation are the bits of enum warden_isolation. Errors: that
 * of the warden (its code and its line for the caller), ERR_TIMEOUT and ERR_CANCELLED, after which a session that comes all the same
 * is ended.
 */
int warden_start(struct warden *warden, const char *id, const struct warden_create *create, int64_t deadline_ms,
                 uint32_t *isolation, struct err *e);

/* The session lives ttl_s from now on. Waits for the answer. Errors: that of the warden, ERR_TIMEOUT, ERR_CANCELLED. */
int warden_set_ttl(struct warden *warden, const char *id, uint32_t ttl_s, int64_t deadline_ms, struct err *e);

/*
 * Starts the view of one who watches. *fd is a stream of RFB, the caller's; its end is that of the view. Waits for the answer. Errors: that of
 * the warden, ERR_TIMEOUT and ERR_CANCELLED, after which a view that comes all the same is ended.
 */
int warden_add_viewer(struct warden *warden, const char *id, const struct warden_viewer *viewer, int64_t deadline_ms, int *fd, struct err *e);

/* Removes the journal of a session that has ended. Waits for the answer. Errors: that of the warden, among them ERR_NOT_FOUND and ERR_CONFLICT,
 * ERR_TIMEOUT, ERR_CANCELLED. */
int warden_drop_journal(struct warden *warden, const char *id, int64_t deadline_ms, struct err *e);

/* Stores a secret (a checked record but for op and tag; the caller's, to be wiped by it), or drops the one of this name. Waits for the answer. Errors: that of
 * the warden, among them ERR_NOT_FOUND and ERR_LIMIT, ERR_TIMEOUT, ERR_CANCELLED. */
int warden_put_secret(struct warden *warden, struct warden_secret *secret, int64_t deadline_ms, struct err *e);
int warden_drop_secret(struct warden *warden, const char *name, int64_t deadline_ms, struct err *e);

/* Nothing in the session's display root may be executed from now on. */
int warden_seal(struct warden *warden, const char *id, struct err *e);

/*
 * Asks what sessions use, and waits until ops->used was called for all of them. Runs in a coroutine. ERR_BUSY when it was asked less
 * than WARDEN_USAGE_MS ago, ERR_TIMEOUT, ERR_CANCELLED.
 */
int warden_ask_usage(struct warden *warden, int64_t deadline_ms, struct err *e);

/* Asks for the end of a session; the answer comes by ops->ended. */
int warden_end(struct warden *warden, const char *id, struct err *e);

#endif
