/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a session and how each is started. Used by session.c alone. */
#ifndef WARDEN_PARTS_H
#define WARDEN_PARTS_H

#include "sandbox/jail/child.h"
#include "session/warden/warden.h"

enum part_kind { PART_DISPLAY, PART_APPS, PART_STAGE, N_PARTS };

struct part {
	struct session *session;
	enum part_kind kind;
	struct child *child; /* NULL before its start and after its end */
	bool started;        /* its program runs */
};

enum session_state { SESSION_STARTING, SESSION_RUNNING, SESSION_ENDING };

struct session {
	struct warden *warden;
	struct session *next;
	char id[SESSION_ID_SIZE];
	unsigned slot;
	uint32_t tag; /* of the create */
	struct warden_create spec;
	enum session_state state;
	bool created;                  /* CREATED was sent */
	struct part parts[N_PARTS];
	uint32_t isolation;
	uint8_t cookie[COOKIE_LEN];
	pid_t apps_pid;                /* in the session's pid namespace; 0 until known */
	int listen;                    /* run/ID/stage.sock, until the stage has it */
	int label;                     /* our end of the channel to the stage */
	int init, files[N_STATE_FILES], proc, store; /* what the stage gets by it; -1 once it has it */
	int64_t created_ms;            /* monotonic; 0 before CREATED */
	struct loop_timer *ttl;        /* hard end of life */
	struct loop_timer *patience;   /* while ending: with the stage, then with the groups */
	int64_t give_up_ms;
	enum warden_reason reason;     /* of its end */
	struct err why;                /* code set: why it failed while starting */
	char how[96];                  /* a line on its end */
	bool has_x11, has_run, has_journal, has_groups;
	struct view *views;            /* views.c */
	void (*view_gone)(struct session *session);
	struct egress *egress;         /* egress.c; NULL: there is no way out */
	void (*egress_gone)(struct session *session); /* called when its last process is gone, once it was to end */
};

/* Each starts one part, in this order. */
int parts_start_display(struct session *session, const struct child_ops *ops, struct err *e);
int parts_start_apps(struct session *session, const struct child_ops *ops, struct err *e);
int parts_start_stage(struct session *session, const struct child_ops *ops, struct err *e);

/* Gives the stage all its ends; to be called when all parts have started. */
int parts_hand_over(struct session *session, struct err *e);

#endif
