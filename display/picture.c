/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures: the screen as it is now, with the pointer drawn for the time of encoding; the last ones are kept.
 */
#include <string.h>

#include "display/cursor.h"
#include "display/kept.h"
#include "display/screen.h"
#include "session/base/util.h"

struct display_request screen_complete(const struct display *display, const struct display_request *asked)
{
	struct display_request request = *asked;

	if (request.width == 0) {
		request.x = request.y = 0;
		request.width = display->native.width_px;
		request.height = display->native.height_px;
	}
	if (request.out_width == 0) {
		request.out_width = request.width;
		request.out_height = request.height;
	}
	return request;
}

bool screen_same_request(const struct display_request *a, const struct display_request *b)
{
	return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height && a->out_width == b->out_width &&
	       a->out_height == b->out_height && a->no_cursor == b->no_cursor && a->format == b->format && a->quality == b->quality &&
	       a->max_bytes == b->max_bytes && a->any_format == b->any_format;
}

/* Where the request is kept, or what was not asked for the longest in its stead. */
static struct kept *find_kept(struct display *display, const struct display_request *request)
{
	struct kept *oldest = &display->kept[0];

	for (size_t i = 0; i < ARRAY_LEN(display->kept); i++) {
		struct kept *kept = &display->kept[i];

		if (kept->used > 0 && screen_same_request(&kept->picture.asked, request))
			return kept;
		if (kept->used < oldest->used)
			oldest = kept;
	}
	kept_finish(oldest);
	oldest->picture.asked = *request;
	return oldest;
}

/* What was not asked for the longest goes first, and at last what is too large by itself. */
static void bound_kept(struct display *display)
{
	for (;;) {
		struct kept *oldest = NULL;
		size_t cost = 0;

		for (size_t i = 0; i < ARRAY_LEN(display->kept); i++) {
			struct kept *kept = &display->kept[i];

			cost += kept_cost(kept);
			if (kept->used > 0 && (!oldest || kept->used < oldest->used))
				oldest = kept;
		}
		if (cost <= LIMIT_KEPT_BYTES || !oldest)
			return;
		kept_finish(oldest);
	}
}

/* Nothing waits between drawing the pointer and taking it away: nobody else sees it in `shown`. */
static int make(struct display *display, struct kept *kept, const struct kept_source *source, xcb_xfixes_get_cursor_image_reply_t *cursor,
                struct err *e)
{
	struct cursor_under under = {.rect = {0, 0, 0, 0}};
	int rc;

	if (cursor)
		cursor_put(cursor, &display->shown, &under);
	rc = kept_make(kept, source, e);
	cursor_take_away(&display->shown, &under);
	return rc;
}

/* What `shown` has now, with this pointer. */
static struct kept_source source_of(const struct display *display, const xcb_xfixes_get_cursor_image_reply_t *cursor)
{
	struct kept_source source = {.shown = &display->shown, .tiles = &display->tiles, .frame = display->frame};

	if (cursor)
		source.pointer = (struct kept_pointer){cursor->cursor_serial, cursor_rect(cursor)};
	return source;
}

static void hand_out(struct display *display, struct kept *kept, uint64_t frame, struct display_picture *out)
{
	kept->used = ++display->n_looks;
	*out = kept->picture;
	out->frame = frame;
	(void)bytes_hold(out->bytes);
	bound_kept(display);
}

struct image screen_copy(const struct display *display, xcb_xfixes_get_cursor_image_reply_t *cursor)
{
	struct image copy = image_create(display->shown.width, display->shown.height);

	memcpy(copy.pixels, display->shown.pixels, (size_t)copy.width * (size_t)copy.height * sizeof(uint32_t));
	if (cursor)
		cursor_draw(cursor, &copy, 0, 0);
	return copy;
}

/* What a slow encoder is asked of: pixels of its own, since it waits for others now and then. */
struct slow {
	struct image screen; /* with the pointer; pixels NULL: there is nothing to be done */
	struct kept_source source;
};

static void set_aside(const struct display *display, xcb_xfixes_get_cursor_image_reply_t *cursor, struct slow *slow)
{
	slow->source = source_of(display, cursor);
	slow->screen = screen_copy(display, cursor);
}

static int make_slowly(struct display *display, const struct display_request *request, struct slow *slow, struct display_picture *out,
                       struct err *e)
{
	struct kept made = {.picture.asked = *request}, *kept;
	int rc;

