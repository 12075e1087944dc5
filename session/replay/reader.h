/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A journal, read: its calls with what they did, what came of it and how the screen looked.
 *
 * It comes from a folder (journal.jsonl, pictures, session.json), from a zip with these, or as bytes. The text of the lines is in memory, pictures
 * are composed when they are asked for. What is not there is said, never made up: a chain that is broken, calls without an end, pictures that are
 * missing or were changed. All that is borrowed is so until reader_close. Owner: session/replay. No threads.
 */
#ifndef REPLAY_READER_H
#define REPLAY_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/base/space.h"
#include "session/replay/pixels.h"
#include "session/replay/source.h"

struct reader;

/* One action of a call, of those that were begun. */
struct reader_action {
	const json_t *action; /* as it was asked: {"action":…}, without what the journal does not keep */
	const json_t *intent; /* its line */
	const json_t *result; /* the line of its end, or NULL: it may have happened */
	uint64_t before, after; /* pictures; 0: none */
};

/* The size of the display after an action, before which it had `native`. */
struct space reader_resized(const struct reader_action *action, struct space native);

/* One act. */
struct reader_call {
	int64_t seq;           /* of its first line */
	const char *time;      /* when that was: wall, RFC 3339; "" if the line does not say */
	const char *request;   /* the server's id of it */
	const json_t *line;    /* its line `call`: actor, actions, observe, space, dialect, timeout_ms; NULL in journals without such lines */
	struct reader_action *actions;
	size_t n_actions;
	size_t n_asked;        /* actions that the list had; those behind the failing one were not begun, and are not known */
	const json_t *observation; /* its line, or NULL */
	uint64_t before, after; /* pictures of the screen before and after all of it; 0: none */
};

/* What a journal is made of. */
struct reader_parts {
	struct source lines;    /* journal.jsonl */
	struct source pictures; /* without bytes: no pictures */
	struct source session;  /* session.json; without bytes: there is none */
};

/* A folder or a zip. ERR_BAD_REQUEST, ERR_TOO_LARGE: it cannot be opened, or is no journal. */
int reader_open(const char *path, struct reader **out, struct err *e);

/* The same of its parts, which are taken, also on failure. */
int reader_read(struct reader_parts *parts, struct reader **out, struct err *e);
void reader_close(struct reader *reader); /* NULL is fine */

/* Where the chain of hashes is broken, or a line is no line of a journal; NULL: all lines are as they were written. */
const char *reader_broken(const struct reader *reader);

/* All lines that are whole, an array of objects, without those from a broken one on. */
const json_t *reader_lines(const struct reader *reader);

/*
 * What the session was: {"session","image","image_hash","native","space","guard","spec",…}, the line `start` and, for what it lacks, session.json. Any of
 * these may be missing.
 */
const json_t *reader_start(const struct reader *reader);

/* What session.json says, as the line `start` tells it; the caller's reference. */
json_t *reader_session(const json_t *start);

/* The line `end` or `failed`, or NULL: the journal has no end (the session lives, or its stage was killed). */
const json_t *reader_end(const struct reader *reader);

/* When a line was noted, in milliseconds of the server's clock; 0 where it has no such time. */
int64_t reader_ms(const json_t *line);

size_t reader_n_calls(const struct reader *reader);
const struct reader_call *reader_call(const struct reader *reader, size_t index);

/* Is there a file of pictures with anything in it? */
bool reader_has_pictures(const struct reader *reader);

/* As replay_pictures_get: the pixels of a picture, borrowed until the next call. ERR_NOT_FOUND, ERR_BAD_REQUEST. */
int reader_picture(struct reader *reader, uint64_t number, const struct pixels **out, struct err *e);

/* The parts, to be copied. */
const struct reader_parts *reader_parts(const struct reader *reader);

#endif
