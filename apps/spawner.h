/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage's end of the link to glovebox-init: starting programs in the app jail, their ends, signals to them.
 *
 * What init says is taken as hostile: a record that breaks the protocol ends the link, and nothing that comes over it is more than numbers.
 * One thread.
 */
#ifndef APPS_SPAWNER_H
#define APPS_SPAWNER_H

#include "apps/init/proto.h"
#include "session/base/co.h"

struct spawner;

struct spawner_ops {
	void (*launch)(void *arg, const struct init_launch *launch); /* glovebox-launch was called; the name has its form */
	void (*gone)(void *arg);                                     /* the link broke: the app jail is dead; called once */
	void *arg;
};

/* What to start. */
struct spawn {
	enum init_group group;
	bool trusted;                   /* of INIT_GROUP_APPS: it has INIT_TRUSTED_GID, argv[0] is absolute */
	char *const *runs;              /* what a trusted one executes beside itself; ends in NULL, or NULL */
	const char *folder;
	char *const *argv, *const *env; /* each ends in NULL */
	unsigned int pipes;             /* enum init_flag: what is not named is /dev/null */
	bool listens;                   /* of INIT_GROUP_BASE: INIT_LISTENER */
	struct co_event *changed;       /* signalled when the program ends; must live until spawner_release */
};

/* A program that was started. Fields are to be read only. */
struct process {
	struct process *next;
	struct spawner *spawner;
	uint32_t tag;
	enum init_group group;
	int pid;             /* in the app jail; 0 until it runs */
	int in, out, err;    /* our ends of its pipes, non-blocking, else -1; the taker of one puts -1 there */
	bool reported;       /* INIT_SPAWNED came */
	bool ended;
	bool released;       /* nobody waits for it any more */
	int exit_code;       /* -1 when a signal ended it, or the jail died */
	int signo;
	int kill_signo;      /* a signal that waits for room on the link */
	struct init_report start; /* what INIT_SPAWNED said */
	struct co_event *changed;
	struct co_event started;
};

/* Takes the descriptor. */
struct spawner *spawner_create(struct loop *loop, int fd, const struct spawner_ops *ops);
/* Ends the link, and with it the jail. Processes that were not released must not be used after that. */
void spawner_destroy(struct spawner *spawner);

/* Waits for init to be there. Errors: ERR_GONE, ERR_TIMEOUT, ERR_CANCELLED. */
int spawner_wait_ready(struct spawner *spawner, int64_t deadline_ms, struct err *e);

/* Tells init what INIT_AUTHORITY_FILE shall hold: what is started after that finds it. Errors: ERR_GONE, ERR_TIMEOUT, ERR_CANCELLED. */
int spawner_authority(struct spawner *spawner, const uint8_t *content, size_t len, int64_t deadline_ms, struct err *e);

/*
 * Starts a program and waits until it runs. Errors: ERR_NOT_FOUND at /argv/0 or /cwd, ERR_BAD_FIELD at /argv, /argv/0 or /cwd, ERR_LIMIT
 * when the session can have no more processes, ERR_GONE, ERR_TIMEOUT, ERR_CANCELLED (a program that starts after that is killed).
 */
int spawner_start(struct spawner *spawner, const struct spawn *spawn, int64_t deadline_ms, struct process **process, struct err *e);

/* The size check of spawner_start alone: ERR_BAD_FIELD at /argv. */
int spawner_check(const struct spawn *spawn, struct err *e);

/* Waits for the end of the program. Errors: ERR_GONE when the jail is dead, ERR_TIMEOUT, ERR_CANCELLED. */
int spawner_wait_end(struct process *process, int64_t deadline_ms, struct err *e);

/* Sends a signal to the program's process group, unless it has ended. Waits for nothing. */
void spawner_signal(struct process *process, int signo);

/* What apps of the catalogue have started themselves, but for trusted ones, is of the group agent when this returns; `all`: and the apps themselves. Errors: ERR_GONE, ERR_TIMEOUT,
 * ERR_CANCELLED. Must run in a coroutine. */
int spawner_sort(struct spawner *spawner, bool all, int64_t deadline_ms, struct err *e);

/* Kills the process with this number in the app jail if it is of the group agent, whoever started it. Errors: ERR_GONE, ERR_TIMEOUT, ERR_CANCELLED. In a
 * coroutine. */
int spawner_end(struct spawner *spawner, int pid, int64_t deadline_ms, struct err *e);

/* As spawner_signal, to all that run in a group. */
void spawner_signal_group(struct spawner *spawner, enum init_group group, int signo);

/* Gives the program up: closes its pipes; if it still runs, it runs on. NULL is fine. */
void spawner_release(struct process *process);

/* Answers a launch: ok, or why not. Waits until the link takes it. */
void spawner_answer(struct spawner *spawner, uint32_t ticket, bool ok, const char *why);

#endif
