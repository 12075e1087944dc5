/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the control groups of this host are, and the server's own folder in each hierarchy. Used by cgroup.c alone. One thread.
 */
#ifndef JAIL_HIERARCHY_H
#define JAIL_HIERARCHY_H

#include <stdbool.h>

#include "session/base/err.h"

enum controller { CONTROLLER_MEMORY = 1, CONTROLLER_PIDS = 2, CONTROLLER_CPU = 4 };

struct hierarchy {
	int version;          /* 1 or 2 */
	unsigned controllers; /* enum controller, by bit */
	bool can_kill;        /* v2: cgroup.kill and cgroup.freeze are there */
	bool moved;           /* v2: the warden sits in a leaf of the folder, out of the way of the controllers */
	int dir;              /* the server's folder, once made */
	char base[512];       /* the group in which the folder lies: our own */
	char path[512];       /* the folder */
	char top[512];        /* the mount point */
	char top_path[512];   /* where the folder would lie at the top */
};

/* Finds the hierarchies of use here, at most `max`, with the folder called `name`. Mounts a cgroup2 on v2_place if none is. */
int hierarchy_find(struct hierarchy *all, int max, const char *name, const char *v2_place);

/* The pure part of it: texts of /proc/self/mountinfo and /proc/self/cgroup. Fills version, controllers, base and top. */
int hierarchy_parse(struct hierarchy *all, int max, const char *mountinfo, const char *cgroup);

/* Sweeps the folder if it is there, makes it anew and opens it; in v2 has the controllers handed down to it. -1 with errno. */
int hierarchy_make(struct hierarchy *h);

/* Kills what is in the folder and removes it. False if something stayed. */
bool hierarchy_remove(struct hierarchy *h);

/* v2: has group `path` of the folder hand down the controllers. */
void hierarchy_hand_down(const struct hierarchy *h, const char *path);

/* Writes the folders' paths to the file; reads them and sweeps what is left of each. */
int hierarchy_record(const char *file, const struct hierarchy *all, int n, struct err *e);
void hierarchy_sweep_recorded(const char *file);

/* Writes a short text to a control file. 0, or -1 with errno. */
int hierarchy_write(int dir, const char *path, const char *text);

#endif
