/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Observations. */
#include "session/stage/observe.h"

#include <string.h>
#include <sys/param.h>

#include "session/base/problem.h"
#include "session/base/util.h"

static size_t read_masks(const struct observe *ask, struct space native, struct rect masks[LIMIT_MASKS])
{
	const json_t *mask;
	size_t i;

	json_array_foreach(json_object_get(ask->wanted, "mask"), i, mask) {
		masks[i] = space_rect(mask);
		space_map_rect(ask->space, native, &masks[i].x, &masks[i].y, &masks[i].width, &masks[i].height);
	}
	return i;
}

static int settle(struct stage *stage, const struct observe *ask, json_t *observation, struct err *e)
{
	struct rect masks[LIMIT_MASKS];
	const struct display_quiet quiet = {
		.quiet_ms = (int)form_int(ask->wanted, "quiet_ms", DISPLAY_QUIET_MS),
		.since_ms = stage->acted_ms,
		.masks = masks,
		.n_masks = read_masks(ask, stage->native, masks),
	};
	int64_t start_ms = util_now_ms();
	int64_t until_ms = MIN(ask->deadline_ms, start_ms + form_int(ask->wanted, "timeout_ms", DISPLAY_SETTLE_MS));
	bool settled = false;
	int rc = display_settle(stage->display, &quiet, until_ms, &settled, e);

	json_object_set_new(observation, "settled", json_boolean(settled));
	json_object_set_new(observation, "elapsed_ms", json_integer(util_now_ms() - start_ms));
	return rc;
}

static int add_picture(struct stage *stage, const struct observe *ask, json_t *observation, uint64_t *frame, struct err *e)
{
	struct display_request request = display_request_read(ask->wanted, ask->space, stage->native);
	struct display_picture picture;
	json_t *object;
	int rc;

	if (display_picture(stage->display, &request, &picture, e) < 0)
		return -1;
	rc = display_picture_json(&picture, &object, e);
	if (rc == 0) {
		*frame = picture.frame;
		guard_note(stage, ask->call, picture.frame, display_request_region(&request));
		json_object_set_new(observation, "picture", object);
	}
	display_picture_drop(&picture);
	return rc;
}

static json_t *changed(const struct stage *stage, const struct observe *ask)
{
	struct rect list[LIMIT_CHANGED];
	size_t n = display_changes(stage->display, ask->since, list, LIMIT_CHANGED);
	json_t *changes = json_array();

	for (size_t i = 0; i < n; i++) {
		struct rect *r = &list[i];

		space_cover_rect(stage->native, ask->space, r);
		json_array_append_new(changes, json_pack("{s:i,s:i,s:i,s:i}", "x", r->x, "y", r->y, "width", r->width, "height", r->height));
	}
	return changes;
}

int observe_run(struct stage *stage, const struct observe *ask, json_t **out, uint64_t *frame, struct err *e)
{
	bool inline_picture = ask->with_picture || strcmp(form_string(ask->wanted, "picture", "inline"), "inline") == 0;
	json_t *observation = json_pack("{s:b,s:i,s:[],s:o,s:o}", "settled", 0, "elapsed_ms", 0, "changed", "native",
	                                space_json(stage->native), "space", space_json(ask->space));
	int rc = settle(stage, ask, observation, e);

	*frame = display_frame(stage->display);
	if (rc == 0 && inline_picture)
		rc = add_picture(stage, ask, observation, frame, e);
	if (rc < 0)
		json_object_set_new(observation, "error", problem_create(e, ask->call->request_id));
	json_object_set_new(observation, "changed", changed(stage, ask));
	json_object_set_new(observation, "at", stage_at(stage, *frame));
	*out = observation;
	return rc;
}
