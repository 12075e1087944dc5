/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of apps/ share: the state behind struct apps, and the rows' functions. Not for other folders.
 */
#ifndef APPS_STATE_H
#define APPS_STATE_H

#include "apps/access_link.h"
#include "apps/apps.h"
#include "apps/catalogue.h"
#include "apps/environment.h"
#include "apps/owner.h"
#include "apps/pipe.h"
#include "apps/spawner.h"
#include "session/base/x/wm.h"

/* A program of the catalogue that runs, or whose standard error is still open. */
struct launched {
	struct launched *next;
	const struct catalogue_app *app;
	struct process *process;
	int shown_pid;          /* whose window ended its launch: of a wrapper, the program itself */
	uint64_t shown_started; /* when that process was started (owner_started) */
	struct pipe_reader err; /* its last words; read for as long as it runs, so that it never waits */
	bool waited;            /* a launch still waits for its window */
};

/* One call of glovebox-launch that is being served. */
struct door_call {
	struct door_call *next;
	struct apps *apps;
	struct co *co;
	struct init_launch launch;
};

struct apps {
	struct xconn *x;
	struct apps_ops ops;
	struct catalogue catalogue;
	struct environment environment;
	struct owner_proc proc;
	struct spawner *spawner;
	struct process *bus;
	struct pipe_reader bus_address;
	struct process *relay;      /* of a session with a way out */
	struct pipe_reader relay_line;
	struct co *relay_keeper;    /* starts it again; NULL: it does not (any more) */
	struct access access;
	struct access_under under;  /* the last point that was asked about */
	struct launched *launched;
	struct door_call *calls;
	bool is_shut;               /* there is no door */
	struct xconn_listener listener;
	struct wm wm;
	xcb_atom_t client_list, active_window;
	uint64_t changes;           /* grows whenever the list of windows changes, or which of them is active */
	struct co_event changed;    /* then, and when a program that was launched ends */
	int64_t held_ms;            /* monotonic, since when the agent's programs stand still; 0: they do not */
	int64_t stood_ms;           /* for how long they did before that */
	bool destroyed;             /* freed when the last of `calls` is done, the relay is not kept any more, and `access` rests */
};

/* apps/apps.c: frees what was destroyed, once nothing of it runs any more. */
void apps_rest(struct apps *apps);

/* apps/hold.c: the clock that stands still with the agent's programs (ms). */
int64_t hold_clock_ms(const struct apps *apps);

/* apps/bus.c: starts the session bus and waits until it listens. */
int bus_start(struct apps *apps, int64_t deadline_ms, struct err *e);

/* apps/way_out.c: starts the relay, waits until it listens, keeps it up; programs that are started from now on know of it. */
int way_out_start(struct apps *apps, int64_t deadline_ms, struct err *e);
void way_out_finish(struct apps *apps);

/* apps/launch.c: the catalogue row that a process belongs to, or NULL. */
const struct catalogue_app *launch_row_of(const struct apps *apps, const struct owner_line *line);
/* Whether this process of the row is the app itself, and not something that it has started: of a trusted row all are. */
bool launch_is_itself(const struct apps *apps, const struct owner_line *line, uint64_t started);
/* Forgets the programs that have ended. */
void launch_sweep(struct apps *apps, bool all);

/* The rows. */
int exec_check(void *home, const json_t *args, struct err *e);
int exec_run(struct action_run *run, struct err *e);
int launch_check(void *home, const json_t *args, struct err *e);
int launch_run(struct action_run *run, struct err *e);
int windows_run(struct action_run *run, struct err *e);
int wait_window_check(void *home, const json_t *args, struct err *e);
int wait_window_run(struct action_run *run, struct err *e);
int focus_window_run(struct action_run *run, struct err *e);
int close_window_run(struct action_run *run, struct err *e);
int move_window_run(struct action_run *run, struct err *e);
int resize_window_check(void *home, const json_t *args, struct err *e);
int resize_window_run(struct action_run *run, struct err *e);
int show_window_run(struct action_run *run, struct err *e);
/* apps/access_rows.c: a node, as the results tell it. */
#define ACCESS_NODE_MEMBERS 14
extern const struct member access_node_members[ACCESS_NODE_MEMBERS];

#endif
