/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Acts that were decided on from a picture are refused when that picture is no longer true where they begin. Owner: the stage. One thread.
 *
 * The picture is what a call names as `seen`, or with `guard: "last"` of the session the last one that the call's token got. The place is
 * the first that the list aims at, of a path both of its ends; what later ones hit depends on what the list itself does, and so
 * does all that comes after another size of the display.
 *
 * What blinks there (a text caret, the colon of a clock: display/blinks.h has the rule) does not count once it is known to: from the first act
 * with `seen` on, or with `guard: "last"` from the start, the screen is attended to for some seconds after each picture to learn it.
 */
#ifndef STAGE_GUARD_H
#define STAGE_GUARD_H

#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/stage/batch.h"
#include "session/stage/connection.h"

#define GUARD_NEAR_PX 24 /* a change this near to the target, on either side, counts; tiles of TILES_SIDE_PX make it up to 15 more */
#define GUARD_TOKEN_BYTES 129

struct stage;

struct guard_picture {
	bool given; /* else there is nothing to be guarded by */
	uint64_t frame;
	struct rect region;  /* that it shows, in native pixels; width 0: all of the screen */
	uint64_t elsewhere;  /* the frame of the picture before it that showed the rest */
	long epoch, episode;
};

/* What a stage knows of its callers. Zero-initialised is ready to use. */
struct guard {
	bool last; /* of the session's spec */
	bool used; /* some act had `seen` */
	struct guard_token {
		char token[GUARD_TOKEN_BYTES];
		struct guard_picture picture;
	} tokens[LIMIT_SEEN_TOKENS]; /* the latest first; who is pushed out has no picture any more */
	size_t n;
};

/* The caller gets a picture of this frame, of a region in native pixels (width 0: all of the screen). Nothing when it has left. */
void guard_note(struct stage *stage, const struct call *call, uint64_t frame, struct rect region);

/*
 * The picture that the call was decided on, to be asked for when the call comes: until its turn the caller may get another. Errors:
 * ERR_STALE_EPISODE, ERR_STALE_EPOCH, ERR_BAD_FIELD when there is no such picture yet.
 */
int guard_begin(struct stage *stage, const struct call *call, const struct batch *batch, struct guard_picture *picture,
                struct err *e);

/* ERR_STALE_TARGET at `path` when the display has got another size since a frame. */
int guard_check_size(const struct stage *stage, uint64_t frame, const char *path, struct err *e);

/* Whether it still holds, now; *updated says whether display_update was asked for that. Errors: the above, ERR_STALE_TARGET with the pointer of the target, those of xconn_reply. */
int guard_check(const struct stage *stage, const struct batch *batch, const struct guard_picture *picture, bool *updated, struct err *e);

#endif
