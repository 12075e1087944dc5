/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slots and chords. */
#include "input/keyboard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include "session/base/util.h"

/* A key of a chord, found. */
struct found {
	uint8_t keycode;
	bool shift;
	bool modifier;
	uint32_t keysym;
};

int keyboard_init(struct keyboard *keyboard, struct xconn *x, struct hands *hands, struct err *e)
{
	*keyboard = (struct keyboard){.x = x, .hands = hands, .copying = {.clipboard = &keyboard->clipboard, .hands = hands}};
	if (keymap_read(&keyboard->map, x, e) < 0 || ping_init(&keyboard->ping, x, e) < 0 ||
	    clipboard_init(&keyboard->clipboard, x, &keyboard->ping, e) < 0) {
		ping_finish(&keyboard->ping);
		keymap_finish(&keyboard->map);
		return -1;
	}
	keyboard->slots.n = keymap_spares(&keyboard->map, keyboard->slots.keycodes, PLAN_MAX_SLOTS);
	for (size_t slot = 0; slot < keyboard->slots.n; slot++)
		keyboard->map.ours[keyboard->slots.keycodes[slot]] = true;
	return 0;
}

/* The slots are about to be emptied, apart from any action. */
struct keyboard_later {
	struct keyboard *keyboard; /* NULL once it is finished */
	struct co *co;
};

void keyboard_finish(struct keyboard *keyboard)
{
	loop_cancel(keyboard->later);
	if (keyboard->emptying) {
		keyboard->emptying->keyboard = NULL;
		co_cancel(keyboard->emptying->co);
	}
	clipboard_finish(&keyboard->clipboard);
	ping_finish(&keyboard->ping);
	plan_finish(&keyboard->plan);
	keymap_finish(&keyboard->map);
}

int keyboard_read(struct keyboard *keyboard, struct err *e)
{
	loop_cancel(keyboard->later);
	keyboard->later = NULL;
	keyboard->n_actions++;
	if (keymap_read(&keyboard->map, keyboard->x, e) < 0)
		return -1;
	plan_compare(&keyboard->slots, &keyboard->map);
	return 0;
}

/* A window with much to read gets more time to answer, if the action has it. */
static int64_t patience_ms(const struct keyboard *keyboard)
{
	int64_t limit_ms = LIMIT_PING_MS + LIMIT_READ_MS * (int64_t)keyboard->n_unread;

	if (keyboard->deadline_ms)
		limit_ms = MIN(limit_ms, keyboard->deadline_ms - util_now_ms());
	return MAX(LIMIT_PING_MS, MIN(limit_ms, LIMIT_DRAIN_MS));
}

/* Waits until the window that got strokes of slots has read them. */
static int drain(struct keyboard *keyboard, struct err *e)
{
	if (keyboard->has_unread && ping_wait_for(&keyboard->ping, &keyboard->unread, patience_ms(keyboard), e) < 0)
		return -1;
	keyboard->has_unread = false;
	keyboard->n_unread = 0;
	return 0;
}

int keyboard_aim(struct keyboard *keyboard, struct err *e)
{
	struct ping_target target;

	if (ping_aim(&keyboard->ping, &target, e) < 0)
		return -1;
	/* One window alone may have something unread. */
	if (keyboard->unread.window != target.window && drain(keyboard, e) < 0)
		return -1;
	keyboard->target = target;
	return 0;
}

void keyboard_note_unread(struct keyboard *keyboard, size_t n_strokes, bool of_slots)
{
	if (keyboard->unread.window != keyboard->target.window)
		keyboard->n_unread = 0;
	keyboard->unread = keyboard->target;
	keyboard->n_unread += n_strokes;
	keyboard->has_unread |= of_slots;
}

