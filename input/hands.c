/* SPDX-License-Identifier: GPL-2.0-or-later */
/* XTEST events, and what is held down. */
#include "input/hands.h"

#include <string.h>
#include <xcb/xtest.h>

#include "input/keynames.h"
#include "session/base/util.h"

static const struct {
	const char *name;
	unsigned int number;
} buttons[] = {{"left", 1}, {"middle", 2}, {"right", 3}, {"back", 8}, {"forward", 9}};

/* By xcb: Xlib keeps a note of every request until it reads replies, which here it never does. */
static void fake(struct hands *hands, uint8_t type, uint8_t detail, xcb_window_t root, int x_px, int y_px)
{
	if (!hands->x->lost)
		(void)xcb_test_fake_input(hands->x->xcb, type, detail, XCB_CURRENT_TIME, root, (int16_t)x_px, (int16_t)y_px, 0);
}

void hands_key(struct hands *hands, uint8_t keycode, bool down)
{
	fake(hands, down ? XCB_KEY_PRESS : XCB_KEY_RELEASE, keycode, XCB_NONE, 0, 0);
}

static size_t find_key(const struct hands *hands, uint8_t keycode)
{
	size_t i = 0;

	while (i < hands->n_keys && hands->keys[i].keycode != keycode)
		i++;
	return i;
}

bool hands_holds(const struct hands *hands, uint8_t keycode)
{
	return find_key(hands, keycode) < hands->n_keys;
}

bool hands_press(struct hands *hands, uint8_t keycode, uint32_t keysym, uint32_t owner)
{
	if (hands_holds(hands, keycode) || hands->n_keys == HANDS_MAX_KEYS) /* never full: each keycode is there once */
		return false;
	hands->keys[hands->n_keys].keycode = keycode;
	hands->keys[hands->n_keys].keysym = keysym;
	hands->keys[hands->n_keys++].owner = owner;
	hands_key(hands, keycode, true);
	return true;
}

void hands_let_go(struct hands *hands, uint8_t keycode)
{
	size_t i = find_key(hands, keycode);

	hands_key(hands, keycode, false);
	if (i == hands->n_keys)
		return;
	hands->n_keys--;
	memmove(&hands->keys[i], &hands->keys[i + 1], (hands->n_keys - i) * sizeof(hands->keys[0]));
}

bool hands_let_go_of(struct hands *hands, uint32_t owner)
{
	bool found = false;

	for (size_t i = hands->n_keys; i-- > 0;)
		if (hands->keys[i].owner == owner) {
			hands_let_go(hands, hands->keys[i].keycode);
			found = true;
		}
	return found;
}

void hands_button(struct hands *hands, unsigned int button, bool down)
{
	if (down)
		hands->buttons |= 1U << button;
	else
		hands->buttons &= ~(1U << button);
	fake(hands, down ? XCB_BUTTON_PRESS : XCB_BUTTON_RELEASE, (uint8_t)button, XCB_NONE, 0, 0);
}

bool hands_holds_button(const struct hands *hands, unsigned int button)
{
	return hands->buttons >> button & 1;
}

void hands_move(struct hands *hands, int x_px, int y_px)
{
	fake(hands, XCB_MOTION_NOTIFY, 0, hands->x->root, x_px, y_px);
}

void hands_release(struct hands *hands)
{
	for (unsigned int button = 1; button < 32; button++)
		if (hands_holds_button(hands, button))
			hands_button(hands, button, false);
	while (hands->n_keys > 0)
		hands_let_go(hands, hands->keys[hands->n_keys - 1].keycode);
	xconn_flush(hands->x);
}

json_t *hands_held(const struct hands *hands)
{
	json_t *keys = json_array(), *names = json_array();
	char label[KEYNAMES_LABEL_MAX];

	for (size_t i = 0; i < hands->n_keys; i++)
		json_array_append_new(keys, json_string(keynames_label(hands->keys[i].keysym, label)));
	for (size_t i = 0; i < ARRAY_LEN(buttons); i++)
		if (hands_holds_button(hands, buttons[i].number))
			json_array_append_new(names, json_string(buttons[i].name));
	return json_pack("{s:o,s:o}", "keys", keys, "buttons", names);
}

unsigned int hands_button_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(buttons); i++)
		if (strcmp(buttons[i].name, name) == 0)
			return buttons[i].number;
	return 0;
}
