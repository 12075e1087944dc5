/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is on the accessibility bus: whoever is hears what apps tell, or asks them, whether it is an app or not. */
#include "apps/access/desk.h"
#include "session/base/util.h"

#define CLIENTS_MS 1000

static bool is_unique(const char *name)
{
	return name[0] == ':';
}

static void tell(uint32_t question, int32_t pid)
{
	const struct access_record record = {.op = ACCESS_NODE, .question = question, .item = {.pid = pid}};

	desk_tell(&record);
}

/* By the kernel's word, which the daemon has kept from when each of them connected. */
static void tell_all(struct desk *desk, const struct access_record *ask, char **names, size_t n, int64_t deadline_ms)
{
	struct access_record done = {.op = ACCESS_DONE, .question = ask->question, .done = {.truncated = n > LIMIT_ACCESS_CLIENTS}};
	auto_free struct call **calls = util_zalloc((n + 1) * sizeof(*calls));
	size_t n_calls = 0;

	for (size_t i = 0; i < n && i < LIMIT_ACCESS_CLIENTS; i++)
		if (is_unique(names[i]))
			calls[n_calls++] = desk_ask_pid(desk, names[i]);
	for (size_t i = 0; i < n_calls; i++) {
		int32_t pid = 0;

		/* One that has left meanwhile has none. */
		if (atspi_take_int(calls[i], deadline_ms, &pid))
			tell(ask->question, pid > 0 ? pid : 0);
	}
	desk_tell(&done);
}

void clients_run(struct desk *desk, const struct access_record *ask)
{
	int64_t deadline_ms = util_now_ms() + CLIENTS_MS;
	DBusMessage *reply = bus_ask(&desk->a11y, NULL, bus_message(NULL, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "ListNames"), deadline_ms);
	char **names;
	int n;

	if (reply && dbus_message_get_args(reply, NULL, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &names, &n, DBUS_TYPE_INVALID)) {
		tell_all(desk, ask, names, (size_t)n, deadline_ms);
		dbus_free_string_array(names);
	} else {
		desk_fail(ask->question, ACCESS_SILENT, "the accessibility bus does not say who is on it");
	}
	if (reply)
		dbus_message_unref(reply);
}
