/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where not to look. */
#include "session/stage/spots.h"

#include <sys/param.h>

#include "session/base/util.h"
#include "session/stage/stage.h"

static struct rect grown(const struct access_node *node)
{
	return (struct rect){node->x - SPOTS_GROWN_PX, node->y - SPOTS_GROWN_PX, node->width + 2 * SPOTS_GROWN_PX, node->height + 2 * SPOTS_GROWN_PX};
}

/* The rectangle and some of what is beside it, as far as it is on the screen. */
static struct rect around(struct rect rect, struct rect screen)
{
	int left = MAX(rect.x - SPOTS_AROUND_PX, screen.x), right = MIN(rect.x + rect.width + SPOTS_AROUND_PX, screen.x + screen.width);
	int top = MAX(rect.y - SPOTS_AROUND_PX, screen.y), bottom = MIN(rect.y + rect.height + SPOTS_AROUND_PX, screen.y + screen.height);

	return (struct rect){left, top, MAX(right - left, 1), MAX(bottom - top, 1)};
}

/* Without its frame; `rect` is grown. */
static struct rect inside(struct rect rect)
{
	const int cut = SPOTS_GROWN_PX + SPOTS_FRAME_PX;

	return (struct rect){rect.x + cut, rect.y + cut, MAX(rect.width - 2 * cut, 0), MAX(rect.height - 2 * cut, 0)};
}

