/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures: capture, pointer, scale, encoding; the last one is kept.
 */
#include <string.h>

#include "display/cursor.h"
#include "display/encode.h"
#include "display/screen.h"
#include "session/base/base64.h"
#include "session/base/space.h"
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

static bool same_request(const struct display_request *a, const struct display_request *b)
{
	return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height && a->out_width == b->out_width &&
	       a->out_height == b->out_height && a->no_cursor == b->no_cursor;
}

static int encode_scaled(const struct image *image, const struct display_request *request, struct display_picture *out, struct err *e)
{
	struct image scaled;
	int rc;

	if (request->out_width == image->width && request->out_height == image->height)
		return encode(image, ENCODE_PNG, 0, &out->bytes, &out->len, e);
	scaled = image_create(request->out_width, request->out_height);
	image_scale(image, &scaled);
	rc = encode(&scaled, ENCODE_PNG, 0, &out->bytes, &out->len, e);
	free(scaled.pixels);
	return rc;
}

static int take(struct display *display, const struct display_request *request, xcb_xfixes_get_cursor_image_reply_t *cursor,
                struct display_picture *out, struct err *e)
{
	struct display_picture picture = {.media_type = "image/png", .width = request->out_width, .height = request->out_height};
	const struct image part = image_part(&display->shown, request->x, request->y, request->width, request->height);
	struct image image = image_create(request->width, request->height);
	int rc;

	picture.frame = display->frame;
	for (int y = 0; y < image.height; y++)
		memcpy(image_row(&image, y), image_row(&part, y), (size_t)image.width * sizeof(uint32_t));
	if (cursor)
		cursor_draw(cursor, &image, request->x, request->y);
	rc = encode_scaled(&image, request, &picture, e);
	free(image.pixels);
	if (rc < 0)
		return -1;
	*out = picture;
	return 0;
}

static struct display_picture copy_of(const struct display_picture *picture)
{
	struct display_picture copy = *picture;

	copy.bytes = util_alloc(picture->len);
	memcpy(copy.bytes, picture->bytes, picture->len);
	return copy;
}

static int look(struct display *display, const struct display_request *request, struct display_picture *out, struct err *e)
{
	auto_free xcb_xfixes_get_cursor_image_reply_t *cursor = NULL;
	struct display_picture picture;

	if ((!request->no_cursor && cursor_look(display, &cursor, e) < 0) || screen_update(display, e) < 0)
		return -1;
	if (display->last.bytes && display->last.frame == display->frame && same_request(&display->last_request, request)) {
		*out = copy_of(&display->last);
		return 0;
	}
	if (take(display, request, cursor, &picture, e) < 0)
		return -1;
	free(display->last.bytes);
	display->last = copy_of(&picture);
	display->last_request = *request;
	*out = picture;
	return 0;
}

int display_picture(struct display *display, const struct display_request *asked, struct display_picture *out, struct err *e)
{
	struct display_request request = screen_complete(display, asked);
	int rc;

	if (screen_begin_look(display, e) < 0)
		return -1;
	rc = look(display, &request, out, e);
	screen_end_look(display);
	return rc;
}

static const struct field space_fields[] = {
	{"width", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "width of the whole screen"},
	{"height", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "height of the whole screen"},
};
static const struct form space_form = {space_fields, ARRAY_LEN(space_fields), NULL};

int display_check_space(const json_t *object, const char *name, struct err *e)
{
	const json_t *space = json_object_get(object, name);
	char path[ERR_PATH_MAX];
	char quoted[80];

	(void)snprintf(path, sizeof(path), "/%s", name);
	if (!space || json_is_object(space))
		return space ? form_check(&space_form, space, path, NULL, e) : 0;
	if (json_is_string(space) && json_string_length(space) == strlen("native") && strcmp(json_string_value(space), "native") == 0)
		return 0;
	return err_set(e, ERR_BAD_FIELD, path, "%s is not allowed here: it must be \"native\" or {\"width\",\"height\"}",
	               json_is_string(space) ? err_quote(quoted, sizeof(quoted), json_string_value(space), json_string_length(space)) : "this");
}

struct space display_read_space(const json_t *object, const char *name, struct space native, struct space fallback)
{
	const json_t *space = json_object_get(object, name);

	if (!space)
		return fallback;
	if (json_is_string(space))
		return native;
	return (struct space){(int)form_int(space, "width", 0), (int)form_int(space, "height", 0)};
}

/* The size in one space of what has this size in another, to the nearest pixel. */
static int scale_size(int size, int from_px, int to_px)
{
	int scaled = (int)(((int64_t)size * to_px * 2 + from_px) / ((int64_t)from_px * 2));

	return scaled > 0 ? scaled : 1;
}

struct display_request display_request_read(const json_t *fields, struct space space, struct space native)
{
	struct space scale = display_read_space(fields, "space", native, space);
	const json_t *region = json_object_get(fields, "region");
	struct display_request request = {.no_cursor = !form_bool(fields, "cursor", true)};

	if (!region) {
		request.out_width = scale.width_px;
		request.out_height = scale.height_px;
		return request;
	}
	request.x = (int)form_int(region, "x", 0);
	request.y = (int)form_int(region, "y", 0);
	request.width = (int)form_int(region, "width", 0);
	request.height = (int)form_int(region, "height", 0);
	request.out_width = scale_size(request.width, space.width_px, scale.width_px);
	request.out_height = scale_size(request.height, space.height_px, scale.height_px);
	space_map_rect(space, native, &request.x, &request.y, &request.width, &request.height);
	return request;
}

struct rect display_request_region(const struct display_request *request)
{
	return (struct rect){request->x, request->y, request->width, request->height};
}

json_t *display_picture_json(const struct display_picture *picture)
{
	size_t len;
	auto_free char *data = base64_encode(picture->bytes, picture->len, &len);
	json_t *object = json_pack("{s:s,s:o,s:i,s:i}", "format", "png", "data", json_stringn_nocheck(data, len), "width", picture->width,
	                           "height", picture->height);

	if (!object)
		DIE("no memory for a picture");
	return object;
}
