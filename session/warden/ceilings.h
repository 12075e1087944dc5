/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What no session gets past, whatever the front asks for. Defaults, or the operator's file: lines of
 * "key = value", "#" begins a comment; keys are the fields below, `permit` as "egress_permit".
 */
#ifndef WARDEN_CEILINGS_H
#define WARDEN_CEILINGS_H

#include <stdint.h>

#include "session/base/err.h"

struct ceilings {
	uint32_t sessions;  /* at once */
	uint32_t memory_mb; /* of one session, as all below */
	uint32_t pids;
	uint32_t disk_mb;
	uint32_t cpu_milli;
	uint32_t inodes;
	uint32_t open_files; /* of one process */
	uint32_t x_mb;       /* of its X server */
	uint32_t ttl_s;
	uint32_t egress;    /* enum warden_egress: the widest way out */
	char permit[512];   /* networks of the operator's own that may be reached all the same: "10.0.0.0/8, 192.0.2.1"; "": none */
	uint32_t unlimited; /* 1: sessions are made also where the host cannot limit their memory, processes or processors */
	uint32_t uid_base;  /* first uid of the server; 64 for itself and 64 for each session that there can be */
};

#define CEILINGS_SLOT_UIDS 64

void ceilings_default(struct ceilings *ceilings);

/* Reads the text of a file over the defaults. Unknown keys, keys twice there and values out of range are refused with their line. */
int ceilings_parse(struct ceilings *ceilings, const char *text, struct err *e);

/* Refuses a range of uids that somebody has: `passwd` is text of the form of /etc/passwd, `subids` of /etc/subuid (NULL is none). */
int ceilings_check_uids(const struct ceilings *ceilings, const char *passwd, const char *subids, struct err *e);

#endif
