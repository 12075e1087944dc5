/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judging what is typed. */
#include "session/stage/typed.h"

#include <string.h>

#include "session/base/util.h"
#include "session/stage/approvals.h"
#include "session/stage/stage.h"

/* What comes behind a Tab or a Return may go to another field, of which nothing is known yet; one of several lines keeps its Returns. */
static bool moves_on(const json_t *text, const struct access_focus *focus)
{
	const char *movers = focus->has_node && focus->node.multi_line ? "\t" : "\t\n\r";
	const char *at = json_string_value(text), *end = at ? at + strcspn(at, movers) : NULL;

	return at && end + strspn(end, "\t\n\r") < at + json_string_length(text);
}

static bool may_move(const struct batch_step *step)
{
	const char *text = form_string(step->args, "text", NULL);

	if (step->row->flags & (ACTION_WAITS | ACTION_LOOKS | ACTION_MOVES))
		return false;
	if (!(step->row->flags & ACTION_TYPES))
		return true;
	return text ? strpbrk(text, "\t\n\r") != NULL : input_moves(step->args);
}

static bool same_node(const struct access_node *a, const struct access_node *b)
{
	return a->password == b->password && a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height && strcmp(a->role, b->role) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

static bool same_focus(const struct access_focus *a, const struct access_focus *b)
{
	return a->known == b->known && a->pid == b->pid && a->window == b->window && a->prompt == b->prompt && a->has_node == b->has_node &&
	       same_node(&a->node, &b->node);
}

/* The app has not told yet what came of the last action. */
static bool is_pending(const struct typed *typed, const struct access_focus *now)
{
	bool is_met = typed->met && now->known && now->has_node && same_node(&typed->node, &now->node);

	return !is_met && same_focus(&typed->before, now);
}

static void wait_told(struct stage *stage)
{
	struct access *access = apps_access(stage->apps);
	struct typed *typed = &stage->typed;
	bool is_slow = typed->before.known && !typed->before.terminal;
	int64_t deadline_ms = typed->moved_ms + (is_slow ? TYPED_MOVED_MS : TYPED_ELSE_MS);

	while (typed->moved && !access_unavailable(access) && is_pending(typed, access_focus(access)) && util_now_ms() < deadline_ms)
		if (co_wait_event(access_changed(access), deadline_ms, NULL) < 0)
			break;
	typed->moved = false;
}

bool typed_is_secret(const struct typed *typed)
{
	return access_focus_secret(&typed->focus) || (typed->met && typed->node.password);
}

bool typed_is_unsure(const struct typed *typed)
{
	return typed->focus.late && !typed_is_secret(typed);
}

/* What was clicked was told after the press, or not at all: what is there now may be it. */
static void meet(struct stage *stage, int64_t deadline_ms)
{
	struct typed *typed = &stage->typed;

	if (!typed->unmet)
		return;
	typed->unmet = false;
	typed->met = access_at(apps_access(stage->apps), typed->x, typed->y, deadline_ms, &typed->node, NULL) == 0;
}

void typed_look(struct stage *stage)
{
	struct access *access = apps_access(stage->apps);
	struct typed *typed = &stage->typed;
	int64_t deadline_ms = util_now_ms() + (approvals_heeds_passwords(stage) ? TYPED_LATE_MS : 0);
	struct err ignored;

	meet(stage, util_now_ms() + TYPED_MOVED_MS);
	wait_told(stage);
	for (;;) {
		if (access_focus_now(access, util_now_ms() + TYPED_FOCUS_MS, &typed->focus, &ignored) < 0)
			typed->focus = (struct access_focus){.known = false};
		if (!typed->focus.late || util_now_ms() >= deadline_ms || co_wait_until(util_now_ms() + TYPED_AGAIN_MS, NULL) < 0)
			return;
	}
}

static enum journal_text judge(struct stage *stage, const struct batch_step *step)
{
	struct typed *typed = &stage->typed;

	typed_look(stage);
	if (typed_is_secret(typed))
		return JOURNAL_TEXT_PASSWORD;
	if (stage->text == STAGE_TEXT_NONE)
		return JOURNAL_TEXT_NONE;
	return stage->text == STAGE_TEXT_ALWAYS || (typed->focus.known && !moves_on(json_object_get(step->args, "text"), &typed->focus))
	           ? JOURNAL_TEXT_KEPT : JOURNAL_TEXT_UNKNOWN;
}

enum journal_text typed_judge(struct stage *stage, const struct batch_step *step)
{
	enum journal_text otherwise = stage->text == STAGE_TEXT_NONE ? JOURNAL_TEXT_HIDDEN : JOURNAL_TEXT_KEPT;
	struct typed *typed = &stage->typed;
	struct err ignored;

	if (step->row->flags & ACTION_TYPES && input_types(step->args)) {
		if (input_settle(stage->input, &ignored) < 0)
			typed->moved = true;
		otherwise = judge(stage, step);
	} else {
		typed->focus = *access_focus(apps_access(stage->apps));
	}
	typed->before = *access_focus(apps_access(stage->apps));
	return step->row->flags & ACTION_HIDES ? JOURNAL_TEXT_CLIPBOARD : otherwise;
}

void typed_note(struct stage *stage, const struct batch_step *step)
{
	struct typed *typed = &stage->typed;
	const struct nodes_answer *at = stage->nodes.n > 0 ? &stage->nodes.at[0] : NULL;

	if (!may_move(step))
		return;
	typed->moved = true;
	typed->moved_ms = util_now_ms();
	typed->met = at && at->known;
	typed->unmet = at && !at->known && at->why && strcmp(at->why, "late") == 0;
	if (typed->met)
		typed->node = at->node;
	if (typed->unmet) {
		typed->x = at->x;
		typed->y = at->y;
	}
}
