/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The X connection of a stage: bounded waits, events to listeners.
 */
#include "session/base/x/xconn_inner.h"

#include <X11/XKBlib.h>
#include <X11/Xlib-xcb.h>
#include <X11/Xlibint.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/res.h>
#include <xcb/shm.h>
#include <xcb/xcbext.h>
#include <xcb/xtest.h>
#include <xcb/xfixes.h>
#include <xcb/xinput.h>
#include <xcb/xkb.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/base/x/xsecurity.h"

/* The socket's buffer, as far as the kernel grants it: xcb writes only while a quarter of it at most is in use, and else blocks. */
#define SEND_BUFFER_BYTES (512 * 1024)

/* Events handed out in one go; a program that makes more must leave the loop to others, too. */
#define EVENTS_AT_ONCE 4096

/* So often a reply is looked for behind them, which must not take the time of one guard, nor the loop from others. */
#define LOOKS_AT_ONCE 4

/* Xlib's own handlers end the process. Errors of requests without reply say that a window went away meanwhile: not worth a line. */
static int on_error(Display *dpy, XErrorEvent *event)
{
	(void)dpy;
	log_debug("X error %d for request %d.%d", event->error_code, event->request_code, event->minor_code);
	return 0;
}

static int on_io_error(Display *dpy)
{
	(void)dpy;
	return 0;
}

static void on_io_exit(Display *dpy, void *arg)
{
	(void)dpy;
	(void)arg;
}

/* How many guards are open, one inside the other: the outermost sets the alarm, since each costs two calls into the kernel. */
static int n_guards;

static void guard_begin(void)
{
	if (n_guards++ == 0)
		alarm(LIMIT_X_BLOCK_S);
}

static void guard_end(void)
{
	if (--n_guards == 0)
		alarm(0);
}

/*
 * Xlib counts the replies that it sees; here xcb takes them all, so Xlib would think after some 65,000 requests that none was
 * answered and wait for one without limit. So it is told.
 */
static void note_answered(struct xconn *x, unsigned int sequence)
{
	uint64_t known = X_DPY_GET_LAST_REQUEST_READ(x->dpy);
	int32_t ahead = (int32_t)(sequence - (uint32_t)known);

	if (ahead > 0)
		X_DPY_SET_LAST_REQUEST_READ(x->dpy, known + (uint64_t)ahead);
}

static void deliver(struct xconn *x, const xcb_generic_event_t *event)
{
	if (event->response_type == 0) {
		log_debug("X error %u", ((const xcb_generic_error_t *)event)->error_code);
		return;
	}
	for (struct xconn_listener *l = x->listeners; l; l = x->next_up) {
		x->next_up = l->next;
		l->fn(l->arg, event);
	}
}

static void tell_lost(void *arg)
{
	struct xconn *x = arg;

	x->tell = NULL;
	if (x->on_lost)
		x->on_lost(x->on_lost_arg);
}

static void pump(struct xconn *x);

static void on_soon(void *arg)
{
	struct xconn *x = arg;

	x->soon = NULL;
	pump(x);
	co_signal(&x->readable); /* who has looked for long enough looks again */
}

static void pump_soon(struct xconn *x)
{
	if (!x->lost && !x->soon)
		x->soon = loop_at(x->loop, util_now_ms(), on_soon, x);
}

static void lose(struct xconn *x, const char *why)
{
	if (x->lost)
		return;
	log_warn("the display is lost: %s", why);
	x->lost = true;
	loop_remove(x->source);
	x->source = NULL;
	loop_cancel(x->soon);
	x->soon = NULL;
	co_signal(&x->readable);
	x->tell = loop_at(x->loop, util_now_ms(), tell_lost, x);
}

void xconn_give_up(struct xconn *x, const char *why)
{
	lose(x, why);
}

static void hand_out_one(struct xconn *x, xcb_generic_event_t *event)
{
	note_answered(x, event->full_sequence);
	deliver(x, event);
	free(event);
}