/* One request per run of neighbouring keycodes, from its first changed slot to its last. */
static void send_symbols(struct keyboard *keyboard)
{
	const struct slots *slots = &keyboard->slots;
	const bool *changed = keyboard->plan.changed;
	uint32_t symbols[PLAN_MAX_SLOTS][2];

	for (size_t first = 0, last; first < slots->n; first = last + 1) {
		last = first;
		if (!changed[first])
			continue;
		for (size_t slot = first + 1; slot < slots->n && slots->keycodes[slot] == slots->keycodes[first] + (slot - first); slot++)
			if (changed[slot])
				last = slot;
		for (size_t slot = first; slot <= last; slot++)
			plan_slot_symbols(slots, slot, symbols[slot]);
		xcb_change_keyboard_mapping(keyboard->x->xcb, (uint8_t)(last - first + 1), slots->keycodes[first], 2, symbols[first]);
	}
}

/*
 * Before the map changes. Strokes of slots that get other symbols must have been read. And Xlib loses a change that comes while it still
 * reads the one before: the emptied slots of the last text, another layout, the map of XTEST's keyboard with the first key of a session.
 * One ping tells both, since what is unread is the target's (keyboard_aim).
 */
static int wait_for_last_change(struct keyboard *keyboard, struct err *e)
{
	if (keyboard->plan.overwrites && keyboard->has_unread)
		return drain(keyboard, e);
	return keyboard->target.answers ? ping_wait_for(&keyboard->ping, &keyboard->target, patience_ms(keyboard), e) : 0;
}

int keyboard_bind(struct keyboard *keyboard, const struct slots *before, struct err *e)
{
	if (keyboard->plan.n_changed == 0)
		return 0;
	if (wait_for_last_change(keyboard, e) < 0 || xconn_room(keyboard->x, e) < 0) {
		keyboard->slots = *before;
		return -1;
	}
	send_symbols(keyboard);
	if (xconn_sync(keyboard->x, e) < 0)
		return -1;
	return ping_wait_for(&keyboard->ping, &keyboard->target, patience_ms(keyboard), e);
}

/* Whether some slot has a symbol, and none of those is held down. */
static bool can_restore(const struct keyboard *keyboard)
{
	const struct slots *slots = &keyboard->slots;
	bool bound = false;

	for (size_t slot = 0; slot < slots->n; slot++)
		if (slots->keysyms[slot][0] || slots->keysyms[slot][1]) {
			bound = true;
			if (hands_holds(keyboard->hands, slots->keycodes[slot]))
				return false;
		}
	return bound;
}

static void empty_slots(struct keyboard *keyboard)
{
	plan_empty(&keyboard->plan, &keyboard->slots);
	send_symbols(keyboard);
	xconn_flush(keyboard->x);
}

/* The map is read apart from the action that may begin meanwhile, which then has the slots. */
static void empty_later(void *arg)
{
	struct keyboard_later *later = arg;
	struct keymap now = {0};
	unsigned int n_actions = later->keyboard ? later->keyboard->n_actions : 0;

	if (later->keyboard)
		memcpy(now.ours, later->keyboard->map.ours, sizeof(now.ours));
	if (later->keyboard && keymap_read(&now, later->keyboard->x, NULL) == 0 && later->keyboard &&
	    later->keyboard->n_actions == n_actions && can_restore(later->keyboard)) {
		plan_compare(&later->keyboard->slots, &now);
		memcpy(later->keyboard->map.ours, now.ours, sizeof(now.ours));
		empty_slots(later->keyboard);
	}
	if (later->keyboard)
		later->keyboard->emptying = NULL;
	keymap_finish(&now);
	free(later);
}

static void on_later(void *arg)
{
	struct keyboard *keyboard = arg;

	keyboard->later = NULL;
	if (keyboard->emptying)
		return;
	keyboard->emptying = util_zalloc(sizeof(*keyboard->emptying));
	keyboard->emptying->keyboard = keyboard;
	keyboard->emptying->co = co_start(keyboard->x->loop, empty_later, keyboard->emptying);
}

int keyboard_restore(struct keyboard *keyboard, struct err *e)
{
	if (!can_restore(keyboard))
		return 0;
	if (!keyboard->unread.answers) {
		if (!keyboard->later && !keyboard->unread.was_silent)
			keyboard->later = loop_at(keyboard->x->loop, util_now_ms() + LIMIT_SLOTS_MS, on_later, keyboard);
		return 0;
	}
	if (drain(keyboard, e) < 0)
		return -1;
	if (keyboard->unread.was_silent)
		return 0;
	/* Meanwhile a new layout may have taken some. */
	if (keyboard_read(keyboard, e) < 0)
		return -1;
	empty_slots(keyboard);
	return xconn_sync(keyboard->x, e);
}

