/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keysyms of a viewer as strokes, and its buttons. */
#include "input/remote.h"

#include <string.h>
#include <sys/param.h>
#include <xcb/xkb.h>
#include <xcb/xtest.h>
#include <xkbcommon/xkbcommon-keysyms.h>
#include <xkbcommon/xkbcommon.h>

#include "session/base/util.h"

#define HOLD_MS 450 /* without another word; X repeats a key that is down for 660 ms, and viewers' systems say so every 30 to 500 ms */
#define BUTTONS 9
#define KEYSYM_MAX 0x1FFFFFFFU

/* What they choose is in the sign already. */
static const uint32_t choosers[] = {XKB_KEY_ISO_Level3_Shift, XKB_KEY_ISO_Level5_Shift, XKB_KEY_Mode_switch,  XKB_KEY_Caps_Lock,
                                    XKB_KEY_Shift_Lock,       XKB_KEY_Num_Lock,         XKB_KEY_Scroll_Lock, XKB_KEY_ISO_Next_Group,
                                    XKB_KEY_ISO_Prev_Group,   XKB_KEY_ISO_Level3_Lock,  XKB_KEY_ISO_First_Group};

void remote_init(struct remote *remote, struct keyboard *keyboard, struct pointer *pointer)
{
	*remote = (struct remote){.keyboard = keyboard, .pointer = pointer};
}

void remote_finish(struct remote *remote)
{
	loop_cancel(remote->timer);
	remote->timer = NULL;
}

/* --- what is held --- */

static size_t find(const struct remote *remote, uint32_t keysym)
{
	size_t i = 0;

	while (i < remote->n_keys && remote->keys[i].keysym != keysym)
		i++;
	return i;
}

static bool holds(const struct remote *remote, uint32_t left, uint32_t right)
{
	size_t i = find(remote, left), j = find(remote, right);

	return (i < remote->n_keys && remote->keys[i].is_down) || (j < remote->n_keys && remote->keys[j].is_down);
}

/* A shortcut: what counts is the key, not its sign. */
static bool is_shortcut(const struct remote *remote)
{
	return holds(remote, XKB_KEY_Control_L, XKB_KEY_Control_R) || holds(remote, XKB_KEY_Alt_L, XKB_KEY_Alt_R) ||
	       holds(remote, XKB_KEY_Super_L, XKB_KEY_Super_R) || holds(remote, XKB_KEY_Meta_L, XKB_KEY_Meta_R);
}

static void let_go(struct remote *remote, size_t i)
{
	if (remote->keys[i].is_down)
		hands_key(remote->keyboard->hands, remote->keys[i].keycode, false);
	remote->keys[i].is_down = false;
}

static void arm(struct remote *remote);

static void on_time(void *arg)
{
	struct remote *remote = arg;
	int64_t now_ms = util_now_ms();

	remote->timer = NULL;
	for (size_t i = 0; i < remote->n_keys; i++)
		if (!remote->keys[i].is_modifier && remote->keys[i].until_ms <= now_ms)
			let_go(remote, i);
	xconn_flush(remote->keyboard->x);
	arm(remote);
}

static void arm(struct remote *remote)
{
	int64_t first_ms = INT64_MAX;

	for (size_t i = 0; i < remote->n_keys; i++)
		if (!remote->keys[i].is_modifier && remote->keys[i].is_down)
			first_ms = MIN(first_ms, remote->keys[i].until_ms);
	loop_cancel(remote->timer);
	remote->timer = first_ms == INT64_MAX ? NULL : loop_at(remote->keyboard->x->loop, first_ms, on_time, remote);
}

static void forget(struct remote *remote, size_t i)
{
	let_go(remote, i);
	remote->n_keys--;
	memmove(&remote->keys[i], &remote->keys[i + 1], (remote->n_keys - i) * sizeof(remote->keys[0]));
	memset(&remote->keys[remote->n_keys], 0, sizeof(remote->keys[0]));
}

/* Presses a key that the viewer calls so; one that is down goes up first: that is how X repeats. */
static void hold(struct remote *remote, uint32_t keysym, uint8_t keycode, bool is_modifier)
{
	size_t i = find(remote, keysym);

	if (i == REMOTE_KEYS)
		return;
	if (i == remote->n_keys)
		remote->n_keys++;
	else if (!is_modifier)
		let_go(remote, i);
	remote->keys[i].keysym = keysym;
	remote->keys[i].is_modifier = is_modifier;
	remote->keys[i].until_ms = util_now_ms() + HOLD_MS;
	if (!remote->keys[i].is_down) {
		remote->keys[i].keycode = keycode;
		hands_key(remote->keyboard->hands, keycode, true);
	}
	remote->keys[i].is_down = true;
	arm(remote);
}

