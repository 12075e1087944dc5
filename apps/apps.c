/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of apps/, its rows, and the door of glovebox-launch. */
#include "apps/apps.h"

#include <signal.h>
#include <string.h>

#include "apps/state.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/base/x/xauth.h"

static void on_event(void *arg, const xcb_generic_event_t *event)
{
	struct apps *apps = arg;
	const xcb_property_notify_event_t *property = (const xcb_property_notify_event_t *)event;

	if ((event->response_type & 0x7F) != XCB_PROPERTY_NOTIFY || property->window != apps->x->root ||
	    (property->atom != apps->client_list && property->atom != apps->active_window))
		return;
	apps->changes++;
	co_signal(&apps->changed);
	if (property->atom == apps->active_window)
		access_moved(&apps->access);
}

static void on_gone(void *arg)
{
	struct apps *apps = arg;

	if (apps->ops.init_gone)
		apps->ops.init_gone(apps->ops.arg);
}

static void apps_free(struct apps *apps)
{
	launch_sweep(apps, true);
	access_finish(&apps->access);
	wm_finish(&apps->wm);
	way_out_finish(apps);
	pipe_reader_finish(&apps->bus_address);
	spawner_release(apps->bus);
	spawner_destroy(apps->spawner);
	owner_close(&apps->proc);
	environment_finish(&apps->environment);
	catalogue_finish(&apps->catalogue);
	free(apps);
}

void apps_rest(struct apps *apps)
{
	if (apps->destroyed && !apps->calls && !apps->relay_keeper && access_rests(&apps->access))
		apps_free(apps);
}

static void end_call(struct door_call *call)
{
	struct apps *apps = call->apps;
	struct door_call **place = &apps->calls;

	while (*place != call)
		place = &(*place)->next;
	*place = call->next;
	free(call);
	apps_rest(apps);
}

static void serve_call(void *arg)
{
	struct door_call *call = arg;
	json_auto_t *result = json_object();
	struct err e;
	bool ok = apps_launch(call->apps, call->launch.name, NULL, util_now_ms() + LIMIT_LAUNCH_MS, result, &e) == 0;

	spawner_answer(call->apps->spawner, call->launch.ticket, ok, ok ? "" : e.msg);
	end_call(call);
}

/* Init holds no more than LIMIT_DOOR callers, but it is not to be trusted in that. */
static void on_launch(void *arg, const struct init_launch *launch)
{
	struct apps *apps = arg;
	struct door_call *call;
	size_t n = 0;

	if (apps->is_shut) {
		spawner_answer(apps->spawner, launch->ticket, false, "no app is started in the setup phase: they start behind it");
		return;
	}
	for (call = apps->calls; call; call = call->next)
		n++;
	if (n >= LIMIT_DOOR) {
		log_debug("a call of glovebox-launch was dropped: %zu wait", n);
		return;
	}
	call = util_zalloc(sizeof(*call));
	*call = (struct door_call){.next = apps->calls, .apps = apps, .launch = *launch};
	apps->calls = call;
	call->co = co_start(apps->x->loop, serve_call, call);
}

void apps_shut_door(struct apps *apps, bool is_shut)
{
	apps->is_shut = is_shut;
}

/* What needs the jail and the display to answer. */
static int set_up(struct apps *apps, const uint8_t cookie[XAUTH_COOKIE_LEN], struct err *e)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_START_MS;
	uint8_t authority[XAUTH_SIZE];

	if (xconn_atom(apps->x, "_NET_CLIENT_LIST", &apps->client_list, e) < 0 ||
	    xconn_atom(apps->x, "_NET_ACTIVE_WINDOW", &apps->active_window, e) < 0 || wm_init(&apps->wm, apps->x, e) < 0)
		return -1;
	xconn_select_root(apps->x, XCB_EVENT_MASK_PROPERTY_CHANGE);
	xauth_entry(authority, cookie);
	if (spawner_wait_ready(apps->spawner, deadline_ms, e) < 0 ||
	    spawner_authority(apps->spawner, authority, sizeof(authority), deadline_ms, e) < 0)
		return -1;
	if (apps->ops.way_out && way_out_start(apps, deadline_ms, e) < 0)
		return -1;
	if (!apps->catalogue.session_bus)
		return 0;
	if (bus_start(apps, deadline_ms, e) < 0)
		return -1;
	if (apps->ops.accessibility)
		return access_start(&apps->access, apps, e);
	environment_without_accessibility(&apps->environment);
	return 0;
}

