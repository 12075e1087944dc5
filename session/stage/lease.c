/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who holds the controls, and what that means for a call. */
#include "session/stage/lease.h"

#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/stage/lease_inner.h"
#include "session/stage/stage.h"

const char *lease_kind_name(enum lease_kind kind)
{
	static const char *const names[LEASE_N_KINDS] = {"login", "approve", "captcha", "other"};

	return names[kind];
}

bool lease_is_private(const struct stage *stage)
{
	return stage->lease.holder != LEASE_AGENT || stage->lease.clearing;
}

bool lease_is_unseen(const struct stage *stage)
{
	return lease_is_private(stage) || stage->lease.unseen;
}

bool lease_may_input(const struct stage *stage, uint32_t viewer)
{
	const struct lease *lease = &stage->lease;

	return lease->holder == LEASE_HUMAN && viewer != 0 && lease->viewer == viewer && lease->has_hands && stage->state == STAGE_IS_READY;
}

/* A person who has gone may have left half a password on the screen. */
static bool may_see(const struct stage *stage, bool is_holder)
{
	const struct lease *lease = &stage->lease;

	return !lease->was_login || lease->shares || (lease->holder == LEASE_HUMAN && is_holder);
}

bool lease_may_look(const struct stage *stage, uint32_t viewer)
{
	return may_see(stage, viewer != 0 && stage->lease.viewer == viewer);
}

bool lease_may_see(const struct stage *stage, const struct call *call)
{
	return may_see(stage, strcmp(stage->lease.token, call->token) == 0);
}

int lease_refuse_held(const struct stage *stage, struct err *e)
{
	const char *who = stage->lease.holder == LEASE_HUMAN ? "a person holds the controls" : "the controls wait for a person";

	return err_set(e, ERR_LEASE_HELD, NULL, "%s since %s; GET …/lease tells, and waits until the agent has them again", who, stage->lease.since);
}

int lease_check(const struct stage *stage, const struct call *call, struct err *e)
{
	if (call->lease == CALL_UNSAID)
		return err_set(e, ERR_FORBIDDEN, NULL, "the call %s does not say who may make it while a person holds the controls", call->name);
	/* Until that is cleared away which a person left, the call waits for it. */
	if ((call->lease == CALL_HANDS && stage->lease.holder != LEASE_AGENT) || (call->lease == CALL_EYES && !lease_may_see(stage, call)))
		return lease_refuse_held(stage, e);
	return 0;
}

int lease_check_answer(const struct stage *stage, const struct call *call, struct err *e)
{
	bool is_lost = call->lease == CALL_EYES ? !lease_may_see(stage, call) : call->epoch != stage->epoch || lease_is_private(stage);

	if ((call->lease != CALL_HANDS && call->lease != CALL_EYES) || call->is_bare || !is_lost)
		return 0;
	return err_set(e, ERR_LEASE_LOST, NULL, "a person got the controls while this call was made: its answer is not given");
}

static bool has_looked(const struct lease *lease, const char *token)
{
	for (size_t i = 0; i < lease->n_looked; i++)
		if (strcmp(lease->looked[i], token) == 0)
			return true;
	return false;
}

int lease_check_act(const struct stage *stage, const struct call *call, bool only_looks, struct err *e)
{
	const struct lease *lease = &stage->lease;
	bool is_late = call->epoch != stage->epoch;

	if (lease_is_private(stage))
		return lease_refuse_held(stage, e);
	if (only_looks || lease->returned == 0 || (!is_late && has_looked(lease, call->token)))
		return 0;
	return err_set(e, ERR_MUST_OBSERVE, NULL,
	               "a person had the controls, and you have not looked since at all that has changed: ask for a picture of the whole screen, or for observe with an empty list of actions, and decide again");
}

static bool covers(struct rect region, struct rect changed)
{
	return region.x <= changed.x && region.y <= changed.y && region.x + region.width >= changed.x + changed.width &&
	       region.y + region.height >= changed.y + changed.height;
}

