/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The root of the app jail, made and entered. Used by apps_jail.c alone. */
#ifndef JAIL_APPS_ROOT_H
#define JAIL_APPS_ROOT_H

#include "sandbox/jail/apps_jail.h"

/* Builds the root in the mount namespace of the calling process, as the host's root, and makes it the root. */
int apps_root_build(const struct apps_jail *jail, struct err *e);

#endif
