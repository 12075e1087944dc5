/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration is that of D-Bus and AT-SPI themselves (session.conf, accessibility.conf) but for two things: where services are looked for,
 * and which messages to the daemon are refused: those that set the environment of services, that make it read its files anew, and that show other
 * programs' messages.
 */
#include "sandbox/jail/buses.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/jail/mounts.h"
#include "session/base/util.h"

#define FOLDER "run/glovebox/bus"
#define IMAGES "/usr/share/dbus-1/"

/* Without eavesdrop="true" in the rule that allows, nobody is sent what is for another. */
#define DENY(interface, member)                                                                                                                \
	"    <deny send_destination=\"org.freedesktop.DBus\" send_interface=\"" interface "\" send_member=\"" member "\"/>\n"
#define CONFIGURATION(type, services)                                                                                                          \
	"<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n"                                                    \
	" \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"                                                                      \
	"<busconfig>\n"                                                                                                                            \
	"  <type>" type "</type>\n"                                                                                                                \
	"  <listen>unix:dir=/tmp</listen>\n"                                                                                                       \
	"  <auth>EXTERNAL</auth>\n"                                                                                                                \
	"  <servicedir>" services "</servicedir>\n"                                                                                                \
	"  <policy context=\"default\">\n"                                                                                                         \
	"    <allow send_destination=\"*\"/>\n"                                                                                                    \
	"    <allow send_requested_reply=\"false\" send_type=\"method_return\"/>\n"                                                                 \
	"    <allow send_requested_reply=\"false\" send_type=\"error\"/>\n"                                                                         \
	"    <allow receive_requested_reply=\"false\"/>\n"                                                                                          \
	"    <allow own=\"*\"/>\n"                                                                                                                 \
	"  </policy>\n"                                                                                                                            \
	"  <policy context=\"mandatory\">\n" DENY("org.freedesktop.DBus", "UpdateActivationEnvironment")                                            \
		DENY("org.freedesktop.DBus", "ReloadConfig") DENY("org.freedesktop.DBus.Monitoring", "BecomeMonitor")                                    \
	"  </policy>\n"                                                                                                                            \
	"  <limit name=\"max_incoming_bytes\">1000000000</limit>\n"                                                                                 \
	"  <limit name=\"max_outgoing_bytes\">1000000000</limit>\n"                                                                                 \
	"  <limit name=\"max_message_size\">1000000000</limit>\n"                                                                                   \
	"  <limit name=\"service_start_timeout\">120000</limit>\n"                                                                                  \
	"  <limit name=\"auth_timeout\">240000</limit>\n"                                                                                           \
	"  <limit name=\"max_completed_connections\">100000</limit>\n"                                                                              \
	"  <limit name=\"max_incomplete_connections\">10000</limit>\n"                                                                              \
	"  <limit name=\"max_connections_per_user\">100000</limit>\n"                                                                               \
	"  <limit name=\"max_pending_service_starts\">10000</limit>\n"                                                                              \
	"  <limit name=\"max_names_per_connection\">50000</limit>\n"                                                                                \
	"  <limit name=\"max_match_rules_per_connection\">50000</limit>\n"                                                                          \
	"  <limit name=\"max_replies_per_connection\">50000</limit>\n"                                                                              \
	"</busconfig>\n"

static const struct {
	const char *name, *text;
} FILES[] = {
	{FOLDER "/session.conf", CONFIGURATION("session", "/" FOLDER "/services")},
	{FOLDER "/accessibility.conf", CONFIGURATION("accessibility", IMAGES "accessibility-services")},
};

/* Services that store settings and start nothing, under the names of the image's own files; not every image has them. A program with windows
 * is not among them: it would run in the daemon's group, and start others there. */
static const char *const SERVICES[] = {"ca.desrt.dconf.service", "org.xfce.Xfconf.service"};

/* Where the launcher of the accessibility bus takes its configuration from. */
static const char *const PLACES[] = {"usr/share/defaults/at-spi2/accessibility.conf", "etc/at-spi2/accessibility.conf"};

static int add_services(int store, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(SERVICES); i++) {
		auto_free char *name = util_printf("%s/services/%s", FOLDER, SERVICES[i]);
		auto_free char *to = util_printf("%sservices/%s", IMAGES, SERVICES[i]);

		if (mounts_make_link(store, name, to, e) < 0)
			return -1;
	}
	return 0;
}

static int lay_over(int store, int root, const char *place, struct err *e)
{
	auto_fd mount = -1;

	if (faccessat(root, place, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* this image has none */
	if (mounts_clone(store, FOLDER "/accessibility.conf", 0, MOUNT_ATTR_RDONLY | MOUNTS_DATA, &mount, e) < 0)
		return -1;
	return mounts_attach(mount, root, place, e);
}

int buses_add(int store, int root, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(FILES); i++)
		if (mounts_make_file(store, FILES[i].name, 0444, 0, FILES[i].text, strlen(FILES[i].text), e) < 0)
			return -1;
	if (add_services(store, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(PLACES); i++)
		if (lay_over(store, root, PLACES[i], e) < 0)
			return -1;
	return 0;
}
