/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chords that copy and paste. */
#include "input/copying.h"

#include <xkbcommon/xkbcommon-keysyms.h>

#include "session/base/util.h"

/* What goes down with a chord. */
struct pressed {
	bool ctrl, shift;
	uint32_t key; /* the last one that is no modifier */
};

static void add(struct pressed *pressed, uint32_t keysym)
{
	pressed->ctrl |= keysym == XKB_KEY_Control_L || keysym == XKB_KEY_Control_R;
	pressed->shift |= keysym == XKB_KEY_Shift_L || keysym == XKB_KEY_Shift_R;
}

static struct pressed read_chord(const struct copying *copying, const struct chord *chord)
{
	struct pressed pressed = {0};

	for (size_t i = 0; i < copying->hands->n_keys; i++)
		add(&pressed, copying->hands->keys[i].keysym);
	for (size_t i = 0; i < chord->n; i++) {
		add(&pressed, chord->keys[i].keysym);
		if (!keynames_is_modifier(chord->keys[i].keysym))
			pressed.key = chord->keys[i].keysym;
	}
	return pressed;
}

static struct clipboard_one *clipboard_of(const struct copying *copying)
{
	return &copying->clipboard->one[CLIPBOARD_MAIN];
}

void copying_note_chord(struct copying *copying, const struct chord *chord)
{
	const struct pressed pressed = read_chord(copying, chord);
	const uint32_t key = pressed.key;
	bool copies = pressed.ctrl && (key == XKB_KEY_c || key == XKB_KEY_C || key == XKB_KEY_x || key == XKB_KEY_X || key == XKB_KEY_Insert);

	if (!copies)
		return;
	copying->until_ms = util_now_ms() + LIMIT_COPY_MS;
	copying->change = clipboard_of(copying)->n_changes;
}

bool copying_pastes(const struct copying *copying, const struct chord *chord)
{
	const struct pressed pressed = read_chord(copying, chord);

	return (pressed.ctrl && (pressed.key == XKB_KEY_v || pressed.key == XKB_KEY_V)) || (pressed.shift && pressed.key == XKB_KEY_Insert);
}

int copying_settle(struct copying *copying, struct err *e)
{
	struct clipboard_one *one = clipboard_of(copying);
	const int64_t until_ms = copying->until_ms;
	struct err reason = {0};

	copying->until_ms = 0;
	while (one->n_changes == copying->change && util_now_ms() < until_ms)
		if (co_wait_event(&one->told, until_ms, &reason) < 0 && reason.code != ERR_TIMEOUT) {
			if (e)
				*e = reason;
			return -1;
		}
	return 0;
}
