/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of `glovebox replay`: what its files share. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "session/cli/play.h"
#include "session/replay/player.h"

struct replay {
	struct cli *cli;
	struct play play;
	char *name;       /* of the journal, for reports */
	json_t *env, *stdins, *texts, *ignore;
	struct reader *reader;
	struct plan plan;
	struct player_options options;
	struct report report;
	char *etag;       /* of the look last taken */
};

/* Reads the journal of a session of the server. CLI_DONE, or what went wrong was shown; its exit status. */
int replay_fetch(struct replay *replay, const char *id);

/* A step's line on standard output: a player_api.stepped with a struct replay. */
void replay_show_step(void *arg, const json_t *facts);

/* What all came to, on standard output. */
void replay_show_end(const struct replay *replay);

/* Writes the files that were asked for: JUnit, page, folder. ERR_BAD_REQUEST. */
int replay_write(struct replay *replay, struct err *e);

/* Before anything is played: -1 if a file that is to be written then cannot be. */
int replay_can_write(const struct replay *replay, struct err *e);

void replay_free(struct replay *replay);

#endif
