/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The relay of a session with a way out: started before anything else, and again whenever it ends. */
#include <string.h>

#include "apps/relay/proto.h"
#include "apps/state.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define AGAIN_MS 200

static char argv_program[] = RELAY_PROGRAM;
static char *const ARGV[] = {argv_program, NULL};

/* It writes a line once it listens. */
static bool listens(const struct pipe_reader *reader)
{
	return reader->len > 0 && memchr(reader->data, '\n', reader->len);
}

static int start(struct apps *apps, int64_t deadline_ms, struct err *e)
{
	const struct spawn spawn = {
		.group = INIT_GROUP_BASE,
		.folder = "/",
		.argv = ARGV,
		.env = apps->environment.list,
		.pipes = INIT_PIPE_STDOUT,
		.listens = true,
		.changed = &apps->changed,
	};
	struct err why;

	if (spawner_start(apps->spawner, &spawn, deadline_ms, &apps->relay, &why) < 0)
		return err_set(e, why.code == ERR_CANCELLED || why.code == ERR_GONE ? why.code : ERR_SESSION_FAILED, NULL, "the relay could not be started: %s", why.msg);
	pipe_reader_start(&apps->relay_line, apps->x->loop, steal_fd(&apps->relay->out), PIPE_KEEP_HEAD, LIMIT_TITLE_BYTES, &apps->changed);
	while (!listens(&apps->relay_line)) {
		if (apps->relay->ended)
			return err_set(e, ERR_SESSION_FAILED, NULL, "the relay ended with status %d before it was ready", apps->relay->exit_code);
		if (co_wait_event(&apps->changed, deadline_ms, e) < 0)
			return -1;
	}
	return 0;
}

static void stop(struct apps *apps)
{
	pipe_reader_finish(&apps->relay_line);
	spawner_release(apps->relay);
	apps->relay = NULL;
}

/* Until the jail is dead, or the apps are to be destroyed. */
static void keep(void *arg)
{
	struct apps *apps = arg;
	struct err e = {.code = ERR_NONE};

	while (e.code != ERR_GONE && e.code != ERR_CANCELLED) {
		if (apps->relay && spawner_wait_end(apps->relay, CO_FOREVER, &e) < 0)
			break;
		stop(apps);
		if (co_wait_until(util_now_ms() + AGAIN_MS, &e) < 0)
			break;
		if (start(apps, util_now_ms() + LIMIT_START_MS, &e) < 0) {
			log_err(LOG_WARN, &e, "the relay");
			stop(apps);
		} else {
			log_warn("the relay had ended and runs again");
		}
	}
	apps->relay_keeper = NULL;
	apps_rest(apps);
}

int way_out_start(struct apps *apps, int64_t deadline_ms, struct err *e)
{
	if (start(apps, deadline_ms, e) < 0)
		return -1;
	environment_way_out(&apps->environment);
	apps->relay_keeper = co_start(apps->x->loop, keep, apps);
	return 0;
}

void way_out_finish(struct apps *apps)
{
	stop(apps);
}