/* Hands out the events that are there. One guard for all: a client that floods us with events must not cost us two calls for each. */
static void hand_out(struct xconn *x)
{
	guard_begin();
	for (int n = 0; !x->lost; n++) {
		xcb_generic_event_t *event = n < EVENTS_AT_ONCE ? xcb_poll_for_event(x->xcb) : NULL;

		if (n == EVENTS_AT_ONCE)
			pump_soon(x);
		if (!event)
			break;
		hand_out_one(x, event);
	}
	guard_end();
}

/* This event and those behind it that were read already. */
static void hand_out_read(struct xconn *x, xcb_generic_event_t *event)
{
	guard_begin();
	for (; event; event = x->lost ? NULL : xcb_poll_for_queued_event(x->xcb))
		hand_out_one(x, event);
	guard_end();
}

/* Reads all that is there, hands out the events and wakes who waits for a reply. */
static void pump(struct xconn *x)
{
	hand_out(x);
	if (x->lost)
		return;
	/* Only then: two waiters that woke each other for nothing would never sleep. */
	if (xcb_total_read(x->xcb) != x->bytes_read) {
		x->bytes_read = xcb_total_read(x->xcb);
		co_signal(&x->readable);
	}
	if (xcb_connection_has_error(x->xcb))
		lose(x, "the connection broke");
}

/* At most a quarter of the socket's buffer (some 100 KiB) is in use. */
static bool is_writable(const struct xconn *x)
{
	struct pollfd p = {.fd = xcb_get_file_descriptor(x->xcb), .events = POLLOUT};

	return poll(&p, 1, 0) == 1;
}

static void on_socket(void *arg, uint32_t events)
{
	struct xconn *x = arg;

	if (events & EPOLLOUT) {
		x->flush_waits = false;
		loop_modify(x->source, EPOLLIN);
		xconn_flush(x);
	}
	pump(x);
}

/* xcb reads whatever is there when a reply is asked for, or while it sends: with it the answers that others wait for, of whom the socket tells nothing more. */
static void before_wait(void *arg)
{
	struct xconn *x = arg;

	if (!x->lost && xcb_total_read(x->xcb) != x->bytes_read)
		pump(x);
}

void xconn_flush(struct xconn *x)
{
	if (x->lost || x->flush_waits)
		return;
	if (!is_writable(x)) {
		x->flush_waits = true;
		loop_modify(x->source, EPOLLIN | EPOLLOUT);
		return;
	}
	guard_begin();
	XFlush(x->dpy);
	xcb_flush(x->xcb);
	guard_end();
}

/* What the libraries would ask for, and wait for, in the middle of a later request is asked for now. */
static int prepare_extensions(Display *dpy, struct err *e)
{
	xcb_extension_t *const used[] = {&xcb_shm_id, &xcb_damage_id, &xcb_xfixes_id, &xcb_res_id, &xcb_xkb_id, &xcb_test_id, &xcb_input_id,
	                                 &xcb_randr_id, &xsecurity_extension};
	xcb_connection_t *xcb = XGetXCBConnection(dpy);
	int a, b, c;
	int major = XkbMajorVersion, minor = XkbMinorVersion;

	if (!XkbQueryExtension(dpy, &a, &b, &c, &major, &minor))
		return err_set(e, ERR_UNSUPPORTED, NULL, "the display has no XKEYBOARD");
	for (size_t i = 0; i < ARRAY_LEN(used); i++) {
		const xcb_query_extension_reply_t *reply = xcb_get_extension_data(xcb, used[i]);

		if (!reply || !reply->present)
			return err_set(e, ERR_UNSUPPORTED, NULL, "the display has no %s", used[i]->name);
	}
	return 0;
}

