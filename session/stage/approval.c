/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cards. */
#include "session/stage/approval.h"

#include <string.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

#define SHOWN_BYTES 2000  /* of one text of an action */
#define FIELD_HEIGHT_PX 120 /* a field that is higher is no field but a page or a terminal, in which something else changes as well */

static const char *const states[] = {"waiting", "allowed", "done", "denied", "expired", "withdrawn"};

const char *approval_state_name(enum approval_state state)
{
	return states[state];
}

/* Texts that are too long for a card end with how much more there is. */
static json_t *shorten(const json_t *value)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value), kept;

	if (!text || len <= SHOWN_BYTES)
		return json_incref((json_t *)(uintptr_t)value);
	kept = util_utf8_prefix(text, SHOWN_BYTES);
	return json_sprintf("%.*s… (%zu bytes more)", (int)kept, text, len - kept);
}

/* As it will be sent; of what goes into a password field its length. */
static json_t *show_action(const json_t *asked, bool password)
{
	json_t *kept, *shown = json_object();
	const char *name;
	json_t *value;

	if (password)
		return journal_action(asked, JOURNAL_TEXT_PASSWORD);
	kept = json_copy((json_t *)(uintptr_t)asked);
	json_object_foreach(kept, name, value)
		json_object_set_new(shown, name, shorten(value));
	json_decref(kept);
	return shown;
}

static json_t *time_in(int64_t ms)
{
	char text[UTIL_SECOND_SIZE];

	return json_string(util_wall_second(text, ms));
}

static json_t *rect_json(struct rect rect)
{
	return rect.width > 0 ? json_pack("{s:i,s:i,s:i,s:i}", "x", rect.x, "y", rect.y, "width", rect.width, "height", rect.height) : json_null();
}

static json_t *window_json(const struct judged *judged)
{
	if (judged->place.window == 0)
		return json_null();
	return json_pack("{s:s,s:s}", "title", judged->place.title, "class", judged->place.class_name);
}

/* What can be seen of it, if there is anything. */
static void add_crop(struct approval *approval, json_t *card)
{
	struct rect shown = {.width = 0};
	struct err e;

	if (approval->target.width > 0 &&
	    approval_crop(approval->stage, approval->target, &shown, &approval->crop, &approval->crop_len, &e) < 0)
		log_err(LOG_WARN, &e, "the picture of a question");
	json_object_set_new(card, "crop", approval->crop ? json_sprintf("/v1/approvals/%s/crop", approval->id) : json_null());
	json_object_set_new(card, "crop_region", approval->crop ? rect_json(shown) : json_null());
}

static json_t *make_card(struct approval *approval, const struct approvals_ask *ask, const struct judged *judged)
{
	const struct stage *stage = approval->stage;
	const struct policy_answer *answer = &judged->answer;
	const char *why = NULL, *app = judged->place.app ? judged->place.app : judged->subject.app;
	json_t *card;

	approval->key = judge_key(&ask->batch->steps[ask->index], judged, &why);
	card = json_pack("{s:s,s:s,s:o,s:s,s:s,s:b,s:{s:s,s:s},s:s?,s:o,s:s?}", "id", approval->id, "session", stage->ends.session, "action",
	                 show_action(approval->asked, judged->subject.password), "rule", approval->rule, "why", policy_rule_why(answer->rule), "unclear",
	                 answer->unclear, "caller", "role", ask->call->role_name, "token", ask->call->token, "app", app, "window", window_json(judged), "url",
	                 judged->subject.url);
	json_object_set_new(card, "target", rect_json(approval->target));
	add_crop(approval, card);
	json_object_set_new(card, "space", space_json(ask->batch->steps[ask->index].place.space));
	json_object_set_new(card, "native", space_json(stage->native));
	json_object_set_new(card, "at", stage_at(stage, approval->frame));
	json_object_set_new(card, "asked_at", time_in(0));
	json_object_set_new(card, "expires_at", time_in(stage->approvals.timeout_ms));
	json_object_set_new(card, "session_words", approval->key ? json_sprintf("whatever the rule %s asks about for %s, until the session ends", approval->rule,
	                                                                     approval->key) : json_null());
	json_object_set_new(card, "not_session_why", why ? json_string(why) : json_null());
	return card;
}

json_t *approval_json(const struct approval *approval)
{
	json_t *card = json_copy(approval->card);

	json_object_set_new(card, "state", json_string(states[approval->state]));
	json_object_set_new(card, "waits", json_boolean(approval->has_caller));
	if (approval->answer[0]) {
		json_object_set_new(card, "answer", json_string(approval->answer));
		json_object_set_new(card, "by", json_pack("{s:s,s:s}", "role", approval->by_role, "token", approval->by_token));
	}
	if (approval->reason[0])
		json_object_set_new(card, "reason", json_string(approval->reason));
	return card;
}

