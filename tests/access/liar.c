/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * liar KIND: an app with a window whose accessibility is hostile. It answers at any path, by KIND:
 *   endless   each node has 400 new children
 *   cycle     each node is its own child, and its parent's
 *   silent    takes calls and never answers
 *   huge      says that it has 2^31-1 children, each of a number, and strings of 1 MiB
 *   message   answers with 8 MiB
 *   wrong     answers with other types than were asked for, roles and states out of range, paths of others
 *   vanish    every node but the first is gone when it is asked
 *   forge     says in the bus's name, unasked, that it is process 1
 *   flood     sends focus events as fast as the bus takes them
 * Static, so that it runs in any image. Ends when its bus does.
 */
#include <dbus/dbus.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xcb/xcb.h>

int sd_listen_fds(int unset_environment);
int sd_listen_fds(int unset_environment)
{
	return unset_environment ? 0 : 0;
}
int sd_is_socket(int fd, int family, int type, int listening);
int sd_is_socket(int fd, int family, int type, int listening)
{
	return fd + family + type + listening < -10;
}

#define ROOT "/org/a11y/atspi/accessible/root"

static const char *kind;
static const char *self;
static unsigned int last;

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static char *big_text(size_t len)
{
	char *text = malloc(len + 1);

	if (!text)
		exit(1);
	memset(text, 'x', len);
	text[len] = '\0';
	return text;
}

static void add_ref(DBusMessageIter *iter, const char *name, const char *path)
{
	DBusMessageIter pair;

	dbus_message_iter_open_container(iter, DBUS_TYPE_STRUCT, NULL, &pair);
	dbus_message_iter_append_basic(&pair, DBUS_TYPE_STRING, &name);
	dbus_message_iter_append_basic(&pair, DBUS_TYPE_OBJECT_PATH, &path);
	dbus_message_iter_close_container(iter, &pair);
}

static void add_variant(DBusMessage *reply, int type, const void *value)
{
	const char signature[2] = {(char)type, '\0'};
	DBusMessageIter iter, variant;

	dbus_message_iter_init_append(reply, &iter);
	dbus_message_iter_open_container(&iter, DBUS_TYPE_VARIANT, signature, &variant);
	dbus_message_iter_append_basic(&variant, type, value);
	dbus_message_iter_close_container(&iter, &variant);
}

static void get(DBusMessage *call, DBusMessage *reply)
{
	const char *interface = "", *property = "", *name = is("wrong") ? "Liar" : "liar";
	char *big = NULL;
	int32_t count = is("huge") ? INT32_MAX : is("endless") ? 400 : 2;

	dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &property, DBUS_TYPE_INVALID);
	if (strcmp(property, "ChildCount") == 0 && strcmp(dbus_message_get_path(call), ROOT) == 0)
		count = 1;
	if (is("huge") || is("message"))
		name = big = big_text(is("message") ? 8 << 20 : 1 << 20);
	if (strcmp(property, "ChildCount") == 0 || strcmp(property, "CharacterCount") == 0)
		is("wrong") && strcmp(dbus_message_get_path(call), ROOT) != 0 ? add_variant(reply, DBUS_TYPE_STRING, &name)
		                                                               : add_variant(reply, DBUS_TYPE_INT32, &count);
	else if (is("wrong"))
		add_variant(reply, DBUS_TYPE_INT32, &count);
	else
		add_variant(reply, DBUS_TYPE_STRING, &name);
	free(big);
}

static void children(DBusMessage *call, DBusMessage *reply)
{
	int is_root = strcmp(dbus_message_get_path(call), ROOT) == 0;
	DBusMessageIter iter, list;

	dbus_message_iter_init_append(reply, &iter);
	dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "(so)", &list);
	if (is_root) {
		add_ref(&list, self, "/top");
	} else if (is("cycle")) {
		add_ref(&list, self, dbus_message_get_path(call));
		add_ref(&list, self, "/top");
	} else if (is("wrong")) {
		add_ref(&list, "org.freedesktop.DBus", "/org/freedesktop/DBus");
		add_ref(&list, ":1.99999", "/else");
		add_ref(&list, "", "/none");
	} else {
		for (int i = 0; i < (is("endless") ? 400 : 2); i++) {
			char path[40];

			(void)snprintf(path, sizeof(path), "/node/%u", ++last);
			add_ref(&list, self, path);
		}
	}
	dbus_message_iter_close_container(&iter, &list);
}

