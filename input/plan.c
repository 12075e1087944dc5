/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text as strokes.
 *
 * A cell is one level of a slot. Both levels of one run of neighbouring keycodes are filled before the next run is begun: a run is one
 * request, and every request costs the window manager and the apps a look at the whole map.
 */
#include "input/plan.h"

#include <stdlib.h>
#include <string.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include "input/keynames.h"
#include "session/base/util.h"

#define MAX_CELLS (2 * PLAN_MAX_SLOTS)

/* The symbols of one batch that need a cell, sorted. */
struct wanted {
	size_t n;
	struct {
		uint32_t keysym;
		size_t cell; /* MAX_CELLS: none yet */
	} rows[MAX_CELLS];
	bool taken[MAX_CELLS]; /* cells that the batch uses */
};

bool plan_symbol(const char *text, size_t len, struct symbol *symbol)
{
	uint32_t code_point;
	size_t n = len > 0 ? util_utf8_decode(text, len, &code_point) : 0;

	if (n == 0)
		return false;
	*symbol = (struct symbol){.len = n, .n_chars = 1};
	switch (code_point) {
	case '\r':
		symbol->keysym = XKB_KEY_Return;
		if (len > 1 && text[1] == '\n') {
			symbol->len = 2;
			symbol->n_chars = 2;
		}
		break;
	case '\n':
		symbol->keysym = XKB_KEY_Return;
		break;
	case '\t':
		symbol->keysym = XKB_KEY_Tab;
		break;
	default:
		symbol->keysym = keynames_of_char(code_point);
	}
	return true;
}

/* Cell 2 * slot + level. Without a Shift key the second levels are not there. */
static bool has_cell(const struct slots *slots, const struct keymap *map, size_t cell)
{
	return cell < 2 * slots->n && (cell % 2 == 0 || map->shift_keycode);
}

static size_t n_cells(const struct slots *slots, const struct keymap *map)
{
	return map->shift_keycode ? 2 * slots->n : slots->n;
}

static uint32_t *cell_symbol(struct slots *slots, size_t cell)
{
	return &slots->keysyms[cell / 2][cell % 2];
}