/* --- which key --- */

/* A sign is one whatever Shift is; with other keys Shift is a part of what is meant. */
static bool is_sign(uint32_t keysym)
{
	return keysym < 0xFE00 || keysym >= 0x01000000;
}

/* Of the places that give this keysym the one that needs no change of Shift, else the first one. */
static const struct keymap_place *choose(const struct keymap *map, uint32_t keysym, bool shift)
{
	const struct keymap_place *first = keymap_find(map, keysym), *end = map->places + map->n_places;

	for (const struct keymap_place *place = first; place && place < end && place->keysym == keysym; place++)
		if (place->shift == shift)
			return place;
	return first;
}

/* A spare key gets the sign, as the keys of a chord do. */
static int bind(struct remote *remote, uint32_t keysym, uint8_t *keycode, struct err *e)
{
	struct keyboard *keyboard = remote->keyboard;
	struct slots before = keyboard->slots;
	size_t slot;

	plan_clear(&keyboard->plan);
	if (plan_bind(&keyboard->plan, &keyboard->slots, keysym, &slot, e) < 0 || keyboard_aim(keyboard, e) < 0) {
		keyboard->slots = before;
		return -1;
	}
	if (keyboard_bind(keyboard, &before, e) < 0)
		return -1;
	keyboard_note_unread(keyboard, 1, true);
	remote->has_slots = true;
	*keycode = keyboard->slots.keycodes[slot];
	return 0;
}

/* Nothing that somebody has locked turns one sign into another. Num Lock stays: the map is read with it. */
static void unlock(struct remote *remote)
{
	const struct keymap *map = &remote->keyboard->map;
	uint8_t locks = map->locked & (uint8_t)~map->num_lock;

	if (!locks)
		return;
	remote->locked |= locks;
	xcb_xkb_latch_lock_state(remote->keyboard->x->xcb, XCB_XKB_ID_USE_CORE_KBD, locks, 0, 0, 0, 0, 0, 0);
}

static void set_shift(struct remote *remote, bool down)
{
	struct hands *hands = remote->keyboard->hands;

	for (size_t i = 0; i < remote->n_keys; i++)
		if ((remote->keys[i].keysym == XKB_KEY_Shift_L || remote->keys[i].keysym == XKB_KEY_Shift_R) && remote->keys[i].is_down)
			hands_key(hands, remote->keys[i].keycode, down);
}

/* Shift as the place wants it, the stroke, Shift as it was. */
static void stroke(struct remote *remote, uint32_t keysym, uint8_t keycode, bool is_held, bool wanted)
{
	struct keyboard *keyboard = remote->keyboard;

	if (is_held && !wanted)
		set_shift(remote, false);
	else if (!is_held && wanted)
		hands_key(keyboard->hands, keyboard->map.shift_keycode, true);
	hold(remote, keysym, keycode, false);
	if (is_held && !wanted)
		set_shift(remote, true);
	else if (!is_held && wanted)
		hands_key(keyboard->hands, keyboard->map.shift_keycode, false);
}

static int press(struct remote *remote, uint32_t told, struct err *e)
{
	const struct keymap *map = &remote->keyboard->map;
	bool shift = holds(remote, XKB_KEY_Shift_L, XKB_KEY_Shift_R), wanted = shift;
	uint32_t keysym = told == XKB_KEY_ISO_Left_Tab ? XKB_KEY_Tab : keynames_canonical(told);
	const struct keymap_place *place = choose(map, keysym, shift);
	uint8_t keycode;

	if (place) {
		keycode = place->keycode;
		if (!is_shortcut(remote) || place->shift)
			wanted = is_sign(keysym) ? place->shift : shift || place->shift;
		/* Ctrl with Caps Lock on says Ctrl+A: the key is meant, and Shift is told when it is. */
		if (is_shortcut(remote) && xkb_keysym_to_lower(keysym) != keysym)
			wanted = shift;
	} else if (bind(remote, keysym, &keycode, e) < 0) {
		return -1;
	} else {
		/* It has its sign on both levels. */
		wanted = shift;
	}
	unlock(remote);
	stroke(remote, told, keycode, shift, wanted || told == XKB_KEY_ISO_Left_Tab);
	return 0;
}

