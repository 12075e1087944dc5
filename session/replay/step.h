/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step that is being played, for the files that play it: player.c, step_pictures.c, step_nodes.c. What is found goes into its facts (report.h). Owner:
 * session/replay. No threads.
 */
#ifndef REPLAY_STEP_H
#define REPLAY_STEP_H

#include "session/replay/player.h"

struct player {
	const struct player_api *api;
	const struct player_options *options;
	struct reader *reader;
	const struct plan *plan;
	struct report *report;
	struct pixels shown; /* the look last taken */
	json_t *windows;     /* ids of windows: as recorded, as text, to those of now */
	bool followed;       /* something has moved and was followed: pictures do not count any more */
};

/* One step on its way. */
struct step {
	struct player *player;
	const struct plan_step *plan;
	size_t number; /* from 1 */
	json_t *facts;
	json_t *body;  /* of the act */
	int64_t start_ms;
};

/* Sets a fact; the value is taken. */
void step_set(const struct step *step, const char *name, json_t *value);

/* A text that may have others in it, cut where it is no UTF-8 any more; the caller's reference. */
json_t *step_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Something differs: "before", "result", "node" or "after". The first difference is the reason (taken); later ones follow from it. */
void step_differ(const struct step *step, const char *where, json_t *reason);

/* The screen before (or after) a step against the recorded one. *same false: it differs, and that counts. */
int step_check_picture(const struct step *step, bool is_before, bool sure, bool *same, struct err *e);

/* The screen before a step is another one: says in its reason whether what is to be clicked has moved. True: the step can be played, since that is followed. */
bool step_explain(const struct step *step);

/* Whether action `index` met what it met when it was recorded. */
void step_check_node(const struct step *step, size_t index, const json_t *answered);

json_t *step_rect(struct rect rect);

#endif
