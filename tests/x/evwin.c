/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A window that tells what it gets. */
#include "tests/x/evwin.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <xkbcommon/xkbcommon.h>

#include "session/base/util.h"

#define MARK "GLOVEBOX_TEST_MARK"
#define GONE_MS 10000

/* The child's side. */
struct client {
	Display *dpy;
	Window window, root;
	Atom protocols, ping, mark, ask_extents, extents;
	enum evwin_way way;
	FILE *out;
	int n_paints;        /* of a late one */
	int64_t next_ms;     /* when it paints again */
	Time takes_from;     /* the server's time; what was pressed before is dropped */
};

static void open_display(struct client *c, const char *display)
{
	c->dpy = XOpenDisplay(display);
	if (!c->dpy)
		_exit(1);
	c->root = DefaultRootWindow(c->dpy);
	c->ask_extents = XInternAtom(c->dpy, "_NET_REQUEST_FRAME_EXTENTS", False);
	c->extents = XInternAtom(c->dpy, "_NET_FRAME_EXTENTS", False);
	XSelectInput(c->dpy, c->root, SubstructureNotifyMask);
}

static void answer_extents(const struct client *c, Window window)
{
	static const long none[4];

	XChangeProperty(c->dpy, window, c->extents, XA_CARDINAL, 32, PropModeReplace, (const unsigned char *)none, 4);
}

static bool is_late(const struct client *c)
{
	return c->way == EVWIN_LATE || c->way == EVWIN_COMES;
}

static void open_window(struct client *c)
{
	c->protocols = XInternAtom(c->dpy, "WM_PROTOCOLS", False);
	c->ping = XInternAtom(c->dpy, "_NET_WM_PING", False);
	c->mark = XInternAtom(c->dpy, MARK, False);
	XSetWindowAttributes attributes = {
		.override_redirect = c->way != EVWIN_COMES,
		.event_mask = KeyPressMask | KeyReleaseMask | ButtonPressMask | ButtonReleaseMask | PointerMotionMask | ExposureMask |
		              (is_late(c) ? PropertyChangeMask : 0),
	};
	unsigned int width = (unsigned int)DisplayWidth(c->dpy, 0), height = (unsigned int)DisplayHeight(c->dpy, 0);

	c->window = XCreateWindow(c->dpy, c->root, 0, 0, width, height, 0, CopyFromParent, InputOutput, NULL,
	                          CWOverrideRedirect | CWEventMask, &attributes);
	if (c->way != EVWIN_NO_PING)
		XChangeProperty(c->dpy, c->window, c->protocols, XA_ATOM, 32, PropModeReplace, (const unsigned char *)&c->ping, 1);
	XChangeProperty(c->dpy, c->root, XInternAtom(c->dpy, "_NET_ACTIVE_WINDOW", False), XA_WINDOW, 32, PropModeReplace,
	                (const unsigned char *)&c->window, 1);
	XMapWindow(c->dpy, c->window);
}

static bool is_early(const struct client *c, Time time)
{
	return is_late(c) && (c->takes_from == 0 || time < c->takes_from);
}

static void on_button(const struct client *c, const XButtonEvent *event)
{
	if (c->way == EVWIN_COMES && is_early(c, event->time))
		return;
	(void)fprintf(c->out, "%c %u 0 %u %d %d %lu\n", event->type == ButtonPress ? 'B' : 'b', event->button, event->state, event->x, event->y, event->time);
}

