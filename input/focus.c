/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys wait for. */
#include "input/focus.h"

#include <string.h>
#include <sys/param.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include "session/base/util.h"

#define LIMIT_MS 1000
#define BUSY_FACTOR 8 /* a page has as many times more what the window itself takes to answer */

/* Of a window that keys have not gone to before. */
#define NEW_LIMIT_MS 3000
#define NEW_QUIET_MS 700
#define ASK_EVERY_MS 100
#define PROMPT_MS 30 /* an answer that takes longer comes from a program that is at work */
#define EVER_MS 1    /* quiet counts from the last change, however long ago */

/*
 * How long the next key waits: since the cause, when something was drawn or nothing was, and how long the screen must be quiet. A shortcut
 * that shows nothing costs the longer time.
 */
struct focus_cause {
	int seen_ms, unseen_ms, quiet_ms;
};

static const struct focus_cause CLICK = {30, 100, 20};
static const struct focus_cause SHORTCUT = {100, 400, 50};
/* LibreOffice deletes when it has nothing else to do: what is typed before that is deleted, too. */
static const struct focus_cause DELETE = {100, 300, 100};
#define LATE_CLASS "libreoffice"

static void note(struct focus *focus, const struct focus_cause *cause)
{
	focus->cause = cause;
	focus->caused_ms = util_now_ms();
	focus->has_looked = false;
}

void focus_note_click(struct focus *focus)
{
	note(focus, &CLICK);
}

/* What is on the screen before what was or will be pressed shows: what is drawn later counts as that. */
static int look_before(struct focus *focus, struct err *e)
{
	if (focus->has_looked || !focus->ops->look)
		return 0;
	focus->has_looked = true;
	return focus->ops->look(focus->ops->arg, &focus->caused_frame, e);
}

/* What goes down with the chord: modifiers that are held, and its keys. */
struct pressed {
	bool ctrl, shift, others; /* others: modifiers that are neither */
	size_t n_keys;            /* no modifiers */
	uint32_t key;             /* the last of them */
};

static void add(struct pressed *pressed, uint32_t keysym, bool is_held)
{
	if (keysym == XKB_KEY_Control_L || keysym == XKB_KEY_Control_R) {
		pressed->ctrl = true;
	} else if (keysym == XKB_KEY_Shift_L || keysym == XKB_KEY_Shift_R) {
		pressed->shift = true;
	} else if (keynames_is_modifier(keysym)) {
		pressed->others = true;
	} else if (!is_held) {
		pressed->n_keys++;
		pressed->key = keysym;
	}
}

/* Not ctrl+v: some programs go on reading keys while they fetch what is pasted. With Shift many of these mean something else. */
static bool is_edit(const struct pressed *pressed)
{
	static const uint32_t plain[] = {XKB_KEY_a, XKB_KEY_c, XKB_KEY_x, XKB_KEY_z, XKB_KEY_BackSpace, XKB_KEY_Delete};
	static const uint32_t shifted[] = {XKB_KEY_Left, XKB_KEY_Right, XKB_KEY_Up, XKB_KEY_Down, XKB_KEY_Home, XKB_KEY_End};
	bool edits = false;

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		edits |= !pressed->shift && pressed->key == plain[i];
	for (size_t i = 0; i < ARRAY_LEN(shifted); i++)
		edits |= pressed->key == shifted[i];
	return edits && pressed->n_keys == 1 && !pressed->others;
}

static bool is_shortcut(const struct pressed *pressed)
{
	if (pressed->others || (pressed->key >= XKB_KEY_F1 && pressed->key <= XKB_KEY_F35))
		return true;
	return pressed->ctrl && pressed->n_keys > 0 && !is_edit(pressed);
}

bool focus_may_move(const struct chord *chord)
{
	static const uint32_t movers[] = {XKB_KEY_Tab, XKB_KEY_ISO_Left_Tab, XKB_KEY_Return, XKB_KEY_KP_Enter, XKB_KEY_Escape};
	struct pressed pressed = {0};

	for (size_t i = 0; i < chord->n; i++)
		add(&pressed, chord->keys[i].keysym, false);
	for (size_t i = 0; i < ARRAY_LEN(movers); i++)
		if (pressed.n_keys > 0 && pressed.key == movers[i])
			return true;
	return is_shortcut(&pressed);
}

static bool is_delete(const struct pressed *pressed)
{
	return pressed->key == XKB_KEY_Delete && pressed->n_keys == 1 && !pressed->ctrl && !pressed->shift;
}

int focus_note_chord(struct focus *focus, const struct chord *chord, struct err *e)
{
	const struct hands *hands = focus->pointer->hands;
	struct pressed pressed = {0};

	for (size_t i = 0; i < hands->n_keys; i++)
		add(&pressed, hands->keys[i].keysym, true);
	for (size_t i = 0; i < chord->n; i++)
		add(&pressed, chord->keys[i].keysym, false);
	if (is_shortcut(&pressed)) {
		note(focus, &SHORTCUT);
		return look_before(focus, e);
	}
	if (is_delete(&pressed))
		note(focus, &DELETE);
	return 0;
}