static void one_child(DBusMessage *reply)
{
	DBusMessageIter iter;
	char path[40];

	(void)snprintf(path, sizeof(path), "/node/%u", ++last);
	dbus_message_iter_init_append(reply, &iter);
	add_ref(&iter, self, path);
}

static void numbers(DBusMessage *reply, const char *type, int n, const int32_t *values)
{
	DBusMessageIter iter, inner;

	dbus_message_iter_init_append(reply, &iter);
	if (type[0] == 'a')
		dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, type + 1, &inner);
	else
		dbus_message_iter_open_container(&iter, DBUS_TYPE_STRUCT, NULL, &inner);
	for (int i = 0; i < n; i++)
		dbus_message_iter_append_basic(&inner, type[0] == 'a' ? DBUS_TYPE_UINT32 : DBUS_TYPE_INT32, &values[i]);
	dbus_message_iter_close_container(&iter, &inner);
}

static void interfaces(DBusMessage *reply)
{
	static const char *const LIST[] = {"org.a11y.atspi.Accessible", "org.a11y.atspi.Component", "org.a11y.atspi.Text", "org.a11y.atspi.Action",
	                                   "org.a11y.atspi.EditableText"};
	DBusMessageIter iter, list;

	dbus_message_iter_init_append(reply, &iter);
	dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "s", &list);
	for (size_t i = 0; i < sizeof(LIST) / sizeof(LIST[0]); i++)
		dbus_message_iter_append_basic(&list, DBUS_TYPE_STRING, &LIST[i]);
	dbus_message_iter_close_container(&iter, &list);
}

/* Active, enabled, focused, sensitive, showing, visible; or all that there could be. */
static void answer(DBusMessage *call, DBusMessage *reply)
{
	const char *member = dbus_message_get_member(call);
	const int32_t good[2] = {(1 << 1) | (1 << 8) | (1 << 24) | (1 << 25) | (1 << 30), 0}, bad[3] = {-1, -1, -1};
	const int32_t place[4] = {100, 100, 300, 200}, nowhere[4] = {INT32_MIN, INT32_MAX, -5, INT32_MAX};
	uint32_t role = strcmp(dbus_message_get_path(call), "/top") == 0 ? 23 : 43;
	dbus_bool_t yes = 1;

	if (is("wrong") && role != 23)
		role = UINT32_MAX;
	if (strcmp(member, "Get") == 0)
		get(call, reply);
	else if (strcmp(member, "GetChildren") == 0)
		children(call, reply);
	else if (strcmp(member, "GetChildAtIndex") == 0 || strcmp(member, "GetAccessibleAtPoint") == 0)
		one_child(reply);
	else if (strcmp(member, "GetRole") == 0)
		dbus_message_append_args(reply, DBUS_TYPE_UINT32, &role, DBUS_TYPE_INVALID);
	else if (strcmp(member, "GetState") == 0)
		numbers(reply, "au", is("wrong") ? 3 : 2, is("wrong") ? bad : good);
	else if (strcmp(member, "GetExtents") == 0)
		numbers(reply, "(", 4, is("wrong") ? nowhere : place);
	else if (strcmp(member, "GetInterfaces") == 0)
		interfaces(reply);
	else if (strcmp(member, "DoAction") == 0 || strcmp(member, "SetTextContents") == 0)
		dbus_message_append_args(reply, DBUS_TYPE_BOOLEAN, &yes, DBUS_TYPE_INVALID);
}

