/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal that a replay is compared with, put in place of the one before. */
#ifndef CLI_BASELINE_H
#define CLI_BASELINE_H

#include "session/cli/play.h"

/*
 * Puts the journal of the session that was played in place of the one at `path`: a folder, whose other files stay, or a zip, as `glovebox export` makes it. The old one is there whole until
 * the new one is. ERR_BAD_REQUEST: it could not be had or written; the old one is as it was.
 */
int baseline_replace(struct play *play, const char *path, struct err *e);

#endif
