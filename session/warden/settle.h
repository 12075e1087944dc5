/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the warden does to itself at its start: namespaces, capabilities, limits, filter. */
#ifndef WARDEN_SETTLE_H
#define WARDEN_SETTLE_H

#include <stdbool.h>
#include <stddef.h>

#include "session/base/err.h"

/* A mount namespace of its own, in which mounts of the host still arrive but from which none goes out. */
int settle_mounts(struct err *e);

/*
 * After the listening socket is made and all files are open: an empty network namespace, no core files, undumpable, only the capabilities
 * that building jails takes, no_new_privs, and the filter that every process of Glovebox inherits. `keeps_net`: it stays in its network namespace, of
 * which those that reach out are born.
 */
int settle_rights(bool keeps_net, struct err *e);

/* What the warden could not do for want of a capability: writes what each is for and returns how many. */
size_t settle_missing_rights(char *out, size_t size);

#endif
