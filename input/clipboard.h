/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clipboards of a session, CLIPBOARD and PRIMARY, on both of the stage's connections, and the actions that set and get them.
 *
 * X has clients of two kinds of trust: one that is not trusted cannot hand its selection to one that is, all else works. So the stage reads what such
 * a client owns on a connection that is not trusted either, and what it owns itself, on the trusted one, is for all. It keeps what it
 * owns for as long as the session; what an app owns goes with the app, as X has it. Owner: struct keyboard. One thread.
 */
#ifndef INPUT_CLIPBOARD_H
#define INPUT_CLIPBOARD_H

#include "input/ping.h"
#include "input/selection.h"
#include "session/base/action.h"

enum clipboard_name { CLIPBOARD_MAIN, CLIPBOARD_PRIMARY, CLIPBOARD_NAMES };

/* What callers can set and get. */
enum clipboard_kind { CLIPBOARD_TEXT, CLIPBOARD_HTML, CLIPBOARD_PNG, CLIPBOARD_KINDS };

#define CLIPBOARD_TEXT_TARGETS 6

/* One of the two. */
struct clipboard_one {
	struct selection ours;   /* on the trusted connection */
	struct selection theirs; /* on the other one; zeroed without it */
	bool in_use;             /* a coroutine converts */
	struct co_event free;
	xcb_window_t owner;      /* as X last told */
	unsigned int n_changes;  /* of it */
	xcb_timestamp_t changed; /* the server's time of the last one */
	struct co_event told;    /* signalled at each */
};

struct clipboard {
	struct xconn *x, *untrusted; /* untrusted NULL: there is none */
	struct ping *ping;           /* for the server's time */
	struct xconn_listener listener;
	uint8_t selection_event;     /* of XFIXES */
	struct clipboard_one one[CLIPBOARD_NAMES];
	xcb_atom_t text[CLIPBOARD_TEXT_TARGETS], html, png, probe; /* text: the best first */
	void (*changed)(void *arg, enum clipboard_name name);      /* or NULL: its owner has changed */
	void *changed_arg;
};

/* `x` and `ping` must outlive it. Errors as xconn_reply. Must run in a coroutine, as all that return int. */
int clipboard_init(struct clipboard *clipboard, struct xconn *x, struct ping *ping, struct err *e);
/* Nothing for zeroed memory. */
void clipboard_finish(struct clipboard *clipboard);

/* From now on clients that are not trusted are read over this connection, which must outlive it. Errors as xconn_reply. */
int clipboard_use_untrusted(struct clipboard *clipboard, struct xconn *untrusted, struct err *e);

/* Whether the client of this window is not trusted; false when it is gone. Errors as xconn_reply. */
int clipboard_is_untrusted(struct clipboard *clipboard, xcb_window_t window, bool *yes, struct err *e);

/* Waits until nobody else converts, and keeps others from it until clipboard_give. ERR_TIMEOUT, ERR_CANCELLED. */
int clipboard_take(struct clipboard_one *one, int64_t deadline_ms, struct err *e);
void clipboard_give(struct clipboard_one *one);

/* On which connection the owner is to be asked; NULL when nobody owns it. Errors as xconn_reply. */
int clipboard_reader(struct clipboard *clipboard, struct clipboard_one *one, struct selection **reader, struct err *e);

/* All that the clipboard holds, for who wants to put it back: selection_read on the right connection. */
int clipboard_read(struct clipboard *clipboard, struct clipboard_one *one, int64_t deadline_ms, struct selection_content **content,
                   struct err *e);

/* What an owner offers: for each kind the target to ask for, or 0. */
struct clipboard_offer {
	xcb_atom_t target[CLIPBOARD_KINDS];
	bool guessed; /* it does not say what it has */
};

/* Asks the owner, who may be we, what it has; `time` is the server's, as late as its ownership. One of enum selection_answer, or -1 as xconn_reply. Between
 * clipboard_take and _give. */
int clipboard_ask(struct clipboard *clipboard, struct selection *reader, xcb_timestamp_t time, struct clipboard_offer *offer, struct err *e);

/*
 * Gets one kind, as callers get it: UTF-8 text without NUL, HTML without a mark of its encoding, a checked PNG. *data is malloced, the caller's. One of
 * enum selection_answer, SELECTION_REFUSED also for what is of no use; or -1 as xconn_reply. Between clipboard_take and _give.
 */
int clipboard_fetch(struct clipboard *clipboard, struct selection *reader, enum clipboard_kind kind, xcb_atom_t target, xcb_timestamp_t time,
                    int64_t deadline_ms, char **data, size_t *len, struct err *e);

/* Adds one kind in all the targets that programs ask for; `data` is copied. */
void clipboard_add(const struct clipboard *clipboard, struct selection_content *content, enum clipboard_kind kind, const char *data, size_t len);

/* The actions (clipboard_action.c). */
extern const struct field clipboard_set_fields[4], clipboard_get_fields[2];
extern const struct member clipboard_get_told[5];
#define CLIPBOARD_SET_RULE "exactly one of text, html and png; text may stand beside html, for programs that take no HTML"
int clipboard_check_set(void *home, const json_t *args, struct err *e);
int clipboard_run_set(struct clipboard *clipboard, struct action_run *run, struct err *e);
int clipboard_run_get(struct clipboard *clipboard, struct action_run *run, struct err *e);

#endif
