/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libdbus on the loop. Replies are matched by serial here, so that libdbus keeps no timers. */
#include "apps/access/bus.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define RECEIVED_BYTES (32L * 1024 * 1024) /* not yet read messages */

struct call {
	struct call *next; /* of the same place in bus->calls */
	struct bus *bus;
	struct peer *peer;
	bool to_daemon;
	uint32_t serial; /* 0: it was never sent */
	int64_t sent_ms;
	bool answered;
	DBusMessage *reply;
	struct co_event done;
	bool probe; /* nobody waits for it */
};

/* libdbus as a static library asks for these two of libsystemd when it is a server, which it never is here. */
int sd_listen_fds(int unset_environment);
int sd_listen_fds(int unset_environment)
{
	(void)unset_environment;
	return 0;
}
int sd_is_socket(int fd, int family, int type, int listening);
int sd_is_socket(int fd, int family, int type, int listening)
{
	(void)fd;
	(void)family;
	(void)type;
	(void)listening;
	return 0;
}

static struct call **place_of(struct bus *bus, uint32_t serial)
{
	return &bus->calls[serial % ARRAY_LEN(bus->calls)];
}

static void unlink_call(struct call *call)
{
	struct call **place = place_of(call->bus, call->serial);

	while (*place && *place != call)
		place = &(*place)->next;
	if (*place)
		*place = call->next;
}

static void end_call(struct call *call)
{
	unlink_call(call);
	if (call->reply)
		dbus_message_unref(call->reply);
	free(call);
}

static void answer(struct call *call, DBusMessage *reply)
{
	call->answered = true;
	if (reply && call->peer) {
		call->peer->hung = false;
		call->peer->heard_ms = util_now_ms();
	}
	if (call->probe) {
		end_call(call);
		return;
	}
	if (reply && dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_METHOD_RETURN)
		call->reply = dbus_message_ref(reply);
	co_signal(&call->done);
}

/* Only who was asked answers, or the daemon in its place: it tells who sent a message. (Of well-known names it does not say whose they are.) */
static bool is_from(const struct call *call, DBusMessage *message)
{
	const char *sender = dbus_message_get_sender(message);

	if (sender && strcmp(sender, DBUS_SERVICE_DBUS) == 0)
		return true;
	return sender && !call->to_daemon && (!call->peer || strcmp(sender, call->peer->name) == 0);
}

static void on_reply(struct bus *bus, DBusMessage *message)
{
	uint32_t serial = dbus_message_get_reply_serial(message);

	for (struct call *call = *place_of(bus, serial); call; call = call->next)
		if (call->serial == serial && !call->answered && is_from(call, message)) {
			answer(call, message);
			return;
		}
	if (bus->heard && dbus_message_get_sender(message))
		bus->heard(bus->arg, dbus_message_get_sender(message));
}

/* Nothing that comes is for libdbus itself; method calls to us are nobody's. */
static DBusHandlerResult on_message(DBusConnection *connection, DBusMessage *message, void *arg)
{
	struct bus *bus = arg;
	int type = dbus_message_get_type(message);

	(void)connection;
	if (type == DBUS_MESSAGE_TYPE_METHOD_RETURN || type == DBUS_MESSAGE_TYPE_ERROR)
		on_reply(bus, message);
	else if (type == DBUS_MESSAGE_TYPE_SIGNAL && bus->signal)
		bus->signal(bus->arg, message);
	return DBUS_HANDLER_RESULT_HANDLED;
}

static void watch(struct bus *bus)
{
	loop_modify(bus->source, EPOLLIN | (dbus_connection_has_messages_to_send(bus->connection) ? EPOLLOUT : 0));
}

static void lose(struct bus *bus)
{
	void (*lost)(void *) = bus->lost;

	bus_close(bus);
	if (lost)
		lost(bus->arg);
}

static void turn(struct bus *bus)
{
	(void)dbus_connection_read_write(bus->connection, 0);
	while (bus->connection && dbus_connection_dispatch(bus->connection) == DBUS_DISPATCH_DATA_REMAINS)
		;
	if (!bus->connection)
		return;
	if (dbus_connection_get_is_connected(bus->connection))
		watch(bus);
	else
		lose(bus);
}

static void on_ready(void *arg, uint32_t events)
{
	(void)events;
	turn(arg);
}

/* What was sent in one go leaves together. */
static void on_soon(void *arg)
{
	struct bus *bus = arg;

	bus->soon = NULL;
	turn(bus);
}

