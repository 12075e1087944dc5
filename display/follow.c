/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers that keep a picture of their own. All parts that one gets at once are of the same screen, and each has the pixels that the whole
 * picture would have there.
 */
#include <sys/param.h>

#include "display/cursor.h"
#include "display/encode.h"
#include "display/picture.h"
#include "display/rect.h"
#include "session/base/util.h"

/* A follower that comes so long after another is told the same, if it had the same: what is newer both get with their next frames. */
#define TOGETHER_MS 5
/* What is kept for that, at most. */
#define TOGETHER_BYTES (1024 * 1024)

/* As much of the picture in parts is sent as a whole one: it is no more work, and smaller. */
#define MOST_PERCENT 60

void display_follow_begin(struct display *display, const struct display_request *request, struct co_event *news,
                          struct display_follower *follower)
{
	*follower = (struct display_follower){.next = display->followers, .asked = *request, .news = news};
	follower->asked.max_bytes = 0;
	follower->asked.any_format = false;
	follower->request = screen_fit(display, &follower->asked);
	display->followers = follower;
	if (!request->no_cursor && display->n_cursors++ == 0)
		cursor_listen(display, true);
}

void display_follow_end(struct display *display, struct display_follower *follower)
{
	struct display_follower **place = &display->followers;

	while (*place != follower)
		place = &(*place)->next;
	*place = follower->next;
	if (!follower->request.no_cursor && --display->n_cursors == 0)
		cursor_listen(display, false);
}

void screen_tell_followers(const struct display *display)
{
	for (const struct display_follower *follower = display->followers; follower; follower = follower->next)
		co_signal(follower->news);
}

bool display_follow_has_news(const struct display *display, const struct display_follower *follower)
{
	return !follower->has.picture || display->told || display->frame > follower->has.frame ||
	       (!follower->request.no_cursor && display->moves != follower->has.moves);
}

/* --- which parts --- */

/* Adds what a rectangle of the screen touches of the picture. */
static void add_part(struct display_parts *parts, const struct display_request *request, struct rect rect)
{
	int left = MAX(rect.x, request->x), right = MIN(rect.x + rect.width, request->x + request->width);
	int top = MAX(rect.y, request->y), bottom = MIN(rect.y + rect.height, request->y + request->height);
	struct rect inside = {left - request->x, top - request->y, right - left, bottom - top}, reach;

	if (inside.width <= 0 || inside.height <= 0)
		return;
	reach = image_scale_reach(inside, request->width, request->height, request->out_width, request->out_height);
	for (size_t i = 0; i < parts->n; i++)
		if (rect_is_inside(reach, parts->list[i].rect))
			return;
	parts->list[parts->n++].rect = reach;
}

static bool is_most(const struct display_parts *parts, const struct display_request *request)
{
	int64_t area = 0;

	for (size_t i = 0; i < parts->n; i++)
		area += (int64_t)parts->list[i].rect.width * parts->list[i].rect.height;
	return area * 100 >= (int64_t)request->out_width * request->out_height * MOST_PERCENT;
}

/* `pointer` is what is to be seen now. */
static void list_parts(const struct display *display, const struct display_follower *follower, struct kept_pointer pointer,
                       const struct display_request *request, struct display_parts *parts)
{
	struct rect changed[LIMIT_CHANGED - 2];
	size_t n = follower->has.picture ? display_changes(display, follower->has.frame, changed, ARRAY_LEN(changed)) : 0;

	for (size_t i = 0; i < n; i++)
		add_part(parts, request, changed[i]);
	if (pointer.serial != follower->has.cursor_serial || !rect_is_same(pointer.rect, follower->has.cursor)) {
		add_part(parts, request, follower->has.cursor);
		add_part(parts, request, pointer.rect);
	}
	if (!follower->has.picture || is_most(parts, request)) {
		parts->whole = true;
		parts->n = 1;
		parts->list[0].rect = (struct rect){0, 0, request->out_width, request->out_height};
	}
}

/* --- their pixels --- */

static int encode_part(const struct image *image, const struct display_request *request, struct display_part *part, struct err *e)
{
	bool is_scaled = request->out_width != image->width || request->out_height != image->height;
	struct rect r = part->rect;
	struct image pixels = is_scaled ? image_create(r.width, r.height) : image_part(image, r.x, r.y, r.width, r.height);
	char *data;
	size_t len;
	int rc;

	if (is_scaled)
		image_scale_part(image, request->out_width, request->out_height, r.x, r.y, &pixels);
	rc = encode(&pixels, request->format, request->quality, &data, &len, e);
	if (rc == 0)
		part->bytes = bytes_create(data, len);
	if (is_scaled)
		free(pixels.pixels);
	return rc;
}

/* One that others may have asked for, too. */
static int encode_whole(struct look *look, const struct display_request *request, struct display_part *part, struct err *e)
{
	struct display_picture picture;

	if (picture_make(look, request, &picture, e) < 0)
		return -1;
	part->bytes = picture.bytes;
	return 0;
}