static void on_key(struct client *c, XKeyEvent *event)
{
	char text[32];
	KeySym keysym = NoSymbol;

	if (is_early(c, event->time))
		return;
	(void)XLookupString(event, text, sizeof(text), &keysym, NULL);
	(void)fprintf(c->out, "%c %u %lu %u %d %d %lu\n", event->type == KeyPress ? 'K' : 'k', event->keycode, keysym, event->state, event->x,
	              event->y, event->time);
	if (c->way == EVWIN_SLOW)
		(void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void on_message(struct client *c, XClientMessageEvent *event)
{
	if (event->message_type == c->ask_extents && c->way != EVWIN_MANAGED) {
		answer_extents(c, event->window);
	} else if (event->message_type == c->mark) {
		(void)fprintf(c->out, "mark\n");
		(void)fflush(c->out);
	} else if (event->message_type == c->protocols && (Atom)event->data.l[0] == c->ping && event->window != c->root && c->way != EVWIN_MUTE) {
		/* Not its own answer, which comes back to who manages the windows. */
		event->window = c->root;
		(void)XSendEvent(c->dpy, c->root, False, SubstructureNotifyMask | SubstructureRedirectMask, (XEvent *)event);
	}
}

static Bool is_stamp(Display *dpy, XEvent *event, XPointer arg)
{
	(void)dpy;
	(void)arg;
	return event->type == PropertyNotify;
}

/* A late one, until it takes keys: it paints, and before the last time it works. */
static void come_up(struct client *c)
{
	XEvent stamp;

	if (util_now_ms() < c->next_ms)
		return;
	if (c->n_paints == EVWIN_PAINTS)
		(void)nanosleep(&(struct timespec){.tv_nsec = EVWIN_WORK_MS * 1000000L}, NULL);
	XSetWindowBackground(c->dpy, c->window, 0xFF0000 + (unsigned long)c->n_paints);
	XClearWindow(c->dpy, c->window);
	c->next_ms = util_now_ms() + EVWIN_PAINT_MS;
	if (c->n_paints++ < EVWIN_PAINTS)
		return;
	XChangeProperty(c->dpy, c->window, c->mark, XA_CARDINAL, 32, PropModeReplace, NULL, 0);
	(void)XIfEvent(c->dpy, &stamp, is_stamp, NULL);
	c->takes_from = stamp.xproperty.time;
}

static void handle(struct client *c, XEvent *event)
{
	switch (event->type) {
	case Expose:
		XSetInputFocus(c->dpy, c->window, RevertToPointerRoot, CurrentTime);
		XSync(c->dpy, False);
		(void)fprintf(c->out, "ready %lu\n", c->window);
		(void)fflush(c->out);
		break;
	case MappingNotify:
		XRefreshKeyboardMapping(&event->xmapping);
		break;
	case KeyPress:
	case KeyRelease:
		on_key(c, &event->xkey);
		break;
	case ButtonPress:
	case ButtonRelease:
		on_button(c, &event->xbutton);
		break;
	case MotionNotify:
		(void)fprintf(c->out, "M 0 0 %u %d %d %lu\n", event->xmotion.state, event->xmotion.x, event->xmotion.y, event->xmotion.time);
		break;
	case ClientMessage:
		on_message(c, &event->xclient);
		break;
	default:
		break;
	}
}

/* The window manager's way with a press: the server holds the pointer's events back until the press is let go on. */
static void manage(const char *display, int ready)
{
	struct client c = {0};
	XEvent event;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_display(&c, display);
	for (unsigned int button = 1; button <= 3; button++)
		XGrabButton(c.dpy, button, AnyModifier, c.root, False, ButtonPressMask, GrabModeSync, GrabModeAsync, None, None);
	XSync(c.dpy, False);
	if (write(ready, "r", 1) != 1)
		_exit(1);
	for (;;) {
		XNextEvent(c.dpy, &event);
		if (event.type == ButtonPress) {
			(void)nanosleep(&(struct timespec){.tv_nsec = EVWIN_MANAGER_MS * 1000000L}, NULL);
			XAllowEvents(c.dpy, ReplayPointer, event.xbutton.time);
		} else if (event.type == ClientMessage && event.xclient.message_type == c.ask_extents) {
			answer_extents(&c, event.xclient.window);
		}
	}
}

static void start_manager(const char *display)
{
	int ends[2];
	char byte;

	if (pipe(ends) < 0)
		_exit(1);
	if (fork() == 0)
		manage(display, ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		_exit(1);
}

static void run(const char *display, enum evwin_way way, int out)
{
	struct client c = {.way = way, .out = fdopen(out, "w")};
	XEvent event;

	if (!c.out)
		_exit(1);
	if (way == EVWIN_MANAGED)
		start_manager(display);
	open_display(&c, display);
	open_window(&c);
	for (;;) {
		struct pollfd p = {.fd = ConnectionNumber(c.dpy), .events = POLLIN};

		while (is_late(&c) && c.takes_from == 0 && XPending(c.dpy) == 0) {
			(void)poll(&p, 1, (int)MAX(0, c.next_ms - util_now_ms()));
			come_up(&c);
		}
		XNextEvent(c.dpy, &event);
		handle(&c, &event);
	}
}

void evwin_start(struct evwin *evwin, const char *display, enum evwin_way way)
{
	char line[80];
	unsigned long window = 0;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	evwin->pid = fork();
	assert_true(evwin->pid >= 0);
	if (evwin->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(display, way, ends[1]);
	}
	(void)close(ends[1]);
	evwin->out = fdopen(ends[0], "r");
	if (!fgets(line, sizeof(line), evwin->out) || sscanf(line, "ready %lu", &window) != 1)
		fail_msg("the window did not start");
	evwin->window = (xcb_window_t)window;
	evwin->xcb = xcb_connect(display, NULL);
}

static xcb_atom_t atom(const struct evwin *evwin, const char *name)
{
	auto_free xcb_intern_atom_reply_t *reply =
		xcb_intern_atom_reply(evwin->xcb, xcb_intern_atom(evwin->xcb, 0, (uint16_t)strlen(name), name), NULL);

	assert_non_null(reply);
	return reply->atom;
}

static bool is_managed(const struct evwin *evwin, xcb_window_t root)
{
	xcb_get_property_cookie_t asked =
		xcb_get_property(evwin->xcb, 0, root, atom(evwin, "_NET_SUPPORTING_WM_CHECK"), XCB_ATOM_WINDOW, 0, 1);
	auto_free xcb_get_property_reply_t *reply = xcb_get_property_reply(evwin->xcb, asked, NULL);

	return reply && reply->type != XCB_NONE;
}

static bool is_there(const struct evwin *evwin)
{
	auto_free xcb_get_window_attributes_reply_t *reply =
		xcb_get_window_attributes_reply(evwin->xcb, xcb_get_window_attributes(evwin->xcb, evwin->window), NULL);

	return reply;
}

static bool is_focus_nowhere(const struct evwin *evwin)
{
	auto_free xcb_get_input_focus_reply_t *reply = xcb_get_input_focus_reply(evwin->xcb, xcb_get_input_focus(evwin->xcb), NULL);

	return reply && reply->focus == XCB_INPUT_FOCUS_POINTER_ROOT;
}

/* Waits for an event that was asked for, and drops all that have come. */
static void wait_event(const struct evwin *evwin)
{
	struct pollfd p = {.fd = xcb_get_file_descriptor(evwin->xcb), .events = POLLIN};
	xcb_generic_event_t *event = xcb_poll_for_event(evwin->xcb);

	if (!event && poll(&p, 1, GONE_MS) != 1)
		fail_msg("the window does not go");
	for (; event; event = xcb_poll_for_event(evwin->xcb))
		free(event);
}

/*
 * Once the window that had the focus is gone, a window manager gives the focus to another. A new window that takes it earlier loses it to
 * that.
 */
static void wait_gone(const struct evwin *evwin)
{
	static const uint32_t of_window = XCB_EVENT_MASK_STRUCTURE_NOTIFY, of_root = XCB_EVENT_MASK_FOCUS_CHANGE;
	xcb_window_t root = xcb_setup_roots_iterator(xcb_get_setup(evwin->xcb)).data->root;

	xcb_change_window_attributes(evwin->xcb, root, XCB_CW_EVENT_MASK, &of_root);
	xcb_change_window_attributes(evwin->xcb, evwin->window, XCB_CW_EVENT_MASK, &of_window);
	while (is_there(evwin))
		wait_event(evwin);
	while (is_managed(evwin, root) && is_focus_nowhere(evwin))
		wait_event(evwin);
}

static void finish(struct evwin *evwin, bool waits)
{
	(void)kill(evwin->pid, SIGKILL);
	(void)waitpid(evwin->pid, NULL, 0);
	if (waits)
		wait_gone(evwin);
	xcb_disconnect(evwin->xcb);
	(void)fclose(evwin->out);
}

void evwin_stop(struct evwin *evwin)
{
	finish(evwin, true);
}

void evwin_drop(struct evwin *evwin)
{
	finish(evwin, false);
}

static void send_mark(struct evwin *evwin)
{
	xcb_client_message_event_t message = {
		.response_type = XCB_CLIENT_MESSAGE, .format = 32, .window = evwin->window, .type = atom(evwin, MARK)};

	xcb_send_event(evwin->xcb, 0, evwin->window, 0, (const char *)&message);
	xcb_flush(evwin->xcb);
}

size_t evwin_look(struct evwin *evwin, struct evwin_event *events, size_t max)
{
	char line[120];
	size_t n = 0;

	send_mark(evwin);
	for (;;) {
		struct evwin_event event;

		if (!fgets(line, sizeof(line), evwin->out))
			fail_msg("the window is gone");
		if (strcmp(line, "mark\n") == 0)
			return n;
		if (sscanf(line, "%c %u %u %u %d %d %u", &event.kind, &event.detail, &event.keysym, &event.state, &event.x, &event.y,
		           &event.time_ms) == 7 &&
		    n < max)
			events[n++] = event;
	}
}

char *evwin_text(const struct evwin_event *events, size_t n)
{
	char *text = calloc(n + 1, 8);
	size_t len = 0;

	for (size_t i = 0; text && i < n; i++) {
		char piece[8];

		if (events[i].kind != 'K' || xkb_keysym_to_utf8(events[i].keysym, piece, sizeof(piece)) <= 1)
			continue;
		memcpy(text + len, piece, strlen(piece));
		len += strlen(piece);
	}
	return text;
}
