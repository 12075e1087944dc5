/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small pictures for people. */
#include "session/stage/thumbnail.h"

#include <string.h>

#include "session/base/util.h"

#define WIDTH_PX 480
#define QUALITY 60

/* All of the screen, and no wider than WIDTH_PX. */
static struct display_request request_of(struct space native)
{
	struct display_request request = {.out_width = native.width_px, .out_height = native.height_px, .no_cursor = true, .format = ENCODE_JPEG,
	                                  .quality = QUALITY};

	if (native.width_px > WIDTH_PX) {
		request.out_width = WIDTH_PX;
		request.out_height = native.height_px * WIDTH_PX / native.width_px;
	}
	if (request.out_height < 1)
		request.out_height = 1;
	return request;
}

static int take(struct stage *stage, struct display_picture *picture, struct err *e)
{
	const struct display_request request = request_of(stage->native);

	if (display_picture(stage->display, &request, picture, e) < 0)
		return -1;
	/* It may have waited for others' pictures. */
	if (stage_check_ready(stage, e) == 0)
		return 0;
	display_picture_drop(picture);
	return -1;
}

void thumbnail_call(struct stage *stage, struct call *call)
{
	struct display_picture picture;
	struct err e;

	if (take(stage, &picture, &e) < 0) {
		call_refuse(call, &e);
		return;
	}
	auto_free char *tag = util_printf("\"t%llu.%ld.%ld\"", (unsigned long long)picture.made, stage->epoch, stage->episode);
	json_auto_t *headers = json_pack("{s:s}", "ETag", tag);
	const char *known = form_string(call->query, "if_none_match", "");
	bool is_known = strcmp(known, "*") == 0 || strstr(known, tag);

	call_reply(call, is_known ? 304 : 200, encode_of(picture.format)->media_type, headers, picture.bytes->data, is_known ? 0 : picture.bytes->len);
	display_picture_drop(&picture);
}
