/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of a journal as PNG files of an archive. Owner: session/replay. No threads. */
#ifndef REPLAY_EXPORT_PICTURES_H
#define REPLAY_EXPORT_PICTURES_H

#include "session/replay/export.h"

/* The last one, encoded: several steps in a row have the same. Zeroed memory is none. */
struct export_png {
	uint64_t number;
	void *data;
	size_t len;
};
void export_png_finish(struct export_png *png);

/* Makes *png picture `number`. 1: it is; 0: the journal does not have it, or it is damaged. */
int export_png_make(struct export_png *png, struct reader *reader, uint64_t number);

/* Adds an entry whose name is "FOLDER/" and `rest`. */
int export_add(struct archive_writer *zip, const char *folder, const char *rest, const void *data, size_t len, struct err *e);

#endif
