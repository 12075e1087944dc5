/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures that acts were decided on. */
#include "session/stage/guard.h"

#include <string.h>

#include "session/base/util.h"
#include "session/stage/stage.h"

static struct guard_token *find(struct guard *guard, const char *token)
{
	for (size_t i = 0; i < guard->n; i++)
		if (strcmp(guard->tokens[i].token, token) == 0)
			return &guard->tokens[i];
	return NULL;
}

/* Makes room at the front, where the token stood or else at the end. */
static struct guard_token *put_first(struct guard *guard, const char *token)
{
	struct guard_token *place = find(guard, token), known = {.picture.given = false};

	(void)snprintf(known.token, sizeof(known.token), "%s", token);
	if (place)
		known = *place;
	else
		place = &guard->tokens[guard->n < LIMIT_SEEN_TOKENS ? guard->n++ : LIMIT_SEEN_TOKENS - 1];
	memmove(&guard->tokens[1], &guard->tokens[0], (size_t)(place - guard->tokens) * sizeof(*place));
	guard->tokens[0] = known;
	return &guard->tokens[0];
}

void guard_note(struct stage *stage, const struct call *call, uint64_t frame, struct rect region)
{
	struct guard_picture *picture, before;

	if (!call->connection)
		return;
	if (stage->guard.last || stage->guard.used)
		display_attend(stage->display);
	picture = &put_first(&stage->guard, call->token)->picture;
	before = *picture;
	*picture = (struct guard_picture){.given = true, .frame = frame, .region = region, .elsewhere = frame, .epoch = stage->epoch,
	                                  .episode = stage->episode};
	/* Of the rest of the screen it knows what it knew before. */
	if (region.width > 0 && before.given && before.epoch == stage->epoch && before.episode == stage->episode)
		picture->elsewhere = before.region.width > 0 ? before.elsewhere : before.frame;
}

/* Numbers only: they hold for the whole screen. */
static int check_numbers(const struct stage *stage, const struct batch *batch, const struct guard_picture *picture, struct err *e)
{
	const char *root = batch->seen ? "/seen" : NULL;

	if (picture->episode < stage->episode)
		return err_set(e, ERR_STALE_EPISODE, root, "the picture is of episode %ld, and this is episode %ld: look again", picture->episode,
		               stage->episode);
	if (picture->episode > stage->episode)
		return err_set(e, ERR_BAD_FIELD, "/seen/episode", "there is no episode %ld yet; this is %ld", picture->episode, stage->episode);
	if (picture->epoch < stage->epoch)
		return err_set(e, ERR_STALE_EPOCH, root, "the picture is of epoch %ld, and this is epoch %ld: look again", picture->epoch,
		               stage->epoch);
	if (picture->epoch > stage->epoch)
		return err_set(e, ERR_BAD_FIELD, "/seen/epoch", "there is no epoch %ld yet; this is %ld", picture->epoch, stage->epoch);
	if (picture->frame > display_frame(stage->display))
		return err_set(e, ERR_BAD_FIELD, "/seen/frame", "there is no frame %llu yet; the newest is %llu",
		               (unsigned long long)picture->frame, (unsigned long long)display_frame(stage->display));
	return 0;
}

int guard_begin(struct stage *stage, const struct call *call, const struct batch *batch, struct guard_picture *picture,
                struct err *e)
{
	const struct guard_token *known = NULL;

	*picture = (struct guard_picture){.given = false};
	if (batch->seen) {
		stage->guard.used = true;
		display_attend(stage->display);
		*picture = (struct guard_picture){.given = true, .frame = (uint64_t)form_int(batch->seen, "frame", 0),
		                                  .epoch = form_int(batch->seen, "epoch", 0), .episode = form_int(batch->seen, "episode", 0)};
	} else if (stage->guard.last) {
		known = find(&stage->guard, call->token);
		if (known)
			*picture = known->picture;
	}
	return picture->given ? check_numbers(stage, batch, picture, e) : 0;
}

