/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a step meets against what it met. */
#include "session/base/json.h"
#include "session/base/util.h"
#include "session/replay/find.h"
#include "session/replay/step.h"
#include "session/replay/title.h"

#define TREE_NODES 5000
#define TREE_WINDOWS 8 /* the topmost, of which the tree is asked for */

/* What one action answers, of the session that is played on; NULL when it was refused or failed. The caller's reference. */
static json_t *ask(const struct step *step, json_t *action)
{
	const struct player_api *api = step->player->api;
	json_auto_t *body = json_pack("{s:[o],s:s}", "actions", action, "space", "native"), *answer = NULL;
	struct err ignored; /* a server that is gone will be met again */
	json_t *result = NULL;

	if (api->act(api->arg, body, &answer, &ignored) == 0)
		result = json_array_get(json_object_get(answer, "results"), 0);
	return json_is_true(json_object_get(result, "ok")) ? json_incref(result) : NULL;
}

/* The nodes of all windows, as the tree of one has them. The caller's reference. */
static json_t *ask_trees(const struct step *step)
{
	json_auto_t *windows = ask(step, json_pack("{s:s}", "action", "windows"));
	json_t *nodes = json_array(), *hung = json_array(), *window;
	bool is_cut = false;
	size_t i, n = 0;

	json_array_foreach(json_object_get(windows, "windows"), i, window) {
		json_auto_t *tree = i < TREE_WINDOWS ? ask(step, json_pack("{s:s,s:O*,s:i}", "action", "tree", "window", json_object_get(window, "id"), "max_nodes", TREE_NODES)) : NULL;

		n += tree != NULL;
		is_cut |= json_is_true(json_object_get(tree, "truncated"));
		json_array_extend(nodes, json_object_get(tree, "nodes"));
		json_array_extend(hung, json_object_get(tree, "hung"));
	}
	return json_pack("{s:o,s:o,s:b}", "nodes", nodes, "hung", hung, "truncated", is_cut || n == 0);
}

/* Where what the first aimed action met is now. False when nothing can be said. */
static bool find_aim(const struct step *step, struct find *find)
{
	const json_t *aim = json_array_get(step->plan->aims, 0);
	json_auto_t *tree = NULL;

	/* A journal that is to be the new one has no such acts. */
	if (!aim || step->player->options->accept)
		return false;
	tree = ask_trees(step);
	*find = find_node(tree, json_object_get(aim, "node"), (int)form_int(aim, "x", 0), (int)form_int(aim, "y", 0));
	return find->state != FIND_UNKNOWN;
}

/* A click goes where its node is now, in the space of its call. */
static bool follow(const struct step *step, const json_t *aim, int now_x, int now_y)
{
	json_t *action = json_array_get(json_object_get(step->body, "actions"), (size_t)form_int(aim, "action", 0));
	const json_t *size = json_object_get(step->body, "space");
	struct space native = step->player->plan->native, space = {(int)form_int(size, "width", native.width_px), (int)form_int(size, "height", native.height_px)};

	if (!json_object_get(action, "x") || now_x < 0 || now_y < 0 || now_x >= native.width_px || now_y >= native.height_px)
		return false;
	json_object_set_new(action, "x", json_integer(space_map(now_x, native.width_px, space.width_px)));
	json_object_set_new(action, "y", json_integer(space_map(now_y, native.height_px, space.height_px)));
	step_set(step, "points", json_pack("[{s:i,s:i}]", "x", now_x, "y", now_y));
	return true;
}

/* It was followed: what differs for that reason does not count. */
static void forgive(const struct step *step, const char *words)
{
	json_object_del(step->facts, "where");
	json_object_del(step->facts, "reason");
	step_set(step, "verdict", json_string("passed"));
	step_set(step, "note_before", step_say("%s, and was followed", words));
}

/* Beside what the pictures say, if they count. */
static void say_reason(const struct step *step, const char *words, bool is_there)
{
	const char *reason = form_string(step->facts, "reason", NULL);

	if (!reason)
		step_differ(step, "before", json_string(words));
	else
		step_set(step, "reason", is_there ? step_say("%s; %s", reason, words) : step_say("%s; %s", words, reason));
}

bool step_explain(const struct step *step)
{
	struct player *player = step->player;
	const json_t *aim = json_array_get(step->plan->aims, 0), *node = json_object_get(aim, "node");
	int x = (int)form_int(aim, "x", 0), y = (int)form_int(aim, "y", 0), now_x, now_y;
	auto_free char *words = NULL;
	struct find find;

	if (!find_aim(step, &find))
		return player->followed;
	words = find_words(&find, node, x, y, &now_x, &now_y);
	step_set(step, "node", json_pack("{s:s,s:O,s:o}", "state", find_name(find.state), "recorded", node, "now", step_rect(find.rect)));
	if (player->options->follow && find.state == FIND_MOVED && follow(step, aim, now_x, now_y)) {
		forgive(step, words);
		player->followed = true;
		return true;
	}
	if (player->followed && find.state == FIND_THERE)
		return true;
	say_reason(step, words, find.state == FIND_THERE);
	return false;
}

/* Keys go to what has the focus, which pictures tell. */
void step_check_node(const struct step *step, size_t index, const json_t *answered)
{
	const struct reader_action *recorded = &step->plan->call->actions[index];
	const json_t *then = json_object_get(recorded->result, "node"), *now = json_object_get(answered, "node");
	auto_free char *old_title = NULL, *new_title = NULL;

	if (step->player->options->any_node || json_object_get(recorded->action, "text") || json_object_get(recorded->action, "keys") ||
	    !json_is_object(then) || !json_is_object(now) || find_same(then, now))
		return;
	old_title = title_node(then);
	new_title = title_node(now);
	step_differ(step, "node", step_say("action %zu (%s) met %s, and %s when it was recorded", index + 1, form_string(recorded->action, "action", ""),
	                                   new_title, old_title));
}
