/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * overhear: listens on the accessibility bus to all that any app says, as a screen reader may, and asks the registry for every key. Says "listening",
 * then a line for each signal with all the strings in it, and one with the whole text of what it came from. First it has the registry press a key,
 * and says what came of it. Static, so that it runs in any image. Ends when its bus does.
 */
#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#define REGISTRY "org.a11y.atspi.Registry"
#define KEYS "/org/a11y/atspi/registry/deviceeventcontroller"
#define KEY_OF_A 38
#define ASK_MS 500

static DBusConnection *bus;

static DBusMessage *call_of(const char *to, const char *path, const char *interface, const char *member)
{
	return dbus_message_new_method_call(to, path, interface, member);
}

/* The reply, or NULL; the call is taken. */
static DBusMessage *ask(DBusMessage *call)
{
	DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, call, ASK_MS, NULL);

	dbus_message_unref(call);
	return reply;
}

static void say_strings(DBusMessageIter *iter)
{
	do {
		int type = dbus_message_iter_get_arg_type(iter);
		const char *text;
		DBusMessageIter inner;

		if (type == DBUS_TYPE_STRING || type == DBUS_TYPE_OBJECT_PATH) {
			dbus_message_iter_get_basic(iter, &text);
			printf(" %s", text);
		} else if (type == DBUS_TYPE_VARIANT || type == DBUS_TYPE_STRUCT || type == DBUS_TYPE_ARRAY || type == DBUS_TYPE_DICT_ENTRY) {
			dbus_message_iter_recurse(iter, &inner);
			say_strings(&inner);
		}
	} while (dbus_message_iter_next(iter));
}

static void say(const char *what, DBusMessage *message)
{
	DBusMessageIter iter;

	printf("%s %s", what, dbus_message_get_member(message) ? dbus_message_get_member(message) : "");
	if (dbus_message_iter_init(message, &iter))
		say_strings(&iter);
	printf("\n");
}

static void say_text(DBusMessage *event)
{
	DBusMessage *call = call_of(dbus_message_get_sender(event), dbus_message_get_path(event), "org.a11y.atspi.Text", "GetText"), *reply;
	const dbus_int32_t first = 0, last = -1;

	dbus_message_append_args(call, DBUS_TYPE_INT32, &first, DBUS_TYPE_INT32, &last, DBUS_TYPE_INVALID);
	reply = ask(call);
	if (reply) {
		say("text", reply);
		dbus_message_unref(reply);
	}
}

static void listen_to(const char *event)
{
	DBusMessage *call = call_of(REGISTRY, "/org/a11y/atspi/registry", REGISTRY, "RegisterEvent"), *reply;

	dbus_message_append_args(call, DBUS_TYPE_STRING, &event, DBUS_TYPE_INVALID);
	reply = ask(call);
	printf("%s %s\n", event, reply ? "registered" : "not registered");
	if (reply)
		dbus_message_unref(reply);
}

/* All keys, with no modifiers held, by a listener at /listener. */
static void listen_to_keys(void)
{
	DBusMessage *call = call_of(REGISTRY, KEYS, "org.a11y.atspi.DeviceEventController", "RegisterKeystrokeListener"), *reply;
	const char *path = "/listener";
	const dbus_uint32_t modifiers = 0, both = 3;
	const dbus_bool_t no = 0, yes = 1;
	DBusMessageIter iter, inner;

	dbus_message_iter_init_append(call, &iter);
	dbus_message_iter_append_basic(&iter, DBUS_TYPE_OBJECT_PATH, &path);
	dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "(iisi)", &inner);
	dbus_message_iter_close_container(&iter, &inner);
	dbus_message_iter_append_basic(&iter, DBUS_TYPE_UINT32, &modifiers);
	dbus_message_iter_append_basic(&iter, DBUS_TYPE_UINT32, &both);
	dbus_message_iter_open_container(&iter, DBUS_TYPE_STRUCT, NULL, &inner);
	dbus_message_iter_append_basic(&inner, DBUS_TYPE_BOOLEAN, &no);
	dbus_message_iter_append_basic(&inner, DBUS_TYPE_BOOLEAN, &no);
	dbus_message_iter_append_basic(&inner, DBUS_TYPE_BOOLEAN, &yes);
	dbus_message_iter_close_container(&iter, &inner);
	reply = ask(call);
	printf("keys %s\n", reply ? "registered" : "not registered");
	if (reply)
		dbus_message_unref(reply);
}

static void inject(void)
{
	DBusMessage *call = call_of(REGISTRY, KEYS, "org.a11y.atspi.DeviceEventController", "GenerateKeyboardEvent"), *reply;
	const dbus_int32_t key = KEY_OF_A;
	const dbus_uint32_t press_and_release = 2;
	const char *text = "";

	dbus_message_append_args(call, DBUS_TYPE_INT32, &key, DBUS_TYPE_STRING, &text, DBUS_TYPE_UINT32, &press_and_release, DBUS_TYPE_INVALID);
	reply = ask(call);
	printf("injection %s\n", reply ? "was answered" : "was refused");
	if (reply)
		dbus_message_unref(reply);
}

static DBusHandlerResult on_message(DBusConnection *from, DBusMessage *message, void *arg)
{
	(void)from;
	(void)arg;
	if (dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL) {
		DBusMessage *reply = dbus_message_new_method_return(message);
		const dbus_bool_t no = 0;

		say("key", message);
		dbus_message_append_args(reply, DBUS_TYPE_BOOLEAN, &no, DBUS_TYPE_INVALID);
		dbus_connection_send(bus, reply, NULL);
		dbus_message_unref(reply);
		return DBUS_HANDLER_RESULT_HANDLED;
	}
	if (dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_SIGNAL && dbus_message_get_path(message) && dbus_message_get_sender(message)) {
		say("signal", message);
		say_text(message);
	}
	return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
}

int main(void)
{
	static const char *const EVENTS[] = {"object:", "focus:", "window:", "document:", "keyboard:", "mouse:", "terminal:"};
	const char *address = getenv("AT_SPI_BUS_ADDRESS");

	setvbuf(stdout, NULL, _IOLBF, 0);
	bus = dbus_connection_open_private(address ? address : "", NULL);
	if (!bus || !dbus_bus_register(bus, NULL))
		return 1;
	dbus_bus_add_match(bus, "type='signal'", NULL);
	dbus_connection_add_filter(bus, on_message, NULL, NULL);
	inject();
	for (size_t i = 0; i < sizeof(EVENTS) / sizeof(EVENTS[0]); i++)
		listen_to(EVENTS[i]);
	listen_to_keys();
	printf("listening\n");
	while (dbus_connection_read_write_dispatch(bus, -1))
		;
	return 0;
}
