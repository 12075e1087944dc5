/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link between the stage and glovebox-init, pid 1 of the app jail: records on SOCK_SEQPACKET.
 *
 * The stage takes what init says as hostile input: it runs beside the apps. init is static and depends on nothing in the image.
 */
#ifndef INIT_PROTO_H
#define INIT_PROTO_H

#include <stdint.h>

#include "session/base/x/xauth.h"

/* Descriptors that init finds open at its start, made by the warden. */
enum init_fd {
	INIT_FD_GO = 3,     /* one byte before it goes on; end of file: the warden is dead */
	INIT_FD_STAGE = 4,  /* the link described here */
	INIT_FD_GROUPS = 5, /* a SOCK_SEQPACKET end: per leaf and controller one record of one byte (enum init_group) with one
	                       descriptor of a cgroup.procs open for writing; end of file when all are there */
};

/* The three groups of a jail's processes, each a cgroup leaf. */
enum init_group { INIT_GROUP_BASE = 0, INIT_GROUP_APPS = 1, INIT_GROUP_AGENT = 2, INIT_N_GROUPS = 3 };

enum init_op {
	INIT_SPAWN = 1, /* stage → init, with the child's ends of the pipes: stdin, stdout, stderr in this order */
	INIT_SIGNAL,    /* stage → init: to the process group of `tag` */
	INIT_READY,     /* init → stage, once, first */
	INIT_SPAWNED,   /* init → stage, for each INIT_SPAWN */
	INIT_EXITED,    /* init → stage, for each INIT_SPAWNED without an error, after it */
	INIT_REFUSED,   /* init → stage: a record that is no request, or a signal for a tag that no process has (any more) */
	INIT_LAUNCH,    /* init → stage: glovebox-launch NAME was called in the jail */
	INIT_LAUNCHED,  /* stage → init, for each INIT_LAUNCH */
	INIT_AUTHORITY, /* stage → init, before any INIT_SPAWN: what INIT_AUTHORITY_FILE shall hold */
	INIT_SORT,      /* stage → init (struct init_sort): what apps have started shall be of the group agent */
	INIT_SORTED,    /* init → stage, for each INIT_SORT, when it is */
	INIT_END,       /* stage → init (struct init_end): a process of the group agent is killed, whatever has started it */
};

/* Which of its standard descriptors the child gets from the record; the others are /dev/null. The stage makes the pipes, so that no
 * descriptor ever comes out of the jail. */
enum init_flag {
	INIT_PIPE_STDIN = 1 << 0,
	INIT_PIPE_STDOUT = 1 << 1,
	INIT_PIPE_STDERR = 1 << 2,
	INIT_TRUSTED = 1 << 3, /* of INIT_GROUP_APPS only: has INIT_TRUSTED_GID, and executes only what it names */
	INIT_LISTENER = 1 << 4, /* of INIT_GROUP_BASE only: its standard input listens at RELAY_PORT (apps/relay/proto.h). Init makes that socket at the first
	                           such request and keeps it: whoever ends the program cannot listen there in its place */
};

#define INIT_PIPES (INIT_PIPE_STDIN | INIT_PIPE_STDOUT | INIT_PIPE_STDERR)

/* The least Landlock that gives domains; with less, a session has none. Older ones refuse each renaming between folders. */
#define INIT_LANDLOCK_ABI 2

/* The X authority of every program, made empty by the warden for init to fill. */
#define INIT_AUTHORITY_FILE "/run/glovebox/xauth"

/* By this gid the kernel tells the X server a trusted program, which so needs no authority: nothing that it could be made to give away. */
#define INIT_TRUSTED_GID 1001

/* The home of trusted programs, which they alone read and write. */
#define INIT_TRUSTED_FOLDER "/run/glovebox/trusted"

/* Followed by n_argv + n_env + n_runs + 1 NUL-terminated strings: the working directory, argv, environment ("NAME=value"), and of a trusted
 * program the other programs and folders of programs that it may execute. argv[0] is looked up in PATH of that environment. At most
 * LIMIT_SPAWN_BYTES in all. The child leads a session and process group of its own. */
struct init_spawn {
	uint32_t op;
	uint32_t tag;   /* chosen by the stage, never used twice */
	uint8_t group;  /* enum init_group */
	uint8_t flags;  /* enum init_flag */
	uint16_t n_argv, n_env, n_runs;
};

struct init_authority {
	uint32_t op;
	uint32_t tag; /* 0 */
	uint8_t content[XAUTH_SIZE];
};

struct init_sort {
	uint32_t op;
	uint32_t tag; /* 0 */
	uint32_t all; /* 1: and the apps themselves, but for trusted ones */
};

struct init_end {
	uint32_t op;
	uint32_t tag; /* 0 */
	int32_t pid;  /* in the jail's pid namespace; one of another group is left alone */
};

struct init_signal {
	uint32_t op;
	uint32_t tag;
	int32_t signo; /* SIGTERM, SIGKILL, SIGSTOP, SIGCONT, SIGINT, SIGHUP */
};

/* What of a spawn failed (init_report.status of an INIT_SPAWNED with an error). */
enum init_step {
	INIT_STEP_REQUEST = 1, /* the record breaks its form */
	INIT_STEP_PROCESS,     /* fork, or the way into the group */
	INIT_STEP_FOLDER,      /* chdir */
	INIT_STEP_EXEC,
};

/* INIT_READY, INIT_SPAWNED, INIT_EXITED, INIT_REFUSED, INIT_SORTED */
struct init_report {
	uint32_t op;
	uint32_t tag;
	int32_t pid;    /* in the jail's pid namespace */
	int32_t error;  /* SPAWNED, REFUSED: 0, or an errno */
	int32_t status; /* EXITED: exit code 0..255, or -1 when a signal ended it. SPAWNED with an error: enum init_step */
	int32_t signo;  /* EXITED: that signal, else 0 */
};

#define INIT_NAME_SIZE 64

/* A program in the jail asks for a catalogue app, as it is listed. */
struct init_launch {
	uint32_t op;
	uint32_t ticket;           /* chosen by init, comes back in the answer */
	char name[INIT_NAME_SIZE]; /* a-z, 0-9 and "-", NUL-terminated */
};

#define INIT_WHY_SIZE 256

struct init_launched {
	uint32_t op;
	uint32_t ticket;
	uint32_t ok;             /* 1: its window is there */
	char why[INIT_WHY_SIZE]; /* else what was wrong, one line, NUL-terminated */
};

/* Where init listens (SOCK_SEQPACKET) for glovebox-launch: the first of these that can be made. A caller sends one record, the name,
 * and gets one struct init_launched. */
#define INIT_DOOR "/run/glovebox/launch.sock"
#define INIT_DOOR_ELSE "/run/user/1000/glovebox-launch.sock"

#endif
