/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The apps folder on an X server with a window manager of its own, beside other clients of the display that the test plays itself.
 * Everything here fails the test when something is not as it must be.
 */
#ifndef TESTS_DESK_H
#define TESTS_DESK_H

#include <xcb/xcb.h>

#include "apps/state.h"
#include "tests/unit/jail.h"
#include "tests/x/xserver.h"

#define DESK_WIDTH 800
#define DESK_HEIGHT 600

struct desk {
	struct jail jail;
	struct xserver server;
	struct loop *loop;
	struct xconn x;
	struct apps *apps;
	xcb_connection_t *client; /* another one of the display */
	xcb_window_t root;
	pid_t others[16];         /* programs that the test started */
	size_t n_others;
	struct space space;       /* of the caller, at first the display's */
	/* Of the last action. */
	json_t *result;
	struct err e;
	int rc;
	int64_t took_ms;
};

/* For cmocka_unit_test_setup_teardown; *state is the desk. */
int desk_set_up(void **state);
int desk_tear_down(void **state);

/* Another client. */
xcb_connection_t *desk_connect(const struct desk *desk);

/* Runs an action as the stage does: form, check, row. desk->rc is 0 or -1 with desk->e. */
void desk_try(struct desk *desk, const char *action);
/* One that must succeed. */
void desk_act(struct desk *desk, const char *action);
/* The same with the window in it: `action` has %u for its id. */
void desk_act_on(struct desk *desk, const char *action, xcb_window_t window);
void desk_try_on(struct desk *desk, const char *action, xcb_window_t window);

/* The window with this id in a fresh list (of "windows", "popups"); NULL if it is not there. */
const json_t *desk_find(struct desk *desk, const char *list, xcb_window_t id);
/* The same for a managed one, waited for until it is there. */
const json_t *desk_window(struct desk *desk, xcb_window_t id);

/* Members of a window. */
int desk_int(const json_t *object, const char *name);
const char *desk_text(const json_t *object, const char *name);

/* What the test's clients do. */
struct desk_look {
	int x, y, width, height;
	bool at_place;        /* the user wants it just there (USPosition) */
	bool alone;           /* override-redirect */
	xcb_window_t of;      /* transient for */
	const char *type;     /* "DIALOG" of _NET_WM_WINDOW_TYPE_DIALOG; NULL: none */
	const char *state;    /* the same of _NET_WM_STATE_ */
	const char *title;
	int min_width, min_height, step; /* size hints */
	uint32_t colour;
};
xcb_window_t desk_create(xcb_connection_t *client, xcb_window_t root, const struct desk_look *look);
void desk_set(xcb_connection_t *client, xcb_window_t window, const char *property, const char *type, int format, const void *data, size_t n);
xcb_atom_t desk_atom(xcb_connection_t *client, const char *name);
/* Creates, maps, and waits until the window manager has it (or it is on the screen, when it is alone). */
xcb_window_t desk_show(struct desk *desk, xcb_connection_t *client, const struct desk_look *look);
/* A round trip of a client. */
void desk_sync(xcb_connection_t *client);

/* Another program, which shows such a window until it is killed. */
pid_t desk_other_program(struct desk *desk, const struct desk_look *look, xcb_window_t *window);
void desk_end_program(struct desk *desk, pid_t pid);

#endif
