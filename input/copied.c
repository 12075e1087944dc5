/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A person's clipboards. */
#include "input/copied.h"

#include <string.h>

#include "session/base/util.h"

#define CUT_BUFFERS 8

void copied_init(struct copied *copied, struct clipboard *clipboard)
{
	*copied = (struct copied){.clipboard = clipboard};
}

static void forget(struct copied *copied)
{
	for (enum clipboard_name name = 0; name < CLIPBOARD_NAMES; name++) {
		selection_drop(copied->before[name].content);
		copied->before[name].content = NULL;
	}
	copied->holds = false;
}

void copied_finish(struct copied *copied)
{
	forget(copied);
}

/* What is ours is at hand; an app is asked, if it is there to answer. */
static void keep(struct copied *copied, enum clipboard_name name, int64_t deadline_ms)
{
	struct clipboard_one *one = &copied->clipboard->one[name];
	struct copied_before *before = &copied->before[name];

	before->n_changes = one->n_changes;
	if (one->ours.owned && one->ours.content) {
		one->ours.content->refs++;
		before->content = one->ours.content;
	} else if (one->owner != XCB_NONE && util_now_ms() < deadline_ms) {
		(void)clipboard_read(copied->clipboard, one, deadline_ms, &before->content, NULL);
	}
}

/* One after the other: each waits for apps, and a person may have gone before all is noted. */
static int take_turn(struct copied *copied, struct err *e)
{
	while (copied->is_busy)
		if (co_wait_event(&copied->idle, CO_FOREVER, e) < 0)
			return -1;
	copied->is_busy = true;
	return 0;
}

static void give_turn(struct copied *copied)
{
	copied->is_busy = false;
	co_signal(&copied->idle);
}

int copied_begin(struct copied *copied, struct err *e)
{
	int64_t deadline_ms;

	if (take_turn(copied, e) < 0)
		return -1;
	deadline_ms = util_now_ms() + COPIED_PATIENCE_MS;
	for (enum clipboard_name name = 0; name < CLIPBOARD_NAMES && !copied->holds; name++)
		keep(copied, name, deadline_ms);
	copied->holds = true;
	give_turn(copied);
	return 0;
}

/* Nobody owns it: also what an app has can be taken from it so. */
static int give_back(struct copied *copied, enum clipboard_name name, struct err *e)
{
	struct clipboard_one *one = &copied->clipboard->one[name];
	struct copied_before *before = &copied->before[name];

	if (one->n_changes == before->n_changes)
		return 0;
	if (ping_clock(copied->clipboard->ping, e) < 0)
		return -1;
	return selection_set(&one->ours, copied->clipboard->ping->time, before->content, e);
}

static void drop_cut_buffers(struct copied *copied)
{
	struct xconn *x = copied->clipboard->x;

	/* Their atoms are X's own, one behind the other. */
	for (xcb_atom_t i = 0; i < CUT_BUFFERS && !x->lost; i++)
		xcb_delete_property(x->xcb, x->root, XCB_ATOM_CUT_BUFFER0 + i);
}

static int put_back(struct copied *copied, struct err *e)
{
	int rc = 0;

	for (enum clipboard_name name = 0; name < CLIPBOARD_NAMES; name++)
		if (give_back(copied, name, rc == 0 ? e : NULL) < 0)
			rc = -1;
	drop_cut_buffers(copied);
	if (rc == 0)
		rc = xconn_sync(copied->clipboard->x, e);
	forget(copied);
	return rc;
}

int copied_end(struct copied *copied, struct err *e)
{
	int rc;

	if (take_turn(copied, e) < 0)
		return -1;
	rc = copied->holds ? put_back(copied, e) : 0;
	give_turn(copied);
	return rc;
}

int copied_put(struct copied *copied, const char *text, size_t len, struct err *e)
{
	struct clipboard *clipboard = copied->clipboard;
	struct selection_content *content;
	int rc = 0;

	if (ping_clock(clipboard->ping, e) < 0)
		return -1;
	content = selection_nothing();
	clipboard_add(clipboard, content, CLIPBOARD_TEXT, text, len);
	for (enum clipboard_name name = 0; name < CLIPBOARD_NAMES && rc == 0; name++)
		rc = selection_set(&clipboard->one[name].ours, clipboard->ping->time, content, e);
	selection_drop(content);
	copied->own = clipboard->one[CLIPBOARD_MAIN].n_changes;
	return rc;
}

static int get(struct clipboard *clipboard, struct clipboard_one *one, char **text, size_t *len, struct err *e)
{
	struct clipboard_offer offer = {0};
	struct selection *reader;

	if (ping_clock(clipboard->ping, e) < 0 || clipboard_reader(clipboard, one, &reader, e) < 0)
		return -1;
	if (!reader || clipboard_ask(clipboard, reader, clipboard->ping->time, &offer, e) != SELECTION_CAME || !offer.target[CLIPBOARD_TEXT])
		return 0;
	return clipboard_fetch(clipboard, reader, CLIPBOARD_TEXT, offer.target[CLIPBOARD_TEXT], clipboard->ping->time,
	                       util_now_ms() + LIMIT_CLIPBOARD_MS, text, len, e) < 0
	           ? -1
	           : 0;
}

int copied_get(struct copied *copied, char **text, size_t *len, struct err *e)
{
	struct clipboard_one *one = &copied->clipboard->one[CLIPBOARD_MAIN];
	int rc;

	*text = NULL;
	/* One's own comes back to nobody: a viewer would take it for news, and offer it again. */
	if (one->n_changes == copied->own)
		return 0;
	if (clipboard_take(one, util_now_ms() + LIMIT_CLIPBOARD_MS, e) < 0)
		return -1;
	rc = get(copied->clipboard, one, text, len, e);
	clipboard_give(one);
	return rc;
}