/* All that a person may have left is in it. */
static bool shows_change(const struct stage *stage, struct rect region, int width, int height)
{
	struct rect list[LIMIT_CHANGED];
	size_t n = stage->display ? display_changes(stage->display, stage->lease.frame, list, LIMIT_CHANGED) : 0;

	if (region.width == 0)
		region = (struct rect){0, 0, stage->native.width_px, stage->native.height_px};
	if (width * LEASE_SMALLEST < region.width || height * LEASE_SMALLEST < region.height)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!covers(region, list[i]))
			return false;
	return n > 0 || covers(region, (struct rect){0, 0, stage->native.width_px, stage->native.height_px});
}

void lease_looked_at(struct stage *stage, const struct call *call, struct rect region, const json_t *object)
{
	const json_t *picture = json_object_get(object, "picture");

	if (json_is_object(picture))
		lease_looked(stage, call, region, (int)form_int(picture, "width", 0), (int)form_int(picture, "height", 0));
}

void lease_looked(struct stage *stage, const struct call *call, struct rect region, int width, int height)
{
	struct lease *lease = &stage->lease;

	if (lease->returned == 0 || lease_is_private(stage) || !shows_change(stage, region, width, height))
		return;
	lease->unseen = false;
	if (has_looked(lease, call->token))
		return;
	if (lease->n_looked < LIMIT_SEEN_TOKENS)
		lease->n_looked++;
	memmove(lease->looked[1], lease->looked[0], (lease->n_looked - 1) * sizeof(lease->looked[0]));
	(void)snprintf(lease->looked[0], sizeof(lease->looked[0]), "%s", call->token);
}

uint64_t lease_frame(const struct stage *stage)
{
	if (lease_is_private(stage))
		return stage->lease.frame;
	return stage->display ? display_frame(stage->display) : 0;
}

void lease_bare(json_t *result)
{
	static const char *const kept[] = {"ok", "elapsed_ms", "folded", "delivered", "withheld", "error"};
	json_auto_t *bare = json_object();
	size_t n = json_object_size(result);

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (json_object_get(result, kept[i]))
			(void)json_object_set(bare, kept[i], json_object_get(result, kept[i]));
	if (json_object_size(bare) < n)
		(void)json_object_set_new(bare, "withheld", json_true());
	(void)json_object_clear(result);
	(void)json_object_update(result, bare);
}

/* --- what is told --- */

static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

json_t *lease_json(const struct stage *stage, const struct call *call)
{
	const struct lease *lease = &stage->lease;
	bool is_person = !call || call->role & (ROLE_CONTROLLER | ROLE_OPERATOR | ROLE_OWNER), is_held = lease->holder != LEASE_AGENT;
	json_t *out = json_pack("{s:s,s:o,s:I,s:o,s:o,s:o}", "holder", lease_holder_name(lease->holder), "viewer",
	                        lease->viewer > 0 ? json_sprintf("v%u", lease->viewer) : json_null(), "epoch", (json_int_t)stage->epoch, "since",
	                        text_or_null(lease->since), "reason", text_or_null(lease->reason), "kind",
	                        is_held ? json_string(lease_kind_name(lease->kind)) : json_null());
	char at[32] = "";

	/* A person's own moves with each key: when somebody types is no agent's business. */
	if (lease->over_ms > 0 && (is_person || lease->holder != LEASE_HUMAN))
		(void)util_wall_second(at, lease->over_ms - util_now_ms());
	json_object_set_new(out, "expires_at", text_or_null(at));
	if (*lease->asked_by)
		json_object_set_new(out, "requested_by", json_string(lease->asked_by));
	if (*lease->note)
		json_object_set_new(out, "note", json_string(lease->note));
	if (call)
		json_object_set_new(out, "mine", json_boolean(lease->holder == LEASE_HUMAN && strcmp(lease->token, call->token) == 0));
	if (!is_person)
		return out;
	json_object_set_new(out, "keep_running", json_boolean(lease->keeps));
	json_object_set_new(out, "shared", json_boolean(lease->shares));
	json_object_set_new(out, "must_observe", json_boolean(lease->unseen));
	if (stage->apps) {
		json_object_set_new(out, "programs", apps_programs(stage->apps));
		if (json_array_size(lease->ended) > 0)
			json_object_set(out, "ended", lease->ended);
		json_object_set_new(out, "apps", apps_untrusted(stage->apps)); /* which a login ends as well */
	}
	return out;
}
