/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of AT-SPI, and their replies read. */
#include "apps/access/atspi.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"

#define SCREEN_PLACE 0 /* ATSPI_COORD_TYPE_SCREEN */

static const struct {
	const char *name;
	unsigned int bit;
} INTERFACES[] = {
	{ATSPI_ACTION, HAS_ACTION},       {ATSPI_COMPONENT, HAS_COMPONENT}, {ATSPI_DOCUMENT, HAS_DOCUMENT}, {ATSPI_EDITABLE, HAS_EDITABLE},
	{ATSPI_SELECTION, HAS_SELECTION}, {ATSPI_TEXT, HAS_TEXT},           {ATSPI_VALUE, HAS_VALUE},
};

static const char *const ROLES[] = {
	"invalid", "accelerator label", "alert", "animation", "arrow", "calendar", "canvas", "check box", "check menu item", "color chooser",
	"column header", "combo box", "date editor", "desktop icon", "desktop frame", "dial", "dialog", "directory pane", "drawing area",
	"file chooser", "filler", "focus traversable", "font chooser", "frame", "glass pane", "html container", "icon", "image",
	"internal frame", "label", "layered pane", "list", "list item", "menu", "menu bar", "menu item", "option pane", "page tab",
	"page tab list", "panel", "password text", "popup menu", "progress bar", "push button", "radio button", "radio menu item",
	"root pane", "row header", "scroll bar", "scroll pane", "separator", "slider", "spin button", "split pane", "status bar", "table",
	"table cell", "table column header", "table row header", "tearoff menu item", "terminal", "text", "toggle button", "tool bar",
	"tool tip", "tree", "tree table", "unknown", "viewport", "window", "extended", "header", "footer", "paragraph", "ruler",
	"application", "autocomplete", "edit bar", "embedded", "entry", "chart", "caption", "document frame", "heading", "page", "section",
	"redundant object", "form", "link", "input method window", "table row", "tree item", "document spreadsheet",
	"document presentation", "document text", "document web", "document email", "comment", "list box", "grouping", "image map",
	"notification", "info bar", "level bar", "title bar", "block quote", "audio", "video", "definition", "article", "landmark", "log",
	"marquee", "math", "rating", "timer", "static", "math fraction", "math root", "subscript", "superscript", "description list",
	"description term", "description value", "footnote", "content deletion", "content insertion", "mark", "suggestion",
	"push button menu",
};

const char *atspi_role_name(uint32_t role)
{
	return role < ARRAY_LEN(ROLES) ? ROLES[role] : "unknown";
}

