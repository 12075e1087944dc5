/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the action table that look. */
#include <sys/param.h>

#include "display/display.h"
#include "session/base/util.h"

static const struct field screenshot_fields[] = {DISPLAY_PICTURE_FIELDS};

static int check_screenshot(void *home, const json_t *args, struct err *e)
{
	(void)home;
	return display_check_picture(args, e);
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
		.region = space_rect(json_object_get(run->args, "region")),
	};
	int64_t until_ms = MIN(util_now_ms() + form_int(run->args, "timeout_ms", DISPLAY_SETTLE_MS), run->deadline_ms);
	bool settled = false;

	if (display_settle(run->home, &quiet, until_ms, &settled, e) < 0)
		return -1;
	json_object_set_new(run->result, "settled", json_boolean(settled));
	return 0;
}

const struct action_row display_rows[] = {
	{
		.name = "screenshot",
		.doc = "A picture of the screen or a part of it, with the pointer drawn.",
		.form = {screenshot_fields, ARRAY_LEN(screenshot_fields), NULL},
		.check = check_screenshot,
		.run = run_screenshot,
		.flags = ACTION_LOOKS | ACTION_WAITS,
	},
	{
		.name = "wait_settled",
		.doc = "Waits until nothing is drawn for a while. At timeout_ms the result says settled: false, which is no failure.",
		.form = {settled_fields, ARRAY_LEN(settled_fields), NULL},
		.run = run_wait_settled,
		.flags = ACTION_WAITS,
	},
};
const size_t display_n_rows = ARRAY_LEN(display_rows);
