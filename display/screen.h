/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of this folder share about one display. Owner: display.
 */
#ifndef DISPLAY_SCREEN_H
#define DISPLAY_SCREEN_H

#include <xcb/shm.h>
#include <xcb/xfixes.h>

#include "display/display.h"
#include "display/image.h"
#include "display/tiles.h"

struct display {
	struct xconn *x;
	struct space native;
	struct xconn_listener listener;
	struct co_event drawn;       /* something was drawn */
	struct co_event properties;  /* a property of the root window changed */
	uint64_t n_properties;       /* how often: who looks may miss the event while it looks */

	uint32_t damage;
	uint8_t damage_event;        /* the number of its event */
	uint64_t frame;
	uint64_t complete;           /* while told: the frame before what was told */
	bool told;                   /* the damage was told and not taken back: the server tells no more until then */
	xcb_xfixes_region_t region;  /* of the server: where the damage was that is taken back */
	bool taking;                 /* one coroutine at a time takes it back */
	struct co_event taken;
	struct tiles tiles;          /* without the pointer; what was taken back so far */
	struct screen_watch *watches;

	xcb_shm_seg_t segment;
	uint32_t *shared;            /* the segment: the server writes here at any time, so nothing is looked at here */
	size_t shared_bytes;
	bool looking;                /* pictures are taken one at a time: the segment is one, and a silent server is not asked again and again */
	struct co_event looked;

	uint32_t cursor_serial;      /* the pointer as it was last drawn */
	int cursor_x, cursor_y;

	struct display_request last_request; /* the last picture, kept */
	struct display_picture last;
};

/* The calm colour of an empty desktop. */
#define SCREEN_BACKGROUND 0x4A5F73U

/* Somebody waits for quiet: told when something was drawn that counts. On the stack of who waits. */
struct screen_watch {
	struct screen_watch *next;
	const struct display_quiet *quiet;
	int64_t drawn_ms; /* when it was last seen that something had been */
};

/*
 * If a change was told: learns where the screen has changed until now, and makes the server tell the next change. After it everything
 * that was told is in the tiles, and what is drawn later has a frame after display_complete_frame. Errors of xconn_reply: the whole
 * screen counts as changed then.
 */
int screen_take_damage(struct display *display, struct err *e);

/* Copies a region of the screen, without pointer, into private memory: image->pixels is malloced and the caller's. */
int screen_capture(struct display *display, int x, int y, int width, int height, struct image *image, struct err *e);

/* Only one looks at a time: waits for its turn, which screen_end_look ends. ERR_CANCELLED. */
int screen_begin_look(struct display *display, struct err *e);
void screen_end_look(struct display *display);

/* Fields that are left out become what they stand for, so that requests can be compared. */
struct display_request screen_complete(const struct display *display, const struct display_request *asked);

#endif
