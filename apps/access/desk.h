/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What glovebox-access knows: its buses, the apps on the accessibility bus, the numbers of nodes, what has the focus. Each file below
 * answers one kind of question. One thread; each question runs in a coroutine of its own.
 */
#ifndef ACCESS_DESK_H
#define ACCESS_DESK_H

#include <sys/types.h>

#include "apps/access/atspi.h"

#define ABSENT 8

struct desk {
	struct loop *loop;
	struct bus session, a11y;
	struct nodes *nodes;
	struct app *apps;
	size_t n_asks; /* questions that run: while there are any, no app is freed */
	pid_t launcher; /* of the accessibility bus, or 0 */
	bool ready;
	bool listens;            /* to events of apps */
	unsigned int n_comers;   /* that have come to the bus so far */
	int64_t comer_ms;        /* when the last one did */
	bool listed;             /* the registry was asked when all of them had had time to tell it of themselves */
	unsigned int n_listed;   /* how many those were */
	int64_t listed_ms;       /* when it was asked */
	struct {                 /* processes that were looked for since, and were not on the bus */
		int pids[ABSENT];
		size_t next;
	} absent;
	struct co_event changed; /* something of the buses has */
	char address[ACCESS_ADDRESS_BYTES + 1]; /* of the accessibility bus */
	/* The focus. */
	struct access_target active; /* what has the keys; window 0: nothing */
	struct access_told told;     /* as it was last told */
	struct {                     /* what a whole look found: asked about alone the next time, which is one round trip */
		struct access_target target;
		struct ref node;
		char url[LIMIT_NODE_URL_BYTES + 1];
		int64_t until_ms;
	} kept;
	bool looks, look_again;      /* a coroutine asks for it; it is to ask once more */
	bool cold;                   /* what is active was not asked about a point yet */
	struct loop_timer *tick;
	int64_t retry_ms;
};

/* An answer, to the stage. */
void desk_tell(const struct access_record *record);
void desk_fail(uint32_t question, enum access_fault fault, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* apps.c: the apps of a process, or all (pid 0): at most LIMIT_ACCESS_APPS into list; returns how many. Asks the registry if none is known. */
size_t desk_apps(struct desk *desk, int pid, int64_t deadline_ms, struct app *list[LIMIT_ACCESS_APPS]);
/* The app with this unique name, or NULL. */
struct app *desk_app(struct desk *desk, const char *name);
/* One has come to the bus: an app, perhaps. */
void desk_comer(struct desk *desk);
/* It left the bus. */
void desk_app_gone(struct desk *desk, const char *name);
/* Frees those that are gone, when no question runs. */
void desk_sweep(struct desk *desk, bool all);

/* Some top nodes of an app. */
#define TOPS 16
struct tops {
	struct seen list[TOPS];
	size_t n;
};

/*
 * apps.c: the top node of the app that the X window is of, into *out; by its title and place. False: none fits. `others` (may be NULL; n 0) gets those that
 * may belong to it as well: its menus, or when it is a menu, what it may hang on.
 */
bool desk_frame(struct desk *desk, struct app *app, const struct access_target *target, int64_t deadline_ms, struct seen *out, struct tops *others);

/* apps.c: the node as it is told, without text and actions. */
void desk_item(struct desk *desk, const struct seen *seen, const struct access_target *target, struct access_item *out);
bool desk_is_password(const struct seen *seen);
bool desk_is_document(uint32_t role);
/* A GtkEntry of GTK 4 that hides what is typed tells it all the same, and nothing makes it out among those of one line (a GtkPasswordEntry is one of
 * password): of such no text is told, and whether they are a password's is not known. */
bool desk_may_hide(const struct seen *seen);

/* walk.c: answers ACCESS_TREE. */
void walk_run(struct desk *desk, const struct access_record *ask);

/* apps.c: asks the daemon of which process a name is. */
struct call *desk_ask_pid(struct desk *desk, const char *name);

/* clients.c: answers ACCESS_CLIENTS. */
void clients_run(struct desk *desk, const struct access_record *ask);

/* find.c: answers ACCESS_AT. */
void find_run(struct desk *desk, const struct access_record *ask);
/* Browsers take long for the first answer about a point: asked for when a window becomes active, the first click does not wait for it. */
void find_warm(struct desk *desk, const struct access_target *target);
/* Below `from`: the deepest node for which `fits` says yes, through those for which `leads` says yes; level by level. */
struct find {
	bool (*leads)(const struct find *find, const struct seen *seen);
	bool (*fits)(const struct find *find, const struct seen *seen);
	int x, y;
};
bool find_below(struct desk *desk, const struct find *find, const struct seen *from, int64_t deadline_ms, struct seen *out);

/* focus.c: answers ACCESS_FOCUS (ask NULL: tells it if it has changed). */
void focus_run(struct desk *desk, const struct access_record *ask);
/* A signal of an app: what has the focus is asked again when that is the app that has the keys. */
void focus_event(struct desk *desk, struct app *app, const char *path, bool gained);
void focus_again(struct desk *desk);

/* change.c: answer ACCESS_PRESS, ACCESS_SET, ACCESS_GRAB, ACCESS_READ and ACCESS_PLACE. */
void change_press(struct desk *desk, const struct access_record *ask);
void change_set(struct desk *desk, const struct access_record *ask);
void change_grab(struct desk *desk, const struct access_record *ask);
void change_place(struct desk *desk, const struct access_record *ask);
void change_read(struct desk *desk, const struct access_record *ask);

/* tty.c: is there a terminal of a program that descends from the process, and does one of them ask for a password? */
void tty_look(int pid, bool *terminal, bool *prompt);

/* service.c: whether apps send their events. What an app is asked after this has returned it answers when it knows. In a coroutine. */
void service_listen(struct desk *desk, bool listens, int64_t deadline_ms);

/* service.c: brings up the accessibility bus and keeps it up; never returns. Runs in a coroutine. */
void service_run(void *desk);

#endif