static int encode_parts(struct look *look, const struct display_request *request, struct display_parts *parts, struct err *e)
{
	int rc = 0;

	if (parts->whole)
		return encode_whole(look, request, &parts->list[0], e);
	if (parts->n == 0)
		return 0;
	look_draw(look);
	const struct image image = image_part(look->source.shown, request->x, request->y, request->width, request->height);

	for (size_t i = 0; i < parts->n && rc == 0; i++)
		rc = encode_part(&image, request, &parts->list[i], e);
	return rc;
}

/* Without asking, if that is enough. */
static int update(struct look *look, const struct display_follower *follower, bool as_told, struct err *e)
{
	if (!as_told || screen_has_news(look->display))
		return look_update(look, follower->request.no_cursor, e);
	look_known(look);
	return 0;
}

static int follow(struct look *look, struct display_follower *follower, bool as_told, struct display_parts *parts, struct err *e)
{
	uint64_t moves = look->display->moves;
	const struct kept_pointer *pointer = &look->source.pointer;
	struct display_request request;

	if (update(look, follower, as_told, e) < 0)
		return -1;
	/* Of its own: while a slow encoder works the screen may get another size, and the follower's request with it. */
	request = follower->request;
	parts->frame = look->source.frame;
	parts->native = look->display->native;
	parts->width = request.out_width;
	parts->height = request.out_height;
	list_parts(look->display, follower, *pointer, &request, parts);
	if (encode_parts(look, &request, parts, e) < 0)
		return -1;
	follower->has = (struct display_has){true, parts->frame, moves, pointer->serial, pointer->rect};
	return 0;
}

/* --- several that follow the same --- */

static struct display_parts hold(const struct display_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		(void)bytes_hold(parts->list[i].bytes);
	return *parts;
}

static bool was_told(const struct display *display, const struct display_follower *follower)
{
	const struct screen_told *told = &display->last_told;

	return told->parts.n > 0 && util_now_ms() - told->at_ms <= TOGETHER_MS && follower->has.picture &&
	       follower->has.frame == told->had.frame && follower->has.cursor_serial == told->had.cursor_serial &&
	       rect_is_same(follower->has.cursor, told->had.cursor) && screen_same_request(&follower->request, &told->request);
}

/* Whole pictures are kept already, where they are made. */
static void keep_told(struct display *display, const struct display_follower *follower, struct display_has had,
                      const struct display_parts *parts)
{
	size_t n_bytes = 0;

	for (size_t i = 0; i < parts->n; i++)
		n_bytes += parts->list[i].bytes->len;
	display_parts_finish(&display->last_told.parts);
	if (parts->n > 0 && !parts->whole && n_bytes <= TOGETHER_BYTES && display->followers->next)
		display->last_told = (struct screen_told){follower->request, had, follower->has, hold(parts), util_now_ms()};
}

static int follow_or_share(struct look *look, struct display_follower *follower, bool as_told, struct display_parts *parts, struct err *e)
{
	struct display *display = look->display;
	struct display_has had = follower->has;

	if (was_told(display, follower)) {
		*parts = hold(&display->last_told.parts);
		follower->has = display->last_told.has;
		return 0;
	}
	if (follow(look, follower, as_told, parts, e) < 0)
		return -1;
	keep_told(display, follower, had, parts);
	return 0;
}

static int follow_as(struct display *display, struct display_follower *follower, bool as_told, struct display_parts *out, struct err *e)
{
	struct display_parts parts = {.n = 0};
	struct look look;
	int rc;

	if (look_begin(&look, display, follower->request.format, e) < 0)
		return -1;
	rc = follow_or_share(&look, follower, as_told, &parts, e);
	look_end(&look);
	if (rc < 0)
		display_parts_finish(&parts);
	else
		*out = parts;
	return rc;
}

int display_follow(struct display *display, struct display_follower *follower, struct display_parts *out, struct err *e)
{
	return follow_as(display, follower, false, out, e);
}

int display_follow_told(struct display *display, struct display_follower *follower, struct display_parts *out, struct err *e)
{
	if (display_follow_has_news(display, follower) || screen_has_news(display))
		return follow_as(display, follower, true, out, e);
	*out = (struct display_parts){.frame = display->frame, .native = display->native, .width = follower->request.out_width,
	                              .height = follower->request.out_height};
	return 0;
}

void display_follow_anew(struct display *display, struct display_follower *follower, const struct display_request *request)
{
	if (request) {
		bool no_cursor = follower->asked.no_cursor;

		follower->asked = *request;
		follower->asked.no_cursor = no_cursor;
		follower->asked.max_bytes = 0;
		follower->asked.any_format = false;
		follower->request = screen_fit(display, &follower->asked);
	}
	follower->has.picture = false;
}

void display_parts_finish(struct display_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		bytes_drop(parts->list[i].bytes);
	*parts = (struct display_parts){.n = 0};
}
