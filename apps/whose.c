/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that is not in the group apps is never an app of the catalogue, whatever its number was before. */
#include "apps/whose.h"

#include "apps/state.h"

/* Without groups on this host, the stage's own list of what it has started must do. */
static enum init_group group_of(int kernels, const struct catalogue_app *row)
{
	if (kernels == INIT_GROUP_APPS || kernels < 0)
		return row && !row->terminal ? INIT_GROUP_APPS : INIT_GROUP_AGENT;
	return INIT_GROUP_AGENT; /* in base, too: what the session bus was made to start */
}

void whose_read(const struct apps *apps, int outer_pid, struct whose *out)
{
	uint64_t started = owner_started(&apps->proc, outer_pid);
	const struct catalogue_app *row;
	int group;

	*out = (struct whose){.group = INIT_GROUP_AGENT};
	owner_read(&apps->proc, outer_pid, &out->line);
	group = owner_group(&apps->proc, outer_pid);
	if (started == 0 || owner_started(&apps->proc, outer_pid) != started || out->line.n == 0) {
		out->line.n = 0;
		return;
	}
	row = launch_row_of(apps, &out->line);
	if (row && !row->terminal && !launch_is_itself(apps, &out->line, started))
		row = NULL;
	out->pid = out->line.of[0].pid;
	out->group = group_of(group, row);
	if (out->group == INIT_GROUP_APPS || (row && row->terminal))
		out->app = row;
}

const char *whose_group_name(enum init_group group)
{
	static const char *const names[INIT_N_GROUPS] = {"base", "apps", "agent"};

	return names[group];
}
