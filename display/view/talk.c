/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a viewer says: to the library, to the stage, or to nobody. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>

#include "display/view/clip.h"
#include "display/view/view.h"
#include "session/base/util.h"

#define ENCODING_NONE 0x7FFFFFFFU /* nobody's */

static void drop_cut(struct view *view)
{
	if (view->cut)
		explicit_bzero(view->cut, view->cut_len);
	free(view->cut);
	view->cut = NULL;
	view->cut_len = 0;
}

static void send_message(struct view *view, uint8_t *message, size_t n)
{
	view_send(view, message, n);
	explicit_bzero(message, n);
	free(message);
}

static void send_flags(struct view *view, uint32_t flags)
{
	uint8_t message[CLIP_FLAGS_BYTES];

	clip_flags(flags, message);
	view_send(view, message, sizeof(message));
}

/* Told that there is one; it asks when it wants it. Old viewers get it at once, in what they can read. */
void talk_offer(struct view *view, char *text, size_t len)
{
	size_t n;
	uint8_t *message;

	drop_cut(view);
	if (view->client && view->client->state == RFB_NORMAL && !view->has_clip) {
		message = clip_latin1(text, len, &n);
		send_message(view, message, n);
	}
	view->cut = text;
	view->cut_len = len;
	if (view->client && view->client->state == RFB_NORMAL && view->has_clip)
		send_flags(view, CLIP_NOTIFY | CLIP_TEXT);
}

/* --- to the stage --- */

