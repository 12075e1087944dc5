/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's files as the warden handles them: bytes that it never reads. The configuration is the front's, the file of webhooks
 * glovebox-egress's; each alone parses its own, and gets the same bytes at each of its starts.
 */
#ifndef WARDEN_CONFIG_H
#define WARDEN_CONFIG_H

#include <stdbool.h>
#include <sys/types.h>

#include "session/base/err.h"

/*
 * Copies the file into sealed memory; *copy is the caller's. Path NULL: an empty copy, which means that there is none. Refused: what is no
 * file, is empty or larger than LIMIT_CONFIG_BYTES, belongs to somebody else than root or the caller, or can be written by others; a `secret`
 * one also if they can read it.
 */
int config_copy(const char *path, bool secret, int *copy, struct err *e);

/*
 * Runs `program`, called `name`, to check the copy; it becomes `uid` before it reads (0: it stays who it is, which is not root). It says
 * what is wrong on standard error, with `path`, and what there is in one line on standard output unless `quiet`. 0 if it is in order, 1
 * if it is not; -1 with *e if that could not be found out.
 */
int config_check(int copy, const char *path, const char *name, int program, uid_t uid, bool quiet, struct err *e);

#endif