static bool is_same(struct rect a, struct rect b)
{
	return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

static void on_time(void *arg)
{
	struct stage *stage = arg;

	stage->spots.timer = NULL;
	display_blanks_changed(stage->display);
}

/* What is blank changes by itself then. */
static void look_again_at(struct stage *stage, int64_t at_ms)
{
	loop_cancel(stage->spots.timer);
	stage->spots.timer = loop_at(stage->loop, at_ms, on_time, stage);
}

/* Its place in the list; behind the last for one that is not there. */
static size_t place_of(const struct spots *spots, uint32_t node)
{
	size_t i = 0;

	while (i < spots->n && spots->list[i].node != node)
		i++;
	return i;
}

int spots_add(struct stage *stage, const struct access_focus *focus, struct err *e)
{
	struct spot spot = {.node = focus->node.id, .window = focus->window, .rect = grown(&focus->node)};
	struct spots *spots = &stage->spots;
	size_t i = place_of(spots, focus->node.id);

	if (i == SPOTS)
		return err_set(e, ERR_SECRET, NULL, "there are secrets in %d fields of pages that were not left yet", SPOTS);
	if (i < spots->n) { /* once more: how it looks without a secret is known, or not any more */
		spot.before = spots->list[i].before;
		spot.marked = spots->list[i].marked;
	}
	spots->n = MAX(spots->n, i + 1);
	spots->list[i] = spot;
	display_blanks_changed(stage->display);
	return 0;
}

void spots_stir(struct stage *stage)
{
	if (stage->spots.n == 0)
		return;
	stage->spots.stirred_ms = util_now_ms();
	display_blanks_changed(stage->display);
}

/* All of its window; of the screen, if it is not known where that is. False: the window is gone. */
static bool cover_window(struct stage *stage, const struct spot *spot, struct rect *out)
{
	struct err e = {0};

	*out = (struct rect){0, 0, stage->native.width_px, stage->native.height_px};
	return apps_place(stage->apps, spot->window, out, &e) == 0 || e.code != ERR_NO_WINDOW;
}

/* The field is where it is said to be: how it looks. */
static void mark(struct stage *stage, struct spot *spot)
{
	struct ink ink;

	if (!display_ink(stage->display, inside(spot->rect), &ink))
		return;
	if (spot->marked)
		spot->written = ink;
	else
		spot->before = ink;
	spot->marked = true;
}

/* Until when it may be seen, by what is drawn now. */
static int64_t seen_until(struct stage *stage, const struct spot *spot, int64_t until_ms)
{
	const struct rect screen = {0, 0, stage->native.width_px, stage->native.height_px};
	int64_t now_ms = util_now_ms();
	struct ink now;

	if (ink_left(&spot->before, &spot->written, &spot->written) >= 0) {
		if (!display_ink(stage->display, inside(spot->rect), &now))
			return until_ms == 0 ? CO_FOREVER : until_ms;
		if (ink_left(&spot->before, &spot->written, &now) >= SPOTS_LEFT_PERCENT)
			return CO_FOREVER;
		return until_ms == 0 ? now_ms + SPOTS_LINGER_MS : MIN(until_ms, now_ms + SPOTS_LINGER_MS);
	}
	if (until_ms == 0)
		return now_ms + SPOTS_LEAVE_MS;
	return display_drawn_over(stage->display, around(spot->rect, screen)) ? MIN(until_ms, now_ms + SPOTS_PAINT_MS) : until_ms;
}

/* Where it was is blank as long as it may be seen; false: that is over. */
static bool stays(struct stage *stage, const struct spot *spot, int64_t *until_ms, struct rect *out)
{
	*out = spot->rect;
	if (spot->rect.width == 0)
		return false;
	*until_ms = seen_until(stage, spot, *until_ms);
	if (util_now_ms() >= *until_ms)
		return false;
	if (*until_ms != CO_FOREVER)
		look_again_at(stage, *until_ms);
	return true;
}

/* It is gone. */
static bool leave(struct stage *stage, struct spot *spot, struct rect *out)
{
	return stays(stage, spot, &spot->until_ms, out);
}

/* Its app says that it is not seen: so does a browser of a page on its way out, which is on the screen all the same. */
static bool hide(struct stage *stage, struct spot *spot, struct rect *out)
{
	if (!stays(stage, spot, &spot->hidden_ms, out))
		*out = spot->rect = (struct rect){0, 0, 0, 0};
	return true;
}

/* Where it is now; false: its page was left. */
static bool locate(struct stage *stage, struct spot *spot, struct rect *out)
{
	int64_t now_ms = util_now_ms(), rests_ms;
	struct access_node node;
	struct rect before = spot->rect;
	bool shows = false;
	struct err e = {0};

	if (spot->until_ms > 0)
		return leave(stage, spot, out);
	if (access_place(apps_access(stage->apps), spot->node, now_ms + SPOTS_ASK_MS, &node, &shows, &e) < 0) {
		if (e.code == ERR_NOT_FOUND)
			return leave(stage, spot, out);
		look_again_at(stage, util_now_ms() + SPOTS_AGAIN_MS);
		return cover_window(stage, spot, out);
	}
	if (!shows || node.width == 0)
		return hide(stage, spot, out);
	spot->rect = grown(&node);
	if (!is_same(spot->rect, before) || spot->hidden_ms > 0)
		spot->moved_ms = now_ms;
	else
		mark(stage, spot);
	spot->hidden_ms = 0;
	rests_ms = MAX(spot->moved_ms + SPOTS_STILL_MS, stage->spots.stirred_ms + SPOTS_STIR_MS);
	*out = spot->rect;
	if (now_ms >= rests_ms)
		return true;
	look_again_at(stage, rests_ms);
	return cover_window(stage, spot, out);
}

static void keep(struct spots *spots, const struct spot *spot, bool is_there)
{
	size_t i = place_of(spots, spot->node);

	if (i == spots->n) /* all were forgotten while the app was asked */
		return;
	if (is_there)
		spots->list[i] = *spot;
	else
		spots->list[i] = spots->list[--spots->n];
}

size_t spots_where(void *arg, struct rect out[LIMIT_BLANKS])
{
	struct stage *stage = arg;
	const struct spots before = stage->spots; /* others come meanwhile */
	size_t n = 0;

	if (before.n == 0)
		return 0;
	/* Whoever looks may be leaving: what is blank is blank all the same. */
	co_shield();
	for (size_t i = 0; i < before.n; i++) {
		struct spot spot = before.list[i];
		bool is_there = locate(stage, &spot, &out[n]);

		keep(&stage->spots, &spot, is_there);
		n += is_there && out[n].width > 0 && out[n].height > 0;
	}
	co_unshield();
	return n;
}

void spots_finish(struct stage *stage)
{
	loop_cancel(stage->spots.timer);
	stage->spots = (struct spots){.n = 0};
}