int apps_create(struct apps **out, struct xconn *x, int init_fd, int proc_fd, int apps_pid, const json_t *manifest, const json_t *env,
                const uint8_t cookie[XAUTH_COOKIE_LEN], const struct apps_ops *ops, struct err *e)
{
	struct apps *apps = util_zalloc(sizeof(*apps));
	const struct spawner_ops spawner_ops = {.launch = on_launch, .gone = on_gone, .arg = apps};

	*apps = (struct apps){.x = x, .ops = *ops, .proc.fd = -1};
	(void)signal(SIGPIPE, SIG_IGN); /* of stdin's pipe, when a command reads no more */
	apps->spawner = spawner_create(x->loop, init_fd, &spawner_ops);
	xconn_listen(x, &apps->listener, on_event, apps);
	if (owner_open(&apps->proc, proc_fd, apps_pid, e) < 0 || catalogue_create(&apps->catalogue, manifest, e) < 0 ||
	    environment_create(&apps->environment, env, e) < 0 || set_up(apps, cookie, e) < 0) {
		apps_destroy(apps);
		return -1;
	}
	*out = apps;
	return 0;
}

void apps_destroy(struct apps *apps)
{
	if (!apps || apps->destroyed)
		return;
	apps->destroyed = true;
	apps->ops = (struct apps_ops){0};
	xconn_unlisten(apps->x, &apps->listener);
	for (struct door_call *call = apps->calls; call; call = call->next)
		co_cancel(call->co);
	if (apps->relay_keeper)
		co_cancel(apps->relay_keeper);
	access_stop(&apps->access);
	apps_rest(apps);
}

struct access *apps_access(struct apps *apps)
{
	return &apps->access;
}

static const struct field launch_fields[] = {
	{"app", FIELD_STRING, true, 1, 64, NULL, NULL, NULL, NULL, "name of the app in the image's catalogue"},
	{"args", FIELD_STRINGS, false, 0, LIMIT_LAUNCH_ARGS, NULL, NULL, NULL, NULL,
	 "files and URLs, as the app takes them; nothing that begins with \"-\""},
};

#define WINDOW_FIELD {"window", FIELD_INT, true, 1, UINT32_MAX, NULL, NULL, NULL, NULL, "id of the window, as the action windows gives it"}

static const struct field window_fields[] = {WINDOW_FIELD};

static const struct field wait_window_fields[] = {
	{"title", FIELD_STRING, false, 1, LIMIT_TITLE_BYTES, NULL, NULL, NULL, NULL, "a part of its title, in the same case"},
	{"class", FIELD_STRING, false, 1, LIMIT_TITLE_BYTES, NULL, NULL, NULL, NULL, "its whole class"},
	{"timeout_ms", FIELD_INT, false, 1, LIMIT_CALL_MS, NULL, NULL, "ms", "10000", "how long to wait for it"},
};

static const struct field close_window_fields[] = {
	WINDOW_FIELD,
	{"timeout_ms", FIELD_INT, false, 1, LIMIT_CALL_MS, NULL, NULL, "ms", "5000", "what it gets to close, or to ask something instead"},
	{"force", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "then its program is cut off from the display: what is not saved is lost"},
};

#define CORNER_FIELD(name, doc) {name, FIELD_INT, true, -LIMIT_SIDE_MAX_PX, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, doc}
static const struct field move_window_fields[] = {
	WINDOW_FIELD,
	CORNER_FIELD("x", "left edge of its frame; a part of it may be beyond the edges of the screen"),
	CORNER_FIELD("y", "upper edge of its frame: 0 has its title bar at the top of the screen"),
};

static const struct field resize_window_fields[] = {
	WINDOW_FIELD,
	{"width", FIELD_INT, false, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "of its content, without the frame"},
	{"height", FIELD_INT, false, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "of its content, without the frame"},
	{"maximized", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, NULL, "true fills the screen, false gives it its former size back"},
};

static const struct field show_window_fields[] = {
	WINDOW_FIELD,
	{"state", FIELD_ENUM, true, 0, 0, "normal maximized maximized_width maximized_height minimized fullscreen", NULL, NULL, NULL,
	 "normal: with its own size and place"},
};

