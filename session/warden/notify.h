/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telling the service manager that the server serves (sd_notify(3), without its library). */
#ifndef WARDEN_NOTIFY_H
#define WARDEN_NOTIFY_H

#include "session/base/err.h"

/*
 * Connects to the datagram socket that NOTIFY_SOCKET names and takes the variable away. To be called before the warden leaves its network
 * namespace. *fd is the caller's, and -1 where nobody waits. Errors: ERR_BAD_FIELD for a name that is none, ERR_INTERNAL.
 */
int notify_open(int *fd, struct err *e);

/* Says READY, once; does nothing for -1. */
int notify_ready(int fd, struct err *e);

#endif
