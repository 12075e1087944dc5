/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display/view */
/* longest: 512 */
/*
 * A viewer, and libvncserver as a view sets it up, whole: what a viewer sends from its greeting on, one message after another or all at once, with news of the stage
 * in between. It ends by itself, and what it asks of the stage has its form and is a viewer's with controls alone.
 *
 * The input is a byte of flags and what the viewer sends. Both ends of the viewer's socket are here, so all of it is sent before the view runs, and the socket keeps
 * the borders between messages, which a stream would not: the view so has a turn, and answers, between any two.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

#include "display/view/view.h"
#include "session/base/util.h"

#define WIDTH 40
#define HEIGHT 30
#define SENT_BYTES (8 * 1024 * 1024) /* that the view may send, and nobody reads */
#define MOST_BYTES 4096

enum flag {
	WITH_CONTROLS = 1 << 0,
	WITH_PASSWORD = 1 << 1,
	AT_ONCE = 1 << 2,  /* all messages are there when the view looks */
	OTHER_SIZE = 1 << 3,
	CURSOR = 1 << 4,
	CUT = 1 << 5,
	ANSWER = 1 << 6,   /* to a wish for another size */
	NO_POINTER = 1 << 7,
};

static uint8_t segment[MOST_BYTES * 8 + WIDTH * HEIGHT * 4 + VIEW_CURSOR_BYTES + LIMIT_CUT_BYTES];

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

/* The other ends of what the view finds open. Those to the stage are the same in all runs. */
struct ends {
	int rfb, stage;
};

static void open_stage(struct view *view, struct ends *ends)
{
	int stage[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, stage) < 0)
		DIE("no sockets: %s", strerror(errno));
	view->stage = stage[1];
	view->taken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ends->stage = stage[0];
}

static void open_rfb(struct view *view, struct ends *ends)
{
	int rfb[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, rfb) < 0)
		DIE("no sockets: %s", strerror(errno));
	for (int i = 0; i < 2; i++)
		(void)setsockopt(rfb[i], SOL_SOCKET, SO_SNDBUFFORCE, &(int){SENT_BYTES}, sizeof(int));
	view->rfb = rfb[1];
	ends->rfb = rfb[0];
}

/* --- the stage --- */

static void publish(const struct ends *ends, const struct view_news *news)
{
	insist(send(ends->stage, news, sizeof(*news), MSG_DONTWAIT) == (ssize_t)sizeof(*news), "no room for news");
}

static void publish_all(const struct ends *ends, uint8_t flags)
{
	const bool other = flags & OTHER_SIZE;
	struct view_news news = {.what = VIEW_NEWS_PIXELS, .width_px = WIDTH, .height_px = HEIGHT, .n_rects = 1, .rects = {{0, 0, WIDTH, HEIGHT}}};

	publish(ends, &news);
	news.rects[0] = (struct view_rect){3, 5, 17, 9};
	news.what |= (flags & CURSOR ? VIEW_NEWS_CURSOR : 0) | (flags & NO_POINTER ? 0 : VIEW_NEWS_POINTER) | (flags & CUT ? VIEW_NEWS_CUT : 0);
	news.cursor_width = news.cursor_height = 9;
	news.hot_x = 4;
	news.pointer_x = WIDTH - 2;
	news.pointer_y = 7;
	news.cut_len = 21;
	publish(ends, &news);
	news.what = VIEW_NEWS_PIXELS | (flags & CURSOR ? VIEW_NEWS_CURSOR : 0) | (flags & ANSWER ? VIEW_NEWS_RESIZED : 0);
	news.cursor_width = 0;
	news.resize_refused = !other;
	news.width_px = other ? WIDTH - 7 : WIDTH;
	news.height_px = other ? HEIGHT - 3 : HEIGHT;
	news.rects[0] = (struct view_rect){0, 0, news.width_px, news.height_px};
	publish(ends, &news);
}

