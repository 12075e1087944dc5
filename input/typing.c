/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Typing text.
 *
 * The method: the map of the keyboard is changed at most once for as many characters as the slots hold, the window says by a ping that it
 * has seen the change, then all strokes go out, press and release in one write so that no scheduling can make a key repeat.
 */
#include "input/typing.h"

#include <string.h>
#include <xcb/xkb.h>

#include "input/paste.h"
#include "session/base/util.h"

#define SENT_BYTES 16384 /* of the queue of libxcb */

/* What was taken away from the keyboard's state, to be given back. */
struct lifted {
	size_t n;
	uint8_t keycodes[HANDS_MAX_KEYS];
	uint8_t locks; /* modifier bits that were locked */
};

static int refuse_char(const char *path, size_t index, uint32_t code_point, struct err *e)
{
	return err_set(e, ERR_BAD_FIELD, path,
	               "character %zu (from 0) is U+%04X, which no key types; of the control characters only newline, return and tab "
	               "are allowed, the action key presses others",
	               index, code_point);
}

int typing_check(const char *text, size_t len, long delay_ms, const char *path, struct err *e)
{
	size_t n_chars = 0;

	for (size_t at = 0, n; at < len; at += n, n_chars++) {
		uint32_t code_point;

		n = util_utf8_decode(text + at, len - at, &code_point);
		if (n == 0)
			return err_set(e, ERR_BAD_FIELD, path, "byte %zu is not UTF-8", at);
		if (code_point != '\n' && code_point != '\r' && code_point != '\t' && !keynames_has_key(code_point))
			return refuse_char(path, n_chars, code_point, e);
	}
	if (n_chars > LIMIT_TEXT_CHARS)
		return err_set(e, ERR_BAD_FIELD, path, "the text has %zu characters; one call types at most %d", n_chars, LIMIT_TEXT_CHARS);
	if (delay_ms > 0 && n_chars > (size_t)(LIMIT_CALL_MS / delay_ms))
		return err_set(e, ERR_BAD_FIELD, path, "%zu characters with %ld ms after each take longer than a call may (%d ms)", n_chars,
		               delay_ms, LIMIT_CALL_MS);
	return 0;
}

static int refuse_held(const struct hands *hands, uint8_t keycode, struct err *e)
{
	char label[KEYNAMES_LABEL_MAX];

	for (size_t i = 0; i < hands->n_keys; i++)
		if (hands->keys[i].keycode == keycode)
			return err_set(e, ERR_CONFLICT, NULL, "%s is held and would repeat within the text; key_up lets it go",
			               keynames_label(hands->keys[i].keysym, label));
	return 0;
}

/* Lets go of all keys that are down and unlocks all but Num Lock. */
static int lift(struct keyboard *keyboard, struct lifted *lifted, struct err *e)
{
	const struct keymap *map = &keyboard->map;

	for (unsigned int keycode = 8; keycode < 256; keycode++)
		if (keymap_is_down(map, (uint8_t)keycode) && !map->modifiers[keycode] && refuse_held(keyboard->hands, (uint8_t)keycode, e) < 0)
			return -1;
	for (unsigned int keycode = 8; keycode < 256; keycode++) {
		if (!keymap_is_down(map, (uint8_t)keycode))
			continue;
		hands_key(keyboard->hands, (uint8_t)keycode, false);
		if (hands_holds(keyboard->hands, (uint8_t)keycode) && lifted->n < HANDS_MAX_KEYS)
			lifted->keycodes[lifted->n++] = (uint8_t)keycode;
	}
	lifted->locks = map->locked & (uint8_t)~map->num_lock;
	if (lifted->locks || map->latched)
		xcb_xkb_latch_lock_state(keyboard->x->xcb, XCB_XKB_ID_USE_CORE_KBD, lifted->locks, 0, 0, 0, map->latched, 0, 0);
	return 0;
}

/* Gives back what was lifted, but for keys that were released meanwhile. */
static void put_back(struct keyboard *keyboard, const struct lifted *lifted)
{
	if (keyboard->x->lost)
		return;
	if (lifted->locks)
		xcb_xkb_latch_lock_state(keyboard->x->xcb, XCB_XKB_ID_USE_CORE_KBD, lifted->locks, lifted->locks, 0, 0, 0, 0, 0);
	for (size_t i = 0; i < lifted->n; i++)
		if (hands_holds(keyboard->hands, lifted->keycodes[i]))
			hands_key(keyboard->hands, lifted->keycodes[i], true);
}

