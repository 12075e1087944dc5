/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ending them by the switches of the warden, or by init where there are none. */
#include "session/stage/culprits.h"

#include <unistd.h>

#include "session/stage/stage.h"

const char *culprits_name(enum culprits whose)
{
	return whose == CULPRITS_AGENT ? "agent" : "apps";
}

void culprits_end(struct stage *stage, enum culprits whose)
{
	alarms_add(stage, ALARM_ENDED, 1);
	lease_jail_end(stage);
	if (whose == CULPRITS_APPS && (stage->ends.apps_kill_fd < 0 || write(stage->ends.apps_kill_fd, "1", 1) != 1))
		apps_end_all(stage->apps);
}
