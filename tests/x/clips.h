/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of others at a clipboard, each in a process of its own: owners of all kinds, also those that break every rule, and one that reads as
 * toolkits do.
 */
#ifndef TESTS_CLIPS_H
#define TESTS_CLIPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CLIPS_PIECE_BYTES 100000 /* in which they give what is long */

/* What a client says to be let in: a cookie of 16 bytes, or NULL. */
struct clips_display {
	const char *name;
	const uint8_t *cookie;
};

enum clips_way {
	CLIPS_GOOD,        /* gives what it has, in pieces where it is long */
	CLIPS_NO_TARGETS,  /* and does not say in what forms */
	CLIPS_SILENT,      /* never answers */
	CLIPS_HALF_SILENT, /* says what it has and gives none of it */
	CLIPS_STOPS,       /* in the middle of its pieces */
	CLIPS_ENDLESS,     /* gives pieces for ever */
	CLIPS_DRIPS,       /* gives a byte at a time, slowly, for ever */
	CLIPS_NUMBERS,     /* gives numbers of 32 bits as its text */
	CLIPS_ODD_TARGETS, /* lists its forms in bytes */
	CLIPS_DIES,        /* when it is asked for content */
	CLIPS_RIVAL,       /* when it is asked for content, another client takes the selection, with the text "rival" */
	CLIPS_STORM,       /* takes the selection again and again, as fast as it can */
};

struct clips_form {
	const char *target, *type; /* type NULL: the same */
	const void *data;
	size_t len;
};

/* Starts an owner and returns once it owns the selection. At most 4 forms; they are copied. */
pid_t clips_own(struct clips_display display, const char *selection, enum clips_way way, const struct clips_form *forms, size_t n);
/* Ends it. */
void clips_end(pid_t pid);

/* Starts to read; clips_read_end says whether it is done, and then gives the data (malloced, NUL-terminated; NULL when it was refused) and the type's name. */
struct clips_reading {
	pid_t pid;
	int fd; /* a memory file */
};
void clips_read(struct clips_reading *reading, struct clips_display display, const char *selection, const char *target);
int clips_read_end(struct clips_reading *reading, char **data, size_t *len);

#endif
