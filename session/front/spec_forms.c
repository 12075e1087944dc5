/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session spec as forms: what it may hold, in this version and in later ones. */
#include "session/front/spec.h"

#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/policy/policy.h"

#define SIDE(name, fallback, doc) {name, FIELD_INT, false, LIMIT_SIDE_MIN_PX, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", fallback, doc}

static const struct field display_fields[] = {
	SIDE("width", "1280", "width at the start"),
	SIDE("height", "800", "height at the start"),
	SIDE("max_width", NULL, "the most it can be resized to; as at the start if absent"),
	SIDE("max_height", NULL, "the most it can be resized to; as at the start if absent"),
	{"layout", FIELD_STRING, false, 1, 64, NULL, NULL, NULL, "\"us\"", "keyboard layout"},
	{"gl", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "GLX in the X server"},
};
static const struct form display_form = {display_fields, ARRAY_LEN(display_fields), "max_width and max_height are not below the size"};

static const struct field caps_fields[] = {
	{"connections", FIELD_INT, false, 1, LIMIT_EGRESS_CONNECTIONS, NULL, NULL, NULL, NULL, "open at once; absent: as many as there can be"},
	{"bytes_s", FIELD_INT, false, 1024, LIMIT_EGRESS_BYTES, NULL, NULL, "bytes/s", NULL, "both ways together; absent: as fast as it goes"},
	{"bytes", FIELD_INT, false, 1, LIMIT_EGRESS_BYTES, NULL, NULL, "bytes", NULL, "both ways together in the session's life; absent: without end"},
};
static const struct form caps_form = {caps_fields, ARRAY_LEN(caps_fields), NULL};

static const struct field egress_fields[] = {
	{"mode", FIELD_ENUM, false, 0, 0, "none allowlist open", NULL, NULL, "\"none\"",
	 "what may be reached outside: nothing, the hosts of the list, or all public addresses"},
	{"allow", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, "[]", "the list: HOST, HOST:PORT, *.SUFFIX, or objects; an empty one lets nothing through"},
	{"caps", FIELD_OBJECT, false, 0, 0, NULL, &caps_form, NULL, NULL, "how much of it"},
};
static const struct form egress_form = {egress_fields, ARRAY_LEN(egress_fields), NULL};

static const struct field limits_fields[] = {
	{"cpu", FIELD_NUMBER, false, LIMIT_CPU_MIN_MILLI / 1000.0, 64, NULL, NULL, "CPUs", "2.0", "processor time"},
	{"memory_mb", FIELD_INT, false, LIMIT_MEMORY_MIN_MB, 262144, NULL, NULL, "MiB", "3072", "memory of the app jail"},
	{"pids", FIELD_INT, false, LIMIT_PIDS_MIN, 32768, NULL, NULL, NULL, "2048", "processes and threads"},
	{"disk_mb", FIELD_INT, false, LIMIT_DISK_MIN_MB, 131072, NULL, NULL, "MiB", NULL, "files, wherever they lie; they are in memory: at most half of memory_mb"},
	{"inodes", FIELD_INT, false, LIMIT_INODES_MIN, 16777216, NULL, NULL, NULL, "65536", "files and folders, however small"},
	{"open_files", FIELD_INT, false, LIMIT_OPEN_FILES_MIN, 1048576, NULL, NULL, NULL, "8192", "files and sockets that one process has open"},
	{"x_mb", FIELD_INT, false, LIMIT_X_MIN_MB, 16384, NULL, NULL, "MiB", "800", "the X server: windows and pictures that programs keep in it"},
	{"exec_ms", FIELD_INT, false, 1, LIMIT_EXEC_MS, NULL, NULL, "ms", "120000", "the longest that one command may run"},
};
const struct form spec_limits_form = {limits_fields, ARRAY_LEN(limits_fields), "disk_mb is at most half of memory_mb"};

static const struct field setup_fields[] = {
	{"commands", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, "[]", "a list: each is a line for sh, or a list of a program and its arguments; they run before apps are started and tokens given out"},
	{"secrets", FIELD_MAP, false, 0, LIMIT_SECRETS, NULL, NULL, NULL, "{}", "variables of their environment, and the stored secrets that these have: of those that the spec names"},
	{"timeout_s", FIELD_INT, false, 1, LIMIT_SETUP_S, NULL, NULL, "s", "300", "all of them together"},
	{"egress", FIELD_OBJECT, false, 0, 0, NULL, &egress_form, NULL, "{}", "what these may reach"},
};
static const struct form setup_form = {setup_fields, ARRAY_LEN(setup_fields), NULL};

