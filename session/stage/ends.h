/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the warden hands to a stage (session/warden/proto.h). Owner: the stage.
 */
#ifndef STAGE_ENDS_H
#define STAGE_ENDS_H

#include "session/base/json.h"
#include "session/warden/proto.h"

/* Files in which the kernel counts; -1 where this host has none. */
enum end_meter {
	END_JAIL_MEMORY,
	END_JAIL_MEMORY_PEAK,
	END_JAIL_OOM,
	END_JAIL_PIDS,
	END_JAIL_PIDS_REFUSED,
	END_JAIL_DISK,
	END_DESK_CPU_US,
	END_DESK_CPU_NS,
	END_DESK_THROTTLED,
	END_DISPLAY_OOM,
	N_END_METERS
};

struct ends {
	char session[SESSION_ID_SIZE];
	char display[16]; /* ":0" */
	uint8_t cookie[COOKIE_LEN];
	bool has_cookie;
	struct space maximum; /* of the display: the size that its X server started with */
	int apps_pid;
	uint32_t trusted;     /* the gid whose processes the display shall take for trusted clients; 0: none */
	int init_fd, proc_fd, journal_fd, session_json_fd, pictures_fd; /* -1 once somebody has taken them */
	struct {
		char name[SECRET_NAME_SIZE];
		int fd;
	} secrets[LIMIT_SECRETS]; /* that the session's spec names; until somebody has taken them */
	size_t n_secrets;
	int egress_fd; /* to the session's glovebox-egress; -1 without a way out, or once somebody has taken it */
	int meter_fds[N_END_METERS];
	int freeze_fd, frozen_fd; /* the switch that freezes the app jail, and where it says that it stands still; -1 where there is none */
	int agent_freeze_fd, agent_events_fd, agent_kill_fd; /* the same of the agent's own processes, and what ends them */
	int apps_kill_fd; /* what ends the apps; -1 where there is none */
};

/*
 * Takes labels from the warden's channel until STAGE_START; blocks. -1 when the channel ends before, when something is missing or
 * when a label breaks the form.
 */
int ends_receive(struct ends *ends, int warden_fd, struct err *e);
void ends_close(struct ends *ends);

#endif
