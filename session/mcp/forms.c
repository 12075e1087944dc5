/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tools take and give. */
#include "session/mcp/forms.h"

#include "session/base/limits.h"
#include "session/base/util.h"

#define FORM(name) const struct form name##_form = {name##_fields, ARRAY_LEN(name##_fields), NULL}
#define OUTPUT(name) const struct form name##_output = {name##_out, ARRAY_LEN(name##_out), NULL}
#define FLAG(name, doc) {name, FIELD_BOOL, true, 0, 0, NULL, NULL, NULL, NULL, doc}
#define TEXT(name, required, doc) {name, FIELD_STRING, required, 0, LIMIT_MCP_REPLY_BYTES, NULL, NULL, NULL, NULL, doc}
#define COUNT(name, required, doc) {name, FIELD_INT, required, 0, LIMIT_FRAME, NULL, NULL, NULL, NULL, doc}
#define OBJECT(name, required, doc) {name, FIELD_OBJECT, required, 0, 0, NULL, NULL, NULL, NULL, doc}

static const struct field mcp_look_fields[] = {
	{"look", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "true", "wait for quiet afterwards and send a picture; false: neither"},
};
FORM(mcp_look);

static const struct field mcp_command_fields[] = {
	{"command", FIELD_STRING, false, 1, LIMIT_SPAWN_BYTES, NULL, NULL, NULL, NULL, "a line for sh; either this or argv"},
	{"argv", FIELD_STRINGS, false, 1, LIMIT_SPAWN_STRINGS, NULL, NULL, NULL, NULL, "a program and its arguments, without a shell"},
	{"stdin", FIELD_STRING, false, 0, LIMIT_BODY_BYTES, NULL, NULL, NULL, NULL, "text for its standard input"},
	{"cwd", FIELD_STRING, false, 1, 4096, NULL, NULL, NULL, "\"/home/user\"", "working directory, absolute"},
	{"timeout_ms", FIELD_INT, false, 1, LIMIT_EXEC_MS, NULL, NULL, "ms", "30000", "after which it is killed"},
};
const struct form mcp_command_form = {mcp_command_fields, ARRAY_LEN(mcp_command_fields), "either command or argv"};

static const struct field mcp_read_fields[] = {
	{"path", FIELD_STRING, true, 1, 4096, NULL, NULL, NULL, NULL, "absolute, or from /home/user; in it or in /tmp"},
	{"offset", FIELD_INT, false, 0, LIMIT_FRAME, NULL, NULL, "bytes", "0", "where to begin"},
	{"length", FIELD_INT, false, 4, LIMIT_MCP_READ_BYTES, NULL, NULL, "bytes", "65536", "how much, at most; a picture of up to 2.5 MB is read whole"},
};
FORM(mcp_read);

static const struct field mcp_write_fields[] = {
	{"path", FIELD_STRING, true, 1, 4096, NULL, NULL, NULL, NULL, "absolute, or from /home/user; in it or in /tmp"},
	{"content", FIELD_STRING, true, 0, LIMIT_BODY_BYTES, NULL, NULL, NULL, NULL, "all of the file, as encoding says"},
	{"encoding", FIELD_ENUM, false, 0, 0, "text base64", NULL, NULL, "\"text\"", "how content is written down"},
	{"parents", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "makes the folders on the way that are not there"},
};
FORM(mcp_write);

static const struct field mcp_folder_fields[] = {
	{"path", FIELD_STRING, false, 1, 4096, NULL, NULL, NULL, "\".\"", "absolute, or from /home/user; in it or in /tmp"},
};
FORM(mcp_folder);

static const struct field mcp_list_fields[] = {
	{"ended", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "also those that have ended"},
};
FORM(mcp_list);

const struct form mcp_none_form = {NULL, 0, NULL};