/* A place on the screen, in native pixels, and its pointer. */
struct target {
	int x, y;
	char path[48];
};

/* The first step that aims, on the screen as it is; NULL when none does. */
static const struct batch_step *find_step(const struct batch *batch, size_t *index)
{
	for (*index = 0; *index < batch->n_steps; ++*index) {
		unsigned int flags = batch->steps[*index].row->flags;

		if (flags & (ACTION_AIMS | ACTION_RESIZES))
			return flags & ACTION_AIMS ? &batch->steps[*index] : NULL;
	}
	return NULL;
}

static void read_point(const json_t *path, size_t at, size_t index, struct target *target)
{
	const json_t *point = json_array_get(path, at);

	target->x = (int)json_integer_value(json_array_get(point, 0));
	target->y = (int)json_integer_value(json_array_get(point, 1));
	(void)snprintf(target->path, sizeof(target->path), "/actions/%zu/path/%zu", index, at);
}

/* Returns how many: of a path it is where it begins and where it lets go. */
static int read_targets(const struct stage *stage, const struct batch_step *step, size_t index, struct target out[2], struct err *e)
{
	const json_t *path = json_object_get(step->args, "path");

	if (path) {
		read_point(path, 0, index, &out[0]);
		read_point(path, json_array_size(path) - 1, index, &out[1]);
		return 2;
	}
	(void)snprintf(out->path, sizeof(out->path), "/actions/%zu%s", index, json_object_get(step->args, "x") ? "/x" : "");
	out->x = (int)form_int(step->args, "x", 0);
	out->y = (int)form_int(step->args, "y", 0);
	return json_object_get(step->args, "x") || display_pointer(stage->display, &out->x, &out->y, e) == 0 ? 1 : -1;
}

/* The frame in which the caller saw this place last. */
static uint64_t frame_at(const struct guard_picture *picture, const struct target *target)
{
	const struct rect *r = &picture->region;
	bool shown = target->x >= r->x && target->x < r->x + r->width && target->y >= r->y && target->y < r->y + r->height;

	return r->width == 0 || shown ? picture->frame : picture->elsewhere;
}

int guard_check_size(const struct stage *stage, uint64_t frame, const char *path, struct err *e)
{
	if (frame >= display_resized(stage->display))
		return 0;
	return err_set(e, ERR_STALE_TARGET, path, "the display was resized after frame %llu, to %dx%d; the new picture is in observation",
	               (unsigned long long)frame, stage->native.width_px, stage->native.height_px);
}

static int check_target(const struct stage *stage, const struct guard_picture *picture, const struct target *target, struct err *e)
{
	const struct rect around = {target->x - GUARD_NEAR_PX, target->y - GUARD_NEAR_PX, 2 * GUARD_NEAR_PX + 1, 2 * GUARD_NEAR_PX + 1};
	uint64_t frame = frame_at(picture, target);

	if (guard_check_size(stage, frame, target->path, e) < 0)
		return -1;
	if (!display_changed(stage->display, around, frame))
		return 0;
	return err_set(e, ERR_STALE_TARGET, target->path, "what is near this place has changed since frame %llu; the new picture is in observation",
	               (unsigned long long)frame);
}

int guard_check(const struct stage *stage, const struct batch *batch, const struct guard_picture *picture, bool *updated, struct err *e)
{
	size_t index;
	const struct batch_step *step = find_step(batch, &index);
	struct target targets[2];
	int n;

	*updated = false;
	if (!picture->given)
		return 0;
	if (check_numbers(stage, batch, picture, e) < 0)
		return -1;
	if (!step)
		return 0;
	n = read_targets(stage, step, index, targets, e);
	if (n < 0 || display_update(stage->display, e) < 0)
		return -1;
	*updated = true;
	for (int i = 0; i < n; i++)
		if (check_target(stage, picture, &targets[i], e) < 0)
			return -1;
	return 0;
}
