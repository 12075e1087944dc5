/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The app jail: an overlay over the image, a home, loopback alone, one mapped uid and no capability. What root has to do is done
 * before the user namespace is made, and that comes last: so the other namespaces and all mounts belong to the host's root, and nobody
 * inside, "root" of a nested namespace included, has a right over them.
 */
#ifndef JAIL_APPS_JAIL_H
#define JAIL_APPS_JAIL_H

#include <stdint.h>
#include <sys/types.h>

#include "sandbox/jail/child.h"
#include "session/base/err.h"

struct apps_jail {
	const char *place;      /* an empty folder of the host to build on */
	const char *image_root; /* the root of the session's image */
	const char *x11;        /* the folder of the session's X socket */
	const char *bin;        /* the folder with glovebox-launch, or NULL */
	const char *egress;     /* the folder of the session's way out, or NULL */
	uid_t uid;              /* on the host; 1000 inside */
	gid_t trusted;          /* on the host; 1001 inside: init may give it to a program */
	uint32_t disk_mb;       /* all that can be written, /dev/shm too */
	uint32_t inodes;        /* files there */
	uint32_t open_files;    /* of one process */
	int store;              /* a socket on which a file of what can be written is sent, for fstatfs alone (O_PATH), or -1: one of the plan's tools */
	int base_group;         /* cgroup.procs of the jail's leaf `base` in v2, or -1: one of the plan's tools */
	int proc;               /* made by the midwife; -1 at first */
};

#define APPS_JAIL_NAMESPACES (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

/* The `build` of a child_plan with these namespaces and a midwife; arg is the struct apps_jail. */
int apps_jail_build(void *jail, int sync, struct err *e);

/* Its `attend`: maps the uid; birth->fd is a read-only proc of the session's pid namespace. */
int apps_jail_attend(void *jail, struct child_birth *birth, struct err *e);

#endif