void approval_note(struct stage *stage, const struct call *call, const char *state, json_t *fields)
{
	struct err e;

	json_object_set_new(fields, "state", json_string(state));
	json_object_set_new(fields, "epoch", json_integer(stage->epoch));
	json_object_set_new(fields, "episode", json_integer(stage->episode));
	if (call) {
		json_object_set_new(fields, "actor", json_pack("{s:s,s:s}", "role", call->role_name, "token", call->token));
		json_object_set_new(fields, "request", json_string(call->request_id));
	}
	if (journal_add(stage->journal, "approval", fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
	journal_sync(stage->journal);
}

static void note(const struct approval *approval, const struct call *call)
{
	json_t *fields = json_pack("{s:s,s:s,s:O}", "approval", approval->id, "rule", approval->rule, "action",
	                           json_object_get(approval->asked, "action"));

	if (approval->answer[0])
		json_object_set_new(fields, "answer", json_string(approval->answer));
	approval_note(approval->stage, call, states[approval->state], fields);
}

static void on_expired(void *arg)
{
	struct approval *approval = arg;

	approval->expiry = NULL;
	approval_end(approval, APPROVAL_EXPIRED, NULL);
}

/* For this session, and for the front. */
static void count(struct stage *stage, const char *name, unsigned int *number)
{
	struct approvals *all = &stage->approvals;

	(*number)++;
	if (!all->untold)
		all->untold = json_object();
	json_object_set_new(all->untold, name, json_integer(json_integer_value(json_object_get(all->untold, name)) + 1));
}

/* Room for one more: the oldest that is over goes. */
static int make_room(struct stage *stage, struct err *e)
{
	struct approval **place = &stage->approvals.first, *old;
	size_t n = 0;

	for (old = stage->approvals.first; old; old = old->next)
		n++;
	if (n < LIMIT_APPROVALS)
		return 0;
	while (*place && ((*place)->has_caller || (*place)->state <= APPROVAL_ALLOWED))
		place = &(*place)->next;
	old = *place;
	if (!old)
		return err_set(e, ERR_BUSY, NULL, "%d questions of this session wait for an answer already", LIMIT_APPROVALS);
	*place = old->next;
	approval_free(old);
	return 0;
}

static void copy_place(struct approval *approval, const struct judged *judged)
{
	approval->target = judged->target;
	approval->window = judged->place.window;
	(void)strcpy(approval->title, judged->place.title);
	(void)strcpy(approval->url, judged->url);
	(void)strcpy(approval->role, judged->role);
}

static void add(struct stage *stage, struct approval *approval, const struct call *call)
{
	struct approvals *all = &stage->approvals;
	struct approval **end = &all->first;

	approval->expiry = loop_at(stage->loop, approval->asked_ms + all->timeout_ms, on_expired, approval);
	while (*end)
		end = &(*end)->next;
	*end = approval;
	count(stage, "asked", &all->counts.asked);
	note(approval, call);
	co_signal(&all->changed);
	watch_note(stage);
}

static json_t *connect_card(const struct approval *approval, const struct policy_answer *answer)
{
	const struct stage *stage = approval->stage;

	return json_pack("{s:s,s:s,s:O,s:s,s:s,s:b,s:{s:s,s:s},s:n,s:n,s:n,s:n,s:n,s:n,s:o,s:o,s:o,s:o,s:o,s:o,s:n}", "id", approval->id, "session",
	                 stage->ends.session, "action", approval->asked, "rule", approval->rule, "why", policy_rule_why(answer->rule), "unclear", 0, "caller",
	                 "role", "agent", "token", "", "app", "window", "url", "target", "crop", "crop_region", "space", space_json(stage->space), "native",
	                 space_json(stage->native), "at", stage_at(stage, approval->frame), "asked_at", time_in(0), "expires_at",
	                 time_in(stage->approvals.timeout_ms), "session_words", json_sprintf("connections to %s, until the session ends", approval->key),
	                 "not_session_why");
}

int approval_make_connect(struct stage *stage, const struct policy_answer *answer, const json_t *asked, const char *key, struct approval **out, struct err *e)
{
	struct approval *approval;

	if (make_room(stage, e) < 0)
		return -1;
	approval = util_zalloc(sizeof(*approval));
	*approval = (struct approval){.stage = stage, .frame = lease_frame(stage), .epoch = stage->epoch, .episode = stage->episode,
	                              .asked_ms = util_now_ms(), .key = util_strdup(key)};
	(void)snprintf(approval->id, sizeof(approval->id), "%s.%u", stage->ends.session, ++stage->approvals.n_made);
	(void)snprintf(approval->rule, sizeof(approval->rule), "%s", policy_rule_name(answer->rule));
	approval->asked = json_pack("{s:s,s:O,s:O,s:O*}", "action", "connect", "host", json_object_get(asked, "host"), "port",
	                            json_object_get(asked, "port"), "method", json_object_get(asked, "method"));
	approval->card = connect_card(approval, answer);
	add(stage, approval, NULL);
	*out = approval;
	return 0;
}

int approval_make(struct stage *stage, const struct approvals_ask *ask, const struct judged *judged, struct approval **out, struct err *e)
{
	const struct batch_step *step = &ask->batch->steps[ask->index];
	struct approvals *all = &stage->approvals;
	struct approval *approval;

	if (make_room(stage, e) < 0)
		return -1;
	display_attend(stage->display);
	if (display_update(stage->display, e) < 0)
		return -1;
	approval = util_zalloc(sizeof(*approval));
	*approval = (struct approval){.stage = stage, .frame = display_frame(stage->display), .epoch = stage->epoch, .episode = stage->episode,
	                              .asked_ms = util_now_ms()};
	(void)snprintf(approval->id, sizeof(approval->id), "%s.%u", stage->ends.session, ++all->n_made);
	(void)snprintf(approval->token, sizeof(approval->token), "%s", ask->call->token);
	(void)snprintf(approval->rule, sizeof(approval->rule), "%s", policy_rule_name(judged->answer.rule));
	approval->asked = json_copy(step->asked);
	json_object_set_new(approval->asked, "action", json_string(step->row->name));
	copy_place(approval, judged);
	approval->card = make_card(approval, ask, judged);
	add(stage, approval, ask->call);
	*out = approval;
	return 0;
}

static void count_end(const struct approval *approval, enum approval_state state)
{
	struct approvals_counts *counts = &approval->stage->approvals.counts;

	if (state == APPROVAL_EXPIRED)
		count(approval->stage, "expired", &counts->expired);
	else if (state == APPROVAL_WITHDRAWN)
		count(approval->stage, "withdrawn", &counts->withdrawn);
	else if (state == APPROVAL_DENIED)
		count(approval->stage, "denied", &counts->denied);
	else if (strcmp(approval->answer, "session") == 0)
		count(approval->stage, "session", &counts->session);
	else
		count(approval->stage, "once", &counts->once);
	if (state == APPROVAL_ALLOWED || state == APPROVAL_DENIED)
		counts->times_ms[counts->n_times++ % APPROVALS_TIMES] = util_now_ms() - approval->asked_ms;
}

void approval_end(struct approval *approval, enum approval_state state, const struct call *call)
{
	if (approval->state == APPROVAL_WAITING)
		count_end(approval, state);
	if (state != APPROVAL_ALLOWED) {
		loop_cancel(approval->expiry);
		approval->expiry = NULL;
	}
	approval->state = state;
	if (state != APPROVAL_DONE)
		note(approval, call);
	co_signal(&approval->stage->approvals.changed);
	watch_note(approval->stage);
}

struct approval *approval_find(const struct stage *stage, const char *id)
{
	for (struct approval *approval = stage->approvals.first; approval; approval = approval->next)
		if (strcmp(approval->id, id) == 0)
			return approval;
	return NULL;
}

static bool same_rect(struct rect a, struct rect b)
{
	return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

bool approval_holds(struct stage *stage, const struct approval *approval, const struct judged *now)
{
	struct rect near = approval->target;

	if (approval->epoch != stage->epoch || approval->episode != stage->episode || approval->window != now->place.window ||
	    strcmp(approval->title, now->place.title) != 0 || strcmp(approval->url, now->url) != 0 || strcmp(approval->role, now->role) != 0 ||
	    !same_rect(approval->target, now->target))
		return false;
	if (near.width == 0 || near.height > FIELD_HEIGHT_PX)
		return true;
	near = (struct rect){near.x - GUARD_NEAR_PX, near.y - GUARD_NEAR_PX, near.width + 2 * GUARD_NEAR_PX, near.height + 2 * GUARD_NEAR_PX};
	return display_update(stage->display, NULL) == 0 && !display_changed(stage->display, near, approval->frame);
}

char *approval_grant(const char *rule, const char *key)
{
	return util_printf("%s\n%s", rule, key);
}

void approval_free(struct approval *approval)
{
	loop_cancel(approval->expiry);
	json_decref(approval->asked);
	json_decref(approval->card);
	free(approval->key);
	free(approval->crop);
	free(approval);
}