int bus_open(struct bus *bus, struct loop *loop, const char *address, struct err *e)
{
	DBusError why = DBUS_ERROR_INIT;
	DBusConnection *connection = dbus_connection_open_private(address, &why);
	int fd;

	if (connection && (!dbus_bus_register(connection, &why) || !dbus_connection_get_unix_fd(connection, &fd))) {
		dbus_connection_close(connection);
		dbus_connection_unref(connection);
		connection = NULL;
	}
	if (!connection) {
		(void)err_set(e, ERR_SESSION_FAILED, NULL, "the bus cannot be used: %s", why.message ? why.message : "it has no descriptor");
		dbus_error_free(&why);
		return -1;
	}
	dbus_connection_set_exit_on_disconnect(connection, FALSE);
	dbus_connection_set_max_message_size(connection, LIMIT_ACCESS_MESSAGE_BYTES);
	dbus_connection_set_max_received_size(connection, RECEIVED_BYTES);
	if (!dbus_connection_add_filter(connection, on_message, bus, NULL))
		DIE("no memory");
	bus->loop = loop;
	bus->connection = connection;
	bus->source = loop_add(loop, fd, EPOLLIN, on_ready, bus);
	return 0;
}

void bus_close(struct bus *bus)
{
	if (!bus->connection)
		return;
	loop_remove(bus->source);
	bus->source = NULL;
	if (bus->soon)
		loop_cancel(bus->soon);
	bus->soon = NULL;
	dbus_connection_remove_filter(bus->connection, on_message, bus);
	dbus_connection_close(bus->connection);
	dbus_connection_unref(bus->connection);
	bus->connection = NULL;
	for (size_t i = 0; i < ARRAY_LEN(bus->calls); i++)
		for (struct call *next, *call = bus->calls[i]; call; call = next) {
			next = call->next;
			if (!call->answered)
				answer(call, NULL);
		}
}

DBusMessage *bus_message(const char *to, const char *path, const char *interface, const char *member)
{
	DBusMessage *message = dbus_message_new_method_call(to ? to : DBUS_SERVICE_DBUS, path, interface, member);

	if (!message)
		DIE("no memory for a message, or a bad name in one");
	dbus_message_set_auto_start(message, FALSE);
	return message;
}

struct call *bus_send(struct bus *bus, struct peer *peer, DBusMessage *message)
{
	struct call *call = util_zalloc(sizeof(*call));

	*call = (struct call){.bus = bus, .peer = peer, .sent_ms = util_now_ms()};
	call->to_daemon = strcmp(dbus_message_get_destination(message), DBUS_SERVICE_DBUS) == 0;
	if (!bus->connection || (peer && peer->hung))
		call->answered = true;
	else if (!dbus_connection_send(bus->connection, message, &call->serial))
		DIE("no memory");
	dbus_message_unref(message);
	if (call->answered)
		return call;
	call->next = *place_of(bus, call->serial);
	*place_of(bus, call->serial) = call;
	if (!bus->soon)
		bus->soon = loop_at(bus->loop, 0, on_soon, bus);
	return call;
}

/* From now on only the answer to this is waited for, by nobody. */
static void probe(struct call *call)
{
	struct peer *peer = call->peer;
	struct call *asked = bus_send(call->bus, peer, bus_message(peer->name, "/", DBUS_INTERFACE_PEER, "Ping"));

	asked->probe = true;
	peer->hung = true;
}

DBusMessage *bus_take(struct call *call, int64_t deadline_ms)
{
	DBusMessage *reply;

	while (!call->answered && !(call->peer && call->peer->hung)) {
		int64_t silent_ms = call->peer ? MAX(call->sent_ms, call->peer->heard_ms) + LIMIT_ACCESS_SILENT_MS : CO_FOREVER;
		int64_t now_ms = util_now_ms();

		if (now_ms >= deadline_ms)
			break;
		if (now_ms >= silent_ms) {
			probe(call);
			break;
		}
		struct err why;

		if (co_wait_event(&call->done, MIN(silent_ms, deadline_ms), &why) < 0 && why.code == ERR_CANCELLED)
			break;
	}
	reply = call->reply;
	call->reply = NULL;
	end_call(call);
	return reply;
}

void bus_drop(struct call *call)
{
	if (call)
		end_call(call);
}

DBusMessage *bus_ask(struct bus *bus, struct peer *peer, DBusMessage *message, int64_t deadline_ms)
{
	return bus_take(bus_send(bus, peer, message), deadline_ms);
}

void bus_forget(struct bus *bus, const struct peer *peer)
{
	for (size_t i = 0; i < ARRAY_LEN(bus->calls); i++)
		for (struct call *next, *call = bus->calls[i]; call; call = next) {
			next = call->next;
			if (call->peer == peer)
				end_call(call);
		}
}

void bus_match(struct bus *bus, const char *rule)
{
	DBusMessage *message = bus_message(NULL, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "AddMatch");

	if (!dbus_message_append_args(message, DBUS_TYPE_STRING, &rule, DBUS_TYPE_INVALID))
		DIE("no memory");
	bus_drop(bus_send(bus, NULL, message));
}
