/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accessibility bus: its launcher is started here, without an X connection (its registry could type on one), before any app could ask
 * the session bus for one, and again when it ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "apps/access/desk.h"
#include "session/base/util.h"

#define LAUNCHER "/usr/libexec/at-spi-bus-launcher"
#define LAUNCHER_OLD "/usr/lib/at-spi2-core/at-spi-bus-launcher"
#define BUS_NAME "org.a11y.Bus"
#define BUS_PATH "/org/a11y/bus"
#define EVENTS "org.a11y.atspi.Event.Object"
#define START_MS 5000
#define AGAIN_MS 1000   /* between two tries */
#define LOOK_MS 20      /* between two looks whether the launcher is there yet */

static void say(const struct desk *desk, const char *why)
{
	struct access_record record = {.op = ACCESS_STATE};

	(void)strcpy(record.address, desk->address);
	(void)atspi_copy(record.text, LIMIT_NODE_NAME_BYTES, why);
	desk_tell(&record);
}

static const char *launcher(void)
{
	return access(LAUNCHER, X_OK) == 0 ? LAUNCHER : access(LAUNCHER_OLD, X_OK) == 0 ? LAUNCHER_OLD : NULL;
}

static pid_t start_launcher(const char *path)
{
	pid_t pid = fork();
	int null;

	if (pid != 0)
		return pid;
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(126);
	(void)unsetenv("DISPLAY");
	(void)unsetenv("XAUTHORITY");
	(void)execl(path, path, "--launch-immediately", "--a11y=1", (char *)NULL);
	_exit(127);
}

/* Where the accessibility bus listens, as the launcher says. */
static bool ask_address(struct desk *desk, int64_t deadline_ms)
{
	char *address = desk->address;

	while (desk->launcher > 0 && util_now_ms() < deadline_ms) {
		struct call *call = bus_send(&desk->session, NULL, bus_message(BUS_NAME, BUS_PATH, BUS_NAME, "GetAddress"));
		bool cut = false;

		if (atspi_take_text(call, MIN(deadline_ms, util_now_ms() + START_MS), address, ACCESS_ADDRESS_BYTES, &cut)) {
			address[strcspn(address, ",")] = '\0'; /* without the guid of this daemon: the next one has another */
			return !cut && strncmp(address, "unix:", 5) == 0;
		}
		(void)co_wait_until(util_now_ms() + LOOK_MS, NULL);
	}
	return false;
}

/* Toolkits that are not asked by their environment look at this. */
static void enable(struct desk *desk, int64_t deadline_ms)
{
	DBusMessage *message = bus_message(BUS_NAME, BUS_PATH, DBUS_INTERFACE_PROPERTIES, "Set"), *reply;
	const char *interface = "org.a11y.Status", *property = "IsEnabled";
	dbus_bool_t value = TRUE;
	DBusMessageIter iter, variant;

	dbus_message_iter_init_append(message, &iter);
	if (!dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &interface) || !dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &property) ||
	    !dbus_message_iter_open_container(&iter, DBUS_TYPE_VARIANT, "b", &variant) ||
	    !dbus_message_iter_append_basic(&variant, DBUS_TYPE_BOOLEAN, &value) || !dbus_message_iter_close_container(&iter, &variant))
		DIE("no memory");
	reply = bus_ask(&desk->session, NULL, message, deadline_ms);
	if (reply)
		dbus_message_unref(reply);
}

static bool start_registry(struct desk *desk, int64_t deadline_ms)
{
	DBusMessage *message = bus_message(NULL, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "StartServiceByName"), *reply;
	const char *name = ATSPI_REGISTRY;
	uint32_t flags = 0;

	if (!dbus_message_append_args(message, DBUS_TYPE_STRING, &name, DBUS_TYPE_UINT32, &flags, DBUS_TYPE_INVALID))
		DIE("no memory");
	reply = bus_ask(&desk->a11y, NULL, message, deadline_ms);
	if (reply)
		dbus_message_unref(reply);
	return reply != NULL;
}

/* Apps send only the events that somebody has told the registry that he wants. */
static bool want_events(struct desk *desk, bool wants, int64_t deadline_ms)
{
	const char *wanted = "object:state-changed:focused", *app = "";
	DBusMessage *message = bus_message(ATSPI_REGISTRY, "/org/a11y/atspi/registry", ATSPI_REGISTRY, wants ? "RegisterEvent" : "DeregisterEvent"), *reply;
	DBusMessageIter iter, list;

	dbus_message_iter_init_append(message, &iter);
	if (!dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &wanted))
		DIE("no memory");
	if (wants && (!dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "s", &list) || !dbus_message_iter_close_container(&iter, &list) ||
	              !dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &app)))
		DIE("no memory");
	reply = bus_ask(&desk->a11y, NULL, message, deadline_ms);
	if (!reply)
		return false;
	dbus_message_unref(reply);
	desk->listens = wants;
	return true;
}

