/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the warden reads and opens before it begins: the same for a start and for a look at the host (probe.h). */
#ifndef WARDEN_PREPARE_H
#define WARDEN_PREPARE_H

#include "session/base/err.h"
#include "session/warden/ceilings.h"
#include "session/warden/warden.h"

/* The operator's file (NULL: the defaults), and whether this host's accounts leave its uids free. Errors name the line or the range. */
int prepare_ceilings(struct ceilings *ceilings, const char *file, struct err *e);

/* Opens the programs that lie beside this one; of those for the app jail one is -1 where there is none. The descriptors are the caller's. */
int prepare_programs(int programs[N_PROGRAMS], int tools[N_STATE_TOOLS], struct err *e);

#endif