static const struct field exec_fields[] = {
	{"argv", FIELD_STRINGS, true, 1, LIMIT_SPAWN_STRINGS, NULL, NULL, NULL, NULL,
	 "the program and its arguments; a shell line is [\"sh\",\"-c\",\"LINE\"]"},
	{"stdin", FIELD_STRING, false, 0, LIMIT_BODY_BYTES, NULL, NULL, NULL, NULL, "text for its standard input; else that is empty"},
	{"timeout_ms", FIELD_INT, false, 1, LIMIT_EXEC_MS, NULL, NULL, "ms", "30000", "after which it is killed"},
	{"env", FIELD_MAP, false, 0, LIMIT_ENV_ENTRIES, NULL, NULL, NULL, NULL, "variables put over the session's environment"},
	{"cwd", FIELD_STRING, false, 1, 4096, NULL, NULL, NULL, "\"" ENVIRONMENT_HOME "\"", "working directory, absolute"},
};

/* What they say of what they did. */
static const struct member windows_told[] = {
	{"windows", "Window[]", "the windows, top first"},
	{"popups", "Popup[]", "menus, tooltips and the like that are on the screen, top first"},
	{"more", "boolean", "may there be more than these lists have room for?"},
};
#define WINDOW_STATES \
	"=maximized maximized_width maximized_height minimized fullscreen shaded modal sticky above below attention[]"
#define WINDOW_TYPES \
	"=normal dialog utility toolbar splash menu dropdown_menu popup_menu combo tooltip notification drag dock desktop"
#define WINDOW_TOLD {"window", "count", "its id"}
#define OF_ANY(at) \
	{"title" at, "string", "its title"}, {"class" at, "string", "its class"}, {"instance" at, "string", "what else the program calls it"}, \
		{"type" at, WINDOW_TYPES, "what it says that it is"}, {"pid" at, "integer|null", "of the program, as in the jail"}, \
		{"app" at, "string|null", "name in the catalogue of the app that it is of"}, \
		{"group" at, "null|=base apps agent", "whose the program is: an app's as it is listed, or what the agent can make do anything"}, {"x" at, "integer", "left edge of its content (px)"}, \
		{"y" at, "integer", "upper edge (px)"}, {"width" at, "integer", "of its content (px)"}, {"height" at, "integer", "of its content (px)"}, \
		{"visible" at, "=all part none unknown", "how much of its content can be seen"}, \
		{"hidden_by" at, "=minimized off_screen covered[]", "why the rest cannot"}
#define OF_WINDOW(at) \
	OF_ANY(at), {"frame" at, "Rect", "the same with its title bar and borders"}, {"focused" at, "boolean", "do the keys go to it?"}, \
		{"state" at, WINDOW_STATES, "what the window manager has made of it"}, \
		{"layer" at, "=desktop below normal above dock fullscreen", "what it lies among"}, \
		{"dialog_of" at, "count|null", "the window that it says it is a dialog of"}
static const struct member window_members[] = {{"id", "count", "what other actions call it"}, OF_WINDOW("")};
static const struct member popup_members[] = {
	{"id", "count", "its id"},
	OF_ANY(""),
	{"window", "count|null", "the window that it belongs to"},
};
const struct shape apps_shapes[] = {
	{"Window", "A window, in the caller's space.", MEMBERS(window_members)},
	{"Popup", "A menu, a tooltip or the like, in the caller's space.", MEMBERS(popup_members)},
	{"Node", "What an app says of a part of its window, in the caller's space.", MEMBERS(access_node_members)},
};
const size_t apps_n_shapes = ARRAY_LEN(apps_shapes);
static const struct member window_told[] = {WINDOW_TOLD, OF_WINDOW("")};
static const struct member asked_told[] = {WINDOW_TOLD, OF_WINDOW(""), {"note?", "string", "why it is not just what was asked for"}};
static const struct member close_told[] = {
	WINDOW_TOLD,
	{"closed", "boolean", "is it gone?"},
	OF_WINDOW("?"),
	{"dialog?", "Window", "what it asks instead"},
	{"forced?", "boolean", "true: its program was cut off"},
	{"note?", "string", "why it is not closed"},
};
static const struct member launch_told[] = {
	WINDOW_TOLD,
	{"pid", "integer|null", "of the program, as in the jail"},
};
static const struct member exec_told[] = {
	{"stdout", "string", "standard output"},
	{"stderr", "string", "standard error"},
	{"exit_code", "integer|null", "null: it did not end by itself"},
	{"signal", "integer|null", "the signal that ended it"},
	{"timed_out", "boolean", "it was killed at timeout_ms"},
	{"truncated", "boolean", "there was more output, or it was not UTF-8"},
};

