/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits on oneself: what front, stage and their kin do first thing in main, and the filters of system calls.
 *
 * The warden starts them in namespaces of their own, in a root that holds nothing but their folders and, for the dynamic loader,
 * the host's /usr and /lib, read-only. confine_enter takes the loader's mounts away and gives up everything else. A leaf: it
 * includes nothing but session/base.
 */
#ifndef CONFINE_CONFINE_H
#define CONFINE_CONFINE_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/base/err.h"

/* The Landlock domain of a daemon: of files and TCP what it says, never a signal or an abstract socket out of it. */
enum confine_land {
	CONFINE_LAND_NONE,     /* it has none */
	CONFINE_LAND_NOTHING,  /* no file, no port */
	CONFINE_LAND_READS,    /* reads files; no port */
	CONFINE_LAND_WRITES,   /* reads, makes and removes files, executes none; no port of its own: listeners are passed */
	CONFINE_LAND_RUNS,     /* as its owners and modes say, but no device, FIFO or link is made; no port */
	CONFINE_LAND_CONNECTS, /* the same, and connects to ports of others */
};

/* A filter with what goes with it, compiled of the table of its name (sandbox/filters) while this was built. */
struct confine_filter {
	const char *name; /* "stage": names the process "glovebox-stage" */
	enum confine_land land; /* of daemons: of those that confine_enter takes, and the display's */
	const struct sock_filter *rows;
	unsigned short n_rows;
};

/*
 * All of them: confine_app, confine_app_deny and so on. init loads app on itself, the warden's builder before it app_deny: what "allowed but for …" means takes two
 * filters. Each program of init's that is not a trusted one loads app_alone. warden denies what no process of Glovebox ever needs.
 */
#define CONFINE_FILTERS(X) \
	X(app) X(app_deny) X(app_alone) X(xvfb) X(wm) X(stage) X(front) X(egress) X(proxy) X(view) X(relay) X(files) X(warden)
#define CONFINE_DECLARE(name) extern const struct confine_filter confine_##name;
CONFINE_FILTERS(CONFINE_DECLARE)

/*
 * The whole entry of a daemon, to be called before it opens anything: detaches the loader's mounts, sets resource limits, drops to
 * its uid and gid with no capability, bounding set or supplementary group, no_new_privs, undumpable, arms the parent-death signal
 * last, waits for the go byte on CHILD_GO (end of file, or a warden that is gone: -1), enters the filter's Landlock domain, loads the filter. The uid, which is the gid too,
 * comes from the environment variable GLOVEBOX_UID that the warden sets, which is cleared. SIGALRM ends the process from now on, as
 * it would if it were not pid 1 of its namespace; a file that would grow beyond LIMIT_FILE_BYTES fails with EFBIG. -1 on any failure: the
 * caller must exit.
 */
int confine_enter(const struct confine_filter *filter, struct err *e);

/*
 * The same for a program that is only to check something and was put nowhere: no mounts to detach, no go byte to wait for, and
 * without GLOVEBOX_UID it stays who it is.
 */
int confine_enter_check(const struct confine_filter *filter, struct err *e);

/*
 * Loads a filter on the calling process for good; no_new_privs must be set. Another architecture's calls kill. To be called between fork and exec as
 * well: allocates nothing. -1 with errno.
 */
int confine_load(const struct confine_filter *filter, struct err *e);

/* Gives up every capability for good: bounding set (with CAP_SETPCAP), ambient set, inheritable, permitted and effective. */
int confine_drop_caps(struct err *e);

/* Lets a capability live on over exec. Before the securebits are locked, and while it and CAP_SETPCAP are there. */
int confine_raise_ambient(int cap, struct err *e);

/* As confine_drop_caps, but for one that has been raised. */
int confine_drop_caps_but(int cap, struct err *e);

/* The version of the kernel's Landlock, or -1 where there is none; and those from which on it knows TCP ports, signals and abstract sockets. */
int confine_landlock_abi(void);
#define CONFINE_PORTS_ABI 4
#define CONFINE_SCOPES_ABI 6

/* Puts the calling process, which has no_new_privs, into a domain: of what the kernel knows of it; where it has no Landlock, nothing happens. */
int confine_landlock(enum confine_land land, struct err *e);

/* From root to uid (and gid) for good: no_new_privs, no group, no capability. The parent-death signal is cleared by it. */
int confine_become(uid_t uid, struct err *e);

/*
 * Waits for the go byte on CHILD_GO, to be called after the parent-death signal was armed for the last time. -1: the warden is
 * gone.
 */
int confine_wait_go(struct err *e);

#endif
