/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pictures of a journal: records (session/journal/pictures.h tells the format) that are found once and composed when they are asked for.
 *
 * Each record is checked against the digest that the journal's lines have of it. A last record that is not whole is none.
 * Owner: session/replay. No threads.
 */
#ifndef REPLAY_PICTURES_H
#define REPLAY_PICTURES_H

#include <stdint.h>

#include "session/replay/pixels.h"
#include "session/replay/source.h"

struct replay_pictures;

/* Finds the records of `file`, which must outlive it. */
struct replay_pictures *replay_pictures_open(const struct source *file);

/* Where something in the file is no record: there it ends for us. NULL: there is no such place. */
const char *replay_pictures_broken(const struct replay_pictures *pictures);

void replay_pictures_close(struct replay_pictures *pictures); /* NULL is fine */

/* Whole records, and the number of the last of them. */
size_t replay_pictures_n(const struct replay_pictures *pictures);

/* What a line says of picture `number`: the digest, in hex. Numbers without one are refused when they are asked for. */
void replay_pictures_note(struct replay_pictures *pictures, uint64_t number, const char *digest);

/*
 * The pixels of one picture, borrowed until the next call. One after another costs what each has changed; any other begins at its keyframe.
 * ERR_NOT_FOUND: it is not in the file; ERR_BAD_REQUEST: it, or one that it is drawn over, is damaged or is not what the journal noted.
 */
int replay_pictures_get(struct replay_pictures *pictures, uint64_t number, const struct pixels **out, struct err *e);

#endif