static int press_modifier(struct remote *remote, uint32_t keysym)
{
	const struct keymap *map = &remote->keyboard->map;
	const struct keymap_place *place = keymap_find(map, keysym);

	/* Macs' viewers and X's have Meta and Super where others have Alt. */
	if (!place && (keysym == XKB_KEY_Meta_L || keysym == XKB_KEY_Meta_R))
		place = keymap_find(map, XKB_KEY_Alt_L);
	if (!place && keysym == XKB_KEY_Alt_R)
		place = keymap_find(map, XKB_KEY_Alt_L);
	if (!place && (keysym == XKB_KEY_Hyper_L || keysym == XKB_KEY_Hyper_R))
		place = keymap_find(map, XKB_KEY_Super_L);
	if (place)
		hold(remote, keysym, place->keycode, true);
	return 0;
}

static bool is_chooser(uint32_t keysym)
{
	for (size_t i = 0; i < ARRAY_LEN(choosers); i++)
		if (choosers[i] == keysym)
			return true;
	return false;
}

int remote_key(struct remote *remote, uint32_t keysym, bool down, struct err *e)
{
	struct keyboard *keyboard = remote->keyboard;
	size_t i;
	int rc;

	if (keysym == XKB_KEY_NoSymbol || keysym > KEYSYM_MAX || is_chooser(keysym))
		return 0;
	if (!down) {
		i = find(remote, keysym);
		if (i < remote->n_keys)
			forget(remote, i);
		xconn_flush(keyboard->x);
		return 0;
	}
	/* A click before it may have moved the focus, which the window manager does. */
	if (pointer_confirm(remote->pointer, e) < 0 || keyboard_read(keyboard, e) < 0)
		return -1;
	rc = keynames_is_modifier(keysym) ? press_modifier(remote, keysym) : press(remote, keysym, e);
	xconn_flush(keyboard->x);
	return rc;
}

/* --- the pointer --- */

static void send_button(struct remote *remote, unsigned int button, bool down)
{
	struct xconn *x = remote->keyboard->x;

	if (!x->lost)
		(void)xcb_test_fake_input(x->xcb, down ? XCB_BUTTON_PRESS : XCB_BUTTON_RELEASE, (uint8_t)button, XCB_CURRENT_TIME, XCB_NONE, 0, 0, 0);
}

int remote_pointer(struct remote *remote, uint32_t buttons, int x_px, int y_px, bool on_screen, struct err *e)
{
	if (xconn_room(remote->keyboard->x, e) < 0)
		return -1;
	if (on_screen)
		hands_move(remote->keyboard->hands, x_px, y_px);
	for (unsigned int button = 1; button <= BUTTONS; button++) {
		uint32_t bit = 1U << (button - 1);
		bool down = buttons & bit;

		/* Where nothing is nothing is pressed; but what is held is let go of anywhere. */
		if (down == !!(remote->buttons & bit) || (down && !on_screen))
			continue;
		remote->buttons ^= bit;
		send_button(remote, button, down);
		if (down && (button < 4 || button > 7))
			pointer_ask(remote->pointer);
	}
	xconn_flush(remote->keyboard->x);
	return 0;
}

/* --- the end --- */

void remote_release(struct remote *remote)
{
	if (remote->n_keys == 0 && remote->buttons == 0)
		return;
	for (unsigned int button = 1; button <= BUTTONS; button++)
		if (remote->buttons & 1U << (button - 1))
			send_button(remote, button, false);
	remote->buttons = 0;
	while (remote->n_keys > 0)
		forget(remote, remote->n_keys - 1);
	arm(remote);
	xconn_flush(remote->keyboard->x);
}

int remote_restore(struct remote *remote, struct err *e)
{
	struct keyboard *keyboard = remote->keyboard;
	uint8_t locked = remote->locked;
	int rc = 0;

	remote->locked = 0;
	if (locked && !keyboard->x->lost)
		xcb_xkb_latch_lock_state(keyboard->x->xcb, XCB_XKB_ID_USE_CORE_KBD, locked, locked, 0, 0, 0, 0, 0);
	if (remote->has_slots)
		rc = keyboard_restore(keyboard, e);
	remote->has_slots = false;
	return rc == 0 ? xconn_sync(keyboard->x, e) : rc;
}