static int open_as(struct xconn *x, struct loop *loop, const char *display, const uint8_t cookie[16], bool trusted, void (*on_lost)(void *),
                   void *arg, struct err *e)
{
	char protocol[] = "MIT-MAGIC-COOKIE-1";
	char data[16];

	if (cookie) {
		memcpy(data, cookie, sizeof(data));
		XSetAuthorization(protocol, (int)strlen(protocol), data, sizeof(data));
	}
	XSetErrorHandler(on_error);
	XSetIOErrorHandler(on_io_error);
	alarm(LIMIT_X_CONNECT_MS / 1000);
	Display *dpy = XOpenDisplay(display);
	int rc = dpy ? 0 : err_set(e, ERR_SESSION_FAILED, NULL, "the display does not accept a connection");
	if (rc == 0 && trusted)
		rc = prepare_extensions(dpy, e);
	alarm(0);
	if (rc < 0) {
		if (dpy)
			XCloseDisplay(dpy);
		return -1;
	}
	XSetIOErrorExitHandler(dpy, on_io_exit, NULL);
	XSetEventQueueOwner(dpy, XCBOwnsEventQueue);
	*x = (struct xconn){
		.dpy = dpy,
		.xcb = XGetXCBConnection(dpy),
		.root = (xcb_window_t)XDefaultRootWindow(dpy),
		.loop = loop,
		.on_lost = on_lost,
		.on_lost_arg = arg,
	};
	(void)setsockopt(xcb_get_file_descriptor(x->xcb), SOL_SOCKET, SO_SNDBUF, &(int){SEND_BUFFER_BYTES}, sizeof(int));
	x->source = loop_add(loop, xcb_get_file_descriptor(x->xcb), EPOLLIN, on_socket, x);
	x->before = loop_before_wait(loop, before_wait, x);
	return 0;
}

int xconn_open(struct xconn *x, struct loop *loop, const char *display, const uint8_t cookie[16], void (*on_lost)(void *), void *arg,
               struct err *e)
{
	return open_as(x, loop, display, cookie, true, on_lost, arg, e);
}

int xconn_open_untrusted(struct xconn *x, struct loop *loop, const char *display, const uint8_t cookie[16], void (*on_lost)(void *),
                         void *arg, struct err *e)
{
	return open_as(x, loop, display, cookie, false, on_lost, arg, e);
}

void xconn_close(struct xconn *x)
{
	if (!x->dpy)
		return;
	xconn_flush(x);
	loop_remove(x->source);
	loop_not_before_wait(x->loop, x->before);
	loop_cancel(x->tell);
	loop_cancel(x->soon);
	/* XCloseDisplay makes a round trip, which fails at once after this; the server still reads what was sent. */
	shutdown(xcb_get_file_descriptor(x->xcb), SHUT_RDWR);
	guard_begin();
	XCloseDisplay(x->dpy);
	guard_end();
	xconn_forget_atoms(x);
	*x = (struct xconn){.lost = true};
}

void xconn_listen(struct xconn *x, struct xconn_listener *listener, xconn_event_fn *fn, void *arg)
{
	*listener = (struct xconn_listener){.next = x->listeners, .fn = fn, .arg = arg};
	x->listeners = listener;
}

void xconn_unlisten(struct xconn *x, struct xconn_listener *listener)
{
	if (x->next_up == listener)
		x->next_up = listener->next;
	for (struct xconn_listener **l = &x->listeners; *l; l = &(*l)->next)
		if (*l == listener) {
			*l = listener->next;
			return;
		}
}

void xconn_select_root(struct xconn *x, uint32_t events)
{
	if (x->lost)
		return;
	x->root_events |= events;
	xcb_change_window_attributes(x->xcb, x->root, XCB_CW_EVENT_MASK, &x->root_events);
	xconn_flush(x);
}

int xconn_gone(struct err *e)
{
	return err_set(e, ERR_GONE, NULL, "the display of this session is gone");
}

/* Waits until something was read. Time in which we did not run ourselves is no wait, for then the server may not have run either: *since_ms moves on by it. */
static int wait_input(struct xconn *x, int64_t *since_ms, struct err *e)
{
	int64_t until_ms = *since_ms + LIMIT_X_WAIT_MS, begun_ms = util_now_ms(), late_ms;

	for (; co_wait_event(&x->readable, until_ms, e) < 0; until_ms = begun_ms + LIMIT_X_EXTRA_MS) {
		if (e->code != ERR_TIMEOUT)
			return -1;
		if (x->lost)
			break;
		late_ms = util_now_ms() - MAX(until_ms, begun_ms);
		if (late_ms < LIMIT_X_EXTRA_MS)
			return -1;
		begun_ms = util_now_ms();
		*since_ms += late_ms;
	}
	return 0;
}