/* What the view did not take. */
static void drop_news(const struct view *view)
{
	struct view_news news;
	uint64_t n;

	while (recv(view->stage, &news, sizeof(news), MSG_DONTWAIT) > 0)
		;
	(void)!read(view->taken, &n, sizeof(n));
}

/* What the view has asked for. */
static void check_asks(const struct ends *ends, bool controls)
{
	struct view_ask ask;
	ssize_t n;

	while ((n = recv(ends->stage, &ask, sizeof(ask), MSG_DONTWAIT)) > 0) {
		insist(controls, "a viewer without controls asks for something");
		insist(n >= (ssize_t)VIEW_ASK_HEAD && ask.len <= VIEW_CUT_PIECE && n == (ssize_t)(VIEW_ASK_HEAD + ask.len), "an ask breaks the form");
		insist(ask.kind >= VIEW_ASK_KEY && ask.kind <= VIEW_ASK_RESIZE && ask.down <= 1, "an ask is none");
		insist(ask.kind == VIEW_ASK_CUT || ask.len == 0, "an ask has a text");
		insist(ask.total <= LIMIT_CUT_BYTES && ask.at + ask.len <= ask.total, "a text is longer than it may be");
	}
}

/* --- the viewer --- */

static size_t length_of(const uint8_t *data, size_t left, uint8_t flags, size_t n_sent)
{
	/* Version, then the choice of security, the answer to the challenge, and init. */
	const size_t greetings[] = {12, 1, flags & WITH_PASSWORD ? 16 : 1};
	ssize_t n;

	if (n_sent < ARRAY_LEN(greetings))
		return MIN(greetings[n_sent], left);
	n = flags & AT_ONCE ? 0 : framer_length(FRAMER_NORMAL, data, left);
	return n > 0 ? MIN((size_t)n, left) : left;
}

static void say_all(const struct ends *ends, const uint8_t *data, size_t size, uint8_t flags)
{
	size_t n_sent = 0;

	for (size_t at = 0; at < size;) {
		size_t n = length_of(data + at, size - at, flags, n_sent++);

		insist(send(ends->rfb, data + at, n, MSG_DONTWAIT) == (ssize_t)n, "no room for a message");
		at += n;
	}
	(void)shutdown(ends->rfb, SHUT_WR);
}

/* --- */

/* What a view leaves to the end of its process. */
static void finish(struct view *view, const struct ends *ends)
{
	if (view->client) {
		rfbCloseClient(view->client);
		rfbClientConnectionGone(view->client);
	}
	if (view->screen) {
		rfbSetCursor(view->screen, NULL);
		rfbScreenCleanup(view->screen);
	}
	free(view->pixels);
	free(view->cut);
	for (int i = 0; i < 2; i++)
		util_close_fd(&view->pair[i]);
	util_close_fd(&view->rfb);
	(void)close(ends->rfb);
	drop_news(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct view *view;
	static struct ends ends;
	struct err e;

	if (size < 1 || size > MOST_BYTES)
		return 0;
	if (!view) {
		view = util_zalloc(sizeof(*view));
		for (size_t i = 0; i < sizeof(segment); i++)
			segment[i] = (uint8_t)(i % 4 == 3 ? 0xC0 : 'a' + i % 23);
		open_stage(view, &ends);
	}
	const int stage = view->stage, taken = view->taken;

	memset(view, 0, offsetof(struct view, in));
	view->stage = stage;
	view->taken = taken;
	view->pair[0] = view->pair[1] = -1;
	view->segment = segment;
	view->start = (struct view_start){.max_width_px = WIDTH, .max_height_px = HEIGHT, .controls = data[0] & WITH_CONTROLS};
	if (data[0] & WITH_PASSWORD)
		memcpy(view->start.password, "pass1234", sizeof(view->start.password));
	open_rfb(view, &ends);
	publish_all(&ends, data[0]);
	say_all(&ends, data + 1, size - 1, data[0]);
	(void)view_run(view, &e);
	check_asks(&ends, view->start.controls);
	finish(view, &ends);
	return 0;
}
