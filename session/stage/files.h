/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of the session for callers: the calls file_get, file_put and file_drop. Each is judged by the rules as the action of its name, done by a helper in the
 * app jail (apps/files), and has lines `file` in the journal. What goes out passes the gate, also of long files, across the borders of their pieces; neither
 * end holds more than a part. Owner: the stage; in the call's coroutine.
 */
#ifndef STAGE_FILES_H
#define STAGE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/files.h"
#include "session/base/hash.h"
#include "session/stage/stage.h"

void files_get_call(struct stage *stage, struct call *call);
void files_put_call(struct stage *stage, struct call *call);
void files_drop_call(struct stage *stage, struct call *call);

/* Is this the name of one of these, as rules name actions? */
bool files_knows(const char *action);

/* --- what the files files*.c share --- */

struct files_work {
	struct stage *stage;
	struct call *call;
	const char *name;            /* "file_get", … */
	char path[TAR_NAME_SIZE];    /* absolute */
	bool is_tar;                 /* of the query: as an archive */
	uint64_t most_bytes;         /* all that the session may have */
	struct files_helper *helper;
	uint64_t bytes, entries, skipped; /* for the journal */
	uint64_t packed;             /* sizes of the files of an archive so far */
	struct hash_stream *hash;    /* of the bytes that went in or out, */
	uint8_t digest[HASH_BYTES];  /* and this is what it was, once it has ended, */
	bool is_hashed;              /* which is for the journal: there were such bytes, and no secret among them */
	bool is_told;                /* the answer has begun, in pieces */
	json_t *answer;              /* else it is this one, once the helper has ended */
	json_t *unchanged;           /* or 304, with these headers */
};

/* The helper's next word may take so long. */
int64_t files_step(void);

/* May it still go out, or be done? ERR_LEASE_LOST. */
int files_check_lease(const struct files_work *work, struct err *e);

/* files_get.c */
int files_get_run(struct files_work *work, struct err *e);

/* files_range.c: what of `size` bytes a Range asks for: 0, 1 when there is none that is heeded (all of it), -1 with ERR_RANGE. */
struct files_part {
	uint64_t from, len;
};
int files_range(const char *text, uint64_t size, struct files_part *out, struct err *e);

#endif