void service_listen(struct desk *desk, bool listens, int64_t deadline_ms)
{
	if (desk->ready && desk->listens != listens)
		(void)want_events(desk, listens, deadline_ms);
}

static void on_owner(struct desk *desk, DBusMessage *message)
{
	const char *name, *before, *after;

	if (!dbus_message_has_sender(message, DBUS_SERVICE_DBUS) ||
	    !dbus_message_get_args(message, NULL, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &before, DBUS_TYPE_STRING, &after, DBUS_TYPE_INVALID))
		return;
	if (after[0] == '\0' && name[0] == ':')
		desk_app_gone(desk, name);
	if (before[0] == '\0' && name[0] == ':')
		desk_comer(desk);
	if (strcmp(name, ATSPI_REGISTRY) == 0 && before[0] != '\0') {
		desk->ready = false;
		co_signal(&desk->changed);
	}
}

static void on_signal(void *arg, DBusMessage *message)
{
	struct desk *desk = arg;
	const char *member = dbus_message_get_member(message), *sender = dbus_message_get_sender(message), *state;
	DBusMessageIter iter;
	struct app *app;
	int32_t gained = 0;

	if (!member || !sender)
		return;
	if (strcmp(member, "NameOwnerChanged") == 0)
		on_owner(desk, message);
	if (strcmp(member, "StateChanged") != 0 || !dbus_message_has_interface(message, EVENTS) || !dbus_message_iter_init(message, &iter) ||
	    dbus_message_iter_get_arg_type(&iter) != DBUS_TYPE_STRING)
		return;
	dbus_message_iter_get_basic(&iter, &state);
	app = desk_app(desk, sender);
	if (strcmp(state, "focused") != 0)
		return;
	if (!app) { /* a new one: perhaps what is looked for */
		focus_again(desk);
		return;
	}
	if (dbus_message_iter_next(&iter) && dbus_message_iter_get_arg_type(&iter) == DBUS_TYPE_INT32)
		dbus_message_iter_get_basic(&iter, &gained);
	focus_event(desk, app, dbus_message_get_path(message), gained != 0);
}

/* An app that answers late does not hang. */
static void on_heard(void *arg, const char *name)
{
	struct app *app = desk_app(arg, name);

	if (app) {
		app->peer.hung = false;
		app->peer.heard_ms = util_now_ms();
	}
}

static void on_lost(void *arg)
{
	struct desk *desk = arg;

	desk->ready = false;
	co_signal(&desk->changed);
}

/* All of it, from the launcher on. `why` says what is missing. */
static bool bring_up(struct desk *desk, const char **why)
{
	int64_t deadline_ms = util_now_ms() + START_MS;
	const char *path = launcher();
	struct err e;

	*why = "the image has no at-spi-bus-launcher";
	if (!path)
		return false;
	if (desk->launcher == 0)
		desk->launcher = start_launcher(path);
	*why = "the accessibility bus does not start";
	if (!desk->a11y.connection) {
		if (!ask_address(desk, deadline_ms))
			return false;
		enable(desk, deadline_ms);
		desk->listed = false;
		desk->a11y = (struct bus){.signal = on_signal, .heard = on_heard, .lost = on_lost, .arg = desk};
		if (bus_open(&desk->a11y, desk->loop, desk->address, &e) < 0)
			return false;
		bus_match(&desk->a11y, "type='signal',interface='" DBUS_INTERFACE_DBUS "',member='NameOwnerChanged'");
		bus_match(&desk->a11y, "type='signal',interface='" EVENTS "',member='StateChanged',arg0='focused'");
	}
	*why = "the accessibility registry does not start";
	return start_registry(desk, deadline_ms) && want_events(desk, true, deadline_ms);
}

static void take_down(struct desk *desk)
{
	bus_close(&desk->a11y);
	for (struct app *app = desk->apps; app; app = app->next)
		app->gone = true;
	if (desk->launcher > 0)
		(void)kill(desk->launcher, SIGKILL);
}

void service_run(void *arg)
{
	struct desk *desk = arg;

	for (;;) {
		const char *why;

		desk->ready = bring_up(desk, &why);
		if (desk->ready) {
			say(desk, "");
			focus_again(desk);
			while (desk->ready)
				(void)co_wait_event(&desk->changed, CO_FOREVER, NULL);
			say(desk, "the accessibility bus is started again");
			continue;
		}
		say(desk, why);
		if (!launcher())
			return;
		take_down(desk);
		(void)co_wait_until(util_now_ms() + AGAIN_MS, NULL);
	}
}
