/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of a session's life. */
#include "session/base/util.h"
#include "session/front/operation.h"

/* A session that is ready, without the braces around it. */
#define EXAMPLE_SESSION \
	"\"id\":\"s4v6kq2mzx7hw3pd\",\"state\":\"ready\",\"image\":\"desktop\",\"display\":{\"width\":1280,\"height\":800,\"max_width\":1280," \
	"\"max_height\":800,\"layout\":\"us\",\"gl\":false},\"space\":{\"width\":1280,\"height\":800},\"lease\":{\"holder\":\"agent\"," \
	"\"viewer\":null,\"epoch\":1,\"since\":\"2026-11-30T12:00:00Z\",\"reason\":null,\"kind\":null,\"expires_at\":null},\"apps\":[{\"app\":\"firefox\",\"pid\":41,\"window\":4194311}],\"at\":{\"frame\":11,\"epoch\":1,\"episode\":1}" \
	",\"held\":{\"keys\":[],\"buttons\":[]},\"focus\":{\"known\":true,\"role\":\"entry\",\"password\":false,\"editable\":true,\"terminal\":false,\"app\":\"firefox\"},\"owner\":\"operator\",\"labels\":{\"job\":\"7\"},\"isolation_report\":{\"tier\":\"jail\"," \
	"\"in_force\":[\"memory\",\"pids\",\"cpu\",\"disk\",\"swap_off\",\"freeze\",\"seccomp\",\"handover\"],\"missing\":[],\"weaker\":[]},\"not_in_force\":[" \
	"],\"links\":{\"self\":\"/v1/sessions/s4v6kq2mzx7hw3pd\",\"act\":\"/v1/sessions/s4v6kq2mzx7hw3pd/act\"}" \
	",\"created_at\":\"2026-11-30T12:00:00Z\",\"expires_at\":\"2026-11-30T13:00:00Z\",\"idle_s\":900"
#define EXAMPLE_TOKENS ",\"tokens\":{\"agent\":\"gba_1c9e…\",\"viewer\":\"gbv_77ab…\",\"controller\":\"gbc_03d2…\"}"
static const struct parameter list_query[] = {
	{"state", "string", "states, with commas between them: starting ready paused ending ended failed", "ready,paused"},
	{"owner", "string", "name of the key that made them", "operator"},
	{"image", "string", "that they started from", "desktop"},
	{"label.*", "string", "the value of the label of this name", "7"},
	{"limit", "count", "sessions of a page", "10"},
	{"after", "string", "the last session of the page before: `next` of that", "s4v6kq2mzx7hw3pd"},
};
static const struct said list_said[] = {
	{200, "application/json", "SessionList", NULL, "a page",
	 "{\"sessions\":[{" EXAMPLE_SESSION "}],\"total\":1,\"next\":null}"},
};
const struct operation op_list = {
	.id = "listSessions",
	.tag = "sessions",
	.query = list_query,
	.n_query = ARRAY_LEN(list_query),
	.said = list_said,
	.n_said = ARRAY_LEN(list_said),
};

static const struct said create_said[] = {
	{201, "application/json", "Session|Made", "Location Idempotency-Replayed", "the session, or where the spec has `count` the list of them",
	 "{" EXAMPLE_SESSION EXAMPLE_TOKENS "}"},
};
const struct operation op_create = {
	.id = "createSession",
	.tag = "sessions",
	.body = "Spec",
	.request = "{\"image\":\"desktop\",\"apps\":[\"firefox\"],\"display\":{\"width\":1280,\"height\":800},\"labels\":{\"job\":\"7\"},\"ttl_s\":3600}",
	.said = create_said,
	.n_said = ARRAY_LEN(create_said),
	.errors = "unknown_action unknown_key no_image setup_failed tier_unavailable unsupported quota_exceeded limit_reached session_failed timeout session_gone cancelled",
	.doc = "Closing the connection before the answer ends what was made, unless it came with an Idempotency-Key.",
};

static const struct said show_said[] = {
	{200, "application/json", "Session", NULL, "the session",
	 "{" EXAMPLE_SESSION "}"},
};
const struct operation op_show = {
	.id = "getSession",
	.tag = "sessions",
	.said = show_said,
	.n_said = ARRAY_LEN(show_said),
	.errors = OPERATION_STAGE_ERRORS,
};

