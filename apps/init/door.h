/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket inside the jail on which glovebox-launch asks for a catalogue app. Whoever is in the jail may knock: each caller may
 * send one name within LIMIT_DOOR_MS, LIMIT_DOOR callers are served at once and the others wait, and only names of the form go further.
 */
#ifndef INIT_DOOR_H
#define INIT_DOOR_H

#include "apps/init/proto.h"
#include "session/base/loop.h"

struct door;

typedef void door_ask_fn(void *arg, const struct init_launch *launch);

/* Listens at `path`, or at the first of INIT_DOOR and INIT_DOOR_ELSE that can be made when it is NULL. NULL with *e if that fails. */
struct door *door_create(struct loop *loop, const char *path, door_ask_fn *ask, void *arg, struct err *e);
void door_destroy(struct door *door); /* NULL is fine */

/* Hands the answer to the caller whose ticket it names, if that one still waits. */
void door_answer(struct door *door, const struct init_launched *answer);

#endif