/* The end of every text, also of one that was cancelled: what was lifted is put back, and the map is what it was. */
static int tidy(struct keyboard *keyboard, const struct lifted *lifted, struct err *e)
{
	int rc;

	put_back(keyboard, lifted);
	co_shield();
	rc = keyboard_restore(keyboard, e);
	if (rc == 0 && (lifted->n > 0 || lifted->locks))
		rc = xconn_sync(keyboard->x, e);
	co_unshield();
	keyboard->deadline_ms = 0;
	return rc;
}

/* Writes that the display has not answered yet, oldest first. Some are on their way at once: it need not wait for us. */
struct flight {
	size_t n;
	struct {
		unsigned int sequence;
		size_t n_chars;
	} writes[TYPING_WRITES];
};

/* Waits for the answer to the oldest write, also when the call is cancelled: what was sent is counted. */
static int land(struct keyboard *keyboard, struct typing *typing, struct flight *flight, struct err *e)
{
	auto_free void *reply = NULL;
	int rc;

	co_shield();
	rc = xconn_reply(keyboard->x, flight->writes[0].sequence, &reply, e);
	co_unshield();
	if (rc < 0)
		return -1;
	typing->delivered += flight->writes[0].n_chars;
	flight->n--;
	memmove(&flight->writes[0], &flight->writes[1], flight->n * sizeof(flight->writes[0]));
	return 0;
}

/* In one write. */
static int send_strokes(struct keyboard *keyboard, struct flight *flight, const struct stroke *strokes, size_t n, struct err *e)
{
	uint8_t shift_keycode = keyboard->map.shift_keycode;
	bool shift = false;
	size_t n_chars = 0;

	for (size_t i = 0; i < n; i++) {
		if (strokes[i].shift != shift)
			hands_key(keyboard->hands, shift_keycode, !shift);
		shift = strokes[i].shift;
		hands_key(keyboard->hands, strokes[i].keycode, true);
		hands_key(keyboard->hands, strokes[i].keycode, false);
		n_chars += strokes[i].n_chars;
	}
	if (shift)
		hands_key(keyboard->hands, shift_keycode, false);
	if (keyboard->x->lost)
		return xconn_sync(keyboard->x, e);
	flight->writes[flight->n].sequence = xcb_get_input_focus(keyboard->x->xcb).sequence;
	flight->writes[flight->n++].n_chars = n_chars;
	xconn_flush(keyboard->x);
	return 0;
}

/* Between two writes: cancelled, too late, or time for the next character? */
static int pause_between(const struct typing *typing, int64_t next_ms, struct err *e)
{
	int64_t now_ms = util_now_ms();

	if (co_cancelled(co_self()))
		return err_set(e, ERR_CANCELLED, NULL, "the call was cancelled");
	if (now_ms >= typing->deadline_ms || next_ms > typing->deadline_ms)
		return err_set(e, ERR_TIMEOUT, NULL, "the call's time limit was reached");
	return next_ms > now_ms ? co_wait_until(next_ms, e) : 0;
}

/* All strokes of the present plan. With a delay each character has its answer before the next is sent. */
static int type_plan(struct keyboard *keyboard, struct typing *typing, struct err *e)
{
	const struct plan *plan = &keyboard->plan;
	bool slow = typing->delay_ms > 0;
	size_t chunk = slow ? 1 : TYPING_CHUNK, at_once = slow ? 1 : TYPING_WRITES;
	struct flight flight = {0};
	int rc = 0;

	keyboard_note_unread(keyboard, plan->n_strokes, plan->uses_slots);
	for (size_t at = 0; at < plan->n_strokes && rc == 0; at += chunk) {
		size_t left = plan->n_strokes - at;

		if (flight.n == at_once)
			rc = land(keyboard, typing, &flight, e);
		if (rc == 0 && typing->delivered > 0)
			rc = pause_between(typing, util_now_ms() + typing->delay_ms, e);
		if (rc == 0)
			rc = send_strokes(keyboard, &flight, &plan->strokes[at], left < chunk ? left : chunk, e);
	}
	while (flight.n > 0)
		if (land(keyboard, typing, &flight, rc == 0 ? e : NULL) < 0)
			return -1;
	return rc;
}

/* By keys, from this byte on. */
static int type_all(struct keyboard *keyboard, struct typing *typing, size_t at, struct err *e)
{
	for (size_t used; at < typing->len; at += used) {
		struct slots before = keyboard->slots;

		if (plan_make(&keyboard->plan, &keyboard->map, &keyboard->slots, typing->text + at, typing->len - at, &used, e) < 0)
			return -1;
		if (keyboard_bind(keyboard, &before, e) < 0 || type_plan(keyboard, typing, e) < 0)
			return -1;
	}
	return 0;
}

