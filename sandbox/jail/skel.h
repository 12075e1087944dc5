/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copying a skeleton folder into a home, bounded: files, folders and links, owned by the caller. */
#ifndef JAIL_SKEL_H
#define JAIL_SKEL_H

#include "session/base/err.h"

/*
 * Copies what is below `from` into the folder `to`, both of the caller's root; nothing if `from` is not there. To be called inside the
 * jail as its user: the image may hold anything. Existing names are left alone; what is neither file, folder nor link is left out.
 * An error if there is more than a skeleton may hold (2,000 names, 32 MiB, 8 levels).
 */
int skel_copy(const char *from, const char *to, struct err *e);

#endif
