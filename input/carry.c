/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When to carry, and doing it. */
#include "input/carry.h"

#include <stdlib.h>
#include <sys/param.h>

#include "session/base/util.h"

#define MIDDLE_BUTTON 2

/* An owner that is none of ours, and not known to need nothing. */
static bool is_pending(const struct carry *carry, enum clipboard_name name)
{
	const struct clipboard_one *one;

	if (!carry->clipboard || carry->paused || carry->clipboard->untrusted->lost)
		return false;
	one = &carry->clipboard->one[name];
	return one->owner != XCB_NONE && one->owner != one->ours.window && one->n_changes != carry->done[name];
}

/* Text, HTML and PNG, as far as they come in time; NULL when none does. */
static int read_content(struct carry *carry, struct clipboard_one *one, struct selection_content **out, struct err *e)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_CARRY_MS;
	struct clipboard *clipboard = carry->clipboard;
	xcb_timestamp_t time = one->changed;
	struct selection_content *content = NULL;
	struct clipboard_offer offer;
	int rc = clipboard_ask(clipboard, &one->theirs, time, &offer, e);

	for (enum clipboard_kind kind = 0; rc >= 0 && rc != SELECTION_LATE && kind < CLIPBOARD_KINDS; kind++) {
		auto_free char *data = NULL;
		size_t len;

		if (!offer.target[kind])
			continue;
		rc = clipboard_fetch(clipboard, &one->theirs, kind, offer.target[kind], time, deadline_ms, &data, &len, e);
		if (rc != SELECTION_CAME)
			continue;
		content = content ? content : selection_nothing();
		clipboard_add(clipboard, content, kind, data, len);
	}
	if (rc == SELECTION_LATE)
		carry->hurried_ms = util_now_ms() + LIMIT_CARRY_HURRY_MS;
	if (rc < 0)
		selection_drop(content);
	else
		*out = content;
	return rc < 0 ? -1 : 0;
}

/* The owner as it is now. What comes when it is the owner no more, or in a pause, is dropped: our claim is as old as the owner's, so that the
 * server prefers whoever came after it. */
static int carry_owner(struct carry *carry, enum clipboard_name name, struct err *e)
{
	struct clipboard_one *one = &carry->clipboard->one[name];
	const unsigned int change = one->n_changes;
	struct selection_content *content = NULL;
	bool untrusted;
	int rc = clipboard_is_untrusted(carry->clipboard, one->owner, &untrusted, e);

	if (rc == 0 && untrusted) {
		carry->n_reads++;
		rc = read_content(carry, one, &content, e);
	}
	if (rc < 0)
		return -1;
	if (carry->paused) {
		selection_drop(content);
		return 0;
	}
	carry->done[name] = change;
	if (content && one->n_changes == change) {
		content->carried = true;
		rc = selection_set(&one->ours, one->changed, content, e);
	}
	selection_drop(content);
	return rc;
}

static int carry_now(struct carry *carry, enum clipboard_name name, struct err *e)
{
	struct clipboard_one *one = &carry->clipboard->one[name];
	struct err reason = {0};
	int rc = 0;

	if (clipboard_take(one, util_now_ms() + LIMIT_CARRY_MS, &reason) < 0) {
		if (reason.code == ERR_TIMEOUT)
			return 0;
		if (e)
			*e = reason;
		return -1;
	}
	if (is_pending(carry, name))
		rc = carry_owner(carry, name, e);
	clipboard_give(one);
	return rc;
}

static int is_focus_trusted(struct carry *carry, bool *yes, struct err *e)
{
	auto_free xcb_get_input_focus_reply_t *reply = NULL;
	struct xconn *x = carry->clipboard->x;
	bool untrusted = true;

	if (x->lost)
		return xconn_sync(x, e);
	if (xconn_reply(x, xcb_get_input_focus(x->xcb).sequence, (void **)&reply, e) < 0)
		return -1;
	if (reply->focus > XCB_INPUT_FOCUS_POINTER_ROOT && clipboard_is_untrusted(carry->clipboard, reply->focus, &untrusted, e) < 0)
		return -1;
	*yes = !untrusted;
	return 0;
}

