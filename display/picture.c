/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures: the screen as it is now; the last ones are kept.
 */
#include "display/picture.h"

#include <stdlib.h>
#include <sys/param.h>

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

/* One side of a region: its last pixel at least. */
static void cut_span(int *start, int *size, int end)
{
	*start = MIN(*start, end - 1);
	*size = MIN(*size, end - *start);
}

struct display_request screen_fit(const struct display *display, const struct display_request *asked)
{
	struct display_request request = screen_complete(display, asked);
	bool is_scaled = request.out_width != request.width || request.out_height != request.height;

	cut_span(&request.x, &request.width, display->native.width_px);
	cut_span(&request.y, &request.height, display->native.height_px);
	if (!is_scaled) {
		request.out_width = request.width;
		request.out_height = request.height;
	}
	return request;
}

static bool is_on_screen(const struct display *display, const struct display_request *request)
{
	return request->x + request->width <= display->native.width_px && request->y + request->height <= display->native.height_px;
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

/* What is kept is taken out while it is made: where that takes long, others look for what they keep. */
static int make(struct look *look, struct kept **kept, struct err *e)
{
	struct kept made = **kept;

	**kept = (struct kept){0};
	look_draw(look);
	if (kept_make(&made, &look->source, e) < 0) {
		kept_finish(&made);
		return -1;
	}
	*kept = find_kept(look->display, &made.picture.asked);
	kept_finish(*kept);
	**kept = made;
	return 0;
}

int picture_make(struct look *look, const struct display_request *request, struct display_picture *out, struct err *e)
{
	struct kept *kept = find_kept(look->display, request);

	if (!kept_is_current(kept, &look->source) && make(look, &kept, e) < 0)
		return -1;
	kept->used = ++look->display->n_looks;
	*out = kept->picture;
	out->frame = look->source.frame;
	(void)bytes_hold(out->bytes);
	bound_kept(look->display);
	return 0;
}

int display_picture(struct display *display, const struct display_request *asked, struct display_picture *out, struct err *e)
{
	struct display_request request;
	struct look look;
	int rc;

	if (asked->window)
		return alone_make(display, asked, out, e);
	if (look_begin(&look, display, asked->format, e) < 0)
		return -1;
	rc = look_update(&look, asked->no_cursor, e);
	/* Not before: it may have waited while the screen got another size. */
	request = screen_complete(display, asked);
	if (rc == 0 && !is_on_screen(display, &request))
		rc = err_set(e, ERR_CONFLICT, NULL, "the display was resized meanwhile, to %dx%d: the region is not on it any more",
		             display->native.width_px, display->native.height_px);
	if (rc == 0)
		rc = picture_make(&look, &request, out, e);
	look_end(&look);
	return rc;
}

void display_picture_drop(struct display_picture *picture)
{
	bytes_drop(picture->bytes);
	free(picture->part);
	picture->bytes = NULL;
	picture->part = NULL;
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