bool atspi_copy(char *out, size_t max, const char *text)
{
	size_t len = strlen(text);
	size_t kept = MIN(len, max);

	while (kept < len && kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
		kept--;
	kept = util_utf8_prefix(text, kept);
	memcpy(out, text, kept);
	out[kept] = '\0';
	return kept == len;
}

void atspi_trim(char *name)
{
	size_t start = strspn(name, " \n\t\r"), len = strlen(name);

	while (len > start && strchr(" \n\t\r", name[len - 1]))
		len--;
	memmove(name, name + start, len - start);
	name[len - start] = '\0';
}

struct call *atspi_call(struct bus *bus, struct app *app, const struct ref *ref, const char *interface, const char *member)
{
	return bus_send(bus, &app->peer, bus_message(ref->name, ref->path, interface, member));
}

struct call *atspi_get(struct bus *bus, struct app *app, const struct ref *ref, const char *interface, const char *property)
{
	DBusMessage *message = bus_message(ref->name, ref->path, DBUS_INTERFACE_PROPERTIES, "Get");

	if (!dbus_message_append_args(message, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &property, DBUS_TYPE_INVALID))
		DIE("no memory");
	return bus_send(bus, &app->peer, message);
}

struct call *atspi_call_ints(struct bus *bus, struct app *app, const struct ref *ref, const char *interface, const char *member, int n,
                             const int32_t *args)
{
	DBusMessage *message = bus_message(ref->name, ref->path, interface, member);
	DBusMessageIter iter;

	dbus_message_iter_init_append(message, &iter);
	for (int i = 0; i < n; i++)
		if (!dbus_message_iter_append_basic(&iter, DBUS_TYPE_INT32, &args[i]))
			DIE("no memory");
	return bus_send(bus, &app->peer, message);
}

/* Coordinates are of type u behind the numbers of a place. */
static struct call *call_place(struct bus *bus, struct app *app, const struct ref *ref)
{
	DBusMessage *message = bus_message(ref->name, ref->path, ATSPI_COMPONENT, "GetExtents");
	uint32_t type = SCREEN_PLACE;

	if (!dbus_message_append_args(message, DBUS_TYPE_UINT32, &type, DBUS_TYPE_INVALID))
		DIE("no memory");
	return bus_send(bus, &app->peer, message);
}

/* The first value of a reply, out of its variant. */
static DBusMessage *take(struct call *call, int64_t deadline_ms, DBusMessageIter *iter)
{
	DBusMessage *reply = bus_take(call, deadline_ms);
	DBusMessageIter outer;

	if (!reply || !dbus_message_iter_init(reply, iter)) {
		if (reply)
			dbus_message_unref(reply);
		return NULL;
	}
	if (dbus_message_iter_get_arg_type(iter) == DBUS_TYPE_VARIANT) {
		outer = *iter;
		dbus_message_iter_recurse(&outer, iter);
	}
	return reply;
}

static bool read_number(DBusMessageIter *iter, int32_t *out)
{
	int type = dbus_message_iter_get_arg_type(iter);
	uint32_t number;

	if (type != DBUS_TYPE_INT32 && type != DBUS_TYPE_UINT32)
		return false;
	dbus_message_iter_get_basic(iter, &number);
	*out = type == DBUS_TYPE_UINT32 ? (int32_t)MIN(number, (uint32_t)INT32_MAX) : (int32_t)number;
	return true;
}

bool atspi_take_int(struct call *call, int64_t deadline_ms, int32_t *out)
{
	DBusMessageIter iter;
	DBusMessage *reply = take(call, deadline_ms, &iter);
	bool ok = reply && read_number(&iter, out);

	if (reply)
		dbus_message_unref(reply);
	return ok;
}

/* One basic value of a type, into `out`. */
static bool take_basic(struct call *call, int64_t deadline_ms, int type, void *out)
{
	DBusMessageIter iter;
	DBusMessage *reply = take(call, deadline_ms, &iter);
	bool ok = reply && dbus_message_iter_get_arg_type(&iter) == type;

	if (ok)
		dbus_message_iter_get_basic(&iter, out);
	if (reply)
		dbus_message_unref(reply);
	return ok;
}

bool atspi_take_double(struct call *call, int64_t deadline_ms, double *out)
{
	return take_basic(call, deadline_ms, DBUS_TYPE_DOUBLE, out);
}

bool atspi_take_bool(struct call *call, int64_t deadline_ms, bool *out)
{
	dbus_bool_t value;
	bool ok = take_basic(call, deadline_ms, DBUS_TYPE_BOOLEAN, &value);

	if (ok)
		*out = value != 0;
	return ok;
}

bool atspi_take_text(struct call *call, int64_t deadline_ms, char *out, size_t max, bool *cut)
{
	DBusMessageIter iter;
	DBusMessage *reply = take(call, deadline_ms, &iter);
	bool ok = reply && dbus_message_iter_get_arg_type(&iter) == DBUS_TYPE_STRING;

	if (ok) {
		const char *text;

		dbus_message_iter_get_basic(&iter, &text);
		if (!atspi_copy(out, max, text) && cut)
			*cut = true;
	}
	if (reply)
		dbus_message_unref(reply);
	return ok;
}

/* A node of the same app; others' are passed over: whose they are is another app's answer. */
static bool read_ref(DBusMessageIter *iter, const struct app *app, struct ref *out)
{
	const char *name, *path;
	DBusMessageIter pair;

	if (dbus_message_iter_get_arg_type(iter) != DBUS_TYPE_STRUCT)
		return false;
	dbus_message_iter_recurse(iter, &pair);
	if (dbus_message_iter_get_arg_type(&pair) != DBUS_TYPE_STRING)
		return false;
	dbus_message_iter_get_basic(&pair, &name);
	if (!dbus_message_iter_next(&pair) || dbus_message_iter_get_arg_type(&pair) != DBUS_TYPE_OBJECT_PATH)
		return false;
	dbus_message_iter_get_basic(&pair, &path);
	if (strlen(path) > LIMIT_NODE_PATH_BYTES || strcmp(path, "/org/a11y/atspi/null") == 0 || strlen(name) > BUS_NAME_BYTES ||
	    name[0] != ':' || !dbus_validate_bus_name(name, NULL) || (app && strcmp(name, app->peer.name) != 0))
		return false;
	(void)strcpy(out->name, name);
	(void)strcpy(out->path, path);
	return true;
}

bool atspi_take_ref(struct call *call, const struct app *app, int64_t deadline_ms, struct ref *out)
{
	DBusMessageIter iter;
	DBusMessage *reply = take(call, deadline_ms, &iter);
	bool ok = reply && read_ref(&iter, app, out);

	if (reply)
		dbus_message_unref(reply);
	return ok;
}

void atspi_look(struct bus *bus, struct app *app, const struct ref *ref, struct looking *looking)
{
	looking->role = atspi_call(bus, app, ref, ATSPI_ACCESSIBLE, "GetRole");
	looking->states = atspi_call(bus, app, ref, ATSPI_ACCESSIBLE, "GetState");
	looking->interfaces = atspi_call(bus, app, ref, ATSPI_ACCESSIBLE, "GetInterfaces");
	looking->name = atspi_get(bus, app, ref, ATSPI_ACCESSIBLE, "Name");
	looking->n_children = atspi_get(bus, app, ref, ATSPI_ACCESSIBLE, "ChildCount");
	looking->place = call_place(bus, app, ref);
}

void atspi_look_drop(struct looking *looking)
{
	bus_drop(looking->role);
	bus_drop(looking->states);
	bus_drop(looking->interfaces);
	bus_drop(looking->name);
	bus_drop(looking->n_children);
	bus_drop(looking->place);
}

static uint64_t take_states(struct call *call, int64_t deadline_ms)
{
	DBusMessageIter iter, item;
	DBusMessage *reply = take(call, deadline_ms, &iter);
	uint64_t states = 0;

	if (reply && dbus_message_iter_get_arg_type(&iter) == DBUS_TYPE_ARRAY && dbus_message_iter_get_element_type(&iter) == DBUS_TYPE_UINT32) {
		const uint32_t *words;
		int n;

		dbus_message_iter_recurse(&iter, &item);
		dbus_message_iter_get_fixed_array(&item, &words, &n);
		if (n > 0)
			states = words[0];
		if (n > 1)
			states |= (uint64_t)words[1] << 32;
	}
	if (reply)
		dbus_message_unref(reply);
	return states;
}

static unsigned int take_interfaces(struct call *call, int64_t deadline_ms)
{
	DBusMessageIter iter, item;
	DBusMessage *reply = take(call, deadline_ms, &iter);
	unsigned int found = 0;

	if (reply && dbus_message_iter_get_arg_type(&iter) == DBUS_TYPE_ARRAY) {
		dbus_message_iter_recurse(&iter, &item);
		for (; dbus_message_iter_get_arg_type(&item) == DBUS_TYPE_STRING; dbus_message_iter_next(&item)) {
			const char *name;

			dbus_message_iter_get_basic(&item, &name);
			for (size_t i = 0; i < ARRAY_LEN(INTERFACES); i++)
				if (strcmp(INTERFACES[i].name, name) == 0)
					found |= INTERFACES[i].bit;
		}
	}
	if (reply)
		dbus_message_unref(reply);
	return found;
}

/* Places beyond all reason are not known. */
static void take_place(struct call *call, int64_t deadline_ms, struct seen *out)
{
	int32_t *const values[4] = {&out->x, &out->y, &out->width, &out->height};
	DBusMessageIter iter, item;
	DBusMessage *reply = take(call, deadline_ms, &iter);
	bool ok = reply && dbus_message_iter_get_arg_type(&iter) == DBUS_TYPE_STRUCT;

	if (ok)
		dbus_message_iter_recurse(&iter, &item);
	for (int i = 0; ok && i < 4; i++) {
		ok = read_number(&item, values[i]) && *values[i] >= (i < 2 ? -ACCESS_PLACE_MAX / 2 : 0) && *values[i] <= ACCESS_PLACE_MAX / 2;
		(void)dbus_message_iter_next(&item);
	}
	if (!ok || out->width == 0 || out->height == 0)
		out->x = out->y = out->width = out->height = 0;
	if (reply)
		dbus_message_unref(reply);
}

bool atspi_look_take(struct looking *looking, struct app *app, const struct ref *ref, int64_t deadline_ms, struct seen *out)
{
	int32_t role = -1, n = 0;
	bool there = atspi_take_int(looking->role, deadline_ms, &role);

	*out = (struct seen){.app = app, .ref = *ref, .role = (uint32_t)MAX(role, 0)};
	out->states = take_states(looking->states, deadline_ms);
	out->interfaces = take_interfaces(looking->interfaces, deadline_ms);
	(void)atspi_take_text(looking->name, deadline_ms, out->name, LIMIT_NODE_NAME_BYTES, NULL);
	(void)atspi_take_int(looking->n_children, deadline_ms, &n);
	out->n_children = (uint32_t)MAX(n, 0);
	take_place(looking->place, deadline_ms, out);
	/* GTK 4 tells of nothing that it shows. */
	if (app->gtk4 && seen_is(out, STATE_VISIBLE) && (out->width > 0 || out->role == ROLE_FRAME))
		out->states |= 1ULL << STATE_SHOWING;
	return there && !seen_is(out, STATE_DEFUNCT);
}

bool atspi_see(struct bus *bus, struct app *app, const struct ref *ref, int64_t deadline_ms, struct seen *out)
{
	struct looking looking;

	atspi_look(bus, app, ref, &looking);
	return atspi_look_take(&looking, app, ref, deadline_ms, out);
}

/* A node with more children than are looked at is asked for the first ones: it would make all of them for a list. */
void atspi_children(struct bus *bus, const struct seen *seen, uint32_t max, struct children_call *out)
{
	out->all = seen->n_children <= LIMIT_TREE_CHILDREN;
	out->n = out->all ? seen->n_children : MIN(max, LIMIT_TREE_CHILDREN);
	if (out->n > 0 && out->all)
		out->list = atspi_call(bus, seen->app, &seen->ref, ATSPI_ACCESSIBLE, "GetChildren");
	for (int32_t i = 0; !out->all && i < (int32_t)out->n; i++)
		out->each[i] = atspi_call_ints(bus, seen->app, &seen->ref, ATSPI_ACCESSIBLE, "GetChildAtIndex", 1, &i);
}

static uint32_t take_list(struct call *call, const struct app *app, int64_t deadline_ms, struct ref *out)
{
	DBusMessageIter iter, item;
	DBusMessage *reply = take(call, deadline_ms, &iter);
	uint32_t n = 0;

	if (reply && dbus_message_iter_get_arg_type(&iter) == DBUS_TYPE_ARRAY) {
		dbus_message_iter_recurse(&iter, &item);
		for (; n < LIMIT_TREE_CHILDREN && dbus_message_iter_get_arg_type(&item) == DBUS_TYPE_STRUCT; dbus_message_iter_next(&item))
			if (read_ref(&item, app, &out[n]))
				n++;
	}
	if (reply)
		dbus_message_unref(reply);
	return n;
}

uint32_t atspi_children_take(struct children_call *calls, const struct app *app, int64_t deadline_ms, struct ref *out)
{
	uint32_t n = 0;

	if (calls->n > 0 && calls->all)
		return take_list(calls->list, app, deadline_ms, out);
	for (uint32_t i = 0; i < calls->n; i++)
		if (atspi_take_ref(calls->each[i], app, deadline_ms, &out[n]))
			n++;
	return n;
}

struct call *atspi_text_count(struct bus *bus, const struct seen *seen)
{
	return atspi_get(bus, seen->app, &seen->ref, ATSPI_TEXT, "CharacterCount");
}

struct call *atspi_text(struct bus *bus, const struct seen *seen, int32_t count)
{
	const int32_t range[2] = {0, MIN(count, LIMIT_NODE_TEXT_BYTES)};

	return atspi_call_ints(bus, seen->app, &seen->ref, ATSPI_TEXT, "GetText", 2, range);
}

void atspi_strip(char *text)
{
	char *to = text;

	for (const char *from = text; *from;)
		if (strncmp(from, "\xEF\xBF\xBC", 3) == 0)
			from += 3;
		else
			*to++ = *from++;
	while (to > text && strchr(" \n\t\r", to[-1]))
		to--;
	*to = '\0';
}

bool atspi_text_take(struct call *call, int32_t count, int64_t deadline_ms, char out[LIMIT_NODE_TEXT_BYTES + 1], bool *cut)
{
	*cut = count > LIMIT_NODE_TEXT_BYTES;
	out[0] = '\0';
	if (!atspi_take_text(call, deadline_ms, out, LIMIT_NODE_TEXT_BYTES, cut))
		return false;
	atspi_strip(out);
	return out[0] != '\0';
}

/* Browsers have names without letters, and Firefox calls what a menu's item does by its key: "T;". */
static bool is_word(const char *name)
{
	for (const char *at = name; *at; at++)
		if (isalpha((unsigned char)at[0]) && isalpha((unsigned char)at[1]))
			return !strpbrk(name, "\n\r");
	return false;
}

/* One name a line, at the line of its index. Where it is no word, the first is what a click does, others are not told. */
static bool add_line(char *list, size_t max, const char *name, int index)
{
	size_t len = strlen(list);

	if (!is_word(name))
		name = index == 0 ? ACCESS_DEFAULT_ACTION : ACCESS_UNTOLD_ACTION;
	if (len + 1 + strlen(name) > max)
		return false;
	(void)snprintf(list + len, max + 1 - len, "%s%s", len > 0 ? "\n" : "", name);
	return true;
}

int atspi_actions_take(struct call *call, int64_t deadline_ms, char out[LIMIT_NODE_ACTIONS_BYTES + 1])
{
	DBusMessageIter iter, item, action;
	DBusMessage *reply = take(call, deadline_ms, &iter);
	int n = 0;

	out[0] = '\0';
	if (reply && dbus_message_iter_get_arg_type(&iter) == DBUS_TYPE_ARRAY) {
		dbus_message_iter_recurse(&iter, &item);
		for (; dbus_message_iter_get_arg_type(&item) == DBUS_TYPE_STRUCT; dbus_message_iter_next(&item)) {
			const char *name;

			dbus_message_iter_recurse(&item, &action);
			if (dbus_message_iter_get_arg_type(&action) != DBUS_TYPE_STRING)
				break;
			dbus_message_iter_get_basic(&action, &name);
			if (!add_line(out, LIMIT_NODE_ACTIONS_BYTES, name, n))
				break;
			n++;
		}
	}
	if (reply)
		dbus_message_unref(reply);
	return n;
}
