/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One session: its display, hands and apps joined, from open to its end.
 *
 * starting → ready ⇄ paused → ended, or failed from any. A part that dies (X, init) makes it failed; the warden ends its processes. A part
 * that lives but is of no use any more the warden cannot see: then the stage ends itself after LIMIT_FAILED_MS.
 * One thread; open and start run in coroutines.
 */
#ifndef STAGE_STAGE_H
#define STAGE_STAGE_H

#include "apps/apps.h"
#include "display/display.h"
#include "input/input.h"
#include "session/base/x/xsecurity.h"
#include "session/journal/journal.h"
#include "session/stage/alarms.h"
#include "session/stage/approvals.h"
#include "session/stage/connection.h"
#include "session/stage/egress.h"
#include "session/stage/ends.h"
#include "session/stage/events.h"
#include "session/stage/guard.h"
#include "session/stage/lease.h"
#include "session/stage/meters.h"
#include "session/stage/nodes.h"
#include "session/stage/gate.h"
#include "session/stage/recording.h"
#include "session/stage/records.h"
#include "session/stage/rows.h"
#include "session/stage/secrets.h"
#include "session/stage/spots.h"
#include "session/stage/turns.h"
#include "session/stage/typed.h"
#include "session/stage/viewers.h"
#include "session/stage/watch.h"

enum stage_state { STAGE_IS_STARTING, STAGE_IS_READY, STAGE_IS_PAUSED, STAGE_IS_ENDED, STAGE_IS_FAILED };

/* What of typed text the journal keeps. */
enum stage_text {
	STAGE_TEXT_PLAIN,  /* all that is known not to be a password */
	STAGE_TEXT_NONE,
	STAGE_TEXT_ALWAYS, /* all that is not known to be one */
};

struct stage {
	struct loop *loop;
	struct ends ends;
	enum stage_state state;
	bool frozen;             /* of paused: the jail's switch is turned, and the journal says so */
	bool opened;             /* open was called */
	bool is_open;            /* and went well: the parts below are there */
	bool finished;           /* the journal's last line is written */
	char reason[ERR_MSG_MAX]; /* of failed */
	char end_reason[32];     /* why it ended, once finished */
	int exit_status;         /* of the process: 0 or enum stage_exit */
	struct connections *connections;
	struct journal *journal;
	json_t *spec, *image;
	json_t *operators;       /* rules of the configuration ("approval"), or NULL */
	struct approvals approvals;
	struct space native;     /* of the display, now */
	struct space space;      /* of the session */
	enum stage_text text;    /* of typed text, what the journal keeps */
	bool keep_nodes;         /* it says what actions met */
	bool space_follows;      /* the spec names none: it goes with the display's size */
	struct recording recording; /* its pictures */
	long epoch, episode;
	json_t *setup;           /* what became of the commands of the setup phase, or NULL */
	json_t *apps_started;    /* what `launch` answered for each app of the spec */
	struct xconn x;
	bool display_is_silent;   /* new work is refused (silence.h) */
	struct xconn x_untrusted; /* among the apps that are not trusted; they may end it */
	uint8_t untrusted_cookie[XSECURITY_COOKIE_LEN];
	struct display *display;
	struct input *input;
	struct apps *apps;
	struct action_set sets[5];
	size_t n_sets;
	struct rows_home own;    /* of the stage's own rows */
	struct turns turns;
	size_t n_files;          /* calls for files that run */
	struct call *acting;     /* the call whose action runs now, or NULL */
	const struct action_row *acting_row; /* that action */
	struct watch watch;      /* of the front: what it is told has changed */
	struct lease lease;      /* who holds the controls; `epoch` is its number */
	int64_t acted_ms;        /* when the screen last had something to answer: the end of an action, the start */
	struct guard guard;
	struct nodes nodes;
	struct typed typed;
	struct secrets secrets;
	struct access_focus secret_focus; /* what the last one was typed into */
	struct spots spots;      /* that are blank */
	struct gate gate;        /* of what it says */
	struct records *records; /* of keys */
	struct readers readers;  /* of streams */
	struct events *events;
	struct viewers viewers;  /* who watch by RFB */
	struct egress egress;
	struct meters meters;    /* of its limits */
	struct alarms alarms;
};

/* Takes the ends. */
struct stage *stage_create(struct loop *loop, struct ends *ends);
void stage_destroy(struct stage *stage);

/* {"spec","image","approval"}: X, window manager, painted desktop, hands, init. On failure the session has failed. */
int stage_open(struct stage *stage, const char *body, size_t len, struct err *e);

/* Starts the apps of the spec one after another; the session is ready then. On failure it has failed. */
int stage_start(struct stage *stage, struct err *e);

/* The session takes no more acts: what runs is cancelled, what waits is refused when its turn comes. */
void stage_stop(struct stage *stage);

/* Stops, lets go of what is held, writes the journal's last line. */
void stage_end(struct stage *stage, const char *reason);

/* The session has failed, once. The loop stops in a while. */
void stage_fail(struct stage *stage, const char *reason);

/* 0 when the session takes work, else -1 with the refusal: ERR_NOT_READY, ERR_PAUSED, ERR_GONE with the reason, or ERR_BUSY when answers pile up
 * that nobody reads. */
int stage_check_ready(const struct stage *stage, struct err *e);

/* What coordinates of the session mean now. */
struct batch_place stage_place(const struct stage *stage);

/* The caller's references. `frame` 0 is the newest that is over. */
json_t *stage_at(const struct stage *stage, uint64_t frame);
json_t *stage_describe(struct stage *stage);
json_t *stage_show(struct stage *stage, const struct call *call); /* the same as this caller may see it */
json_t *stage_hello(const struct stage *stage);

#endif
