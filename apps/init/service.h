/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What init does once it is up: the stage's requests, the children's ends, the door. One thread, the loop.
 */
#ifndef INIT_SERVICE_H
#define INIT_SERVICE_H

#include "apps/init/child.h"
#include "session/base/loop.h"

struct service;

/*
 * Says INIT_READY on `stage` and serves it; the loop is stopped when the stage closes. `groups` and `domains` must outlive it. door_path: where to
 * listen for glovebox-launch, or NULL for the places of proto.h; a jail where none can be made has no door. NULL with *e on failure.
 */
struct service *service_create(struct loop *loop, int stage, const struct child_groups *groups, const struct domains *domains,
                               const char *door_path, struct err *e);

/* Kills the process groups of all children and frees everything. */
void service_destroy(struct service *service);

#endif
