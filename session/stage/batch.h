/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The body of `act`, read and checked as a whole before anything of it happens. Owner: the stage. No threads.
 */
#ifndef STAGE_BATCH_H
#define STAGE_BATCH_H

#include <jansson.h>
#include <stdint.h>

#include "session/base/action.h"
#include "session/base/limits.h"

/* What coordinates mean. */
struct batch_place {
	struct space space, native;
	bool follows;   /* the space is the display's own, or what models take of it (space_follow): it goes with the display's size */
	bool is_native; /* and is the display itself, however large */
};

struct batch_step {
	const struct action_row *row;
	void *home;    /* of the row */
	struct batch_place place; /* in which it runs, when all that stand before it go well */
	json_t *asked; /* the action without its name, as the caller sent it */
	json_t *args;  /* the same, coordinates in native pixels */
};

struct batch {
	json_t *body;
	struct batch_step steps[LIMIT_ACTIONS];
	size_t n_steps;
	struct batch_place place; /* of the call: at its beginning, and once it runs the present one */
	const json_t *observe; /* an object (of the body, or empty); NULL: no observation */
	const json_t *seen;    /* of the body, or NULL */
	bool check_only;
	int64_t timeout_ms;
};

/*
 * Reads an act object: form, envelope, every action by its row and its row's check. `place` is the session's. 0, or -1 with at least one
 * fault added to *faults, which has room for that, and nothing to free.
 */
int batch_read(struct batch *batch, const char *body, size_t len, const struct action_set *sets, size_t n_sets,
               const struct batch_place *place, struct faults *faults);

/* The same of an object (taken) that is there already. */
int batch_take(struct batch *batch, json_t *body, const struct action_set *sets, size_t n_sets, const struct batch_place *place,
               struct faults *faults);
void batch_free(struct batch *batch);

/* The place after the display got this size. */
struct batch_place batch_resize(struct batch_place place, struct space native);

/* A copy of an action's fields with the coordinates mapped from one space to another; the caller's reference. */
json_t *batch_map(const struct form *form, const json_t *fields, struct space from, struct space to);

#endif
