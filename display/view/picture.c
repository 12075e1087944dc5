/* SPDX-License-Identifier: GPL-2.0-or-later */
/* News of the stage into the library's picture, pointer and clipboard. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

#include "display/view/view.h"
#include "session/base/util.h"

static void set_size(struct view *view, int width, int height)
{
	uint32_t *old = view->pixels;

	view->pixels = util_zalloc((size_t)width * (size_t)height * sizeof(uint32_t));
	if (view->screen) {
		rfbPixelFormat format = view->screen->serverFormat;

		/* It forgets where the colours are, which translates to the viewer's format. */
		rfbNewFramebuffer(view->screen, (char *)view->pixels, width, height, 8, 3, 4);
		view->screen->serverFormat = format;
		if (view->client) {
			(void)view->screen->setTranslateFunction(view->client);
			/* One that does not know that screens have other sizes would take the rest for it. */
			view->over |= view->client->state == RFB_NORMAL && !view->client->useNewFBSize;
		}
	}
	free(old);
}

static bool is_there(const struct view_news *news, const struct view_rect *r)
{
	return r->x + r->width <= news->width_px && r->y + r->height <= news->height_px;
}

static void take_pixels(struct view *view, const struct view_news *news)
{
	const uint32_t *from = (const uint32_t *)(const void *)view->segment;
	const size_t width = news->width_px;

	for (uint32_t i = 0; i < MIN(news->n_rects, LIMIT_CHANGED); i++) {
		const struct view_rect *r = &news->rects[i];

		if (!is_there(news, r))
			continue;
		for (size_t y = r->y; y < (size_t)r->y + r->height; y++)
			memcpy(view->pixels + y * width + r->x, from + y * width + r->x, r->width * sizeof(uint32_t));
		rfbMarkRectAsModified(view->screen, r->x, r->y, r->x + r->width, r->y + r->height);
	}
}

/* Premultiplied, as X has it, to what a viewer lays over its picture where the mask is. */
static uint32_t plain(uint32_t pixel)
{
	uint32_t alpha = pixel >> 24, out = 0;

	for (int shift = 0; alpha > 0 && shift < 24; shift += 8)
		out |= MIN(255U, ((pixel >> shift & 0xFF) * 255 + alpha / 2) / alpha) << shift;
	return out;
}

static void take_cursor(struct view *view, const struct view_news *news)
{
	const uint32_t *from = (const void *)(view->segment + view_cursor_at(view->start.max_width_px, view->start.max_height_px));
	const int width = MIN(news->cursor_width, VIEW_CURSOR_SIDE_PX), height = MIN(news->cursor_height, VIEW_CURSOR_SIDE_PX);
	const size_t mask_row = ((size_t)width + 7) / 8;
	rfbCursorPtr cursor = NULL;

	if (width > 0 && height > 0) {
		uint32_t *rich = util_alloc((size_t)width * (size_t)height * sizeof(uint32_t));

		/* Freed by the library. */
		cursor = util_zalloc(sizeof(*cursor));
		cursor->cleanup = cursor->cleanupSource = cursor->cleanupMask = cursor->cleanupRichSource = TRUE;
		cursor->width = (unsigned short)width;
		cursor->height = (unsigned short)height;
		cursor->xhot = MIN(news->hot_x, (unsigned short)(width - 1));
		cursor->yhot = MIN(news->hot_y, (unsigned short)(height - 1));
		cursor->mask = util_zalloc(mask_row * (size_t)height);
		for (int y = 0; y < height; y++)
			for (int x = 0; x < width; x++) {
				uint32_t pixel = from[y * width + x];

				rich[y * width + x] = plain(pixel);
				if (pixel >> 31)
					cursor->mask[(size_t)y * mask_row + (size_t)x / 8] |= (unsigned char)(0x80 >> x % 8);
			}
		cursor->richSource = (unsigned char *)rich;
	}
	rfbSetCursor(view->screen, cursor);
}

static void take_pointer(struct view *view, const struct view_news *news)
{
	view->screen->cursorX = news->pointer_x;
	view->screen->cursorY = news->pointer_y;
	if (view->client)
		view->client->cursorWasMoved = TRUE;
}

static void take_cut(struct view *view, const struct view_news *news)
{
	const uint8_t *from = view->segment + view_cut_at(view->start.max_width_px, view->start.max_height_px);
	const size_t len = MIN(news->cut_len, LIMIT_CUT_BYTES);
	char *text = util_alloc(len + 1);

	memcpy(text, from, len);
	text[len] = '\0';
	talk_offer(view, text, len);
}

/* The viewer that asked for a size hears what became of it: with the new one, or now. */
static void take_answer(struct view *view, const struct view_news *news)
{
	if (!view->client)
		return;
	view->client->requestedDesktopSizeChange = rfbExtDesktopSize_ClientRequestedChange;
	view->client->lastDesktopSizeChangeError = news->resize_refused ? rfbExtDesktopSize_ResizeProhibited : rfbExtDesktopSize_Success;
	view->client->newFBSizePending = TRUE;
}

void picture_apply(struct view *view, const struct view_news *news)
{
	static const struct {
		uint32_t bit;
		void (*take)(struct view *view, const struct view_news *news);
	} takers[] = {
		{VIEW_NEWS_PIXELS, take_pixels}, {VIEW_NEWS_CURSOR, take_cursor},   {VIEW_NEWS_POINTER, take_pointer},
		{VIEW_NEWS_CUT, take_cut},       {VIEW_NEWS_RESIZED, take_answer},
	};
	const uint64_t one = 1;

	if (news->width_px != view->screen->width || news->height_px != view->screen->height)
		set_size(view, news->width_px, news->height_px);
	for (size_t i = 0; i < ARRAY_LEN(takers); i++)
		if (news->what & takers[i].bit)
			takers[i].take(view, news);
	if (write(view->taken, &one, sizeof(one)) != sizeof(one))
		view->over = true;
}

/* -1: there are none (yet), or the stage is gone. */
static int receive(struct view *view, struct view_news *news)
{
	ssize_t n = recv(view->stage, news, sizeof(*news), MSG_DONTWAIT);
	bool fits = n == (ssize_t)sizeof(*news) && news->width_px > 0 && news->height_px > 0 &&
	            news->width_px <= view->start.max_width_px && news->height_px <= view->start.max_height_px;

	if (fits)
		return 0;
	view->over |= n >= 0 || (errno != EAGAIN && errno != EINTR);
	return -1;
}

void picture_take(struct view *view)
{
	struct view_news news;

	if (receive(view, &news) == 0)
		picture_apply(view, &news);
}

int picture_first(struct view *view, struct view_news *news)
{
	while (!view->over && receive(view, news) < 0) {
		struct pollfd ends[] = {{.fd = view->stage, .events = POLLIN}, {.fd = view->rfb, .events = POLLRDHUP}};

		if (poll(ends, ARRAY_LEN(ends), -1) < 0 && errno != EINTR)
			view->over = true;
		view->over |= ends[1].revents != 0;
	}
	if (view->over)
		return -1;
	set_size(view, news->width_px, news->height_px);
	return 0;
}
