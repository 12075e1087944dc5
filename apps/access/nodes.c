/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ring of the last nodes, and a hash table into it. */
#include "apps/access/nodes.h"

#include <string.h>

#include "session/base/util.h"

#define PLACES (LIMIT_ACCESS_NODES * 2)

struct node {
	struct node *next; /* of the same place in the table */
	uint32_t id, role; /* id 0: free */
	char *ref;         /* name, a blank, path */
};

struct nodes {
	uint32_t next_id;
	struct node ring[LIMIT_ACCESS_NODES]; /* of id % LIMIT_ACCESS_NODES */
	struct node *table[PLACES];
};

static struct node **place_of(struct nodes *nodes, const char *ref)
{
	uint32_t hash = 2166136261U;

	for (; *ref; ref++)
		hash = (hash ^ (unsigned char)*ref) * 16777619U;
	return &nodes->table[hash % PLACES];
}

static void forget(struct nodes *nodes, struct node *node)
{
	struct node **place;

	if (node->id == 0)
		return;
	place = place_of(nodes, node->ref);
	while (*place != node)
		place = &(*place)->next;
	*place = node->next;
	free(node->ref);
	*node = (struct node){0};
}

struct nodes *nodes_create(uint32_t first_id)
{
	struct nodes *nodes = util_zalloc(sizeof(*nodes));

	nodes->next_id = first_id ? first_id : 1;
	return nodes;
}

void nodes_destroy(struct nodes *nodes)
{
	if (!nodes)
		return;
	for (size_t i = 0; i < LIMIT_ACCESS_NODES; i++)
		free(nodes->ring[i].ref);
	free(nodes);
}

uint32_t nodes_id(struct nodes *nodes, const struct ref *ref, uint32_t role)
{
	auto_free char *text = util_printf("%s %s", ref->name, ref->path);
	struct node **place = place_of(nodes, text);
	struct node *node = *place;

	while (node && strcmp(node->ref, text) != 0)
		node = node->next;
	if (node && node->role == role)
		return node->id;
	if (node) /* its place was given to something else */
		forget(nodes, node);
	node = &nodes->ring[nodes->next_id % LIMIT_ACCESS_NODES];
	forget(nodes, node);
	place = place_of(nodes, text);
	*node = (struct node){.next = *place, .id = nodes->next_id, .role = role, .ref = steal_ptr(&text)};
	*place = node;
	if (++nodes->next_id == 0)
		DIE("the numbers of nodes are used up");
	return node->id;
}

bool nodes_find(const struct nodes *nodes, uint32_t id, struct ref *ref, uint32_t *role)
{
	const struct node *node = &nodes->ring[id % LIMIT_ACCESS_NODES];
	const char *path;

	if (id == 0 || node->id != id)
		return false;
	path = strchr(node->ref, ' ') + 1;
	(void)memcpy(ref->name, node->ref, (size_t)(path - 1 - node->ref));
	ref->name[path - 1 - node->ref] = '\0';
	(void)memcpy(ref->path, path, strlen(path) + 1);
	*role = node->role;
	return true;
}
