/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which tiles blink: a text caret, the colon of a clock. Owner: display. No threads. Coordinates are native pixels.
 *
 * A tile blinks once it has gone to and fro between the same two contents BLINKS_RETURNS times, each return seen within BLINKS_STEP_MS of the
 * change before. It blinks no more when it shows anything else, or when it is sure to have rested for longer than that. What it shows while
 * it blinks is one of two things, and who saw it after the first of these changes has seen one of them.
 * (One change more is needed where all of a tile was painted before it.)
 *
 * Nobody is to be led into the wrong click by this: it is for what is narrow. Where the pixels that go to and fro near a place make more
 * than BLINKS_WIDTH_PX by BLINKS_HEIGHT_PX, as when a button flips between two labels, each change counts. What is so small and flips (one
 * letter of a label, a dot) does not count, and a click may meet either of the two. What fades, such as the caret of GTK 4, has more than two
 * contents: each of them counts.
 */
#ifndef DISPLAY_BLINKS_H
#define DISPLAY_BLINKS_H

#include "display/image.h"
#include "display/tiles.h"

#define BLINKS_RETURNS 3
#define BLINKS_STEP_MS 1500
#define BLINKS_WIDTH_PX 16
#define BLINKS_HEIGHT_PX 48

#define BLINKS_TILE_PIXELS (TILES_SIDE_PX * TILES_SIDE_PX)

/* When something happened: between these two times. */
struct blinks_time {
	int64_t from_ms, to_ms;
};

/* The past of one tile. */
struct blink {
	uint64_t now, before; /* fingerprints of what it shows, and of what it showed before the last change */
	uint64_t since;       /* the frame of the last change that was no return */
	struct blinks_time changed; /* the last time */
	int returns;          /* in a row, as far as it matters */
	struct rect pixels;   /* that differed in the last change */
	uint64_t frame;       /* of which `pixels` is */
};

struct blinks {
	const struct tiles *tiles;
	struct blink *list;                /* as the tiles */
	uint32_t keys[BLINKS_TILE_PIXELS]; /* random: nobody can draw two contents that are taken for one */
	uint64_t n_unread;                 /* contents that were not read: each is one of its own */
};

/* `tiles` must outlive it. */
void blinks_init(struct blinks *blinks, const struct tiles *tiles);
void blinks_finish(struct blinks *blinks); /* zeroed memory is fine */

/* Pixels of one tile changed in this frame; several calls for one tile and frame are one change. */
void blinks_mark(struct blinks *blinks, struct rect pixels, uint64_t frame);

/* After all marks of a frame: learns from what the marked tiles show now. */
void blinks_learn(struct blinks *blinks, const struct image *shown, uint64_t frame, struct blinks_time when);

/* Something that a tile that the rectangle touches shows has changed in a later frame than `since`, other than by blinking. */
bool blinks_changed(const struct blinks *blinks, struct rect rect, uint64_t since);

#endif
