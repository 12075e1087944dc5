/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the D-Bus daemons of an app jail are set up: by files that nothing in the jail can change, so that no program of the jail's own is
 * started by a daemon, whose children are in the daemon's group.
 */
#ifndef JAIL_BUSES_H
#define JAIL_BUSES_H

#include "session/base/err.h"

/* Adds the files to the folder run/glovebox/bus of the store, which is run/ of the root, and lays that of the accessibility bus over the image's.
 * The folder must be there in both. Errors: ERR_INTERNAL, as mounts.h. */
int buses_add(int store, int root, struct err *e);

#endif