/* Waits until the screen shows what came of the cause and is quiet; busy_ms longer on a machine that is busy. */
static int wait_shown(struct focus *focus, const struct focus_cause *cause, int64_t busy_ms, struct err *e)
{
	const struct input_ops *ops = focus->ops;
	int64_t since_ms = focus->caused_ms + MIN(busy_ms, LIMIT_MS);
	uint64_t frame = focus->caused_frame;
	bool is_quiet;

	while (util_now_ms() < since_ms + (frame != focus->caused_frame ? cause->seen_ms : cause->unseen_ms))
		if (ops->wait_quiet(ops->arg, cause->quiet_ms, 0, since_ms + LIMIT_MS, &is_quiet, e) < 0 || ops->look(ops->arg, &frame, e) < 0)
			return -1;
	return 0;
}

/* Waits for what came of a click or a shortcut. */
static int settle_cause(struct focus *focus, struct err *e)
{
	const struct focus_cause *cause = focus->cause;
	struct ping_target target;
	int64_t asked_ms;

	focus->cause = NULL;
	if (!cause)
		return 0;
	if (look_before(focus, e) < 0 || ping_aim(focus->ping, &target, e) < 0)
		return -1;
	if (cause == &DELETE && strncmp(target.class_name, LATE_CLASS, strlen(LATE_CLASS)) != 0)
		return 0;
	if (target.window && !target.answers)
		return 0;
	asked_ms = util_now_ms();
	if (ping_wait(focus->ping, &target, e) < 0)
		return -1;
	return focus->ops->look ? wait_shown(focus, cause, BUSY_FACTOR * (util_now_ms() - asked_ms), e) : 0;
}

/*
 * Waits until a window that has just come takes keys: the screen was quiet and each of its answers prompt meanwhile. One that takes long to
 * answer was at work, however quiet the screen: then it begins again.
 */
static int wait_usable(struct focus *focus, struct ping_target *target, struct err *e)
{
	const struct input_ops *ops = focus->ops;
	/* One that has come may have drawn nothing yet, on a screen long at rest. */
	int64_t since_ms = MAX(fresh_last_ms(focus->fresh), EVER_MS), now_ms = util_now_ms(), deadline_ms = now_ms + NEW_LIMIT_MS;
	bool is_quiet = false;

	while (!is_quiet && target->answers && now_ms < deadline_ms) {
		int64_t asked_ms = now_ms;

		if (ping_wait(focus->ping, target, e) < 0)
			return -1;
		now_ms = util_now_ms();
		if (now_ms > asked_ms + PROMPT_MS)
			since_ms = now_ms;
		if (ops->wait_quiet(ops->arg, NEW_QUIET_MS, since_ms, MIN(now_ms + ASK_EVERY_MS, deadline_ms), &is_quiet, e) < 0)
			return -1;
		now_ms = util_now_ms();
	}
	return 0;
}

/* Once per window: the mark goes when the window goes, whose id may then be another's. */
static int greet(struct focus *focus, struct err *e)
{
	struct ping_target target;
	xcb_window_t window;
	bool is_met;

	if (!focus->ops->look)
		return 0;
	if (ping_is_met(focus->ping, &window, &is_met, e) < 0)
		return -1;
	if (is_met)
		return 0;
	if (ping_aim(focus->ping, &target, e) < 0 || (target.answers && wait_usable(focus, &target, e) < 0))
		return -1;
	ping_meet(focus->ping, window);
	if (target.window && target.window != window) /* some toolkits give the focus to a window inside */
		ping_meet(focus->ping, target.window);
	return 0;
}

/* The window that is about to be clicked. Keys that go there find that done. */
static int greet_at(struct focus *focus, struct pointer_point at, struct err *e)
{
	struct ping_target target, active;
	bool is_met, app_is_met;
	xcb_window_t window;

	if (ping_aim_at(focus->ping, at.x_px, at.y_px, &target, e) < 0)
		return -1;
	if (!target.answers)
		return 0;
	if (ping_knows(focus->ping, target.window, &is_met, &app_is_met, e) < 0)
		return -1;
	if (is_met)
		return 0;
	if (app_is_met)
		return ping_wait(focus->ping, &target, e);
	if (wait_usable(focus, &target, e) < 0)
		return -1;
	ping_meet(focus->ping, target.window);
	if (ping_is_met(focus->ping, &window, &is_met, e) < 0 || ping_aim(focus->ping, &active, e) < 0)
		return -1;
	if (!is_met && active.window == target.window)
		ping_meet(focus->ping, window);
	return 0;
}

int focus_settle_at(struct focus *focus, struct pointer_point at, struct err *e)
{
	xcb_window_t top;

	if (!focus->ops->look || !fresh_is_any(focus->fresh))
		return 0;
	if (ping_top_at(focus->ping, at.x_px, at.y_px, &top, e) < 0)
		return -1;
	if (!fresh_has(focus->fresh, top))
		return 0;
	if (greet_at(focus, at, e) < 0)
		return -1;
	fresh_drop(focus->fresh, top);
	return 0;
}

int focus_settle(struct focus *focus, struct err *e)
{
	if (pointer_confirm(focus->pointer, e) < 0 || settle_cause(focus, e) < 0)
		return -1;
	return greet(focus, e);
}