/* Waits until it is taken: a stage that does not read holds up this viewer alone. */
static void ask(struct view *view, struct view_ask *what)
{
	while (!view->over && send(view->stage, what, VIEW_ASK_HEAD + what->len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		struct pollfd ends[] = {{.fd = view->stage, .events = POLLOUT}, {.fd = view->rfb, .events = POLLRDHUP}};

		if (errno != EAGAIN && errno != EINTR)
			view->over = true;
		else if (errno == EAGAIN && poll(ends, ARRAY_LEN(ends), -1) > 0)
			view->over |= ends[1].revents || (ends[0].revents & (POLLHUP | POLLERR));
	}
	explicit_bzero(what, VIEW_ASK_HEAD + what->len);
}

static void take_key(struct view *view, const uint8_t *message, size_t n)
{
	struct view_ask what = {.kind = VIEW_ASK_KEY, .down = message[1] != 0, .keysym = framer_u32(message + 4)};

	(void)n;
	ask(view, &what);
}

static void take_pointer(struct view *view, const uint8_t *message, size_t n)
{
	struct view_ask what = {.kind = VIEW_ASK_POINTER, .mask = message[1], .x = framer_u16(message + 2), .y = framer_u16(message + 4)};

	(void)n;
	ask(view, &what);
}

static void send_cut(struct view *view, const char *text, size_t len)
{
	size_t at = 0;

	do {
		struct view_ask what = {.kind = VIEW_ASK_CUT, .total = (uint32_t)len, .at = (uint32_t)at,
		                        .len = (uint32_t)MIN(len - at, (size_t)VIEW_CUT_PIECE)};

		memcpy(what.data, text + at, what.len);
		at += what.len;
		ask(view, &what);
	} while (at < len && !view->over);
}

static void take_text(struct view *view, char *text, size_t len)
{
	if (!text)
		return;
	if (view->start.controls)
		send_cut(view, text, len);
	explicit_bzero(text, len);
	free(text);
}

/* The extended form: text is offered, asked for, provided. */
static void take_clip(struct view *view, const uint8_t *body, size_t n)
{
	uint32_t flags = n >= 4 ? framer_u32(body) : 0;
	size_t len = 0;
	uint8_t *message;

	if (!view->has_clip || n < 4) {
		view->over = true;
	} else if (flags & CLIP_CAPS) {
		return;
	} else if (flags & CLIP_REQUEST) {
		if (view->cut && (flags & CLIP_TEXT)) {
			message = clip_provide(view->cut, view->cut_len, &len);
			send_message(view, message, len);
		}
	} else if (flags & CLIP_PEEK) {
		send_flags(view, CLIP_NOTIFY | (view->cut ? CLIP_TEXT : 0));
	} else if (flags & CLIP_NOTIFY) {
		if ((flags & CLIP_TEXT) && view->start.controls)
			send_flags(view, CLIP_REQUEST | CLIP_TEXT);
	} else if (flags & CLIP_PROVIDE) {
		char *text = view->start.controls ? clip_read(body + 4, n - 4, flags, &len) : NULL;

		take_text(view, text, len);
	}
}

static void take_cut_text(struct view *view, const uint8_t *message, size_t n)
{
	char *text = NULL;
	size_t len = 0;

	if (framer_u32(message + 4) >> 31)
		take_clip(view, message + 8, n - 8);
	else if (view->start.controls)
		text = clip_read_latin1(message + 8, n - 8, &len);
	take_text(view, text, len);
}

static void take_size(struct view *view, const uint8_t *message, size_t n)
{
	struct view_ask what = {.kind = VIEW_ASK_RESIZE, .x = framer_u16(message + 2), .y = framer_u16(message + 4)};

	(void)n;
	if (view->start.controls) {
		ask(view, &what);
		return;
	}
	view->client->requestedDesktopSizeChange = rfbExtDesktopSize_ClientRequestedChange;
	view->client->lastDesktopSizeChangeError = rfbExtDesktopSize_ResizeProhibited;
	view->client->newFBSizePending = TRUE;
}

/* --- to the library --- */

static void hand(struct view *view, const uint8_t *message, size_t n)
{
	/* It holds a whole message, or the socket would not take it: the longest one that comes here has 1,028 bytes. */
	if (send(view->pair[1], message, n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)n) {
		view->over = true;
		return;
	}
	rfbProcessClientMessage(view->client);
	view->over |= !view->client || view->client->sock < 0;
}

/* The encodings that are used here; of others the library has some that nobody needs, and kinds of requests to tell about the server. */
static bool is_used(uint32_t encoding)
{
	static const uint32_t used[] = {rfbEncodingRaw,        rfbEncodingCopyRect,   rfbEncodingHextile,  rfbEncodingTight,
	                                rfbEncodingZRLE,       rfbEncodingXCursor,    rfbEncodingRichCursor, rfbEncodingPointerPos,
	                                rfbEncodingLastRect,   rfbEncodingNewFBSize,  rfbEncodingExtDesktopSize};

	for (size_t i = 0; i < ARRAY_LEN(used); i++)
		if (used[i] == encoding)
			return true;
	return (encoding >= (uint32_t)rfbEncodingCompressLevel0 && encoding <= (uint32_t)rfbEncodingCompressLevel9) ||
	       (encoding >= (uint32_t)rfbEncodingQualityLevel0 && encoding <= (uint32_t)rfbEncodingQualityLevel9);
}

static void take_encodings(struct view *view, const uint8_t *message, size_t n)
{
	uint8_t filtered[4 + 4 * FRAMER_ENCODINGS_MAX], caps[CLIP_CAPS_BYTES];
	bool had_clip = view->has_clip;

	memcpy(filtered, message, n);
	view->has_clip = false;
	for (size_t at = 4; at < n; at += 4) {
		uint32_t encoding = framer_u32(filtered + at);

		view->has_clip |= encoding == CLIP_ENCODING;
		if (!is_used(encoding))
			framer_put_u32(filtered + at, ENCODING_NONE);
	}
	hand(view, filtered, n);
	if (view->has_clip && !had_clip) {
		clip_caps(caps);
		view_send(view, caps, sizeof(caps));
	}
}

/* What libvncserver has no format for ends it there; what it would divide by is looked at here. */
static void take_format(struct view *view, const uint8_t *message, size_t n)
{
	uint8_t bits = message[4], is_true = message[7];
	bool has_colours = framer_u16(message + 8) > 0 && framer_u16(message + 10) > 0 && framer_u16(message + 12) > 0;

	if ((bits != 8 && bits != 16 && bits != 32) || (is_true && (!has_colours || message[14] > 31 || message[15] > 31 || message[16] > 31)))
		view->over = true;
	else
		hand(view, message, n);
}

/* Of nothing nothing is told: the library would make empty rectangles of it, which its encoders are not made for. */
static void take_update_request(struct view *view, const uint8_t *message, size_t n)
{
	if (framer_u16(message + 2) < view->screen->width && framer_u16(message + 4) < view->screen->height && framer_u16(message + 6) > 0 &&
	    framer_u16(message + 8) > 0)
		hand(view, message, n);
}

static void take(struct view *view, const uint8_t *message, size_t n)
{
	static const struct {
		enum framer_type type;
		bool controls; /* of a viewer without them it is nothing */
		void (*take)(struct view *view, const uint8_t *message, size_t n);
	} rows[] = {
		{FRAMER_PIXEL_FORMAT, false, take_format},  {FRAMER_ENCODINGS, false, take_encodings},
		{FRAMER_UPDATE_REQUEST, false, take_update_request}, {FRAMER_KEY, true, take_key},
		{FRAMER_POINTER, true, take_pointer},       {FRAMER_CUT_TEXT, false, take_cut_text},
		{FRAMER_DESKTOP_SIZE, false, take_size},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (message[0] == rows[i].type && (view->start.controls || !rows[i].controls))
			rows[i].take(view, message, n);
}

/* --- from the viewer --- */

static enum framer_phase phase_of(const struct view *view)
{
	switch (view->client->state) {
	case RFB_SECURITY_TYPE:
		return FRAMER_SECURITY;
	case RFB_AUTHENTICATION:
		return FRAMER_AUTH;
	case RFB_INITIALISATION:
		return FRAMER_INIT;
	case RFB_PROTOCOL_VERSION:
		return FRAMER_VERSION;
	case RFB_NORMAL:
	case RFB_INITIALISATION_SHARED:
	case RFB_SHUTDOWN:
		break;
	}
	return FRAMER_NORMAL;
}

/* One whole message; false when there is none. */
static bool take_message(struct view *view)
{
	enum framer_phase phase = phase_of(view);
	ssize_t n = framer_length(phase, view->in, view->n_in);

	if (n < 0)
		view->over = true;
	if (n <= 0 || (size_t)n > view->n_in)
		return false;
	if (phase == FRAMER_NORMAL)
		take(view, view->in, (size_t)n);
	else
		hand(view, view->in, (size_t)n);
	memmove(view->in, view->in + n, view->n_in - (size_t)n);
	explicit_bzero(view->in + view->n_in - (size_t)n, (size_t)n);
	view->n_in -= (size_t)n;
	return true;
}

void talk_take(struct view *view)
{
	ssize_t n = recv(view->rfb, view->in + view->n_in, sizeof(view->in) - view->n_in, MSG_DONTWAIT);

	if (n <= 0) {
		view->over |= n == 0 || (errno != EAGAIN && errno != EINTR);
		return;
	}
	view->n_in += (size_t)n;
	while (!view->over && take_message(view))
		;
}
