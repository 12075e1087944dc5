/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows as callers see them, and the action windows. */
#include "apps/state.h"
#include "apps/whose.h"
#include "apps/windows.h"
#include "session/base/space.h"
#include "session/base/util.h"

/* The names that callers see; the first row that fits all its bits takes them. */
static const struct {
	unsigned int state;
	const char *name;
} STATE_NAMES[] = {
	{WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y, "maximized"},
	{WINDOW_MAXIMIZED_X, "maximized_width"},
	{WINDOW_MAXIMIZED_Y, "maximized_height"},
	{WINDOW_MINIMIZED, "minimized"},
	{WINDOW_FULLSCREEN, "fullscreen"},
	{WINDOW_SHADED, "shaded"},
	{WINDOW_MODAL, "modal"},
	{WINDOW_STICKY, "sticky"},
	{WINDOW_ABOVE, "above"},
	{WINDOW_BELOW, "below"},
	{WINDOW_ATTENTION, "attention"},
};

static const char *const KIND_NAMES[] = {
	[WINDOW_NORMAL] = "normal",   [WINDOW_DIALOG] = "dialog",   [WINDOW_UTILITY] = "utility",
	[WINDOW_TOOLBAR] = "toolbar", [WINDOW_SPLASH] = "splash",   [WINDOW_MENU] = "menu",
	[WINDOW_DROPDOWN] = "dropdown_menu", [WINDOW_POPUP] = "popup_menu", [WINDOW_COMBO] = "combo",
	[WINDOW_TOOLTIP] = "tooltip", [WINDOW_NOTIFICATION] = "notification", [WINDOW_DRAG] = "drag",
	[WINDOW_DOCK] = "dock",       [WINDOW_DESKTOP] = "desktop",
};

static const char *const SIGHT_NAMES[] = {
	[SIGHT_UNKNOWN] = "unknown", [SIGHT_NONE] = "none", [SIGHT_PART] = "part", [SIGHT_ALL] = "all"};

/* One for each bit of enum window_hidden. */
static const char *const HIDDEN_NAMES[] = {"minimized", "off_screen", "covered"};

json_t *windows_states(unsigned int state)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(STATE_NAMES); i++)
		if ((state & STATE_NAMES[i].state) == STATE_NAMES[i].state) {
			json_array_append_new(list, json_string(STATE_NAMES[i].name));
			state &= ~STATE_NAMES[i].state;
		}
	return list;
}

const char *windows_layer(const struct window *window)
{
	if (window->kind == WINDOW_DESKTOP)
		return "desktop";
	if (window->state & WINDOW_FULLSCREEN)
		return "fullscreen";
	if (window->kind == WINDOW_DOCK)
		return "dock";
	if (window->state & WINDOW_BELOW)
		return "below";
	return window->state & WINDOW_ABOVE ? "above" : "normal";
}

const char *windows_kind(const struct window *window)
{
	return KIND_NAMES[window->kind];
}

static json_t *hidden_by(const struct window *window)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(HIDDEN_NAMES); i++)
		if (window->hidden & 1U << i)
			json_array_append_new(list, json_string(HIDDEN_NAMES[i]));
	return list;
}

static json_t *rect_in_space(const struct action_run *run, struct rect rect)
{
	space_map_rect(run->native, run->space, &rect.x, &rect.y, &rect.width, &rect.height);
	return json_pack("{s:i,s:i,s:i,s:i}", "x", rect.x, "y", rect.y, "width", rect.width, "height", rect.height);
}

/* What managed windows and popups are told by. */
static json_t *describe(const struct action_run *run, const struct window *window)
{
	const struct apps *apps = run->home;
	struct whose whose;
	json_t *object, *place = rect_in_space(run, (struct rect){window->x, window->y, window->width, window->height});

	whose_read(apps, window->outer_pid, &whose);
	object = json_pack("{s:I, s:s%, s:s%, s:s%, s:s, s:o, s:o}", "id", (json_int_t)window->id, "title", window->title, window->title_len,
	                   "class", window->class_name, window->class_len, "instance", window->instance, window->instance_len, "type",
	                   windows_kind(window), "pid", whose.pid > 0 ? json_integer(whose.pid) : json_null(), "app",
	                   whose.app ? json_string(whose.app->name) : json_null());
	json_object_update(object, place);
	json_decref(place);
	json_object_set_new(object, "group", whose.pid > 0 ? json_string(whose_group_name(whose.group)) : json_null());
	json_object_set_new(object, "visible", json_string(SIGHT_NAMES[window->sight]));
	json_object_set_new(object, "hidden_by", hidden_by(window));
	return object;
}

json_t *windows_json(const struct action_run *run, const struct window *window, xcb_window_t active)
{
	json_t *object = describe(run, window);

	json_object_set_new(object, "frame", rect_in_space(run, window->frame));
	json_object_set_new(object, "focused", json_boolean(window->id == active));
	json_object_set_new(object, "state", windows_states(window->state));
	json_object_set_new(object, "layer", json_string(windows_layer(window)));
	json_object_set_new(object, "dialog_of", window->parent ? json_integer(window->parent) : json_null());
	return object;
}

static json_t *popup_json(const struct action_run *run, const struct window *popup)
{
	json_t *object = describe(run, popup);

	json_object_set_new(object, "window", popup->owner ? json_integer(popup->owner) : json_null());
	return object;
}

int windows_run(struct action_run *run, struct err *e)
{
	struct apps *apps = run->home;
	json_t *list, *popups;
	struct windows windows;

	if (windows_look(apps->x, run->native, &windows, e) < 0)
		return -1;
	launch_sweep(apps, false);
	list = json_array();
	popups = json_array();
	for (size_t i = 0; i < windows.n; i++)
		if (!windows.list[i].gone)
			json_array_append_new(list, windows_json(run, &windows.list[i], windows.active));
	for (size_t i = 0; i < windows.n_popups; i++)
		if (!windows.popups[i].gone)
			json_array_append_new(popups, popup_json(run, &windows.popups[i]));
	json_object_set_new(run->result, "windows", list);
	json_object_set_new(run->result, "popups", popups);
	json_object_set_new(run->result, "more", json_boolean(windows.more));
	windows_finish(&windows);
	return 0;
}
