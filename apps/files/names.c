/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of hashes. */
#include "apps/files/names.h"

#include <string.h>

#include "session/base/util.h"

#define FIRST_SIZE 256

static uint64_t hash_of(const char *name, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
	hash ^= hash >> 29;
	return hash ? hash : 1;
}

static struct names_slot *find(const struct names *names, uint64_t hash)
{
	size_t i = hash & (names->size - 1);

	while (names->slots[i].hash && names->slots[i].hash != hash)
		i = (i + 1) & (names->size - 1);
	return &names->slots[i];
}

static void grow(struct names *names)
{
	struct names larger = {.n = names->n, .size = names->size ? 2 * names->size : FIRST_SIZE};

	larger.slots = util_zalloc(larger.size * sizeof(*larger.slots));
	for (size_t i = 0; i < names->size; i++)
		if (names->slots[i].hash)
			*find(&larger, names->slots[i].hash) = names->slots[i];
	free(names->slots);
	*names = larger;
}

static void put(struct names *names, uint64_t hash, enum tar_kind kind)
{
	*find(names, hash) = (struct names_slot){hash, kind};
	names->n++;
}

const char *names_add(struct names *names, const char *name, enum tar_kind kind)
{
	const struct names_slot *slot;
	uint64_t hash;

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		if (2 * (names->n + 1) > names->size)
			grow(names);
		hash = hash_of(name, (size_t)(slash - name));
		slot = find(names, hash);
		if (slot->hash && slot->kind != TAR_FOLDER)
			return "an earlier entry on its way is no folder";
		if (!slot->hash)
			put(names, hash, TAR_FOLDER);
	}
	if (2 * (names->n + 1) > names->size)
		grow(names);
	hash = hash_of(name, strlen(name));
	slot = find(names, hash);
	if (slot->hash && (slot->kind != TAR_FOLDER || kind != TAR_FOLDER))
		return "its name stands there twice";
	if (!slot->hash)
		put(names, hash, kind);
	return NULL;
}

void names_finish(struct names *names)
{
	free(names->slots);
	*names = (struct names){.n = 0};
}
