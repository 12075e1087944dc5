/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose window is it: the process of an X client, its group, and the row of the catalogue that it was started from.
 *
 * From the kernel and from what the stage itself has started, never from what a window says. No threads.
 */
#ifndef APPS_WHOSE_H
#define APPS_WHOSE_H

#include "apps/catalogue.h"
#include "apps/init/proto.h"
#include "apps/owner.h"

struct apps;

struct whose {
	int pid;                         /* in the app jail; 0: it is not in it (any more) */
	enum init_group group;           /* what was started by something else than a launch is the agent's */
	const struct catalogue_app *app; /* of group apps, and of a terminal; else NULL */
	struct owner_line line;
};

/*
 * Of the process with this number in the session's pid namespace, as XRes names it (struct window.outer_pid). What is read is of one and the
 * same process, or *out says that there is none. A caller for whom it matters asks XRes once more after this: the number is the
 * window's as long as its client is still there. Waits for nothing.
 */
void whose_read(const struct apps *apps, int outer_pid, struct whose *out);

/* "base", "apps" or "agent", as it is told. */
const char *whose_group_name(enum init_group group);

#endif
