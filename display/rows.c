/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the action table that look. */
#include <sys/param.h>

#include "display/display.h"
#include "session/base/util.h"

static const struct field screenshot_fields[] = {
	DISPLAY_PICTURE_FIELDS,
	{"window", FIELD_INT, false, 1, UINT32_MAX, NULL, NULL, NULL, NULL,
	 "this window alone, with its frame, menus and dialogs, in place of a region; what is not its own is a flat colour"},
};

static int check_screenshot(void *home, const json_t *args, struct err *e)
{
	(void)home;
	return display_check_picture(args, e);
}

static json_t *rect_in_space(const struct action_run *run, struct rect rect)
{
	space_map_rect(run->native, run->space, &rect.x, &rect.y, &rect.width, &rect.height);
	return json_pack("{s:i,s:i,s:i,s:i}", "x", rect.x, "y", rect.y, "width", rect.width, "height", rect.height);
}

/* Where on the screen it is, and what of it cannot be seen. */
static void tell_part(const struct action_run *run, const struct part *part)
{
	json_t *covered = json_array(), *windows = json_array();

	for (size_t i = 0; i < part->n_covered; i++)
		json_array_append_new(covered, rect_in_space(run, part->covered[i]));
	for (size_t i = 0; i < part->n_windows; i++)
		json_array_append_new(windows, json_integer(part->windows[i]));
	json_object_set_new(run->result, "region", rect_in_space(run, part->region));
	json_object_set_new(run->result, "covered", covered);
	json_object_set_new(run->result, "windows", windows);
}

static int run_screenshot(struct action_run *run, struct err *e)
{
	struct display_request request = display_request_read(run->asked, run->space, run->native);
	struct display_picture picture;
	json_t *object;
	int rc;

	if (display_picture(run->home, &request, &picture, e) < 0)
		return -1;
	rc = display_picture_json(&picture, &object, e);
	if (rc == 0) {
		json_object_set_new(run->result, "frame", json_integer((json_int_t)picture.frame));
		json_object_set_new(run->result, "picture", object);
		if (picture.part)
			tell_part(run, picture.part);
	}
	display_picture_drop(&picture);
	return rc;
}

static const struct field settled_fields[] = {
	DISPLAY_QUIET_FIELDS,
	{"region", FIELD_RECT, false, 0, 0, NULL, NULL, NULL, NULL, "only what is drawn here counts; absent is all of the screen"},
};

/* A screen that never rests is no failure: the result says so. */
static int run_wait_settled(struct action_run *run, struct err *e)
{
	const struct display_quiet quiet = {
		.quiet_ms = (int)form_int(run->args, "quiet_ms", DISPLAY_QUIET_MS),
		.since_ms = run->acted_ms,
		.region = space_rect(json_object_get(run->args, "region")),
	};
	int64_t until_ms = MIN(util_now_ms() + form_int(run->args, "timeout_ms", DISPLAY_SETTLE_MS), run->deadline_ms);
	bool settled = false;

	if (display_settle(run->home, &quiet, until_ms, &settled, e) < 0)
		return -1;
	json_object_set_new(run->result, "settled", json_boolean(settled));
	return 0;
}

static const struct field resize_fields[] = {
	{"width", FIELD_INT, true, LIMIT_SIDE_MIN_PX, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "of the display itself"},
	{"height", FIELD_INT, true, LIMIT_SIDE_MIN_PX, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "of the display itself"},
};

static struct space read_resize(const json_t *args)
{
	return (struct space){(int)form_int(args, "width", 0), (int)form_int(args, "height", 0)};
}

static int check_resize(void *home, const json_t *args, struct err *e)
{
	return home ? display_check_size(home, read_resize(args), e) : 0;
}

static int run_resize(struct action_run *run, struct err *e)
{
	bool settled = false;
	int rc = display_resize(run->home, read_resize(run->args), run->deadline_ms, &settled, e);
	struct space native = display_native(run->home);

	json_object_set_new(run->result, "width", json_integer(native.width_px));
	json_object_set_new(run->result, "height", json_integer(native.height_px));
	if (rc == 0)
		json_object_set_new(run->result, "settled", json_boolean(settled));
	return rc;
}