/* The row of the keysym, or the place where it belongs. */
static size_t find_wanted(const struct wanted *wanted, uint32_t keysym)
{
	size_t low = 0, high = wanted->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (wanted->rows[middle].keysym < keysym)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_wanted(const struct wanted *wanted, uint32_t keysym)
{
	size_t i = find_wanted(wanted, keysym);

	return i < wanted->n && wanted->rows[i].keysym == keysym;
}

static void want(struct wanted *wanted, uint32_t keysym)
{
	size_t i = find_wanted(wanted, keysym);

	memmove(&wanted->rows[i + 1], &wanted->rows[i], (wanted->n - i) * sizeof(wanted->rows[0]));
	wanted->rows[i].keysym = keysym;
	wanted->rows[i].cell = MAX_CELLS;
	wanted->n++;
}

/* How many bytes of the text fit into the cells, and which symbols want one. */
static size_t collect(struct wanted *wanted, const struct keymap *map, const struct slots *slots, const char *text, size_t len)
{
	size_t used = 0;
	struct symbol symbol;

	while (plan_symbol(text + used, len - used, &symbol)) {
		if (!keymap_find(map, symbol.keysym) && !is_wanted(wanted, symbol.keysym)) {
			if (wanted->n == n_cells(slots, map))
				break;
			want(wanted, symbol.keysym);
		}
		used += symbol.len;
	}
	return used;
}

/* One past the last slot of the run of neighbouring keycodes that begins at `first`. */
static size_t run_end(const struct slots *slots, size_t first)
{
	size_t end = first + 1;

	while (end < slots->n && slots->keycodes[end] == slots->keycodes[end - 1] + 1)
		end++;
	return end;
}

/* The next cell that may get a new symbol: an empty one, else one that this batch does not use. */
static size_t free_cell(struct slots *slots, const struct keymap *map, const struct wanted *wanted)
{
	for (size_t first = 0, end; first < slots->n; first = end) {
		end = run_end(slots, first);
		for (size_t level = 0; level < 2; level++)
			for (size_t slot = first; slot < end; slot++)
				if (has_cell(slots, map, 2 * slot + level) && !slots->keysyms[slot][level])
					return 2 * slot + level;
	}
	for (;;) {
		size_t cell = slots->hand++ % (2 * slots->n);

		if (has_cell(slots, map, cell) && !wanted->taken[cell])
			return cell;
	}
}

static void set_cell(struct plan *plan, struct slots *slots, size_t cell, uint32_t keysym)
{
	size_t slot = cell / 2;

	plan->overwrites |= *cell_symbol(slots, cell) != 0;
	*cell_symbol(slots, cell) = keysym;
	plan->n_changed += !plan->changed[slot];
	plan->changed[slot] = true;
}

/* Every wanted symbol gets its cell: the one it has, or a new one. */
static void assign(struct plan *plan, const struct keymap *map, struct slots *slots, struct wanted *wanted)
{
	for (size_t cell = 0; cell < 2 * slots->n; cell++) {
		uint32_t keysym = *cell_symbol(slots, cell);
		size_t i = find_wanted(wanted, keysym);

		if (keysym && has_cell(slots, map, cell) && is_wanted(wanted, keysym) && wanted->rows[i].cell == MAX_CELLS) {
			wanted->rows[i].cell = cell;
			wanted->taken[cell] = true;
		}
	}
	for (size_t i = 0; i < wanted->n; i++)
		if (wanted->rows[i].cell == MAX_CELLS) {
			size_t cell = free_cell(slots, map, wanted);

			wanted->rows[i].cell = cell;
			wanted->taken[cell] = true;
			set_cell(plan, slots, cell, wanted->rows[i].keysym);
		}
}

static void add_strokes(struct plan *plan, const struct keymap *map, const struct slots *slots, const struct wanted *wanted,
                        const char *text, size_t len)
{
	struct symbol symbol;

	plan->strokes = util_realloc(plan->strokes, len * sizeof(*plan->strokes) + 1);
	for (size_t at = 0; plan_symbol(text + at, len - at, &symbol); at += symbol.len) {
		const struct keymap_place *place = keymap_find(map, symbol.keysym);
		size_t cell = place ? 0 : wanted->rows[find_wanted(wanted, symbol.keysym)].cell;
		struct stroke *stroke = &plan->strokes[plan->n_strokes++];

		stroke->keycode = place ? place->keycode : slots->keycodes[cell / 2];
		stroke->shift = place ? place->shift : cell % 2;
		stroke->n_chars = symbol.n_chars;
	}
}

void plan_clear(struct plan *plan)
{
	struct stroke *strokes = plan->strokes;

	*plan = (struct plan){.strokes = strokes};
}

void plan_finish(struct plan *plan)
{
	free(plan->strokes);
	*plan = (struct plan){0};
}

static int no_slot(uint32_t keysym, struct err *e)
{
	char label[KEYNAMES_LABEL_MAX];

	return err_set(e, ERR_UNSUPPORTED, NULL, "the keyboard layout has no key for %s, and no spare key that could get it",
	               keynames_label(keysym, label));
}

int plan_make(struct plan *plan, const struct keymap *map, struct slots *slots, const char *text, size_t len, size_t *used, struct err *e)
{
	auto_free struct wanted *wanted = util_zalloc(sizeof(*wanted));
	struct symbol symbol;
	size_t fits = collect(wanted, map, slots, text, len);

	if (fits == 0 && plan_symbol(text, len, &symbol))
		return no_slot(symbol.keysym, e);
	plan_clear(plan);
	assign(plan, map, slots, wanted);
	plan->uses_slots = wanted->n > 0;
	add_strokes(plan, map, slots, wanted, text, fits);
	*used = fits;
	return 0;
}

/* The slot for a new symbol of a chord: an empty one, else the next that this plan has not filled. */
static size_t free_slot(const struct plan *plan, struct slots *slots)
{
	for (size_t slot = 0; slot < slots->n; slot++)
		if (!slots->keysyms[slot][0] && !slots->keysyms[slot][1])
			return slot;
	for (size_t tries = 0; tries < slots->n; tries++) {
		size_t slot = slots->hand++ % slots->n;

		if (!plan->changed[slot])
			return slot;
	}
	return slots->n;
}

int plan_bind(struct plan *plan, struct slots *slots, uint32_t keysym, size_t *slot, struct err *e)
{
	size_t found = 0;

	plan->uses_slots = true;
	while (found < slots->n && slots->keysyms[found][0] != keysym)
		found++;
	if (found == slots->n) {
		found = free_slot(plan, slots);
		if (found == slots->n)
			return no_slot(keysym, e);
		set_cell(plan, slots, 2 * found, keysym);
		plan->overwrites |= slots->keysyms[found][1] != 0;
		slots->keysyms[found][1] = 0;
	}
	*slot = found;
	return 0;
}

void plan_empty(struct plan *plan, struct slots *slots)
{
	plan_clear(plan);
	for (size_t slot = 0; slot < slots->n; slot++)
		for (size_t level = 0; level < 2; level++)
			if (slots->keysyms[slot][level])
				set_cell(plan, slots, 2 * slot + level, 0);
}

void plan_slot_symbols(const struct slots *slots, size_t slot, uint32_t out[2])
{
	const uint32_t *keysyms = slots->keysyms[slot];

	out[0] = keysyms[0] ? keysyms[0] : keysyms[1];
	out[1] = keysyms[1] ? keysyms[1] : keysyms[0];
}

void plan_compare(struct slots *slots, struct keymap *map)
{
	size_t n = 0;

	for (size_t slot = 0; slot < slots->n; slot++) {
		uint8_t keycode = slots->keycodes[slot];
		uint32_t symbols[2];

		plan_slot_symbols(slots, slot, symbols);
		if (map->used[keycode] && (map->first[keycode][0] != symbols[0] || map->first[keycode][1] != symbols[1])) {
			map->ours[keycode] = false;
			continue;
		}
		slots->keycodes[n] = keycode;
		memcpy(slots->keysyms[n], slots->keysyms[slot], sizeof(slots->keysyms[n]));
		if (!map->used[keycode])
			memset(slots->keysyms[n], 0, sizeof(slots->keysyms[n]));
		n++;
	}
	slots->n = n;
}
