/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the lease share. Not for others. */
#ifndef STAGE_LEASE_INNER_H
#define STAGE_LEASE_INNER_H

#include "session/stage/lease.h"

/* "login", … */
const char *lease_kind_name(enum lease_kind kind);

/* ERR_LEASE_HELD: who holds the controls, and since when. */
int lease_refuse_held(const struct stage *stage, struct err *e);

#endif