/* What was sent stays in the buffer of the connection until something else is sent. */
static void overwrite_sent(struct keyboard *keyboard)
{
	for (int i = 0; i < SENT_BYTES / 4 && !keyboard->x->lost; i++)
		(void)xcb_no_operation(keyboard->x->xcb);
	xconn_flush(keyboard->x);
}

/* A map that changes, a clipboard, a spare key would each tell something of it to others. */
static int type_secret(struct keyboard *keyboard, struct typing *typing, struct err *e)
{
	struct slots none = {.n = 0};
	struct plan *plan = &keyboard->plan;
	size_t used = 0;
	int rc;

	if (plan_make(plan, &keyboard->map, &none, typing->text, typing->len, &used, NULL) < 0 || used < typing->len)
		rc = err_set(e, ERR_SECRET, NULL, "the keyboard has no key for a character of this secret");
	else
		rc = type_plan(keyboard, typing, e);
	if (plan->strokes)
		explicit_bzero(plan->strokes, plan->n_strokes * sizeof(*plan->strokes));
	overwrite_sent(keyboard);
	return rc;
}

/* The next TYPING_PASTE_CHARS characters with one sign for each end of a line; stores how many bytes of the text and characters they are. */
static size_t next_piece(const char *text, size_t len, char *piece, size_t *used, size_t *n_chars)
{
	struct symbol symbol;
	size_t n = 0;

	for (*used = *n_chars = 0; *n_chars < TYPING_PASTE_CHARS && plan_symbol(text + *used, len - *used, &symbol); *used += symbol.len) {
		bool is_return = text[*used] == '\r' || text[*used] == '\n';

		memcpy(piece + n, is_return ? "\n" : text + *used, is_return ? 1 : symbol.len);
		n += is_return ? 1 : symbol.len;
		*n_chars += symbol.n_chars;
	}
	return n;
}

/* Without the returns at its end, which are pressed: in a field they are more than signs. */
static size_t length_to_paste(const struct typing *typing)
{
	size_t len = typing->len;

	while (len > 0 && (typing->text[len - 1] == '\n' || typing->text[len - 1] == '\r'))
		len--;
	return len;
}

/* By way of the clipboard. Stores in *at where what is left begins. A cancel waits for the end of a piece. */
static int paste_pieces(struct pasting *pasting, struct typing *typing, size_t *at, struct err *e)
{
	size_t end = length_to_paste(typing);
	auto_free char *piece = util_alloc(end + 1);

	for (size_t used, n_chars; *at < end; *at += used) {
		size_t len = next_piece(typing->text + *at, end - *at, piece, &used, &n_chars);
		int rc;

		if (*at > 0 && pause_between(typing, 0, e) < 0)
			return -1;
		rc = paste_piece(pasting, piece, len, e);
		if (rc < 0)
			return -1;
		if (rc == 1) {
			pasting->note = "the window took no paste, so the text was typed; this program may mix up its lines";
			return 0;
		}
		typing->delivered += n_chars;
	}
	return 0;
}

static int paste_all(struct keyboard *keyboard, struct typing *typing, struct err *e)
{
	struct pasting pasting;
	size_t at = 0;
	int rc;

	if (paste_begin(&pasting, keyboard, e) < 0)
		return -1;
	co_shield();
	rc = paste_pieces(&pasting, typing, &at, e);
	if (paste_end(&pasting, rc == 0 ? e : NULL) < 0)
		rc = -1;
	co_unshield();
	typing->note = pasting.note;
	return rc < 0 ? -1 : type_all(keyboard, typing, at, e);
}

int typing_run(struct keyboard *keyboard, struct typing *typing, struct err *e)
{
	struct lifted lifted = {0};
	int rc;

	typing->delivered = 0;
	typing->note = NULL;
	keyboard->deadline_ms = typing->deadline_ms;
	rc = keyboard_read(keyboard, e) < 0 || keyboard_aim(keyboard, e) < 0 ? -1 : lift(keyboard, &lifted, e);
	if (rc == 0 && typing->is_secret)
		rc = type_secret(keyboard, typing, e);
	else if (rc == 0)
		rc = paste_is_needed(keyboard) ? paste_all(keyboard, typing, e) : type_all(keyboard, typing, 0, e);
	if (tidy(keyboard, &lifted, rc == 0 ? e : NULL) < 0)
		rc = -1;
	if (keyboard->target.was_silent || keyboard->unread.was_silent)
		typing->note = "the window did not answer a ping; if it hangs, it has not read the text yet";
	return rc;
}
