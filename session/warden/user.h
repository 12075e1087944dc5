/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server that an ordinary user starts. What takes root is then done in a user namespace of the server's own: the user is root there, and
 * the uids of the sessions are the user's subordinate ids (/etc/subuid, /etc/subgid; `newuidmap` of Debian's package uidmap maps them).
 * So front, stages, displays and apps have a uid each as they have under root. What only the host's root can give (control groups, unless
 * they are delegated) is missing, and said to be.
 */
#ifndef WARDEN_USER_H
#define WARDEN_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "session/base/err.h"
#include "session/warden/options.h"

struct user {
	bool ordinary;   /* the server was started by an ordinary user */
	uid_t host_root; /* who owns what the host's root owns, as seen from here; 0 where that is root */
};

/*
 * Returns 0 where it is called by root. For anybody else the program is executed again, as root of namespaces for users, processes and
 * mounts; the caller stays outside, passes SIGTERM, SIGINT and SIGHUP on, and ends as it ends. Neither lives without the other. -1 with the
 * reason (the ids that are missing, with the command that gives them) if it cannot be; then nothing was started.
 */
int user_enter(struct user *user, const struct options *options, char **argv, struct err *e);

/* The state folder of an ordinary user who names none, made with the folders that it lies in; malloced, the caller's. */
char *user_state_folder(void);

/* For `glovebox doctor`: whether the caller's ids would do, with what is there or missing in `value`. */
bool user_look(const struct options *options, char *value, size_t size);

#endif
