/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link to glovebox-access as the files apps/access*.c share it; not for other folders (access.h is). One thread.
 */
#ifndef APPS_ACCESS_LINK_H
#define APPS_ACCESS_LINK_H

#include <xcb/xcb.h>

#include "apps/access.h"
#include "apps/access/wire/proto.h"
#include "session/base/action.h"

struct apps;
struct process;

struct access_question {
	struct access_question *next;
	struct access *access;
	uint32_t number;      /* 0: it was not sent yet */
	struct co *aim;       /* finds out which window it is about, or NULL */
	int x, y;
	int64_t deadline_ms;
	struct access_target target;
	bool dropped;         /* freed when `aim` ends */
	struct co_event changed;
	/* The answer. */
	bool answered;
	struct err failed;    /* code ERR_NONE: it went well */
	bool unset;           /* it did not, but keys may do it (ACCESS_UNSET) */
	struct access_item *items;
	size_t n_items, max_items;
	struct access_told told;
	struct access_done done;
};

struct access {
	struct apps *apps;    /* NULL: accessibility is off, or the image has no session bus */
	struct process *process;
	struct loop_source *in, *out; /* of its pipes */
	struct co *keeper;    /* starts the helper, and again when it ends; follows the focus */
	struct co_event news; /* for the keeper */
	bool moved;           /* another window is active since the focus was asked for */
	uint32_t aimed_window; /* that it was asked for */
	int aimed_pid;
	bool heard;           /* it has said whether there is accessibility */
	bool worked;          /* there was, at least once */
	bool parted;          /* a helper that worked has gone, and its bus: apps that were on it are on no bus now */
	char reason[LIMIT_NODE_NAME_BYTES + 1]; /* why there is none, or "" */
	char address[ACCESS_ADDRESS_BYTES + 1]; /* of the accessibility bus, or "" */
	bool unpublished;     /* it has changed, and apps are not told yet */
	size_t n_aims;
	struct access_question *questions;
	size_t n_questions;
	uint32_t last_question, last_id, first_id; /* first_id: of this helper; it knows no node before that */
	char *record;         /* what came of the next record */
	size_t len;
	char *unsent;         /* records that its pipe has no room for */
	size_t n_unsent;
	struct access_focus focus;
	struct co_event changed;
};

/* Starts the helper and waits until it says how it stands, LIMIT_ACCESS_START_MS at most; that there is no accessibility is not an error. Errors:
 * ERR_CANCELLED. */
int access_start(struct access *access, struct apps *apps, struct err *e);
/* Ends what runs; access_rests once that has ended, which calls apps_rest. */
void access_stop(struct access *access);
bool access_rests(const struct access *access);
void access_finish(struct access *access);

/* A node as the stage sees it. */
void access_fill_node(struct access_node *out, const struct access_item *item, uint32_t window);

/* The helper is asked (access_ask.c) over the link (access.c). access_send_record: false when it takes no more now. */
bool access_send_record(struct access *access, const struct access_record *record);
void access_forget_focus(struct access *access);
/* The answer is there: well, or as an error. */
void access_end(struct access_question *question);
void access_fail(struct access_question *question, enum err_code code, const char *why);

/* Another window is active. */
void access_moved(struct access *access);

/* A question that takes at most max_items nodes as its answer, and its sending. */
struct access_question *access_question(struct access *access, size_t max_items, int64_t deadline_ms);
void access_send(struct access_question *question, const struct access_record *record);
/* Waits for the end of the answer. Errors: as access_wait_at, and ERR_CONFLICT for what the app refused. */
int access_wait(struct access_question *question, int64_t until_ms, struct err *e);

/* access_rows.c: asks something about a node, and waits for the answer. Errors: as access_wait, with the field's place; *unset (may be NULL) as the
 * question's. */
int access_ask_node(struct action_run *run, const struct access_record *record, struct access_item *out, bool *unset, struct err *e);
/* Tells the node as a result of the action. What it has nothing of is left out. */
void access_put_node(const struct action_run *run, const struct access_item *item, json_t *object);

/* access_set.c: the action set_node. */
int access_set_run(struct action_run *run, struct err *e);

#define ACCESS_DEEP 6 /* windows inside each other that are looked through: a frame, the window, some of its parts */

/* The windows under a point, from the child of the root on. */
struct access_under {
	xcb_window_t ids[ACCESS_DEEP];
	size_t n;
};

/* access_aim.c. Errors of xconn_reply. */
int access_windows_under(struct apps *apps, int x, int y, struct access_under *out, struct err *e);
/* The X window (0: the active one, or that of the input focus) as a target. Errors: ERR_NO_WINDOW, those of xconn_reply. */
int access_aim(struct apps *apps, xcb_window_t window, struct access_target *out, struct err *e);
/* The X window that shows at a point. pid 0: none of an app. */
int access_aim_at(struct apps *apps, int x, int y, struct access_target *out, struct err *e);

#endif
