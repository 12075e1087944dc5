/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keyboard map: XKB's reply to bytes, bytes to places. */
#include "input/keymap.h"

#include <stdlib.h>
#include <string.h>
#include <xcb/xkb.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include "input/keynames.h"
#include "session/base/util.h"

#define PARTS (XCB_XKB_MAP_PART_KEY_TYPES | XCB_XKB_MAP_PART_KEY_SYMS | XCB_XKB_MAP_PART_MODIFIER_MAP)
#define MAX_SYMS_PER_KEY 256

/* Bytes of the reply that are not read yet. */
struct span {
	const uint8_t *at;
	size_t left;
};

/* A key type: which modifiers choose a level. */
struct key_type {
	uint8_t mask;
	uint8_t n_entries;
	const xcb_xkb_kt_map_entry_t *entries;
};

/* The symbols of one key, in the reply. */
struct key_syms {
	const xcb_xkb_key_sym_map_t *head; /* NULL: none */
	const uint32_t *syms;
};

struct raw_map {
	struct key_type types[256];
	struct key_syms keys[256];
};

static const void *take(struct span *span, size_t n)
{
	const uint8_t *at = span->at;

	if (n > span->left)
		return NULL;
	span->at += n;
	span->left -= n;
	return at;
}

static int read_types(struct raw_map *raw, struct span *span, const xcb_xkb_get_map_reply_t *reply)
{
	for (size_t i = 0; i < reply->nTypes; i++) {
		const xcb_xkb_key_type_t *head = take(span, sizeof(*head));
		size_t preserve;

		if (!head)
			return -1;
		preserve = head->hasPreserve ? head->nMapEntries * sizeof(xcb_xkb_mod_def_t) : 0;
		raw->types[i] = (struct key_type){.mask = head->mods_mask, .n_entries = head->nMapEntries};
		raw->types[i].entries = take(span, head->nMapEntries * sizeof(xcb_xkb_kt_map_entry_t));
		if (!raw->types[i].entries || !take(span, preserve))
			return -1;
	}
	return 0;
}

static int read_syms(struct raw_map *raw, struct span *span, const xcb_xkb_get_map_reply_t *reply)
{
	if (reply->firstKeySym + reply->nKeySyms > 256)
		return -1;
	for (size_t i = 0; i < reply->nKeySyms; i++) {
		struct key_syms *key = &raw->keys[reply->firstKeySym + i];
		size_t n_groups;

		key->head = take(span, sizeof(*key->head));
		if (!key->head || key->head->nSyms > MAX_SYMS_PER_KEY)
			return -1;
		key->syms = take(span, key->head->nSyms * sizeof(uint32_t));
		n_groups = key->head->groupInfo & 0x0f;
		if (!key->syms || n_groups > 4 || n_groups * key->head->width > key->head->nSyms)
			return -1;
	}
	return 0;
}

static int read_modifiers(uint8_t modifiers[256], struct span *span, const xcb_xkb_get_map_reply_t *reply)
{
	const xcb_xkb_key_mod_map_t *rows = take(span, reply->totalModMapKeys * sizeof(*rows));

	for (size_t i = 0; rows && i < reply->totalModMapKeys; i++)
		modifiers[rows[i].keycode] = rows[i].mods;
	return rows ? 0 : -1;
}

/* The group that the key uses while `group` is the active one: a key has fewer groups than the keyboard. */
static size_t group_of_key(const xcb_xkb_key_sym_map_t *head, size_t group)
{
	size_t n = head->groupInfo & 0x0f;
	size_t redirect = head->groupInfo >> 4 & 0x03;

	if (group < n)
		return group;
	switch (head->groupInfo & 0xc0) {
	case 0x40:
		return n - 1;
	case 0x80:
		return redirect < n ? redirect : 0;
	default:
		return group % n;
	}
}

