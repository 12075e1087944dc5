/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between a stage and the view of one viewer: what the view finds open, what the stage publishes, what the view asks for.
 *
 * stage → view: struct view_news on SOCK_SEQPACKET, with the pixels in a segment that the stage writes and the view reads. The stage publishes
 * again only when the view has said by the eventfd that it took the last news; so there is never more than one on its way, and the segment does not
 * change while it is read. view → stage: struct view_ask, from a viewer with controls alone: without them the warden has shut that direction, and the
 * eventfd, which says nothing but that, is all that the view can write to.
 */
#ifndef VIEW_PROTO_H
#define VIEW_PROTO_H

#include <stddef.h>
#include <stdint.h>

#include "session/base/limits.h"

/* Descriptors that it finds open, beside CHILD_GO. */
enum view_fd {
	VIEW_RFB = 4, /* stream: the viewer */
	VIEW_STAGE,   /* SOCK_SEQPACKET */
	VIEW_PIXELS,  /* the segment, read-only */
	VIEW_TAKEN,   /* eventfd */
	VIEW_START,   /* a sealed struct view_start */
};

struct view_start {
	uint16_t max_width_px, max_height_px; /* of the display */
	uint32_t controls;                    /* 0 or 1 */
	char password[9];                     /* "": none is asked for */
};

/* The segment: pixels 0xXXRRGGBB in rows as wide as the screen is now, then those of the pointer (premultiplied 0xAARRGGBB), then a text. */
#define VIEW_CURSOR_SIDE_PX 128 /* of the pointer, at most; a larger one is cut */
#define VIEW_CURSOR_BYTES (VIEW_CURSOR_SIDE_PX * VIEW_CURSOR_SIDE_PX * 4)

static inline size_t view_cursor_at(int max_width_px, int max_height_px)
{
	return (size_t)max_width_px * (size_t)max_height_px * sizeof(uint32_t);
}

static inline size_t view_cut_at(int max_width_px, int max_height_px)
{
	return view_cursor_at(max_width_px, max_height_px) + VIEW_CURSOR_BYTES;
}

static inline size_t view_segment_bytes(int max_width_px, int max_height_px)
{
	return view_cut_at(max_width_px, max_height_px) + LIMIT_CUT_BYTES;
}

enum view_news_bit {
	VIEW_NEWS_PIXELS = 1 << 0,  /* in `rects` */
	VIEW_NEWS_CURSOR = 1 << 1,  /* another image of the pointer; of width 0: there is none */
	VIEW_NEWS_POINTER = 1 << 2, /* it is elsewhere */
	VIEW_NEWS_CUT = 1 << 3,     /* a text that was copied in the session */
	VIEW_NEWS_RESIZED = 1 << 4, /* the answer to VIEW_ASK_RESIZE */
};

struct view_rect {
	uint16_t x, y, width, height;
};

struct view_news {
	uint32_t what;
	uint16_t width_px, height_px; /* of the screen; another size than before: nothing is known of it but what comes with this */
	uint32_t n_rects;
	struct view_rect rects[LIMIT_CHANGED];
	uint16_t cursor_width, cursor_height, hot_x, hot_y;
	int16_t pointer_x, pointer_y;
	uint32_t cut_len;        /* bytes of UTF-8 */
	uint32_t resize_refused; /* 0: it has that size */
};

enum view_ask_kind {
	VIEW_ASK_KEY = 1, /* keysym, down */
	VIEW_ASK_POINTER, /* mask, x, y */
	VIEW_ASK_CUT,     /* a piece of a text: total, at, len, data */
	VIEW_ASK_RESIZE,  /* x, y: the size */
};

#define VIEW_CUT_PIECE 8192

/* Sent up to the last byte of data that is used. */
struct view_ask {
	uint32_t kind;
	uint32_t keysym, down;
	uint32_t mask; /* a bit per button, 1 << 0 the first */
	uint16_t x, y;
	uint32_t total, at, len; /* bytes */
	char data[VIEW_CUT_PIECE];
};
#define VIEW_ASK_HEAD offsetof(struct view_ask, data)

#endif
