/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations that a session's stage answers. */
#include "session/base/util.h"
#include "session/front/operation.h"

static const struct said act_said[] = {
	{200, "application/json", "ActReply", "Idempotency-Replayed", "the list was begun; `ok` says whether all of it went well",
	 "{\"ok\":true,\"done\":2,\"results\":[{\"ok\":true,\"elapsed_ms\":2},{\"ok\":true,\"elapsed_ms\":9,\"delivered\":12}],\"observation\":{"
	 "\"settled\":true,\"elapsed_ms\":231,\"changed\":[{\"x\":560,\"y\":384,\"width\":160,\"height\":48}],\"native\":{\"width\":1280,"
	 "\"height\":800},\"space\":{\"width\":1280,\"height\":800},\"picture\":{\"format\":\"png\",\"width\":1280,\"height\":800,"
	 "\"data\":\"iVBORw0KGgo=\"},\"at\":{\"frame\":14,\"epoch\":1,\"episode\":1}},\"at\":{\"frame\":14,\"epoch\":1,\"episode\":1}"
	 ",\"space\":{\"width\":1280,\"height\":800},\"native\":{\"width\":1280,\"height\":800}}"},
};
const struct operation op_act = {
	.id = "act",
	.tag = "calls",
	.body = "Act",
	.request = "{\"actions\":[{\"action\":\"click\",\"x\":590,\"y\":405},{\"action\":\"type\",\"text\":\"Hello, world\"}],\"observe\":true}",
	.said = act_said,
	.n_said = ARRAY_LEN(act_said),
	.errors = OPERATION_STAGE_ERRORS OPERATION_LEASE_ERRORS " must_observe unknown_action unknown_key conflict stale_target stale_epoch stale_episode display_max journal_full unauthorized input_failed unsupported denied approval_pending waiting_for_approval sensitive_field secret_refused",
	.doc = "The whole list is checked before its first event: 4xx and 5xx mean that nothing happened. Closing the connection cancels "
		"the call.",
};

static const struct parameter computer_query[] = {
	{"dialect", "string", "the vendor's form, by name; absent: known by its shape", "computer_toolset_20260801"},
};
static const struct said computer_said[] = {
	{200, "application/json", "any", "Idempotency-Replayed", "what the vendor's loop gives back to the model, also when the model was wrong",
	 "{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_01\",\"toolset_name\":\"computer\",\"content\":[{\"type\":\"text\",\"text\":\"Clicked.\"}]}"},
};
const struct operation op_computer = {
	.id = "computer",
	.tag = "calls",
	.query = computer_query,
	.n_query = ARRAY_LEN(computer_query),
	.body = "any",
	.request = "{\"type\":\"tool_use\",\"id\":\"toolu_01\",\"name\":\"left_click\",\"toolset_name\":\"computer\",\"input\":{\"coordinate\":[590,405]}}",
	.said = computer_said,
	.n_said = ARRAY_LEN(computer_said),
	.errors = OPERATION_STAGE_ERRORS OPERATION_LEASE_ERRORS " must_observe unknown_action unknown_key conflict stale_target stale_epoch stale_episode display_max journal_full unauthorized input_failed unsupported confirmation_required denied approval_pending waiting_for_approval sensitive_field secret_refused",
	.doc = "What the model wrote wrong is answered in the form of its vendor with status 200; what the harness wrote wrong is refused.",
};

static const struct said cancel_said[] = {
	{200, "application/json", "Cancelled", NULL, "what was found",
	 "{\"cancelled\":true}"},
};
const struct operation op_cancel = {
	.id = "cancelCall",
	.tag = "calls",
	.said = cancel_said,
	.n_said = ARRAY_LEN(cancel_said),
	.errors = OPERATION_STAGE_ERRORS OPERATION_LEASE_ERRORS,
};

static const struct said events_said[] = {
	{200, "text/event-stream", "start StartLine, ready ReadyLine, call CallLine, intent IntentLine, result ResultLine, observation ObservationLine, "
		"pictures_stopped PicturesStoppedLine, approval ApprovalLine, paused SwitchLine, resumed SwitchLine, result_check ResultCheckLine, file FileLine, setup SetupLine, failed EndLine, end EndLine, "
		"lease LeaseLine, warning WarningLine, display_silent SilentLine, egress EgressLine, egress_closed EgressClosedLine, egress_rest EgressRestLine, egress_lost EgressLostLine, "
		"limit LimitLine, usage UsageLine, gap EventGap", "X-Accel-Buffering", "the lines of the journal as they are written",
	 "id: 7\nevent: intent\ndata: {\"seq\":7,\"time\":\"2026-11-30T12:00:09.123456Z\",\"mono_ms\":90846,\"event\":\"intent\","
	 "\"actor\":{\"role\":\"agent\",\"token\":\"t4k2\"},\"request\":\"r1f2e3d4c5b6a7988\",\"epoch\":1,\"episode\":1,\"frame\":11,"
	 "\"index\":0,\"space\":{\"width\":1280,\"height\":800},\"action\":{\"action\":\"click\",\"x\":590,\"y\":405}}\n\n"},
};
const struct operation op_events = {
	.id = "streamEvents",
	.tag = "streams",
	.headers = "Last-Event-ID",
	.said = events_said,
	.n_said = ARRAY_LEN(events_said),
	.errors = OPERATION_STAGE_ERRORS,
};