static size_t level_of(const struct key_type *type, uint8_t modifiers)
{
	modifiers &= type->mask;
	for (size_t i = 0; i < type->n_entries; i++)
		if (type->entries[i].active && type->entries[i].mods_mask == modifiers)
			return type->entries[i].level;
	return 0;
}

static void add_place(struct keymap *map, uint32_t keysym, size_t keycode, bool shift)
{
	if (keysym != XKB_KEY_NoSymbol)
		map->places[map->n_places++] = (struct keymap_place){keynames_canonical(keysym), (uint8_t)keycode, shift};
}

/* What the key gives in the active group, with and without Shift, under the present Num Lock. A modifier key also answers to the
 * names of its other levels. */
static void add_places(struct keymap *map, const struct raw_map *raw, size_t keycode)
{
	const struct key_syms *key = &raw->keys[keycode];
	size_t group = group_of_key(key->head, map->group);
	const struct key_type *type = &raw->types[key->head->kt_index[group]];
	const uint32_t *syms = key->syms + group * key->head->width;
	uint8_t base = map->locked & map->num_lock;

	for (size_t level = 0; map->modifiers[keycode] && level < key->head->width; level++)
		add_place(map, syms[level], keycode, false);
	for (uint8_t shift = 0; !map->modifiers[keycode] && shift <= KEYMAP_SHIFT; shift++) {
		size_t level = level_of(type, base | shift);

		if (level < key->head->width && (!shift || map->shift_keycode))
			add_place(map, syms[level], keycode, shift);
	}
}

static int compare_places(const void *a, const void *b)
{
	const struct keymap_place *p = a, *q = b;

	if (p->keysym != q->keysym)
		return p->keysym < q->keysym ? -1 : 1;
	return p->keycode != q->keycode ? p->keycode - q->keycode : p->shift - q->shift;
}

/* What does not depend on the group: symbols at all, the slots' symbols, Shift, Num Lock. */
static void note_key(struct keymap *map, const struct key_syms *key, size_t keycode)
{
	size_t n_groups = key->head->groupInfo & 0x0f;

	for (size_t i = 0; i < n_groups * key->head->width; i++) {
		if (key->syms[i] != XKB_KEY_NoSymbol)
			map->used[keycode] = true;
		if (i < 2 && i < key->head->width)
			map->first[keycode][i] = key->syms[i];
		if (key->syms[i] == XKB_KEY_Num_Lock)
			map->num_lock |= map->modifiers[keycode];
		if (key->syms[i] == XKB_KEY_Shift_L && map->modifiers[keycode] & KEYMAP_SHIFT && !map->shift_keycode)
			map->shift_keycode = (uint8_t)keycode;
	}
}

static size_t count_syms(const struct raw_map *raw)
{
	size_t n = 0;

	for (size_t keycode = 0; keycode < 256; keycode++)
		n += raw->keys[keycode].head ? raw->keys[keycode].head->width + 2U : 0;
	return n;
}

static int read_reply(struct raw_map *raw, uint8_t modifiers[256], const void *bytes, size_t len)
{
	const xcb_xkb_get_map_reply_t *reply = bytes;
	struct span span = {bytes, len};

	if (!take(&span, sizeof(*reply)) || reply->present != PARTS || reply->minKeyCode < 8 || reply->maxKeyCode < reply->minKeyCode)
		return -1;
	if (read_types(raw, &span, reply) < 0 || read_syms(raw, &span, reply) < 0)
		return -1;
	return read_modifiers(modifiers, &span, reply);
}

