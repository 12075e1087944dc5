/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The action table: a row per action.
 *
 * display, input and apps each export an array of rows beside their functions; the stage joins them. A row gives decoding, the
 * schemas of GET /v1/actions and the table of docs/actions.md. Before `run` is called the whole list of a call has passed its forms
 * and `check`, and coordinates have been mapped to native pixels.
 */
#ifndef BASE_ACTION_H
#define BASE_ACTION_H

#include <jansson.h>

#include "session/base/json.h"
#include "session/base/shape.h"

/* What one run of an action gets. */
struct action_run {
	void *home;              /* the state of the folder that owns the row (struct display *, struct input *, struct apps *) */
	const json_t *args;      /* the action object as checked, without "action"; coordinates in native pixels */
	const json_t *asked;     /* the same in the caller's space, for what is said back */
	json_t *result;          /* an object; the row adds its result fields ("delivered", "stdout", "picture", …), also on failure */
	int64_t deadline_ms;     /* monotonic; the call's limit */
	int64_t acted_ms;        /* monotonic; when the screen last had something to answer */
	struct space space;      /* the caller's space: coordinates of the result are mapped to it (space.h) */
	struct space native;     /* the display */
};

/* What the stage has to know of an action. */
enum action_flag {
	ACTION_AIMS = 1 << 0,  /* it goes to a place that the caller saw: x and y, the ends of path, or where the pointer is */
	ACTION_MOVES = 1 << 1, /* it does nothing but move the pointer */
	ACTION_LOOKS = 1 << 2, /* it does nothing but take a picture; the result has its "frame" */
	ACTION_WAITS = 1 << 3, /* it does nothing to the session: nobody need wait for an answer of the screen */
	ACTION_RESIZES = 1 << 4, /* the display has the size of its width and height after it */
	ACTION_HIDES = 1 << 6, /* it is for the clipboard: of its content the journal keeps the length */
	ACTION_TYPES = 1 << 5, /* its text or keys go to what has the focus */
	ACTION_UNTIMED = 1 << 7, /* how long it took is nobody's business: the result says LIMIT_SECRET_TYPED_MS, always */
};

/* What a change of the lease (session/stage/lease.h) does to it. All are refused while the agent does not hold the controls. */
enum action_lease {
	ACTION_UNSAID, /* a row that does not say: it is refused always */
	ACTION_ACTS,   /* one that runs is stopped */
	ACTION_STANDS, /* one that runs stands still with its processes, and then goes on; it is stopped when these are ended */
	ACTION_ASKS,   /* it is what gives the controls away */
};

struct action_row {
	const char *name;
	const char *doc;         /* one line */
	struct form form;        /* the fields beside "action" */
	/* What rows of fields cannot say (key names, "both x and y or none"); called before anything of the list runs, with
	 * coordinates still in the caller's space; paths in *e are relative to the action object. NULL if there is nothing. */
	int (*check)(void *home, const json_t *args, struct err *e);
	/* Runs in a coroutine (co.h): may wait, must return soon after a cancel. 0, or -1 with *e. */
	int (*run)(struct action_run *run, struct err *e);
	enum action_lease lease;
	unsigned int flags;      /* enum action_flag */
	struct members result;   /* what run adds to the result; when the action fails, none of it need be there */
	const char *example;     /* the action as JSON, one that any session can do once it has come up */
	const char *example_result; /* the members above that it gives, as JSON; NULL where there are none */
};

/* The rows of one folder and its state, as the stage joins them. */
struct action_set {
	const struct action_row *rows;
	size_t n_rows;
	void *home;
};

/* The row with this name among n sets, and the set it is of; NULL if there is none. */
const struct action_row *action_find(const struct action_set *sets, size_t n_sets, const char *name,
                                     const struct action_set **set);

/* The actions of the GET /v1/actions document: {"actions":[{"name","doc","schema"}…]}. The caller's reference. */
json_t *action_document(const struct action_set *sets, size_t n_sets);

/* Adds to an object by name the schemas of each action (ClickAction, …), of the results of those that add something to one (ExecResult, …), and
 * Action and ActionResult, any of them. An action's "x-result" names its result. */
void action_schemas(const struct action_set *sets, size_t n_sets, json_t *schemas);

/* The result of a row's example, whole; the caller's reference. */
json_t *action_example_result(const struct action_row *row);

#endif
