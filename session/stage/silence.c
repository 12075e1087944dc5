/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From refusing to ending, a step for each wait that stays without an answer. */
#include "session/stage/silence.h"

#include "session/base/log.h"
#include "session/stage/culprits.h"
#include "session/stage/stage.h"

static void note(struct stage *stage, const char *ended)
{
	json_t *fields = json_pack("{s:s*,s:b,s:I,s:I}", "ended", ended, "answers", ended == NULL, "epoch", (json_int_t)stage->epoch, "episode",
	                           (json_int_t)stage->episode);
	struct err e;

	if (journal_add(stage->journal, "display_silent", fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
	journal_sync(stage->journal);
}

/* Whether it answers now. */
static bool try_again(struct stage *stage)
{
	struct err e;

	if (xconn_sync(&stage->x, &e) < 0)
		return false;
	note(stage, NULL);
	return true;
}

static void rescue(void *arg)
{
	struct stage *stage = arg;
	bool answers = false;

	for (enum culprits whose = 0; whose < N_CULPRITS && !answers && stage->state == STAGE_IS_READY; whose++) {
		log_warn("the display does not answer: %s", culprits_name(whose));
		note(stage, culprits_name(whose));
		culprits_end(stage, whose);
		answers = try_again(stage);
	}
	if (!answers && stage->state == STAGE_IS_READY) {
		log_warn("the display does not answer: session");
		note(stage, "session");
		xconn_give_up(&stage->x, "it does not answer, whoever is ended");
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
