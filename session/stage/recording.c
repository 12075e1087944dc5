/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of what was shown, by a follower of the display. */
#include "session/stage/recording.h"

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

void recording_begin(struct stage *stage)
{
	const struct display_request whole = {.no_cursor = true, .format = ENCODE_PNG};
	struct recording *recording = &stage->recording;

	if (!recording->wanted || stage->ends.pictures_fd < 0)
		return;
	recording->pictures = pictures_create(steal_fd(&stage->ends.pictures_fd));
	journal_set_pictures(stage->journal, recording->pictures);
	display_follow_begin(stage->display, &whole, &recording->news, &recording->follower);
}

void recording_forget(struct stage *stage)
{
	struct recording *recording = &stage->recording;

	recording->now = 0;
	if (recording->pictures)
		display_follow_anew(stage->display, &recording->follower, NULL);
}

void recording_stop(struct stage *stage)
{
	struct recording *recording = &stage->recording;

	if (!recording->pictures)
		return;
	display_follow_end(stage->display, &recording->follower);
	journal_set_pictures(stage->journal, NULL);
	pictures_destroy(recording->pictures);
	recording->pictures = NULL;
}

void recording_end(struct stage *stage)
{
	recording_stop(stage);
	json_decref(stage->recording.untold);
	stage->recording.untold = NULL;
}

static void fail(struct stage *stage, const struct err *why)
{
	struct err e;

	log_err(LOG_WARN, why, "no more pictures in the journal");
	recording_stop(stage);
	if (journal_add(stage->journal, "pictures_stopped", json_pack("{s:s}", "reason", why->code == ERR_LIMIT ? "full" : "failed"), &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
}

/* The line of the last picture, if it is not there yet. Only a picture that has one is named by others. */
static bool tell(struct stage *stage)
{
	struct recording *recording = &stage->recording;
	struct err e;

	if (!recording->untold)
		return true;
	if (journal_add(stage->journal, "picture", json_incref(recording->untold), &e) < 0) {
		log_err(LOG_ERROR, &e, "journal");
		return false;
	}
	json_decref(recording->untold);
	recording->untold = NULL;
	return true;
}

static int add(struct stage *stage, const struct display_parts *parts, struct err *e)
{
	struct recording *recording = &stage->recording;
	struct picture_part list[LIMIT_CHANGED];
	const struct picture picture = {.frame = parts->frame, .size = parts->native, .is_key = parts->whole, .parts = list, .n_parts = parts->n};
	char digest[CHAIN_HEX_SIZE];

	for (size_t i = 0; i < parts->n; i++)
		list[i] = (struct picture_part){parts->list[i].rect, parts->list[i].bytes->data, parts->list[i].bytes->len};
	if (pictures_add(recording->pictures, &picture, &recording->last, digest, e) < 0)
		return -1;
	recording->untold = json_pack("{s:I,s:I,s:s}", "picture", (json_int_t)recording->last, "frame", (json_int_t)parts->frame, "digest", digest);
	return 0;
}

/* What has changed; all of it when a keyframe is due. */
static int follow(struct stage *stage, struct display_parts *parts, struct err *e)
{
	struct recording *recording = &stage->recording;

	/* An update that breaks off makes the next one fetch all of the screen. */
	if (co_cancelled(co_self()) && display_follow_has_news(stage->display, &recording->follower))
		return err_set(e, ERR_CANCELLED, NULL, "the call was cancelled");
	if (display_follow_told(stage->display, &recording->follower, parts, e) < 0)
		return -1;
	if (parts->n == 0 || parts->whole || !pictures_want_key(recording->pictures))
		return 0;
	display_parts_finish(parts);
	display_follow_anew(stage->display, &recording->follower, NULL);
	return display_follow_told(stage->display, &recording->follower, parts, e);
}

static bool take(struct stage *stage)
{
	struct recording *recording = &stage->recording;
	struct display_parts parts;
	long epoch = stage->epoch;
	struct err e;
	int rc = 0;

	if (follow(stage, &parts, &e) < 0) {
		recording->blind = true;
		log_err(LOG_DEBUG, &e, "a picture for the journal");
		return false;
	}
	/* A hold may have begun while the display was asked. */
	if (parts.n > 0 && stage->epoch == epoch)
		rc = add(stage, &parts, &e);
	display_parts_finish(&parts);
	if (rc < 0)
		fail(stage, &e);
	return rc == 0;
}

int64_t recording_take(struct stage *stage)
{
	struct recording *recording = &stage->recording;

	long epoch = stage->epoch;
	bool is_taken = recording->pictures && !recording->blind && !lease_is_unseen(stage) && tell(stage) && take(stage) && tell(stage) &&
	                stage->epoch == epoch;

	recording->now = is_taken ? recording->last : 0;
	return recording->now;
}

void recording_begin_call(struct stage *stage)
{
	stage->recording.blind = false;
}