static const struct said change_said[] = {
	{200, "application/json", "Session", NULL, "the session as it is now",
	 "{" EXAMPLE_SESSION "}"},
};
const struct operation op_change = {
	.id = "changeSession",
	.tag = "sessions",
	.body = "SpecChange",
	.request = "{\"labels\":{\"owner\":\"Ada\",\"draft\":null},\"ttl_s\":7200}",
	.said = change_said,
	.n_said = ARRAY_LEN(change_said),
	.errors = OPERATION_STAGE_ERRORS OPERATION_LEASE_ERRORS " must_observe display_max conflict journal_full",
	.doc = "Labels are merged one by one (RFC 7396). The size of the display is changed as by the action resize_display.",
};

static const struct said delete_said[] = {
	{204, NULL, NULL, NULL, "its last process is gone",
	 NULL},
};
const struct operation op_delete = {
	.id = "endSession",
	.tag = "sessions",
	.said = delete_said,
	.n_said = ARRAY_LEN(delete_said),
	.errors = "timeout cancelled session_failed lease_held",
};

static const struct said pause_said[] = {
	{200, "application/json", "Session", NULL, "the session, paused",
	 "{" EXAMPLE_SESSION "}"},
};
const struct operation op_pause = {
	.errors = OPERATION_STAGE_ERRORS " unsupported",
	.id = "pauseSession",
	.tag = "sessions",
	.said = pause_said,
	.n_said = ARRAY_LEN(pause_said),
};

static const struct said resume_said[] = {
	{200, "application/json", "Session", NULL, "the session, ready",
	 "{" EXAMPLE_SESSION "}"},
};
const struct operation op_resume = {
	.id = "resumeSession",
	.tag = "sessions",
	.said = resume_said,
	.n_said = ARRAY_LEN(resume_said),
	.errors = OPERATION_STAGE_ERRORS,
};

static const struct said journal_said[] = {
	{200, "application/x-ndjson", "StartLine|ReadyLine|CallLine|IntentLine|ResultLine|ObservationLine|PictureLine|"
	 "PicturesStoppedLine|ApprovalLine|SwitchLine|LeaseLine|WarningLine|SilentLine|ResultCheckLine|FileLine|SetupLine|EgressLine|EgressClosedLine|EgressRestLine|EgressLostLine|"
	 "LimitLine|UsageLine|EndLine", NULL, "the lines so far, a JSON object each",
	 "{\"seq\":1,\"time\":\"2026-11-30T12:00:00.000000Z\",\"mono_ms\":81723,\"event\":\"start\",\"session\":\"s4v6kq2mzx7hw3pd\","
	 "\"epoch\":1,\"episode\":1,\"version\":\"0.2.0\",\"image\":\"desktop\",\"image_hash\":\"b2c1\",\"native\":{\"width\":1280,\"height\":800},"
	 "\"space\":{\"width\":1280,\"height\":800},\"guard\":\"off\",\"spec\":{\"image\":\"desktop\"},\"hash\":\"0000000000000000000000000000000000000000000000000000000000000000\"}\n"},
};
const struct operation op_journal = {
	.id = "getJournal",
	.tag = "sessions",
	.said = journal_said,
	.n_said = ARRAY_LEN(journal_said),
};

static const struct said recording_said[] = {
	{200, "application/octet-stream", NULL, "Content-Disposition",
	 "the records so far, one after another: a header, one line of JSON, and behind it the PNGs of its parts", NULL},
};
const struct operation op_recording = {
	.id = "getRecording",
	.tag = "sessions",
	.said = recording_said,
	.n_said = ARRAY_LEN(recording_said),
};

static const struct said drop_journal_said[] = {{204, NULL, NULL, NULL, "nothing of it is left", NULL}};
const struct operation op_drop_journal = {
	.id = "deleteJournal",
	.tag = "sessions",
	.said = drop_journal_said,
	.n_said = ARRAY_LEN(drop_journal_said),
	.errors = "conflict timeout",
};
