/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pictures of one journal, as its stage writes them: one file of records behind each other, which the warden made and passed write-only
 * with O_APPEND. A record is a header, one line of JSON, and then the parts of the picture, PNG after PNG:
 *
 *   {"picture":P,"frame":F,"base":B,"width":W,"height":H,"salt":HEX,"parts":[{"x":X,"y":Y,"width":W,"height":H,"bytes":N}…]}
 *
 * P counts from 1 without gaps. With "base" null it is a keyframe, one part that is the whole picture; else its parts are drawn over the picture
 * before it, B = P - 1. Pixels are those of the display, without the pointer. A keyframe comes at least every LIMIT_PICTURES_APART pictures, and when the
 * parts since the last one have more than four times its bytes. A last record that is not whole is none. The digest that the journal's lines have of a
 * picture is the SHA-256, in hex, of its salt (16 random bytes), the header without its newline, and the parts.
 *
 * After a write that failed, or LIMIT_PICTURES_BYTES, nothing more is written. Owner: the stage. One thread.
 */
#ifndef JOURNAL_PICTURES_H
#define JOURNAL_PICTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "session/base/chain.h"
#include "session/base/err.h"
#include "session/base/space.h"

struct pictures;

struct picture_part {
	struct rect rect; /* pixels of the picture */
	const void *png;
	size_t len;
};

struct picture {
	uint64_t frame;
	struct space size;
	bool is_key; /* else it is drawn over the one that was added before */
	const struct picture_part *parts;
	size_t n_parts; /* 1..LIMIT_CHANGED */
};

/* fd (taken) is the file, without a record. */
struct pictures *pictures_create(int fd);
/* Hands everything to the disk. NULL is fine. */
void pictures_destroy(struct pictures *pictures);

/* The next one has to be a keyframe. */
bool pictures_want_key(const struct pictures *pictures);

/* Writes one. *number is its P, `digest` as above. ERR_LIMIT when they are as many as may be, ERR_INTERNAL when it could not be written: it is not there
 * then, and all that follow fail the same way. */
int pictures_add(struct pictures *pictures, const struct picture *picture, int64_t *number, char digest[CHAIN_HEX_SIZE], struct err *e);

/* Hands what was written to the disk now, if there is anything. */
void pictures_sync(struct pictures *pictures);

#endif