	slow->source.shown = &slow->screen;
	rc = kept_make(&made, &slow->source, e);
	free(slow->screen.pixels);
	if (rc < 0) {
		kept_finish(&made);
		return -1;
	}
	kept = find_kept(display, request);
	kept_finish(kept);
	*kept = made;
	hand_out(display, kept, slow->source.frame, out);
	return 0;
}

int screen_picture(struct display *display, const struct display_request *request, xcb_xfixes_get_cursor_image_reply_t *cursor,
                   struct display_picture *out, struct err *e)
{
	const struct kept_source source = source_of(display, cursor);
	struct kept *kept = find_kept(display, request);

	if (!kept_is_current(kept, &source)) {
		struct slow slow;

		if (encode_of(request->format)->is_slow) {
			set_aside(display, cursor, &slow);
			return make_slowly(display, request, &slow, out, e);
		}
		if (make(display, kept, &source, cursor, e) < 0)
			return -1;
	}
	hand_out(display, kept, source.frame, out);
	return 0;
}

int screen_look(struct display *display, bool no_cursor, xcb_xfixes_get_cursor_image_reply_t **cursor, struct err *e)
{
	xcb_xfixes_get_cursor_image_reply_t *got = NULL;

	if (!no_cursor && cursor_look(display, &got, e) < 0)
		return -1;
	/* The pointer came after all that the server had to tell. */
	if ((no_cursor || screen_has_news(display)) && screen_update(display, e) < 0) {
		free(got);
		return -1;
	}
	*cursor = got;
	return 0;
}

static int look(struct display *display, const struct display_request *request, struct display_picture *out, struct slow *slow,
                struct err *e)
{
	auto_free xcb_xfixes_get_cursor_image_reply_t *cursor = NULL;

	if (screen_look(display, request->no_cursor, &cursor, e) < 0)
		return -1;
	const struct kept_source source = source_of(display, cursor);

	if (!encode_of(request->format)->is_slow || kept_is_current(find_kept(display, request), &source))
		return screen_picture(display, request, cursor, out, e);
	set_aside(display, cursor, slow);
	return 0;
}

int display_picture(struct display *display, const struct display_request *asked, struct display_picture *out, struct err *e)
{
	struct display_request request = screen_complete(display, asked);
	struct slow slow = {.screen.pixels = NULL};
	int rc;

	if (screen_begin_look(display, e) < 0)
		return -1;
	rc = look(display, &request, out, &slow, e);
	screen_end_look(display);
	/* While it is encoded others look. */
	return rc == 0 && slow.screen.pixels ? make_slowly(display, &request, &slow, out, e) : rc;
}

void display_picture_drop(struct display_picture *picture)
{
	bytes_drop(picture->bytes);
	picture->bytes = NULL;
}

const char *display_format_name(enum encode_format format)
{
	return encode_of(format == ENCODE_PNG_SMALL ? ENCODE_PNG : format)->name;
}

/* {"format","quality","width","height"}; quality where there is one. */
static json_t *describe(enum encode_format format, int quality, int width, int height)
{
	json_t *object = json_pack("{s:s,s:i,s:i}", "format", display_format_name(format), "width", width, "height", height);

	if (object && quality > 0)
		json_object_set_new(object, "quality", json_integer(quality));
	if (!object)
		DIE("no memory for a picture");
	return object;
}

int display_picture_json(const struct display_picture *picture, json_t **out, struct err *e)
{
	const struct display_request *asked = &picture->asked;
	const char *data;
	size_t len;
	json_t *object;

	if (picture->bytes->len > LIMIT_PICTURE_INLINE_BYTES)
		return err_set(e, ERR_TOO_LARGE, NULL, "the picture has %zu bytes, in an answer it may have %d: say max_bytes, or GET the screenshot",
		               picture->bytes->len, LIMIT_PICTURE_INLINE_BYTES);
	data = bytes_base64(picture->bytes, &len);
	object = describe(picture->format, picture->quality, picture->width, picture->height);
	if (json_object_set_new_nocheck(object, "data", json_stringn_nocheck(data, len)) < 0)
		DIE("no memory for a picture");
	if (picture->fell_back)
		json_object_set_new(object, "fallback", json_pack("{s:s,s:I,s:o}", "reason", "max_bytes", "max_bytes", (json_int_t)asked->max_bytes,
		                    "asked", describe(asked->format, asked->quality ? asked->quality : encode_of(asked->format)->quality,
		                                      asked->out_width, asked->out_height)));
	*out = object;
	return 0;
}
