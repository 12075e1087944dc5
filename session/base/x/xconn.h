/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection to the X server, shared by display, input and apps of a stage, that never waits without a limit.
 *
 * Xlib opens it (xconn.dpy); all later requests go through xcb, those with a reply through xconn_reply, which waits in a coroutine for at
 * most LIMIT_X_WAIT_MS. Events belong to xcb and are handed to listeners. XTEST and XKB are asked about when the connection is opened,
 * so that their requests need no reply. Where the libraries could still block (a server that stops in the middle of a reply), an alarm
 * of LIMIT_X_BLOCK_S ends the process. One thread.
 */
#ifndef BASE_XCONN_H
#define BASE_XCONN_H

#include <X11/Xlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <xcb/xcb.h>

#include "session/base/co.h"
#include "session/base/err.h"
#include "session/base/loop.h"

typedef void xconn_event_fn(void *arg, const xcb_generic_event_t *event);

struct xconn_listener {
	struct xconn_listener *next;
	xconn_event_fn *fn;
	void *arg;
};

struct xconn_atom_row; /* an atom that was asked for */

struct xconn {
	Display *dpy;
	xcb_connection_t *xcb; /* of dpy; events are xcb's */
	xcb_window_t root;
	uint32_t root_events;  /* what xconn_select_root has asked for */
	struct loop *loop;
	struct loop_source *source;
	struct loop_before *before;
	struct xconn_listener *listeners;
	struct xconn_listener *next_up; /* the listener that gets the present event next */
	struct xconn_atom_row *atoms;
	uint64_t bytes_read;       /* of the server, when readable was last signalled */
	struct co_event readable;  /* signalled whenever something was read from the server */
	struct loop_timer *soon;   /* what was read in passing is handed out from the loop */
	struct loop_timer *tell;   /* on_lost is called from the loop */
	bool flush_waits;          /* the server's end is full: the flush happens when it reads on */
	int64_t silent_since_ms;   /* when the first wait that it left unanswered began; 0 when it answers */
	bool lost;                 /* the connection broke; every later call fails with ERR_GONE */
	void (*on_lost)(void *arg);
	void *on_lost_arg;
	void (*on_silent)(void *arg); /* NULL or set by the owner, with the same arg: called whenever a wait had no answer in its time */
};

/*
 * Connects to `display` (":0" in a session) with an MIT-MAGIC-COOKIE-1, or without one when cookie is NULL. The set-up exchange itself
 * blocks, at most LIMIT_X_CONNECT_MS: an alarm ends the process after that. Call before any app runs. on_lost is called once from
 * the loop when the connection breaks, or when nothing was answered for LIMIT_X_DEAD_MS.
 */
int xconn_open(struct xconn *x, struct loop *loop, const char *display, const uint8_t cookie[16], void (*on_lost)(void *), void *arg,
               struct err *e);
/* The same with the cookie of an untrusted client (session/base/x/xsecurity.h), which asks for no extension: for what untrusted apps say to each other.
 * They may end this connection, so its loss is no more than that. */
int xconn_open_untrusted(struct xconn *x, struct loop *loop, const char *display, const uint8_t cookie[16], void (*on_lost)(void *),
                         void *arg, struct err *e);
/* What was sent is still handled by the server. Must be called also for a lost connection; nothing for zeroed memory. */
void xconn_close(struct xconn *x);

/* Adds a listener (the caller's memory, until xconn_close or xconn_unlisten). It may be called inside any coroutine's wait for a reply:
 * it must return soon and must not wait. */
void xconn_listen(struct xconn *x, struct xconn_listener *listener, xconn_event_fn *fn, void *arg);
void xconn_unlisten(struct xconn *x, struct xconn_listener *listener);

/* Asks for these events (XCB_EVENT_MASK_…) of the root window as well: X keeps one mask for a connection, which several folders share. */
void xconn_select_root(struct xconn *x, uint32_t events);

/*
 * Waits for the reply to the request with this sequence number (cookie.sequence of any xcb cookie). Events that the server sent before
 * it have been handed to the listeners when this returns. *reply is malloced and the caller's; NULL with 0 cannot happen. Errors:
 * ERR_X_SILENT after LIMIT_X_WAIT_MS in which this process ran, ERR_GONE when the connection is lost, ERR_CONFLICT for an X error (its code is in the message),
 * ERR_CANCELLED. Must run in a coroutine.
 */
int xconn_reply(struct xconn *x, unsigned int sequence, void **reply, struct err *e);

/* Takes the connection as lost: on_lost follows. */
void xconn_give_up(struct xconn *x, const char *why);

/* The same for another one of a batch of requests that were all made before xconn_reply waited for the first: what was made since is not sent by it. */
int xconn_next_reply(struct xconn *x, unsigned int sequence, void **reply, struct err *e);

/* A round trip: everything sent before has been handled by the server. */
int xconn_sync(struct xconn *x, struct err *e);

/* A window of our own that is never shown and is told of changes of its properties: for what is agreed with others by properties. The
 * caller destroys it. Errors as xconn_reply. */
int xconn_hidden_window(struct xconn *x, xcb_window_t *window, struct err *e);

/* Sends what is buffered as soon as the server takes it: call after a batch of requests without reply. Does not block. */
void xconn_flush(struct xconn *x);

/* Bytes of requests without reply that may be made between two calls of xconn_room (an XTEST event takes 36). */
#define XCONN_BATCH_BYTES (32 * 1024)

/*
 * Sends what is buffered and waits until the server has read it, so that XCONN_BATCH_BYTES of requests can be made without blocking: call
 * it before each such batch. Errors as xconn_reply. Must run in a coroutine.
 */
int xconn_room(struct xconn *x, struct err *e);

/*
 * Nothing of what was sent stays in the buffer of requests, which xcb uses again and never clears: a request of zeros that does nothing goes
 * through all of it. Errors as xconn_reply. Must run in a coroutine.
 */
int xconn_wipe_sent(struct xconn *x, struct err *e);

/* The atom of this name (made if it is not there); known ones are not asked for again. Must run in a coroutine. */
int xconn_atom(struct xconn *x, const char *name, xcb_atom_t *atom, struct err *e);

/*
 * A property of a window, at most max bytes of it: *data is malloced, NUL-terminated, the caller's; *len its bytes. An absent property is 0
 * bytes and type XCB_NONE. Hostile windows: the content is not checked.
 */
int xconn_property(struct xconn *x, xcb_window_t window, xcb_atom_t property, size_t max, char **data, size_t *len, xcb_atom_t *type,
                   int *format, struct err *e);

#endif
