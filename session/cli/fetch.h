/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Journals of a server. */
#ifndef CLI_FETCH_H
#define CLI_FETCH_H

#include "session/cli/cli.h"
#include "session/replay/reader.h"

/* Reads the journal of a session of the server: lines and pictures, into files without a name. CLI_DONE with *out, which is the caller's (reader_close);
 * else what went wrong was shown, and this is the exit status: CLI_USAGE when it is no journal, or `id` can be no id; CLI_UNREACHABLE when
 * the server failed. */
int fetch_journal(struct cli *cli, const char *id, struct reader **out);

/* The same of its lines alone. */
int fetch_lines(struct cli *cli, const char *id, struct reader **out);

#endif
