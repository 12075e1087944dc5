/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage's end of glovebox-access, the helper in the app jail that asks the apps what is on the screen (AT-SPI): which node is at a
 * point, which field has the focus.
 *
 * All that it says comes from the apps and is taken as hostile: bounded, valid UTF-8, numbers in range. It protects from accidents; it is
 * never a permission. Pixels are native ones of the root. Owner: struct apps. One thread; what waits runs in coroutines.
 */
#ifndef APPS_ACCESS_H
#define APPS_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "session/base/co.h"
#include "session/base/limits.h"

struct access;

/* What an app says of one of its nodes. */
struct access_node {
	uint32_t id;                          /* never of another node */
	char role[LIMIT_NODE_ROLE_BYTES + 1]; /* as AT-SPI names it: "push button", "password text" */
	char name[LIMIT_NODE_NAME_BYTES + 1]; /* its label; valid UTF-8, never a value; "" has none */
	bool password;                        /* what is typed here is a secret: no value of it is ever told */
	bool editable;                        /* it takes text */
	bool multi_line;                      /* of several lines: Return stays in it */
	int x, y, width, height;              /* 0 by 0: not known */
	int pid;                              /* of the app, in the app jail, as the kernel says */
	uint32_t window;                      /* X window, or 0 */
};

/* What gets the keys now. */
struct access_focus {
	bool known;                       /* false whenever there is any doubt: all below it is then empty */
	bool late;                        /* not known, because the app or the helper has not answered: it may be anything */
	bool has_node;                    /* `node` tells of the field; without: the app has none in focus, or is a terminal without nodes */
	bool terminal;                    /* what the app runs has a terminal */
	bool prompt;                      /* and one of its terminals asks for a password: echo off, line by line */
	struct access_node node;
	char url[LIMIT_NODE_URL_BYTES + 1]; /* of the page that the node is in, as the app says; "" is none */
	int pid;                          /* of the app, in the app jail */
	uint32_t window;                  /* the active window */
};

/* Is what is typed now a secret, as far as is known? Unknown is not: ask `known` as well. */
static inline bool access_focus_secret(const struct access_focus *focus)
{
	return focus->known && (focus->prompt || (focus->has_node && focus->node.password));
}

/* The focus as it was last told; valid until the next wait. */
const struct access_focus *access_focus(const struct access *access);

/* Signalled whenever the focus or the state of accessibility changes. */
struct co_event *access_changed(struct access *access);

/* Asks again what has the focus, and returns what access_focus then says: for who must know it now (typing after a click). At the deadline the
 * focus is unknown. Errors: ERR_CANCELLED. Must run in a coroutine. */
int access_focus_now(struct access *access, int64_t deadline_ms, struct access_focus *out, struct err *e);

/* NULL when accessibility works in this session, else why it does not. */
const char *access_unavailable(const struct access *access);

/* There was some, once; when there is none now, somebody has ended it, and fields that nobody tells of may be any. */
bool access_worked(const struct access *access);

/* It has been started again since: apps from before are known to nobody, and so are their fields. */
bool access_parted(const struct access *access);

/* A question that is under way. */
struct access_question;

/* Asks which node is at a point; waits for nothing. Never NULL; ended with access_drop. */
struct access_question *access_ask_at(struct access *access, int x, int y, int64_t deadline_ms);

/*
 * Waits for the answer, `until_ms` at most (it may be called again). Errors: ERR_TIMEOUT when it has not come, or the app was silent;
 * ERR_NOT_FOUND when there is no node; ERR_UNSUPPORTED when accessibility is off or not there; ERR_CANCELLED. Must run in a coroutine.
 */
int access_wait_at(struct access_question *question, int64_t until_ms, struct access_node *out, struct err *e);

/* The app that it is about, by its number in the app jail; 0 while that is not known, and when there is none. */
int access_pid_at(const struct access_question *question);

/* Gives the question up. NULL is fine. */
void access_drop(struct access_question *question);

/* Both, to the deadline. */
int access_at(struct access *access, int x, int y, int64_t deadline_ms, struct access_node *out, struct err *e);

/*
 * Where a node is now, and whether it shows. Errors: ERR_NOT_FOUND when it is gone, or its app is; ERR_TIMEOUT, ERR_UNSUPPORTED and the like when that is not
 * known. Must run in a coroutine.
 */
int access_place(struct access *access, uint32_t id, int64_t deadline_ms, struct access_node *out, bool *shows, struct err *e);

/*
 * The processes that are on the accessibility bus, by numbers of the app jail as they were when they connected; 0 for one that is not told. Errors: ERR_TIMEOUT,
 * ERR_UNSUPPORTED, ERR_BUSY, ERR_LIMIT (too many to be told), ERR_CANCELLED. Must run in a coroutine.
 */
int access_clients(struct access *access, int64_t deadline_ms, int pids[LIMIT_ACCESS_CLIENTS], size_t *n, struct err *e);

#endif
