/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server's own folder (0700) and what lies in it:
 *
 *   lock             held while the server runs; the pid of the holder
 *   operator.token   root alone
 *   front/           the front's own files
 *   run/ID/          the socket of a session's stage; the front can reach it
 *   journals/ID/     the session's stage owns it until its end, then the front
 *   secrets/NAME     root alone: a stored secret (secrets.h)
 *   groups           the folders of control groups, for the next start after a crash
 *   build/           empty: where children put their roots together, each in its own mount namespace
 *   share/           a tmpfs of the warden's mount namespace: bin/ for the app jails, x11/ID/ for the sockets of displays, egress/ID/ for the way out
 *   cgroup2/         empty: where a cgroup2 is mounted if the host has none
 */
#ifndef WARDEN_STATE_H
#define WARDEN_STATE_H

#include <sys/types.h>

#include "session/base/err.h"

struct state {
	char dir[512];   /* its path, without links */
	char name[40];   /* "glovebox-" and 16 hex digits of that path: names its control groups */
	int fd, lock;
	int run, journals;
	uid_t front;
};

/*
 * Makes the folder (0700; a folder of root's that others may enter is closed to them) and takes the lock. ERR_CONFLICT with the holder's
 * pid if another server has it.
 */
int state_open(struct state *state, const char *dir, struct err *e);

/* Makes what lies in the folder for a front with this uid, and clears what a former life left: run/, journals without an owner. */
int state_prepare(struct state *state, uid_t front, struct err *e);

/* Programs of ours that the app jails have. */
enum state_tool { STATE_TOOL_LAUNCH, STATE_TOOL_ACCESS, STATE_TOOL_RELAY, STATE_TOOL_BATTERY, STATE_TOOL_FILES_HELPER, N_STATE_TOOLS };
extern const char *const STATE_TOOL_FILES[N_STATE_TOOLS];

/* Mounts the tmpfs on share/ in the calling process's mount namespace and puts the programs that are given (not -1) in its bin/. */
int state_mount_share(const struct state *state, const int tools[N_STATE_TOOLS], struct err *e);

void state_close(struct state *state);

/* Writes "DIR/rest" to out. Returns out. */
char *state_path(const struct state *state, char *out, size_t size, const char *rest, const char *id);

/* run/ID with a listening socket that the front alone can reach. *sock is the caller's. */
int state_make_run(const struct state *state, const char *id, int *sock, struct err *e);
void state_remove_run(const struct state *state, const char *id);

/* The files of a journal: session.json, journal.jsonl, pictures. */
enum state_file { STATE_SESSION_JSON, STATE_JOURNAL, STATE_PICTURES, N_STATE_FILES };

/* journals/ID, which must not be there yet, with its files open for appending; the caller's. */
int state_make_journal(const struct state *state, const char *id, uid_t stage, int files[N_STATE_FILES], struct err *e);
/* Gives journals/ID to the front, or removes it if nothing was written. */
void state_give_journal(const struct state *state, const char *id);
/* Removes journals/ID and all that is in it; who reads a file of it can read on. ERR_NOT_FOUND. */
int state_drop_journal(const struct state *state, const char *id, struct err *e);

/* share/x11/ID: a small tmpfs for the socket of a display. */
int state_make_x11(const struct state *state, const char *id, struct err *e);
void state_remove_x11(const struct state *state, const char *id);

/* share/egress/ID: a small tmpfs that `uid` may write to, with the listening socket proxy.sock that anybody who sees it can reach; *sock is the caller's. */
int state_make_egress(const struct state *state, const char *id, uid_t uid, int *sock, struct err *e);
void state_remove_egress(const struct state *state, const char *id);

#endif
