/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows that have come. */
#include "input/fresh.h"

#include <string.h>

#include "session/base/util.h"

static void drop_at(struct fresh *fresh, size_t i)
{
	fresh->n--;
	memmove(&fresh->windows[i], &fresh->windows[i + 1], (fresh->n - i) * sizeof(fresh->windows[0]));
}

/* The place in the list, or n. */
static size_t find(const struct fresh *fresh, xcb_window_t window)
{
	size_t i = 0;

	while (i < fresh->n && fresh->windows[i].window != window)
		i++;
	return i;
}

static void add(struct fresh *fresh, xcb_window_t window)
{
	fresh_drop(fresh, window);
	if (fresh->n == FRESH_MAX)
		drop_at(fresh, 0);
	fresh->windows[fresh->n].window = window;
	fresh->windows[fresh->n++].came_ms = util_now_ms();
}

static void on_event(void *arg, const xcb_generic_event_t *event)
{
	struct fresh *fresh = arg;
	const xcb_map_notify_event_t *came = (const void *)event;
	const xcb_unmap_notify_event_t *left = (const void *)event;
	const xcb_destroy_notify_event_t *gone = (const void *)event;

	switch (event->response_type) { /* with its highest bit set it is some program's word, which may be of another's window */
	case XCB_MAP_NOTIFY:
		if (came->event == fresh->x->root && !came->override_redirect)
			add(fresh, came->window);
		break;
	case XCB_UNMAP_NOTIFY:
		fresh_drop(fresh, left->window);
		break;
	case XCB_DESTROY_NOTIFY:
		fresh_drop(fresh, gone->window);
		break;
	default:
		break;
	}
}

void fresh_init(struct fresh *fresh, struct xconn *x)
{
	*fresh = (struct fresh){.x = x};
	xconn_listen(x, &fresh->listener, on_event, fresh);
}

void fresh_finish(struct fresh *fresh)
{
	if (fresh->x)
		xconn_unlisten(fresh->x, &fresh->listener);
}

bool fresh_is_any(struct fresh *fresh)
{
	while (fresh->n > 0 && fresh->windows[0].came_ms + FRESH_MS <= util_now_ms())
		drop_at(fresh, 0);
	return fresh->n > 0;
}

bool fresh_has(const struct fresh *fresh, xcb_window_t window)
{
	return find(fresh, window) < fresh->n;
}

int64_t fresh_last_ms(const struct fresh *fresh)
{
	return fresh->n > 0 ? fresh->windows[fresh->n - 1].came_ms : 0;
}

void fresh_drop(struct fresh *fresh, xcb_window_t window)
{
	size_t i = find(fresh, window);

	if (i < fresh->n)
		drop_at(fresh, i);
}
