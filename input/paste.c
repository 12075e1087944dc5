/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pasting. */
#include "input/paste.h"

#include <string.h>
#include <sys/param.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include "session/base/util.h"

/* How often the keys are pressed until a window has taken its first piece. LibreOffice answers pings while it starts, and drops keys; on a
 * machine that is very busy it does so for 10 s. */
#define PASTE_TRIES 4

/* Classes of windows that mix up what is typed. */
static const char *const classes[] = {"libreoffice-writer", "libreoffice-web"};

bool paste_is_needed(const struct keyboard *keyboard)
{
	for (size_t i = 0; i < ARRAY_LEN(classes); i++)
		if (strcmp(keyboard->target.class_name, classes[i]) == 0)
			return true;
	return false;
}

/* The window hung when it was told to paste, and may do so any moment: once it has asked, and got nothing, it has done it. */
static int wait_for_old_keys(struct keyboard *keyboard, struct err *e)
{
	struct selection *clipboard = &keyboard->clipboard.one[CLIPBOARD_MAIN].ours;
	unsigned int before = clipboard->n_refused;
	int64_t deadline_ms;
	struct err reason = {0};

	if (ping_wait(&keyboard->ping, &keyboard->target, e) < 0)
		return -1;
	if (keyboard->target.was_silent)
		return err_set(e, ERR_TIMEOUT, NULL, "the window still does not answer");
	deadline_ms = util_now_ms() + LIMIT_SELECTION_MS;
	while (clipboard->n_refused == before)
		if (co_wait_event(&clipboard->fetched, deadline_ms, &reason) < 0) {
			if (reason.code == ERR_TIMEOUT)
				break;
			if (e)
				*e = reason;
			return -1;
		}
	keyboard->hung = XCB_NONE;
	return 0;
}

int paste_begin(struct pasting *pasting, struct keyboard *keyboard, struct err *e)
{
	struct clipboard_one *one = &keyboard->clipboard.one[CLIPBOARD_MAIN];

	*pasting = (struct pasting){.keyboard = keyboard};
	if (copying_settle(&keyboard->copying, e) < 0)
		return -1;
	pasting->was_hung = keyboard->hung == keyboard->target.window;
	if (pasting->was_hung && wait_for_old_keys(keyboard, e) < 0)
		return -1;
	if (one->ours.owned) {
		pasting->before = one->ours.content;
		pasting->before->refs++;
		return 0;
	}
	if (clipboard_read(&keyboard->clipboard, one, util_now_ms() + LIMIT_SELECTION_MS, &pasting->before, e) < 0)
		return -1;
	if (pasting->before && pasting->before->n_left_out > 0)
		pasting->note = pasting->before->n > 0 ? "the clipboard was used; not all formats of what it held could be kept"
		                                       : "the clipboard was used, and what it held could not be kept";
	return 0;
}

static int set_clipboard(struct pasting *pasting, struct selection_content *content, struct err *e)
{
	if (ping_clock(&pasting->keyboard->ping, e) < 0)
		return -1;
	return selection_set(&pasting->keyboard->clipboard.one[CLIPBOARD_MAIN].ours, pasting->keyboard->ping.time, content, e);
}

/* shift+Insert pastes in every toolkit; a layout without Insert has no way to. */
static bool press_keys(struct keyboard *keyboard)
{
	const struct keymap_place *insert = keymap_find(&keyboard->map, XKB_KEY_Insert);
	uint8_t shift = keyboard->map.shift_keycode;

	if (!insert || insert->shift || !shift)
		return false;
	hands_key(keyboard->hands, shift, true);
	hands_key(keyboard->hands, insert->keycode, true);
	hands_key(keyboard->hands, insert->keycode, false);
	hands_key(keyboard->hands, shift, false);
	xconn_flush(keyboard->x);
	return true;
}

/*
 * 1 when nothing was fetched in time. A window asks several times what there is before it fetches, and LibreOffice, which answers pings
 * before it looks at keys, takes seconds from one question to the next while it starts on a busy machine: each gives it more time.
 */
static int wait_fetched(struct selection *clipboard, unsigned int before, struct err *e)
{
	int64_t last_ms = util_now_ms() + LIMIT_PASTE_ALL_MS, deadline_ms = util_now_ms() + LIMIT_PASTE_MS;
	unsigned int n_served = clipboard->n_served;
	struct err reason = {0};

	while (clipboard->n_fetched == before || clipboard->n_requests > 0) {
		if (co_wait_event(&clipboard->fetched, deadline_ms, &reason) < 0) {
			if (reason.code == ERR_TIMEOUT)
				return clipboard->n_fetched == before ? 1 : 0;
			if (e)
				*e = reason;
			return -1;
		}
		if (clipboard->n_served != n_served)
			deadline_ms = MIN(util_now_ms() + LIMIT_PASTE_MS, last_ms);
		n_served = clipboard->n_served;
	}
	return 0;
}

/* Nothing was fetched. From now on everything is refused; once the window has read the keys it will not ask any more. */
static int give_up(struct pasting *pasting, struct err *e)
{
	struct keyboard *keyboard = pasting->keyboard;
	struct selection_content *nothing = selection_nothing();
	int rc = set_clipboard(pasting, nothing, e);

	if (rc == 0)
		rc = ping_wait(&keyboard->ping, &keyboard->target, e);
	if (rc < 0 || !keyboard->target.was_silent) {
		selection_drop(nothing);
		return rc < 0 ? -1 : 1;
	}
	selection_drop(pasting->before);
	pasting->before = nothing;
	keyboard->hung = keyboard->target.window;
	return err_set(e, ERR_TIMEOUT, NULL, "the window does not answer and did not fetch the text; the clipboard was emptied, so that it "
	               "does not paste what was in it later");
}

/* Sets the clipboard and pastes once. 0 when the window has fetched it, 1 when it does not, although it answers. */
static int try_piece(struct pasting *pasting, struct selection_content *content, struct err *e)
{
	struct selection *clipboard = &pasting->keyboard->clipboard.one[CLIPBOARD_MAIN].ours;
	unsigned int before = clipboard->n_fetched;
	int rc = set_clipboard(pasting, content, e);

	if (rc < 0 || !press_keys(pasting->keyboard))
		return rc < 0 ? -1 : 1;
	rc = wait_fetched(clipboard, before, e);
	return rc == 1 ? give_up(pasting, e) : rc;
}

int paste_piece(struct pasting *pasting, const char *text, size_t len, struct err *e)
{
	struct selection *clipboard = &pasting->keyboard->clipboard.one[CLIPBOARD_MAIN].ours;
	struct keyboard *keyboard = pasting->keyboard;
	struct selection_content *content = selection_text(clipboard, text, len);
	int rc;

	clipboard->reader = keyboard->target.window;
	/* Should the window have kept what was pressed before, it finds nothing the second time; nor does one that hung, whose old keys may still come. */
	clipboard->once = pasting->was_hung;
	rc = try_piece(pasting, content, e);
	clipboard->once = true;
	for (int i = 1; rc == 1 && !pasting->has_pasted && i < PASTE_TRIES && util_now_ms() < keyboard->deadline_ms; i++)
		rc = try_piece(pasting, content, e);
	clipboard->once = false;
	selection_drop(content);
	if (rc != 0)
		return rc;
	pasting->has_pasted = true;
	return ping_wait(&keyboard->ping, &keyboard->target, e);
}

int paste_end(struct pasting *pasting, struct err *e)
{
	int rc = set_clipboard(pasting, pasting->before, e);

	selection_drop(pasting->before);
	pasting->before = NULL;
	return rc;
}