static int watch_once(struct carry *carry)
{
	bool trusted;

	if (co_wait_until(carry->next_ms, NULL) < 0)
		return -1;
	carry->wanted = false;
	carry->next_ms = util_now_ms() + LIMIT_CARRY_EVERY_MS;
	if (is_focus_trusted(carry, &trusted, NULL) < 0)
		return -1;
	return trusted ? carry_now(carry, CLIPBOARD_MAIN, NULL) : 0;
}

static void watch(void *arg)
{
	struct carry *carry = arg;

	while (carry->wanted && is_pending(carry, CLIPBOARD_MAIN))
		if (watch_once(carry) < 0)
			break;
	carry->watcher = NULL;
}

static void wake(struct carry *carry)
{
	carry->wanted = true;
	if (!carry->watcher && is_pending(carry, CLIPBOARD_MAIN))
		carry->watcher = co_start(carry->clipboard->x->loop, watch, carry);
}

static void on_changed(void *arg, enum clipboard_name name)
{
	if (name == CLIPBOARD_MAIN)
		wake(arg);
}

/* Another window has the focus. */
static void on_event(void *arg, const xcb_generic_event_t *event)
{
	struct carry *carry = arg;
	const xcb_property_notify_event_t *property = (const void *)event;

	if ((event->response_type & 0x7f) == XCB_PROPERTY_NOTIFY && property->window == carry->clipboard->x->root &&
	    property->atom == carry->active_window)
		wake(carry);
}

int carry_init(struct carry *carry, struct clipboard *clipboard, struct xconn *untrusted, struct err *e)
{
	*carry = (struct carry){0};
	if (xconn_atom(clipboard->x, "_NET_ACTIVE_WINDOW", &carry->active_window, e) < 0 || clipboard_use_untrusted(clipboard, untrusted, e) < 0)
		return -1;
	carry->clipboard = clipboard;
	clipboard->changed = on_changed;
	clipboard->changed_arg = carry;
	xconn_listen(clipboard->x, &carry->listener, on_event, carry);
	xconn_select_root(clipboard->x, XCB_EVENT_MASK_PROPERTY_CHANGE);
	return 0;
}

void carry_finish(struct carry *carry)
{
	if (!carry->clipboard)
		return;
	if (carry->watcher)
		co_cancel(carry->watcher);
	xconn_unlisten(carry->clipboard->x, &carry->listener);
	carry->clipboard->changed = NULL;
	carry->clipboard = NULL;
}

void carry_pause(struct carry *carry, bool paused)
{
	carry->paused = paused;
	if (!paused && carry->clipboard)
		wake(carry);
}

static bool may_wait(const struct carry *carry)
{
	return util_now_ms() >= carry->hurried_ms;
}

int carry_before_keys(struct carry *carry, struct err *e)
{
	bool trusted;

	if (!is_pending(carry, CLIPBOARD_MAIN) || !may_wait(carry))
		return 0;
	if (is_focus_trusted(carry, &trusted, e) < 0)
		return -1;
	return trusted ? carry_now(carry, CLIPBOARD_MAIN, e) : 0;
}

static int is_place_trusted(struct carry *carry, struct pointer_point at, bool *yes, struct err *e)
{
	struct ping_target target;
	bool untrusted;

	if (ping_aim_at(carry->clipboard->ping, at.x_px, at.y_px, &target, e) < 0 ||
	    clipboard_is_untrusted(carry->clipboard, target.window, &untrusted, e) < 0)
		return -1;
	*yes = target.window && !untrusted;
	return 0;
}

int carry_before_press(struct carry *carry, unsigned int button, struct pointer_point at, struct err *e)
{
	bool main = is_pending(carry, CLIPBOARD_MAIN), primary = button == MIDDLE_BUTTON && is_pending(carry, CLIPBOARD_PRIMARY);
	bool trusted;

	if ((!main && !primary) || !may_wait(carry))
		return 0;
	if (is_place_trusted(carry, at, &trusted, e) < 0 || (!trusted && is_focus_trusted(carry, &trusted, e) < 0))
		return -1;
	if (!trusted)
		return 0;
	if (main && carry_now(carry, CLIPBOARD_MAIN, e) < 0)
		return -1;
	return primary ? carry_now(carry, CLIPBOARD_PRIMARY, e) : 0;
}
