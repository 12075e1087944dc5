/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A journal as an archive for others: with a page that shows it step by step and opens without a server, or as OSWorld keeps its runs. The same journal
 * makes the same bytes. Owner: session/replay. No threads.
 */
#ifndef REPLAY_EXPORT_H
#define REPLAY_EXPORT_H

#include <jansson.h>

#include "session/replay/archive.h"
#include "session/replay/reader.h"

struct export_count {
	size_t n_steps;
	size_t n_pictures; /* in the archive */
	size_t n_missing;  /* that the journal names, but which are not there or damaged */
};

/*
 * Into the folder `name` of the archive: index.html, session.json, journal.jsonl, pictures (as far as the journal has them: `glovebox replay` takes the
 * archive), and png/NNNNNN.png for each picture that a line names. ERR_TOO_LARGE: more pictures than an archive may have entries; errors of archive_writer_add.
 */
int export_page(struct reader *reader, const char *name, struct archive_writer *zip, struct export_count *count, struct err *e);

/*
 * Into the folder `name`: traj.jsonl with a line for each action (step_num, action_timestamp, action, reward, done, info, screenshot_file), and
 * step_N_TIMESTAMP.png, the screen after it: that of the observation for the last one of a list. There is no response, since no model is known here, and the
 * reward is 0.0. Errors as export_page.
 */
int export_osworld(struct reader *reader, const char *name, struct archive_writer *zip, struct export_count *count, struct err *e);

/*
 * The steps of a journal, in order, the caller's reference: [{"kind":"action"|"look"|"left_out","call":N,"title","time","at_ms","actor","request","dialect","ok","error",
 * "elapsed_ms","settled","n","action","before":P,"after":P,"marks":[{"x","y"}…],"region":{…}}…] as far as they are known; marks are pixels of the display.
 */
json_t *export_steps(const struct reader *reader);

#endif
