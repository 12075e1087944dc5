/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session bus: without one, GTK programs wait 25 seconds for it. */
#include <string.h>

#include "apps/state.h"
#include "apps/text.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

static char argv_program[] = "dbus-daemon";
static char argv_configuration[] = "--config-file=/run/glovebox/bus/session.conf"; /* sandbox/jail/buses.h */
static char argv_address[] = "--address=" ENVIRONMENT_BUS;
static char argv_nofork[] = "--nofork";
static char argv_nopidfile[] = "--nopidfile";
static char argv_print[] = "--print-address=1";
static char *const ARGV[] = {argv_program, argv_configuration, argv_address, argv_nofork, argv_nopidfile, argv_print, NULL};

/* It prints its address once it listens. */
static bool listens(const struct pipe_reader *reader)
{
	return reader->len > 0 && memchr(reader->data, '\n', reader->len);
}

int bus_start(struct apps *apps, int64_t deadline_ms, struct err *e)
{
	const struct spawn spawn = {
		.group = INIT_GROUP_BASE,
		.folder = ENVIRONMENT_HOME,
		.argv = ARGV,
		.env = apps->environment.list,
		.pipes = INIT_PIPE_STDOUT,
		.changed = &apps->changed,
	};
	struct err why;

	if (spawner_start(apps->spawner, &spawn, deadline_ms, &apps->bus, &why) < 0)
		return err_set(e, ERR_SESSION_FAILED, NULL, "the session bus could not be started: %s", why.msg);
	pipe_reader_start(&apps->bus_address, apps->x->loop, steal_fd(&apps->bus->out), PIPE_KEEP_HEAD, LIMIT_TITLE_BYTES, &apps->changed);
	while (!listens(&apps->bus_address)) {
		if (apps->bus->ended)
			return err_set(e, ERR_SESSION_FAILED, NULL, "the session bus ended with status %d before it was ready", apps->bus->exit_code);
		if (co_wait_event(&apps->changed, deadline_ms, e) < 0)
			return -1;
	}
	return 0;
}
