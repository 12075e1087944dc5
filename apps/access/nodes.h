/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of nodes: a node keeps its number for as long as it is among the last LIMIT_ACCESS_NODES that were told of, and no number is ever
 * given to another one. One thread.
 */
#ifndef ACCESS_NODES_H
#define ACCESS_NODES_H

#include <stdint.h>

#include "apps/access/bus.h"
#include "session/base/limits.h"

/* How the bus calls a node. The app's unique name is never used twice. */
struct ref {
	char name[BUS_NAME_BYTES + 1];
	char path[LIMIT_NODE_PATH_BYTES + 1]; /* "" is none */
};

struct nodes;

/* The first number is first_id, not 0. */
struct nodes *nodes_create(uint32_t first_id);
void nodes_destroy(struct nodes *nodes);

/* The number of the node, which has this role now. */
uint32_t nodes_id(struct nodes *nodes, const struct ref *ref, uint32_t role);

/* The node that has this number, and its role when it was last told of. False when there is none (any more). */
bool nodes_find(const struct nodes *nodes, uint32_t id, struct ref *ref, uint32_t *role);

#endif