static const struct field record_fields[] = {
	{"pictures", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "true", "the journal keeps a picture before and after each action"},
	{"text", FIELD_ENUM, false, 0, 0, "plain none always", NULL, NULL, "\"plain\"",
	 "typed text in the journal: plain keeps what is known to be no password, always also what nobody knows of, none the length alone"},
	{"nodes", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "true", "the journal says what clicks and keys met: role and label"},
};
static const struct form record_form = {record_fields, ARRAY_LEN(record_fields), NULL};

static const struct field lost_fields[] = {
	{"return_after_s", FIELD_INT, true, 1, LIMIT_TTL_S, NULL, NULL, "s", NULL, "the agent gets them back after this time"},
};
static const struct form lost_form = {lost_fields, ARRAY_LEN(lost_fields), NULL};

#define CHECK(name, fallback, doc) {name, FIELD_ENUM, false, 0, 0, "mask alert allow", NULL, NULL, fallback, doc}
static const struct field results_fields[] = {
	CHECK("private_keys", "\"mask\"", "PEM blocks of private keys"),
	CHECK("cloud_keys", "\"mask\"", "keys of cloud services, by what they begin with"),
	CHECK("cards", "\"alert\"", "numbers of payment cards: 13 to 19 digits whose check digit is right"),
};
static const struct form results_form = {results_fields, ARRAY_LEN(results_fields), "mask hides them, alert notes them in the journal, allow does neither"};

static const struct field spec_fields[] = {
	{"image", FIELD_STRING, false, 1, IMAGE_NAME_SIZE - 1, NULL, NULL, NULL, "\"desktop\"", "the image to start from"},
	{"display", FIELD_OBJECT, false, 0, 0, NULL, &display_form, NULL, "{}", "the virtual display"},
	{"space", FIELD_OBJECT, false, 0, 0, NULL, &form_space, NULL, NULL, "pixels of pictures and coordinates; if absent the display's, as far as models take them, also when that is resized"},
	{"guard", FIELD_ENUM, false, 0, 0, "off last", NULL, NULL, "\"off\"", "refuse acts on a picture that has changed"},
	{"lease", FIELD_ENUM, false, 0, 0, "agent human", NULL, NULL, "\"agent\"", "who holds the controls at the start"},
	{"on_lost", FIELD_OBJECT, false, 0, 0, NULL, &lost_form, NULL, NULL, "what becomes of controls that a person has lost; absent: they wait for a person"},
	{"apps", FIELD_STRINGS, false, 0, LIMIT_APPS, NULL, NULL, NULL, "[]", "catalogue apps to start"},
	{"accessibility", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "true", "apps are asked what is on the screen: tree, and which field has the focus"},
	{"env", FIELD_MAP, false, 0, LIMIT_ENV_ENTRIES, NULL, NULL, NULL, "{}", "environment of apps and commands"},
	{"labels", FIELD_MAP, false, 0, LIMIT_LABELS, NULL, NULL, NULL, "{}", "labels, shown in lists"},
	{"ttl_s", FIELD_INT, false, 1, LIMIT_TTL_S, NULL, NULL, "s", "3600", "the session ends after this time"},
	{"idle_s", FIELD_INT, false, 0, LIMIT_TTL_S, NULL, NULL, "s", "900", "and when no agent called for this time; 0: it does not"},
	{"isolation", FIELD_ENUM, false, 0, 0, "jail vm external", NULL, NULL, "\"jail\"", "the wall around it"},
	{"filesystem", FIELD_ENUM, false, 0, 0, "workspace readonly", NULL, NULL, "\"workspace\"", "writable until the end, or not"},
	{"egress", FIELD_OBJECT, false, 0, 0, NULL, &egress_form, NULL, "{}", "the way out"},
	{"limits", FIELD_OBJECT, false, 0, 0, NULL, &spec_limits_form, NULL, "{}", "limits of the app jail"},
	{"approval", FIELD_OBJECT, false, 0, 0, NULL, &policy_form, NULL, "{}", "when a person is asked"},
	{"secrets", FIELD_STRINGS, false, 0, LIMIT_SECRETS, NULL, NULL, NULL, "[]", "names of stored secrets: type_secret types them, or egress puts them into requests; they are masked in what it says"},
	{"results", FIELD_OBJECT, false, 0, 0, NULL, &results_form, NULL, "{}", "what becomes of keys and numbers of cards in what it says"},
	{"setup", FIELD_OBJECT, false, 0, 0, NULL, &setup_form, NULL, "{}", "the phase before the agent"},
	{"record", FIELD_OBJECT, false, 0, 0, NULL, &record_form, NULL, "{}", "what the journal keeps"},
};
const struct form spec_form = {spec_fields, ARRAY_LEN(spec_fields), NULL};

static const struct field count_fields[] = {
	{"count", FIELD_INT, false, 1, LIMIT_COUNT, NULL, NULL, NULL, NULL, "make so many, all or none; the answer is then a list"},
};
const struct form spec_count_form = {count_fields, ARRAY_LEN(count_fields), NULL};