/* To whoever asked last, for its next calls. */
static void forge(DBusConnection *bus, DBusMessage *call)
{
	const uint32_t pid = 1;

	for (uint32_t next = 1; next <= 200; next++) {
		DBusMessage *reply = dbus_message_new_method_return(call);

		dbus_message_set_reply_serial(reply, dbus_message_get_serial(call) + next);
		dbus_message_append_args(reply, DBUS_TYPE_UINT32, &pid, DBUS_TYPE_INVALID);
		dbus_connection_send(bus, reply, NULL);
		dbus_message_unref(reply);
	}
}

static DBusHandlerResult on_message(DBusConnection *bus, DBusMessage *message, void *arg)
{
	DBusMessage *reply;

	(void)arg;
	if (dbus_message_get_type(message) != DBUS_MESSAGE_TYPE_METHOD_CALL)
		return DBUS_HANDLER_RESULT_HANDLED;
	if (is("silent") && strcmp(dbus_message_get_path(message), ROOT) != 0)
		return DBUS_HANDLER_RESULT_HANDLED;
	if (is("vanish") && strncmp(dbus_message_get_path(message), "/node/", 6) == 0)
		reply = dbus_message_new_error(message, "org.freedesktop.DBus.Error.UnknownObject", "gone");
	else
		reply = dbus_message_new_method_return(message);
	if (dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_METHOD_RETURN)
		answer(message, reply);
	dbus_connection_send(bus, reply, NULL);
	dbus_message_unref(reply);
	if (is("forge"))
		forge(bus, message);
	return DBUS_HANDLER_RESULT_HANDLED;
}

static void send_focus(DBusConnection *bus)
{
	DBusMessage *signal;
	const char *state = "focused";
	const int32_t one = 1, zero = 0;
	char path[40];

	(void)snprintf(path, sizeof(path), "/node/%u", ++last);
	signal = dbus_message_new_signal(path, "org.a11y.atspi.Event.Object", "StateChanged");
	dbus_message_append_args(signal, DBUS_TYPE_STRING, &state, DBUS_TYPE_INT32, &one, DBUS_TYPE_INT32, &zero, DBUS_TYPE_INVALID);
	dbus_connection_send(bus, signal, NULL);
	dbus_message_unref(signal);
}

static void show_window(void)
{
	xcb_connection_t *x = xcb_connect(NULL, NULL);
	xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(x)).data;
	xcb_window_t window = xcb_generate_id(x);

	xcb_create_window(x, XCB_COPY_FROM_PARENT, window, screen->root, 100, 100, 300, 200, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, 0,
	                  NULL);
	xcb_change_property(x, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_NAME, XCB_ATOM_STRING, 8, 4, "liar");
	xcb_change_property(x, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_CLASS, XCB_ATOM_STRING, 8, 10, "liar\0Liar\0");
	xcb_map_window(x, window);
	xcb_flush(x);
}

static void embed(DBusConnection *bus)
{
	DBusMessage *call = dbus_message_new_method_call("org.a11y.atspi.Registry", ROOT, "org.a11y.atspi.Socket", "Embed");
	DBusMessageIter iter;

	dbus_message_iter_init_append(call, &iter);
	add_ref(&iter, self, ROOT);
	dbus_message_set_no_reply(call, TRUE);
	dbus_connection_send(bus, call, NULL);
	dbus_message_unref(call);
}

int main(int argc, char **argv)
{
	const char *address = getenv("AT_SPI_BUS_ADDRESS");
	DBusConnection *bus = dbus_connection_open_private(address ? address : "", NULL);

	kind = argc > 1 ? argv[1] : "";
	if (!bus || !dbus_bus_register(bus, NULL))
		return 1;
	self = dbus_bus_get_unique_name(bus);
	dbus_connection_add_filter(bus, on_message, NULL, NULL);
	embed(bus);
	dbus_connection_flush(bus);
	show_window();
	while (dbus_connection_read_write_dispatch(bus, is("flood") ? 0 : -1))
		if (is("flood"))
			for (int i = 0; i < 100; i++)
				send_focus(bus);
	return 0;
}
