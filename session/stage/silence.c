/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From refusing to ending, a step for each wait that stays without an answer. */
#include "session/stage/silence.h"

#include <unistd.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

static void end_agent(struct stage *stage)
{
	lease_jail_end(stage);
}

static void end_apps(struct stage *stage)
{
	lease_jail_end(stage);
	if (stage->ends.apps_kill_fd < 0 || write(stage->ends.apps_kill_fd, "1", 1) != 1)
		apps_end_all(stage->apps);
}

static void end_session(struct stage *stage)
{
	xconn_give_up(&stage->x, "it does not answer, whoever is ended");
}

static const struct {
	const char *ended; /* in the line */
	void (*end)(struct stage *stage);
} STEPS[] = {{"agent", end_agent}, {"apps", end_apps}, {"session", end_session}};

static void note(struct stage *stage, const char *ended)
{
	json_t *fields = json_pack("{s:s*,s:b,s:I,s:I}", "ended", ended, "answers", ended == NULL, "epoch", (json_int_t)stage->epoch, "episode",
	                           (json_int_t)stage->episode);
	struct err e;

	if (journal_add(stage->journal, "display_silent", fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
	journal_sync(stage->journal);
}

static void rescue(void *arg)
{
	struct stage *stage = arg;
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_LEN(STEPS) && stage->state == STAGE_IS_READY; i++) {
		log_warn("the display does not answer: %s", STEPS[i].ended);
		note(stage, STEPS[i].ended);
		STEPS[i].end(stage);
		if (xconn_sync(&stage->x, &e) == 0) {
			note(stage, NULL);
			break;
		}
	}
	stage->display_is_silent = false;
}

void silence_begin(void *arg)
{
	struct stage *stage = arg;

	if (stage->display_is_silent || stage->state != STAGE_IS_READY)
		return;
	stage->display_is_silent = true;
	(void)co_start(stage->loop, rescue, stage);
}

int silence_check(const struct stage *stage, struct err *e)
{
	if (!stage->display_is_silent)
		return 0;
	return err_set(e, ERR_X_SILENT, NULL, "the display does not answer: programs that may have done it are being ended");
}