int keymap_parse(struct keymap *map, const void *bytes, size_t len)
{
	const xcb_xkb_get_map_reply_t *reply = bytes;
	auto_free struct raw_map *raw = util_zalloc(sizeof(*raw));
	struct keymap next = {.group = map->group, .locked = map->locked, .latched = map->latched};

	if (read_reply(raw, next.modifiers, bytes, len) < 0)
		return -1;
	memcpy(next.ours, map->ours, sizeof(next.ours));
	memcpy(next.down, map->down, sizeof(next.down));
	next.min_keycode = reply->minKeyCode;
	next.max_keycode = reply->maxKeyCode;
	next.places = util_alloc(count_syms(raw) * sizeof(*next.places) + 1);
	for (size_t keycode = 0; keycode < 256; keycode++)
		if (raw->keys[keycode].head)
			note_key(&next, &raw->keys[keycode], keycode);
	for (size_t keycode = 0; keycode < 256; keycode++)
		if (next.used[keycode] && !next.ours[keycode])
			add_places(&next, raw, keycode);
	qsort(next.places, next.n_places, sizeof(*next.places), compare_places);
	free(map->places);
	*map = next;
	return 0;
}

void keymap_finish(struct keymap *map)
{
	free(map->places);
	*map = (struct keymap){0};
}

/* Takes the reply to one of several requests: the first error stands, and later replies are taken all the same. */
static void take_reply(struct xconn *x, unsigned int sequence, void **reply, int *rc, struct err *e)
{
	if (xconn_reply(x, sequence, reply, *rc == 0 ? e : NULL) < 0)
		*rc = -1;
}

int keymap_read(struct keymap *map, struct xconn *x, struct err *e)
{
	auto_free xcb_xkb_get_map_reply_t *reply = NULL;
	auto_free xcb_xkb_get_state_reply_t *state = NULL;
	auto_free xcb_query_keymap_reply_t *down = NULL;
	struct keymap old = *map;
	int rc = 0;

	if (x->lost)
		return xconn_sync(x, e);
	unsigned int map_request = xcb_xkb_get_map(x->xcb, XCB_XKB_ID_USE_CORE_KBD, PARTS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0).sequence;
	unsigned int state_request = xcb_xkb_get_state(x->xcb, XCB_XKB_ID_USE_CORE_KBD).sequence;
	unsigned int down_request = xcb_query_keymap(x->xcb).sequence;

	take_reply(x, map_request, (void **)&reply, &rc, e);
	take_reply(x, state_request, (void **)&state, &rc, e);
	take_reply(x, down_request, (void **)&down, &rc, e);
	if (rc < 0)
		return -1;
	map->group = state->group;
	map->locked = state->lockedMods;
	map->latched = state->latchedMods;
	memcpy(map->down, down->keys, sizeof(map->down));
	if (keymap_parse(map, reply, 32 + (size_t)reply->length * 4) == 0)
		return 0;
	*map = old;
	return err_set(e, ERR_INPUT_LOST, NULL, "the display's keyboard map makes no sense");
}

const struct keymap_place *keymap_find(const struct keymap *map, uint32_t keysym)
{
	size_t low = 0, high = map->n_places;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->places[middle].keysym < keysym)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->n_places && map->places[low].keysym == keysym ? &map->places[low] : NULL;
}

/* 166 and 167 are Back and Forward, 180 to 182 home page, reload and close: Chromium acts on the number alone. */
static bool is_spare(const struct keymap *map, size_t keycode)
{
	bool browser_key = keycode == 166 || keycode == 167 || (keycode >= 180 && keycode <= 182);

	return keycode >= map->min_keycode && keycode <= map->max_keycode && !map->used[keycode] && !map->modifiers[keycode] && !browser_key;
}

/* The length of the run of spares that begins at this keycode. */
static size_t run_length(const struct keymap *map, size_t keycode)
{
	size_t n = 0;

	while (keycode + n < 256 && is_spare(map, keycode + n))
		n++;
	return n;
}

size_t keymap_spares(const struct keymap *map, uint8_t *keycodes, size_t max)
{
	size_t n = 0;

	for (size_t length = 256; length > 0; length--)
		for (size_t keycode = 0, run; keycode < 256; keycode += run ? run : 1) {
			run = run_length(map, keycode);
			for (size_t i = 0; run == length && i < run && n < max; i++)
				keycodes[n++] = (uint8_t)(keycode + i);
		}
	return n;
}
