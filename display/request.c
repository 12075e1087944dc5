/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What callers ask of a picture: fields, their rules, and what they come to in native pixels.
 */
#include <string.h>

#include "display/display.h"
#include "session/base/util.h"

int display_check_space(const json_t *object, const char *name, struct err *e)
{
	const json_t *space = json_object_get(object, name);
	char path[ERR_PATH_MAX];
	char quoted[80];

	(void)snprintf(path, sizeof(path), "/%s", name);
	if (!space || json_is_object(space))
		return space ? form_check(&form_space, space, path, NULL, e) : 0;
	if (form_is(space, "native"))
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

/* A format that is none was refused by its row. */
static enum encode_format read_format(const json_t *fields)
{
	const struct encoding *encoding = encode_find(form_string(fields, "format", "png"));
	bool is_small = strcmp(form_string(fields, "compression", "fast"), "small") == 0;

	if (!encoding)
		return ENCODE_PNG;
	return encoding->format == ENCODE_PNG && is_small ? ENCODE_PNG_SMALL : encoding->format;
}

int display_check_picture(const json_t *fields, struct err *e)
{
	const struct encoding *encoding = encode_of(read_format(fields));
	bool is_named = json_object_get(fields, "format");

	if (json_object_get(fields, "quality") && !encoding->has_quality)
		return err_set(e, ERR_BAD_FIELD, "/quality", "quality is for jpeg and webp: %s has none%s", encoding->name,
		               is_named ? "" : ", and is what comes when no format is named");
	if (json_object_get(fields, "compression") && encoding->format != ENCODE_PNG && encoding->format != ENCODE_PNG_SMALL)
		return err_set(e, ERR_BAD_FIELD, "/compression", "compression is for png: %s has none", encoding->name);
	if (json_object_get(fields, "size") && json_object_get(fields, "space"))
		return err_set(e, ERR_BAD_FIELD, "/size", "space is the scale of the picture, and size how large it is: only one of them is allowed");
	if (json_object_get(fields, "window") && json_object_get(fields, "region"))
		return err_set(e, ERR_BAD_FIELD, "/region", "the picture is of a window or of a region of the screen: only one of them is allowed");
	return display_check_space(fields, "space", e);
}

/* The size in one space of what has this size in another, to the nearest pixel. */
static int scale_size(int size, int from_px, int to_px)
{
	int scaled = (int)(((int64_t)size * to_px * 2 + from_px) / ((int64_t)from_px * 2));

	return scaled > 0 ? scaled : 1;
}

static void read_size(const json_t *size, struct display_request *request)
{
	if (!size)
		return;
	request->out_width = (int)form_int(size, "width", 0);
	request->out_height = (int)form_int(size, "height", 0);
}

static void read_place(const json_t *fields, struct space space, struct space native, struct display_request *request)
{
	struct space scale = display_read_space(fields, "space", native, space);
	const json_t *region = json_object_get(fields, "region"), *size = json_object_get(fields, "size");

	if (!region) {
		request->out_width = scale.width_px;
		request->out_height = scale.height_px;
		read_size(size, request);
		return;
	}
	request->x = (int)form_int(region, "x", 0);
	request->y = (int)form_int(region, "y", 0);
	request->width = (int)form_int(region, "width", 0);
	request->height = (int)form_int(region, "height", 0);
	request->out_width = scale_size(request->width, space.width_px, scale.width_px);
	request->out_height = scale_size(request->height, space.height_px, scale.height_px);
	read_size(size, request);
	space_map_rect(space, native, &request->x, &request->y, &request->width, &request->height);
}

struct display_request display_request_read(const json_t *fields, struct space space, struct space native)
{
	bool is_named = json_object_get(fields, "format");
	struct display_request request = {
		.no_cursor = !form_bool(fields, "cursor", true),
		.format = read_format(fields),
		.quality = (int)form_int(fields, "quality", 0),
		.any_format = !is_named,
		.window = (uint32_t)form_int(fields, "window", 0),
		.scale = display_read_space(fields, "space", native, space),
		.max_bytes = form_int(fields, "max_bytes", is_named ? 0 : LIMIT_PICTURE_USUAL_BYTES),
	};

	if (request.window)
		read_size(json_object_get(fields, "size"), &request);
	else
		read_place(fields, space, native, &request);
	return request;
}

struct display_request display_request_fit(const struct display_request *request, struct rect region, struct space native)
{
	struct display_request fit = *request;

	fit.x = region.x;
	fit.y = region.y;
	fit.width = region.width;
	fit.height = region.height;
	if (fit.out_width == 0) {
		fit.out_width = scale_size(region.width, native.width_px, request->scale.width_px);
		fit.out_height = scale_size(region.height, native.height_px, request->scale.height_px);
	}
	return fit;
}

struct rect display_request_region(const struct display_request *request)
{
	return (struct rect){request->x, request->y, request->width, request->height};
}
