/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pausing and resuming by the switches of the warden. */
#include "session/stage/pause.h"

#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/act.h"

#define EVENTS_BYTES 256 /* of cgroup.events: a few short lines */
#define LOOK_EVERY_MS 5

static void note(struct stage *stage, const char *event, const struct call *call)
{
	struct err e;
	json_t *fields = json_pack("{s:{s:s,s:s},s:s,s:I,s:I}", "actor", "role", call->role_name, "token", call->token, "request",
	                           call->request_id, "epoch", (json_int_t)stage->epoch, "episode", (json_int_t)stage->episode);

	if (journal_add(stage->journal, event, fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
	journal_sync(stage->journal);
}

static int turn_switch(const struct stage *stage, const char *value, struct err *e)
{
	return util_write_all(stage->ends.freeze_fd, value, strlen(value)) < 0 ? err_sys(e, "the switch of the app jail") : 0;
}

static bool is_frozen(const struct stage *stage)
{
	char text[EVENTS_BYTES + 1];
	ssize_t n = pread(stage->ends.frozen_fd, text, EVENTS_BYTES, 0);

	text[MAX(n, 0)] = '\0';
	return strstr(text, "frozen 1") != NULL;
}

/* Until it stands still, is to go on again, or the time is over. */
static void wait_frozen(struct stage *stage)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_FREEZE_MS;

	while (!is_frozen(stage) && stage->state == STAGE_IS_PAUSED) {
		if (util_now_ms() >= deadline_ms) {
			log_warn("the app jail does not stand still yet");
			return;
		}
		(void)co_wait_until(util_now_ms() + LOOK_EVERY_MS, NULL);
	}
}

/* What runs needs the jail to end: it is frozen only after that, or when that takes too long. */
static int freeze(struct stage *stage, const struct call *call, struct err *e)
{
	stage->state = STAGE_IS_PAUSED;
	(void)act_cancel(stage);
	approvals_withdraw(stage, "the session was paused");
	(void)turns_wait_none(&stage->turns, util_now_ms() + LIMIT_PAUSE_MS, NULL);
	if (stage->state != STAGE_IS_PAUSED || stage->frozen)
		return 0; /* it ended meanwhile, or goes on; or was paused again, and that call was faster */
	input_release(stage->input);
	if (turn_switch(stage, "1", e) < 0) {
		stage->state = STAGE_IS_READY;
		return -1;
	}
	stage->frozen = true;
	note(stage, "paused", call);
	return 0;
}

int pause_begin(struct stage *stage, const struct call *call, struct err *e)
{
	bool begun = stage->state == STAGE_IS_PAUSED;
	int rc = 0;

	if (!begun && stage->state != STAGE_IS_READY)
		return stage_check_ready(stage, e);
	if (stage->ends.freeze_fd < 0 || stage->ends.frozen_fd < 0)
		return err_set(e, ERR_UNSUPPORTED, NULL, "this host cannot freeze the processes of a session (see its isolation_report)");
	/* Once begun it is done, also when its caller has left. */
	co_shield();
	if (!begun)
		rc = freeze(stage, call, e);
	if (rc == 0)
		wait_frozen(stage);
	co_unshield();
	return rc;
}

int pause_end(struct stage *stage, const struct call *call, struct err *e)
{
	if (stage->state != STAGE_IS_PAUSED)
		return stage->state == STAGE_IS_READY ? 0 : stage_check_ready(stage, e);
	if (stage->frozen && turn_switch(stage, "0", e) < 0)
		return -1;
	stage->state = STAGE_IS_READY;
	stage->acted_ms = util_now_ms();
	/* A pause that had not come to freeze anything is not told either. */
	if (stage->frozen)
		note(stage, "resumed", call);
	stage->frozen = false;
	lease_resumed(stage);
	co_signal(&stage->readers.news);
	return 0;
}