static const struct keymap_place *find_place(const struct keyboard *keyboard, struct keyname name)
{
	const struct keymap_place *place = keymap_find(&keyboard->map, name.keysym);

	return !place && name.other ? keymap_find(&keyboard->map, name.other) : place;
}

static int find_key(struct keyboard *keyboard, struct keyname name, struct found *found, struct err *e)
{
	const struct keymap_place *place = find_place(keyboard, name);
	char label[KEYNAMES_LABEL_MAX];
	size_t slot;

	*found = (struct found){.keysym = name.keysym, .modifier = keynames_is_modifier(name.keysym)};
	if (place) {
		found->keycode = place->keycode;
		found->shift = place->shift;
		return 0;
	}
	if (found->modifier)
		return err_set(e, ERR_CONFLICT, NULL, "the keyboard layout has no %s key", keynames_label(name.keysym, label));
	if (plan_bind(&keyboard->plan, &keyboard->slots, name.keysym, &slot, e) < 0)
		return -1;
	found->keycode = keyboard->slots.keycodes[slot];
	return 0;
}

/* Finds every key of the chord; those that the layout does not have get slots. */
static int find_keys(struct keyboard *keyboard, const struct chord *chord, struct found *found, struct err *e)
{
	struct slots before;

	if (keyboard_read(keyboard, e) < 0)
		return -1;
	before = keyboard->slots;
	plan_clear(&keyboard->plan);
	for (size_t i = 0; i < chord->n; i++)
		if (find_key(keyboard, chord->keys[i], &found[i], e) < 0) {
			keyboard->slots = before;
			return -1;
		}
	if (!keyboard->plan.uses_slots)
		return 0;
	if (keyboard_aim(keyboard, e) < 0) {
		keyboard->slots = before;
		return -1;
	}
	if (keyboard_bind(keyboard, &before, e) < 0)
		return -1;
	keyboard_note_unread(keyboard, chord->n, true);
	return 0;
}

static void press(struct keyboard *keyboard, uint8_t keycode, uint32_t keysym, uint32_t owner, struct grip *grip)
{
	if (hands_press(keyboard->hands, keycode, keysym, owner))
		grip->keycodes[grip->n++] = keycode;
}

int keyboard_press(struct keyboard *keyboard, const struct chord *chord, struct grip *grip, struct err *e)
{
	struct found found[LIMIT_CHORD_KEYS];
	char label[KEYNAMES_LABEL_MAX];

	if (find_keys(keyboard, chord, found, e) < 0)
		return -1;
	for (size_t i = 0; i < chord->n; i++)
		if (!found[i].modifier && hands_holds(keyboard->hands, found[i].keycode))
			return err_set(e, ERR_CONFLICT, NULL, "%s is held already; key_up lets it go", keynames_label(found[i].keysym, label));
	*grip = (struct grip){0};
	for (size_t i = 0; i < chord->n; i++) {
		if (found[i].shift)
			press(keyboard, keyboard->map.shift_keycode, XKB_KEY_Shift_L, found[i].keysym, grip);
		press(keyboard, found[i].keycode, found[i].keysym, found[i].keysym, grip);
	}
	return 0;
}

void keyboard_let_go(struct keyboard *keyboard, const struct grip *grip)
{
	for (size_t i = grip->n; i-- > 0;)
		hands_let_go(keyboard->hands, grip->keycodes[i]);
}

/* By what was pressed under the name: the layout, and the slots, may have changed since. */
int keyboard_release(struct keyboard *keyboard, const struct chord *chord, struct err *e)
{
	if (keyboard_read(keyboard, e) < 0)
		return -1;
	for (size_t i = chord->n; i-- > 0;) {
		struct keyname name = chord->keys[i];
		const struct keymap_place *place = find_place(keyboard, name);

		if (!hands_let_go_of(keyboard->hands, name.keysym) && place)
			hands_let_go(keyboard->hands, place->keycode);
	}
	return 0;
}
