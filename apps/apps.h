/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs inside: the catalogue of the image, starting apps and commands through glovebox-init, windows. Knows nothing of
 * pictures and input. One thread; everything that waits runs in a coroutine.
 */
#ifndef APPS_APPS_H
#define APPS_APPS_H

#include "session/base/action.h"
#include "session/base/part.h"
#include "session/base/x/xconn.h"

struct access;
struct apps;

struct apps_ops {
	void (*init_gone)(void *arg); /* the link to init broke: the app jail is dead */
	/* Types the text in place of all that what has the focus holds; returns when that is done. NULL: it cannot be typed. In a coroutine. */
	int (*type_over)(void *arg, const char *text, int64_t deadline_ms, struct err *e);
	void *arg;
	long exec_ms;                 /* the longest that a command may run; 0 is LIMIT_EXEC_MS */
	bool accessibility;           /* the apps are asked what is on the screen */
	bool way_out;                 /* the jail has /run/egress: a relay leads there, and programs are told of it */
};

/*
 * init_fd (taken) is the link to pid 1 of the app jail, proc_fd (taken) the root of the session's proc, apps_pid init's number there.
 * `manifest` is the image's manifest (a reference is kept), `env` the spec's environment or NULL, `cookie` (16 bytes) what its untrusted programs connect to the display with. Waits for INIT_READY and starts the
 * session bus when the manifest asks for one. Must run in a coroutine. Ignores SIGPIPE for the process. Errors: ERR_SESSION_FAILED,
 * ERR_BAD_FIELD at /env/NAME, ERR_GONE, ERR_TIMEOUT, ERR_CANCELLED, those of xconn_reply.
 */
int apps_create(struct apps **apps, struct xconn *x, int init_fd, int proc_fd, int apps_pid, const json_t *manifest, const json_t *env,
                const uint8_t cookie[16], const struct apps_ops *ops, struct err *e);
/* No action may run any more. Calls of glovebox-launch end with the loop's next turn, until which x must live. NULL is fine. */
void apps_destroy(struct apps *apps);

/*
 * Starts the app with this catalogue name and waits for its window, as the action launch: "pid" (in the app jail, null if its process is
 * gone) and "window" are put into result. `args` is a list of strings or NULL. On failure what was started is killed. Errors:
 * ERR_BAD_FIELD at /app or /args, ERR_SESSION_FAILED (it ended: how, and its last words), ERR_LIMIT, ERR_TIMEOUT (at most
 * LIMIT_LAUNCH_MS), ERR_CANCELLED, ERR_GONE, those of xconn_reply.
 */
int apps_launch(struct apps *apps, const char *name, const json_t *args, int64_t deadline_ms, json_t *result, struct err *e);

/* What the apps say of their nodes and of the focus (access.h); lives as long as `apps`. */
struct access *apps_access(struct apps *apps);

/*
 * While a person holds the controls what runs for the agent stands still, and so does the clock of its time limits. What ends is told as it was
 * before. (apps/hold.c)
 */
void apps_hold(struct apps *apps, bool held);

/* What apps have started themselves is the agent's from now on: it is of the group agent; `all`: and so are the apps themselves, but for trusted ones, for
 * they load code that the agent may have put into its home. Errors: ERR_GONE, ERR_TIMEOUT, ERR_CANCELLED. */
int apps_sort(struct apps *apps, bool all, int64_t deadline_ms, struct err *e);

/* Names of the programs that run in the group agent, each once, at most LIMIT_PROGRAMS; the caller's reference. */
json_t *apps_programs(const struct apps *apps);

/* Titles of the apps that are not trusted and run; the caller's reference. */
json_t *apps_untrusted(const struct apps *apps);

/* Kills what the stage has started for the agent, and all apps. */
void apps_end_all(struct apps *apps);

/*
 * Ends those of the group agent that are on the accessibility bus, where what apps tell would wait for them while they stand still. Their names are added to
 * `ended`, each once. Returns when none of them is on it any more. Errors: ERR_TIMEOUT when one still is, or it is not known who is on it; those of
 * access_clients; ERR_GONE. Must run in a coroutine.
 */
int apps_end_listeners(struct apps *apps, int64_t deadline_ms, json_t *ended, struct err *e);

/* Takes what would catch a person's clicks for a program of the agent's off the screen (apps/uncover.c). Errors of xconn_reply. Must run in a coroutine. */
int apps_uncover(struct apps *apps, struct err *e);

/* Kills those that the stage has started for the agent; for hosts without a switch for all of them. */
void apps_end_agents(struct apps *apps);

/* Programs of the session start no apps (by glovebox-launch) from now on, or do so again. */
void apps_shut_door(struct apps *apps, bool is_shut);

/* The catalogue's name of the app that was launched as this process (a number of the app jail); NULL for others. */
const char *apps_name_of(const struct apps *apps, int pid);

/* Rows: windows wait_window focus_window close_window move_window resize_window show_window launch exec. Home: struct apps *. */
extern const struct action_row apps_rows[];
extern const size_t apps_n_rows;

/* Rows: tree press_node set_node. Home: struct apps *. */
extern const struct action_row access_rows[];
extern const size_t access_n_rows;

/* Where the window is, in native pixels of the root. Errors: ERR_NO_WINDOW, those of xconn_reply. */
int apps_place(struct apps *apps, uint32_t window, struct rect *out, struct err *e);

/*
 * The catalogue's name of the trusted app whose window this is: its X client is a process of group apps, started from a row that is trusted (whose.h), by the
 * word of the X server and the kernel, and still there. NULL in *name for all others. *pid is that of the process in the app jail. Errors as apps_place.
 */
int apps_trusted(struct apps *apps, uint32_t window, const char **name, int *pid, struct err *e);

/* What of the screen is this window's, as part_fn. */
int apps_part(struct apps *apps, struct space native, uint32_t window, struct part *out, struct err *e);

/* Windows and popups, as the results of these tell them. */
extern const struct shape apps_shapes[];
extern const size_t apps_n_shapes;

#endif
