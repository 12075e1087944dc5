/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The start of a program from inside: what spawner.c, which has the link to init, asks of spawner_record.c. */
#ifndef APPS_SPAWNER_INNER_H
#define APPS_SPAWNER_INNER_H

#include "apps/spawner.h"

/* The record of a spawn that spawner_check has passed; *len bytes, malloced. */
char *spawner_record(const struct process *process, const struct spawn *spawn, size_t *len);

/* Why the program does not run, in the caller's words; -1. */
int spawner_explain(const struct process *process, const struct spawn *spawn, struct err *e);

#endif