static const struct parameter screenshot_query[] = {
	{"format", "ScreenshotAction/properties/format", NULL, "jpeg"},
	{"quality", "ScreenshotAction/properties/quality", NULL, "60"},
	{"compression", "ScreenshotAction/properties/compression", NULL, NULL},
	{"max_bytes", "ScreenshotAction/properties/max_bytes", NULL, NULL},
	{"region", "string", "x,y,width,height of a part of the screen, in your space", "0,0,400,300"},
	{"window", "ScreenshotAction/properties/window", NULL, NULL},
	{"space", "string", "scale of the picture: native, or WIDTHxHEIGHT of the whole screen; absent is your space", "native"},
	{"size", "string", "WIDTHxHEIGHT of the picture itself, in place of a scale", NULL},
	{"cursor", "boolean", "draw the pointer", "false"},
};
static const struct said screenshot_said[] = {
	{200, "image/png image/jpeg image/webp application/octet-stream", NULL, "ETag Glovebox-At Glovebox-Space Glovebox-Native Glovebox-Size Glovebox-Fallback Glovebox-Region Glovebox-Covered Content-Disposition", "the picture",
	 NULL},
	{304, NULL, NULL, "ETag Glovebox-At Glovebox-Space Glovebox-Native Glovebox-Size Glovebox-Fallback Glovebox-Region Glovebox-Covered Content-Disposition", "nothing of this picture has changed",
	 NULL},
};
const struct operation op_screenshot = {
	.id = "getScreenshot",
	.tag = "calls",
	.query = screenshot_query,
	.n_query = ARRAY_LEN(screenshot_query),
	.headers = "If-None-Match",
	.said = screenshot_said,
	.n_said = ARRAY_LEN(screenshot_said),
	.errors = OPERATION_STAGE_ERRORS OPERATION_LEASE_ERRORS " conflict",
};

static const struct said thumbnail_said[] = {
	{200, "image/jpeg", NULL, "ETag", "the whole screen, at most 480 pixels wide, without the pointer",
	 NULL},
	{304, NULL, NULL, "ETag", "nothing of it has changed",
	 NULL},
};
const struct operation op_thumbnail = {
	.id = "getThumbnail",
	.tag = "console",
	.headers = "If-None-Match",
	.said = thumbnail_said,
	.n_said = ARRAY_LEN(thumbnail_said),
	.errors = OPERATION_STAGE_ERRORS OPERATION_LEASE_ERRORS,
	.doc = "It is for people who watch, and counts as nobody's look.",
};

static const struct parameter stream_query[] = {
	{"format", "ScreenshotAction/properties/format", NULL, "jpeg"},
	{"quality", "ScreenshotAction/properties/quality", NULL, "60"},
	{"region", "string", "x,y,width,height of a part of the screen, in your space", "0,0,400,300"},
	{"space", "string", "scale of the picture: native, or WIDTHxHEIGHT of the whole screen; absent is your space", "native"},
	{"cursor", "boolean", "draw the pointer", "false"},
	{"max_fps", "count", "frames in a second at most", "10"},
};
static const struct said stream_said[] = {
	{200, "text/event-stream", "frame StreamFrame, end StreamEnd", "X-Accel-Buffering", "the picture, then what changes in it",
	 "id: 14\nevent: frame\ndata: {\"at\":{\"frame\":14,\"epoch\":1,\"episode\":1},\"space\":{\"width\":1280,\"height\":800}"
	 ",\"native\":{\"width\":1280,\"height\":800},\"width\":1280,\"height\":800,\"whole\":true,\"tiles\":[{\"x\":0,\"y\":0,\"width\":1280,"
	 "\"height\":800,\"format\":\"png\",\"data\":\"iVBORw0KGgo=\"}]}\n\n"},
};
const struct operation op_stream = {
	.id = "streamPicture",
	.tag = "streams",
	.query = stream_query,
	.n_query = ARRAY_LEN(stream_query),
	.said = stream_said,
	.n_said = ARRAY_LEN(stream_said),
	.errors = OPERATION_STAGE_ERRORS OPERATION_LEASE_ERRORS,
};

#define LEASE_EXAMPLE(holder) \
	"{\"holder\":\"" holder "\",\"viewer\":null,\"epoch\":2,\"since\":\"2026-11-30T12:00:00Z\",\"reason\":\"Please sign in to the shop\"," \
	"\"kind\":\"login\",\"expires_at\":null}"

static const struct parameter lease_query[] = {
	{"wait_epoch", "count", "wait until the epoch is past this one", "1"},
	{"timeout_ms", "count", "but no longer than this, at most 300000; absent: 60000", "10"},
};
static const struct said lease_said[] = {{200, "application/json", "Lease", NULL, "as it stands", LEASE_EXAMPLE("nobody")}};
const struct operation op_lease = {
	.id = "getLease",
	.tag = "calls",
	.query = lease_query,
	.n_query = ARRAY_LEN(lease_query),
	.said = lease_said,
	.n_said = ARRAY_LEN(lease_said),
	.errors = OPERATION_STAGE_ERRORS " limit_reached",
	.doc = "An answer whose epoch is not past wait_epoch says that nothing has changed until timeout_ms.",
};

static const struct said changed_said[] = {{200, "application/json", "Lease", NULL, "as it stands then", LEASE_EXAMPLE("human")}};
const struct operation op_change_lease = {
	.id = "changeLease",
	.tag = "calls",
	.body = "LeaseChange",
	.request = "{\"action\":\"take\",\"kind\":\"captcha\"}",
	.said = changed_said,
	.n_said = ARRAY_LEN(changed_said),
	.errors = OPERATION_STAGE_ERRORS " conflict lease_held",
	.doc = "take, give and extend are for people (controller, owner, operator), clear for the owner and the operator, withdraw for the agent that asked. A take is answered when "
		"what runs has been stopped, keys and buttons are let go of, and the agent's own programs stand still or are ended.",
};
