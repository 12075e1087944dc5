/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the action table that look. */
#include "display/display.h"
#include "session/base/util.h"

static const struct field screenshot_fields[] = {DISPLAY_PICTURE_FIELDS};

static int check_screenshot(void *home, const json_t *args, struct err *e)
{
	(void)home;
	return display_check_space(args, "space", e);
}

static int run_screenshot(struct action_run *run, struct err *e)
{
	struct display_request request = display_request_read(run->asked, run->space, run->native);
	struct display_picture picture;

	if (display_picture(run->home, &request, &picture, e) < 0)
		return -1;
	json_object_set_new(run->result, "picture", display_picture_json(&picture));
	free(picture.bytes);
	return 0;
}

const struct action_row display_rows[] = {
	{
		.name = "screenshot",
		.doc = "A picture of the screen or a part of it, with the pointer drawn.",
		.form = {screenshot_fields, ARRAY_LEN(screenshot_fields), NULL},
		.check = check_screenshot,
		.run = run_screenshot,
	},
};
const size_t display_n_rows = ARRAY_LEN(display_rows);
