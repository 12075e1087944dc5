/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link between the stage and glovebox-init, pid 1 of the app jail: records on SOCK_SEQPACKET.
 *
 * The stage takes what init says as hostile input: it runs beside the apps. init is static and depends on nothing in the image.
 */
#ifndef INIT_PROTO_H
#define INIT_PROTO_H

#include <stdint.h>

/* Descriptors that init finds open at its start, made by the warden. */
enum init_fd {
	INIT_FD_GO = 3,      /* one byte before it goes on; end of file: the warden is dead */
	INIT_FD_STAGE = 4,   /* the link described here */
	INIT_FD_SECCOMP = 5, /* the compiled filter of the app jail (struct sock_filter array), loaded by init on itself */
	INIT_FD_GROUPS = 6,  /* a SOCK_SEQPACKET end: per leaf and controller one record of one byte (enum init_group) with one
	                        descriptor of a cgroup.procs open for writing; end of file when all are there */
};

/* The three groups of a jail's processes, each a cgroup leaf (security.md part 2). */
enum init_group { INIT_GROUP_BASE = 0, INIT_GROUP_APPS = 1, INIT_GROUP_AGENT = 2, INIT_N_GROUPS = 3 };

enum init_op {
	INIT_SPAWN = 1, /* stage → init */
	INIT_SIGNAL,    /* stage → init: to the process group of `tag` */
	INIT_READY,     /* init → stage, once, first */
	INIT_SPAWNED,   /* init → stage, with the descriptors asked for: stdin, stdout, stderr in this order */
	INIT_EXITED,    /* init → stage */
};

enum init_flag {
	INIT_PIPE_STDIN = 1 << 0,  /* else /dev/null */
	INIT_PIPE_STDOUT = 1 << 1, /* else /dev/null */
	INIT_PIPE_STDERR = 1 << 2, /* else /dev/null */
};

/* Followed by n_argv + n_env + 1 NUL-terminated strings: the working directory, argv, environment ("NAME=value"). argv[0] is
 * looked up in PATH of that environment. At most LIMIT_SPAWN_BYTES in all. The child leads a session and process group of its own. */
struct init_spawn {
	uint32_t op;
	uint32_t tag;   /* chosen by the stage, never used twice */
	uint8_t group;  /* enum init_group */
	uint8_t flags;  /* enum init_flag */
	uint16_t n_argv, n_env;
};

struct init_signal {
	uint32_t op;
	uint32_t tag;
	int32_t signo; /* SIGTERM, SIGKILL, SIGSTOP, SIGCONT, SIGINT, SIGHUP */
};

/* INIT_READY, INIT_SPAWNED, INIT_EXITED */
struct init_report {
	uint32_t op;
	uint32_t tag;
	int32_t pid;    /* in the jail's pid namespace */
	int32_t error;  /* SPAWNED: 0, or errno of chdir or exec */
	int32_t status; /* EXITED: exit code 0..255, or -1 when a signal ended it */
	int32_t signo;  /* EXITED: that signal, else 0 */
};

#endif
