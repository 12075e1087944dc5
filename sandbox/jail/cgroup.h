/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control groups of one server and its sessions, on hosts with cgroup v2, v1 or both (v1 controllers beside a v2 without any).
 *
 * Under the warden's own group in each hierarchy lies a folder of the server's name, and in it:
 *
 *   front                    the front: memory; four times the CPU of a session, when that is short
 *   egress                   what delivers webhooks: memory
 *   SESSION/stage            the stage, so that a busy jail cannot starve it: as the display, it comes before the jail
 *   SESSION/views            the views of those who watch: memory, pids, CPU
 *   SESSION/egress           its way out, if it has one: memory, pids, CPU
 *   SESSION/desk             CPU
 *   SESSION/desk/display     memory, pids
 *   SESSION/desk/jail        memory, pids; the app jail
 *   SESSION/desk/jail/{base,apps,agent}   cgroup v2 only: freeze and kill
 *
 * v1 has memory, pids and cpu, never its freezer. Where no cgroup2 is mounted the warden mounts one in its own mount namespace.
 * One owner, one thread.
 */
#ifndef JAIL_CGROUP_H
#define JAIL_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "session/base/err.h"

struct cgroups;

/* What of the limits could be set, by bit; the same values as enum warden_isolation. */
enum cgroup_bit {
	CGROUP_MEMORY = 1 << 0,
	CGROUP_PIDS = 1 << 1,
	CGROUP_CPU = 1 << 2,
	CGROUP_SWAP_OFF = 1 << 4,
	CGROUP_FREEZE = 1 << 5,
};

/* The limits of one session. The stage's, the display's and the front's are constants of cgroup.c. */
struct cgroup_limits {
	uint64_t memory_bytes; /* of the app jail */
	uint64_t display_bytes;
	uint64_t pids;         /* of the app jail */
	uint64_t cpu_milli;    /* of app jail and display together */
};

/* What the processes of a group have now, and the processor time that they have used. */
struct cgroup_usage {
	uint64_t memory_bytes, pids, cpu_usec;
	uint32_t known; /* CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU: what the host can tell */
};

#define CGROUP_MAX_HIERARCHIES 4

/* A place to start a process in: the v2 folder for CLONE_INTO_CGROUP (or -1) and cgroup.procs of each v1 hierarchy, into which
 * the new process writes itself, since that move can take 14 ms. */
struct cgroup_seat {
	int v2_dir;
	int v1_procs[CGROUP_MAX_HIERARCHIES];
	int n_v1;
};

/*
 * Finds the hierarchies and makes the server's folder `name` in each, after it removed what a former life left there and in the
 * folders that `record` lists (a file with one folder a line, written anew). Must run in the warden's own mount namespace; `v2_place` is an
 * empty folder to mount a cgroup2 on if there is none. Waits for the processes that it kills. What a hierarchy cannot do
 * is logged and left out: no hierarchy at all is no error.
 */
int cgroup_create(struct cgroups **cgroups, const char *name, const char *record, const char *v2_place, struct err *e);

/* Kills what is left in the server's folders, removes them, forgets them. */
void cgroup_destroy(struct cgroups *cgroups);

/* Makes the groups of a session and sets their limits; *in_force gets the bits of those that hold. */
int cgroup_make_session(struct cgroups *cgroups, const char *session, const struct cgroup_limits *limits, uint32_t *in_force,
                        struct err *e);

/* Kills what is in the session's group `path` ("desk"; "" is all of it), where there is a v2; true if it could. */
bool cgroup_kill_session(struct cgroups *cgroups, const char *session, const char *path);

/* Reads what a session uses, stage and display included; of the front when `session` is NULL. What cannot be read is not `known`. */
void cgroup_read_usage(const struct cgroups *cgroups, const char *session, struct cgroup_usage *usage);

/* Opens, to be read, the file `at` of cgroup_n_meters that counts something of a session; *name says what (session/stage/meters.c). -1: this
 * host does not have it. There may be several of a name. The descriptor is the caller's. */
extern const size_t cgroup_n_meters;
int cgroup_open_meter(const struct cgroups *cgroups, const char *session, size_t at, const char **name);

/* Removes the groups of a session. False with nothing lost while a process of it is still ending: try again. */
bool cgroup_remove_session(struct cgroups *cgroups, const char *session);

/* The seat of group `path` ("ID/desk/jail", "front"); to be closed with cgroup_seat_finish. */
int cgroup_seat_init(struct cgroup_seat *seat, struct cgroups *cgroups, const char *path, struct err *e);
void cgroup_seat_finish(struct cgroup_seat *seat);

/* Opens a v2 file ("ID/desk/jail/apps/cgroup.freeze") for O_WRONLY or O_RDONLY: -1 with ERR_UNSUPPORTED where there is no v2. */
int cgroup_open_v2(struct cgroups *cgroups, const char *path, int access, int *fd, struct err *e);

#endif
