/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Freezing and ending the agent's own processes by the switches of the warden. */
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/lease.h"
#include "session/stage/stage.h"

#define EVENTS_BYTES 256 /* of cgroup.events: a few short lines */
#define LOOK_EVERY_MS 2

bool lease_jail_has_switch(const struct stage *stage)
{
	return stage->ends.agent_freeze_fd >= 0 && stage->ends.agent_kill_fd >= 0 && stage->ends.agent_events_fd >= 0;
}

static void turn(int fd, const char *value)
{
	struct err e;

	if (util_write_all(fd, value, strlen(value)) < 0) {
		(void)err_sys(&e, "a switch of the agent's processes");
		log_err(LOG_ERROR, &e, "lease");
	}
}

/* Without a switch they cannot stand still: they are ended. */
void lease_jail_freeze(struct stage *stage)
{
	if (lease_jail_has_switch(stage))
		turn(stage->ends.agent_freeze_fd, "1");
	else
		lease_jail_end(stage);
}

void lease_jail_thaw(struct stage *stage)
{
	if (lease_jail_has_switch(stage))
		turn(stage->ends.agent_freeze_fd, "0");
}

void lease_jail_end(struct stage *stage)
{
	if (lease_jail_has_switch(stage))
		turn(stage->ends.agent_kill_fd, "1");
	else if (stage->apps)
		apps_end_agents(stage->apps);
}

/* Of cgroup.events. */
static bool says(const struct stage *stage, const char *event)
{
	char text[EVENTS_BYTES + 1];
	ssize_t n = pread(stage->ends.agent_events_fd, text, EVENTS_BYTES, 0);

	text[MAX(n, 0)] = '\0';
	return strstr(text, event) != NULL;
}

bool lease_jail_is_empty(const struct stage *stage)
{
	return says(stage, "populated 0");
}

/* The kernel says of those that stand still, too, that they do while they end. */
static bool is_over(const struct stage *stage, bool ended)
{
	return lease_jail_is_empty(stage) || (!ended && says(stage, "frozen 1"));
}

void lease_jail_wait(struct stage *stage, bool ended)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_FREEZE_MS;

	while (lease_jail_has_switch(stage) && !is_over(stage, ended) && lease_is_private(stage)) {
		if (util_now_ms() >= deadline_ms) {
			log_warn("the agent's processes %s", ended ? "have not ended yet" : "do not stand still yet");
			return;
		}
		(void)co_wait_until(util_now_ms() + LOOK_EVERY_MS, NULL);
	}
}