static const struct member picture_members[] = {
	{"format", "=png jpeg webp raw", "what it is"},
	{"width", "count", "of the picture itself (px)"},
	{"height", "count", "of the picture itself (px)"},
	{"quality?", "count", "of jpeg and webp"},
	{"data", "base64", "the encoded picture"},
	{"fallback?", "PictureFallback", "it is not as it was asked for"},
};
static const struct member fallback_members[] = {
	{"reason", "=max_bytes", "why"},
	{"max_bytes", "count", "that it had to fit"},
	{"asked", "PictureAsked", "what it would have been"},
};
static const struct member asked_members[] = {
	{"format", "=png jpeg webp raw", "what was asked for"},
	{"width", "count", "of the picture itself (px)"},
	{"height", "count", "of the picture itself (px)"},
	{"quality?", "count", "of jpeg and webp"},
};
const struct shape display_shapes[] = {
	{"Picture", "A picture of the screen.", MEMBERS(picture_members)},
	{"PictureFallback", "A picture that would have had too many bytes was made to fit.", MEMBERS(fallback_members)},
	{"PictureAsked", "A picture that was not to be had.", MEMBERS(asked_members)},
};
const size_t display_n_shapes = ARRAY_LEN(display_shapes);

static const struct member screenshot_told[] = {
	{"frame", "count", "that it shows"},
	{"picture", "Picture|null", "the picture; null: in the reply to a call that was sent again, when the screen has changed since"},
	{"reason?", "string", "why there is none"},
	{"region?", "Rect", "of a window alone: the part of the screen that the picture is of, in your space"},
	{"covered?", "Rect[]", "where in it something else lies over the window: flat in the picture"},
	{"windows?", "count[]", "what is in it: the window, its menus and its dialogs"},
};
static const struct member settled_told[] = {{"settled", "boolean", "was nothing drawn for so long?"}};

static const struct member resize_told[] = {
	{"width", "count", "of the display (px)"},
	{"height", "count", "of the display (px)"},
	{"settled", "boolean", "have the window manager and the windows followed?"},
};

const struct action_row display_rows[] = {
	{
		.name = "screenshot",
		.doc = "A picture of the screen, a part of it or one window, with the pointer drawn.",
		.form = {screenshot_fields, ARRAY_LEN(screenshot_fields), NULL},
		.check = check_screenshot,
		.run = run_screenshot,
		.lease = ACTION_ACTS,
		.flags = ACTION_LOOKS | ACTION_WAITS,
		.result = MEMBERS(screenshot_told),
		.example = "{\"action\":\"screenshot\",\"format\":\"png\",\"region\":{\"x\":0,\"y\":0,\"width\":400,\"height\":300}}",
		.example_result = "{\"frame\":11,\"picture\":{\"format\":\"png\",\"width\":400,\"height\":300,\"data\":\"iVBORw0KGgo=\"}}",
	},
	{
		.name = "wait_settled",
		.doc = "Waits until nothing is drawn for a while. At timeout_ms the result says settled: false, which is no failure.",
		.form = {settled_fields, ARRAY_LEN(settled_fields), NULL},
		.run = run_wait_settled,
		.lease = ACTION_ACTS,
		.flags = ACTION_WAITS,
		.result = MEMBERS(settled_told),
		.example = "{\"action\":\"wait_settled\",\"quiet_ms\":200,\"timeout_ms\":3000}",
		.example_result = "{\"settled\":true}",
	},
	{
		.name = "resize_display",
		.doc = "Gives the display another size, up to max_width and max_height of the session; what comes after it in the list is in the new one.",
		.form = {resize_fields, ARRAY_LEN(resize_fields), NULL},
		.check = check_resize,
		.run = run_resize,
		.lease = ACTION_ACTS,
		.flags = ACTION_RESIZES,
		.result = MEMBERS(resize_told),
		.example = "{\"action\":\"resize_display\",\"width\":1280,\"height\":800}",
		.example_result = "{\"width\":1280,\"height\":800,\"settled\":true}",
	},
};
const size_t display_n_rows = ARRAY_LEN(display_rows);
