/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the warden share. Owner: main_warden.c. One thread. */
#ifndef WARDEN_WARDEN_H
#define WARDEN_WARDEN_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/jail/cgroup.h"
#include "session/base/loop.h"
#include "session/warden/ceilings.h"
#include "session/warden/proto.h"
#include "session/warden/serve.h"
#include "session/warden/state.h"
#include "session/warden/user.h"

struct front;
struct hooks;
struct session;

/* Files that are opened once, at the start: children are started from these and nothing else. */
enum program { PROGRAM_FRONT, PROGRAM_STAGE, PROGRAM_INIT, PROGRAM_DISPLAY, PROGRAM_EGRESS, PROGRAM_VIEW, N_PROGRAMS };

#define WARDEN_LOG_ENV 2

struct warden {
	struct loop *loop;
	struct user user;
	struct state state;
	struct ceilings ceilings;
	struct cgroups *cgroups;
	int programs[N_PROGRAMS];
	bool has_tools;             /* share/bin holds programs for the app jails */
	char images[512];           /* the folder of images, without links */
	char build[600];            /* an empty folder where children build their roots */
	char log_env[WARDEN_LOG_ENV][32]; /* "GLOVEBOX_LOG=…", "GLOVEBOX_LOG_FORMAT=…" for children, as far as they are set */
	size_t n_log_env;
	int config;                 /* the configuration, sealed */
	struct serve serve;
	struct warden_hello hello;
	struct front *front;
	int net;                    /* the network namespace that it began in, for those that reach out; -1: it is there still */
	struct hooks *hooks;        /* NULL: there are no webhooks */
	struct session *sessions;
	int64_t usage_ms;           /* when the front last asked what sessions use */
	bool stopping;
	void (*settled)(struct warden *warden); /* called when a session has ended or the front is gone while stopping */
};

/* The uids of a slot; slot 0 is the server's own (its first uid is the front's). */
enum slot_uid {
	SLOT_APPS = 0,
	SLOT_FRONT = 0,
	SLOT_DISPLAY = 1,
	SLOT_STAGE = 2,
	SLOT_TRUSTED = 3, /* a gid: of trusted apps */
	SLOT_EGRESS = 4,
	SLOT_VIEWS = 32,  /* and LIMIT_VIEWERS - 1 more: one for each view */
};

static inline uid_t warden_uid(const struct warden *warden, unsigned slot, enum slot_uid which)
{
	return warden->ceilings.uid_base + slot * CEILINGS_SLOT_UIDS + (unsigned)which;
}

/* Adds them to an environment, at the next place in it; the strings are the warden's. */
static inline void warden_add_log_env(struct warden *warden, char **envp)
{
	for (size_t i = 0; i < warden->n_log_env; i++)
		envp[i] = warden->log_env[i];
}

#endif