#define EXAMPLE_WINDOW                                                                                                                   \
	"\"title\":\"start\",\"class\":\"firefox-esr\",\"instance\":\"Navigator\",\"type\":\"normal\",\"pid\":41,\"app\":\"firefox\",\"group\":\"apps\","           \
	"\"x\":0,\"y\":23,\"width\":1280,\"height\":777,\"visible\":\"all\",\"hidden_by\":[],"                                              \
	"\"frame\":{\"x\":0,\"y\":0,\"width\":1280,\"height\":800},\"focused\":true,\"state\":[],\"layer\":\"normal\",\"dialog_of\":null"

const struct action_row apps_rows[] = {
	{"windows", "lists the windows, top first", {NULL, 0, NULL}, NULL, windows_run, ACTION_ACTS, 0,
	 MEMBERS(windows_told),
	 "{\"action\":\"windows\"}",
	 "{\"windows\":[{\"id\":4194311," EXAMPLE_WINDOW "}],\"popups\":[],\"more\":false}"},
	{"wait_window",
	 "waits until a window is there",
	 {wait_window_fields, ARRAY_LEN(wait_window_fields), "title, class or both"},
	 wait_window_check,
	 wait_window_run,
	 ACTION_ACTS, ACTION_WAITS,
	 MEMBERS(window_told),
	 "{\"action\":\"wait_window\",\"class\":\"firefox-esr\",\"timeout_ms\":10000}",
	 "{\"window\":4194311," EXAMPLE_WINDOW "}"},
	{"focus_window",
	 "brings a window to the top, onto the screen if it is off it, and gives it the keys",
	 {window_fields, ARRAY_LEN(window_fields), NULL},
	 NULL,
	 focus_window_run,
	 ACTION_ACTS, 0,
	 MEMBERS(asked_told),
	 "{\"action\":\"focus_window\",\"window\":4194311}",
	 "{\"window\":4194311," EXAMPLE_WINDOW "}"},
	{"close_window",
	 "asks a window to close; closed tells whether it did, dialog what it asks instead",
	 {close_window_fields, ARRAY_LEN(close_window_fields), NULL},
	 NULL,
	 close_window_run,
	 ACTION_ACTS, 0,
	 MEMBERS(close_told),
	 "{\"action\":\"close_window\",\"window\":4194311}",
	 "{\"window\":4194311,\"closed\":true}"},
	{"move_window",
	 "moves a window; the result tells where it is then",
	 {move_window_fields, ARRAY_LEN(move_window_fields), NULL},
	 NULL,
	 move_window_run,
	 ACTION_ACTS, 0,
	 MEMBERS(asked_told),
	 "{\"action\":\"move_window\",\"window\":4194311,\"x\":100,\"y\":100}",
	 "{\"window\":4194311," EXAMPLE_WINDOW "}"},
	{"resize_window",
	 "gives a window another size; the result tells which it has then",
	 {resize_window_fields, ARRAY_LEN(resize_window_fields), "either width and height, or maximized"},
	 resize_window_check,
	 resize_window_run,
	 ACTION_ACTS, 0,
	 MEMBERS(asked_told),
	 "{\"action\":\"resize_window\",\"window\":4194311,\"maximized\":false}",
	 "{\"window\":4194311," EXAMPLE_WINDOW "}"},
	{"show_window",
	 "shows a window maximized, minimized, over all of the screen, or normal again",
	 {show_window_fields, ARRAY_LEN(show_window_fields), NULL},
	 NULL,
	 show_window_run,
	 ACTION_ACTS, 0,
	 MEMBERS(window_told),
	 "{\"action\":\"show_window\",\"window\":4194311,\"state\":\"maximized\"}",
	 "{\"window\":4194311," EXAMPLE_WINDOW "}"},
	{"launch",
	 "starts an app of the catalogue and waits for its window",
	 {launch_fields, ARRAY_LEN(launch_fields), NULL},
	 launch_check,
	 launch_run,
	 ACTION_ACTS, 0,
	 MEMBERS(launch_told),
	 "{\"action\":\"launch\",\"app\":\"firefox\"}",
	 "{\"window\":4194311,\"pid\":41}"},
	{"exec", "runs a command and waits for its end", {exec_fields, ARRAY_LEN(exec_fields), NULL}, exec_check, exec_run, ACTION_STANDS, 0,
	 MEMBERS(exec_told),
	 "{\"action\":\"exec\",\"argv\":[\"uname\",\"-s\"]}",
	 "{\"stdout\":\"Linux\\n\",\"stderr\":\"\",\"exit_code\":0,\"signal\":null,\"timed_out\":false,\"truncated\":false}"},
};
const size_t apps_n_rows = ARRAY_LEN(apps_rows);