/* One wait for the server to say something, which counts how long it has been silent. */
static int wait_readable(struct xconn *x, int64_t *since_ms, struct err *e)
{
	struct err wait = {0};

	if (x->lost)
		return xconn_gone(e);
	if (wait_input(x, since_ms, &wait) == 0)
		return x->lost ? xconn_gone(e) : 0;
	if (wait.code != ERR_TIMEOUT) {
		if (e)
			*e = wait;
		return -1;
	}
	if (!x->silent_since_ms)
		x->silent_since_ms = *since_ms;
	if (util_now_ms() - x->silent_since_ms >= LIMIT_X_DEAD_MS) {
		lose(x, "it does not answer");
		return xconn_gone(e);
	}
	if (x->on_silent)
		x->on_silent(x->on_lost_arg);
	return err_set(e, ERR_X_SILENT, NULL, "the display did not answer within %lld ms", (long long)(util_now_ms() - *since_ms));
}

/* True when the reply or error is there (or never will be). What else was read with it is handed out at once. A reply that came with
 * that is asked for again: nobody waits yet whom the pump could wake. */
static bool poll_reply(struct xconn *x, unsigned int sequence, void **reply, xcb_generic_error_t **error)
{
	uint64_t bytes_read;
	int there, n = 0;

	guard_begin();
	do {
		bytes_read = x->bytes_read;
		there = xcb_poll_for_reply(x->xcb, sequence, reply, error);
		pump(x);
	} while (!there && !x->lost && x->bytes_read != bytes_read && ++n < LOOKS_AT_ONCE);
	guard_end();
	if (n == LOOKS_AT_ONCE)
		pump_soon(x);
	return there != 0;
}

/* What came for a request. Neither: the connection broke. */
static int take(struct xconn *x, unsigned int sequence, void *got, xcb_generic_error_t *error, void **reply, struct err *e)
{
	if (!got && !error)
		return xconn_gone(e);
	x->silent_since_ms = 0;
	note_answered(x, sequence);
	if (error) {
		int code = error->error_code;

		free(error);
		return err_set(e, ERR_CONFLICT, NULL, "the display refused a request (X error %d)", code);
	}
	*reply = got;
	return 0;
}

int xconn_reply(struct xconn *x, unsigned int sequence, void **reply, struct err *e)
{
	int64_t since_ms = util_now_ms();
	xcb_generic_error_t *error = NULL;
	void *got = NULL;
	bool there;

	if (x->lost)
		return xconn_gone(e);
	guard_begin();
	xconn_flush(x);
	there = poll_reply(x, sequence, &got, &error);
	guard_end();
	for (; !there; there = poll_reply(x, sequence, &got, &error))
		if (wait_readable(x, &since_ms, e) < 0) {
			if (!x->lost)
				xcb_discard_reply(x->xcb, sequence);
			return -1;
		}
	return take(x, sequence, got, error, reply, e);
}

/* One that was read with the one before it costs no call into the kernel. */
int xconn_next_reply(struct xconn *x, unsigned int sequence, void **reply, struct err *e)
{
	xcb_generic_error_t *error = NULL;
	xcb_generic_event_t *event;
	void *got = NULL;

	if (x->lost)
		return xconn_gone(e);
	if (!xcb_poll_for_reply(x->xcb, sequence, &got, &error))
		return xconn_reply(x, sequence, reply, e);
	event = xcb_poll_for_queued_event(x->xcb);
	if (event)
		hand_out_read(x, event);
	return take(x, sequence, got, error, reply, e);
}

int xconn_sync(struct xconn *x, struct err *e)
{
	auto_free void *reply = NULL;

	if (x->lost)
		return xconn_gone(e);
	return xconn_reply(x, xcb_get_input_focus(x->xcb).sequence, &reply, e);
}
