/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of this folder share about one display. Owner: display.
 */
#ifndef DISPLAY_SCREEN_H
#define DISPLAY_SCREEN_H

#include <xcb/shm.h>

#include "display/display.h"
#include "display/image.h"

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
	bool told;                   /* the damage was told and not taken back: the server tells no more until then */

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

/* Makes the server tell the next change; needed after each one that it told. */
void screen_listen_again(struct display *display);

/* Copies a region of the screen, without pointer, into private memory: image->pixels is malloced and the caller's. */
int screen_capture(struct display *display, int x, int y, int width, int height, struct image *image, struct err *e);

#endif