static const struct field mcp_computer_out[] = {
	FLAG("ok", "all actions went well"),
	COUNT("done", true, "how many did"),
	{"results", FIELD_LIST, true, 0, LIMIT_ACTIONS, NULL, NULL, NULL, NULL, "of each action that was begun, in order"},
	OBJECT("observation", false, "settled, elapsed_ms, changed: where pixels changed"),
	OBJECT("at", true, "frame, epoch and episode; to be sent back as seen"),
	OBJECT("space", true, "size of the screen in the pixels of coordinates and pictures"),
	OBJECT("native", false, "size of the display"),
};
OUTPUT(mcp_computer);

static const struct field mcp_command_out[] = {
	COUNT("exit_code", false, "absent when a signal ended it"),
	COUNT("signal", false, "which ended it"),
	TEXT("stdout", true, "what it wrote"),
	TEXT("stderr", true, "what it wrote there"),
	FLAG("timed_out", "it was killed at timeout_ms"),
	FLAG("truncated", "it wrote more than is here"),
	{"limits", FIELD_LIST, false, 0, LIMIT_ACTIONS, NULL, NULL, NULL, NULL, "limits of the session that it met: limit, value, used, fix"},
};
OUTPUT(mcp_command);

static const struct field mcp_entry_fields[] = {
	TEXT("name", true, "in the folder"),
	{"type", FIELD_ENUM, true, 0, 0, "file folder link other", NULL, NULL, NULL, "other: a device, a pipe, a socket"},
	COUNT("size", true, "of a file, bytes"),
};
static const struct form mcp_entry_form = {mcp_entry_fields, ARRAY_LEN(mcp_entry_fields), NULL};
static const struct field mcp_folder_out[] = {
	TEXT("path", true, "as asked"),
	{"entries", FIELD_LIST, true, 0, LIMIT_MCP_ENTRIES, NULL, &mcp_entry_form, NULL, NULL, "by name"},
	{"more", FIELD_BOOL, true, 0, 0, NULL, NULL, NULL, NULL, "there are more"},
	COUNT("not_utf8", false, "entries that are left out, as their names are no UTF-8"),
};
static const struct field mcp_read_out[] = {
	TEXT("path", true, "as asked"),
	COUNT("size", true, "bytes of the whole file"),
	COUNT("offset", true, "where this begins"),
	COUNT("length", true, "bytes of it that are here"),
	FLAG("more", "the file goes on: the next part begins at offset + length"),
	TEXT("media_type", true, "text/plain, of a picture, or application/octet-stream"),
	TEXT("text", false, "the text itself, where it is text"),
};
OUTPUT(mcp_read);
OUTPUT(mcp_folder);

static const struct field mcp_write_out[] = {
	TEXT("path", true, "as asked"),
	COUNT("size", true, "bytes that it has now"),
};
OUTPUT(mcp_write);

#define SESSION_OUT                                                                                \
	TEXT("session_id", true, "its handle: an argument of the other tools"),                     \
	TEXT("state", true, "starting, ready, paused, ending, ended or failed"),                    \
	TEXT("image", true, "what it started from"),                                                \
	OBJECT("display", true, "width and height"),                                                \
	OBJECT("space", true, "size of the screen in the pixels of coordinates and pictures"),      \
	{"apps", FIELD_LIST, true, 0, LIMIT_APPS, NULL, NULL, NULL, NULL, "started with it"},       \
	TEXT("created_at", true, "when it was made"),                                               \
	TEXT("expires_at", true, "when it ends at the latest"),                                     \
	TEXT("reason", false, "why it ended")

static const struct field mcp_session_out[] = {SESSION_OUT};
OUTPUT(mcp_session);

static const struct field mcp_sessions_out[] = {
	{"sessions", FIELD_LIST, true, 0, LIMIT_LIST, NULL, &mcp_session_output, NULL, NULL, "oldest first"},
};
OUTPUT(mcp_sessions);

static const struct field mcp_end_out[] = {
	TEXT("session_id", true, "which"),
	TEXT("state", true, "ended"),
};
OUTPUT(mcp_end);
