/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking what an action meets. */
#include "session/stage/nodes.h"

#include <string.h>

#include "session/base/origin.h"
#include "session/base/space.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

static struct access *access_of(const struct stage *stage)
{
	return stage->apps ? apps_access(stage->apps) : NULL;
}

static bool is_on(const struct stage *stage)
{
	return access_of(stage) && !access_unavailable(access_of(stage));
}

static void ask(struct stage *stage, int x, int y)
{
	struct nodes *nodes = &stage->nodes;

	nodes->at[nodes->n++] = (struct nodes_answer){
		.x = x, .y = y, .question = access_ask_at(access_of(stage), x, y, nodes->asked_ms + NODES_ASK_MS)};
}

static void ask_point(struct stage *stage, const json_t *point)
{
	ask(stage, (int)json_integer_value(json_array_get(point, 0)), (int)json_integer_value(json_array_get(point, 1)));
}

void nodes_ask(struct stage *stage, const struct batch_step *step)
{
	const json_t *path = json_object_get(step->args, "path");
	int x = (int)form_int(step->args, "x", 0), y = (int)form_int(step->args, "y", 0);

	if (stage->nodes.n > 0 || !(step->row->flags & ACTION_AIMS) || step->row->flags & ACTION_MOVES || !is_on(stage))
		return;
	stage->nodes.asked_ms = util_now_ms();
	if (path) {
		ask_point(stage, json_array_get(path, 0));
		ask_point(stage, json_array_get(path, json_array_size(path) - 1));
	} else if (json_object_get(step->args, "x") || display_pointer(stage->display, &x, &y, NULL) == 0) {
		ask(stage, x, y);
	}
}

static const char *reason(enum err_code code)
{
	if (code == ERR_UNSUPPORTED)
		return NULL;
	return code == ERR_NOT_FOUND ? "none" : code == ERR_TIMEOUT ? "late" : "failed";
}

/* NULL: the app was not late. */
static struct nodes_late *find_late(struct nodes *nodes, int pid)
{
	for (size_t i = 0; i < NODES_LATE; i++)
		if (nodes->late[i].pid == pid && nodes->asked_ms < nodes->late[i].until_ms)
			return &nodes->late[i];
	return NULL;
}

static int64_t patience_ms(struct nodes *nodes, int pid)
{
	const struct nodes_late *late = find_late(nodes, pid);

	if (!late)
		return NODES_WAIT_MS;
	return late->again ? NODES_LEAST_MS : NODES_BRIEF_MS;
}

static void note_late(struct nodes *nodes, int pid)
{
	struct nodes_late *late = find_late(nodes, pid);

	if (late) {
		late->again = true;
		return;
	}
	nodes->late[nodes->next_late] = (struct nodes_late){.pid = pid, .until_ms = util_now_ms() + NODES_AGAIN_MS};
	nodes->next_late = (nodes->next_late + 1) % NODES_LATE;
}

static void note_answer(struct nodes *nodes, int pid)
{
	struct nodes_late *late = find_late(nodes, pid);

	if (late)
		late->until_ms = 0;
}

/* Which app it is, and so how long it has, is known after the first wait. */
static int wait_for(struct nodes *nodes, struct nodes_answer *answer, struct err *e)
{
	int rc = access_wait_at(answer->question, nodes->asked_ms + NODES_LEAST_MS, &answer->node, e);
	int64_t patience = patience_ms(nodes, access_pid_at(answer->question));

	if (rc < 0 && e->code == ERR_TIMEOUT && patience > NODES_LEAST_MS)
		rc = access_wait_at(answer->question, nodes->asked_ms + patience, &answer->node, e);
	return rc;
}

static void wait_answer(struct nodes *nodes, struct nodes_answer *answer)
{
	struct err e = {0};
	int pid;

	if (!answer->question)
		return;
	answer->known = wait_for(nodes, answer, &e) == 0;
	answer->why = answer->known ? NULL : reason(e.code);
	pid = access_pid_at(answer->question);
	access_drop(answer->question);
	answer->question = NULL;
	if (answer->known)
		note_answer(nodes, pid);
	else if (e.code == ERR_TIMEOUT)
		note_late(nodes, pid);
}

void nodes_wait(void *arg)
{
	struct stage *stage = arg;

	for (size_t i = 0; i < stage->nodes.n; i++)
		wait_answer(&stage->nodes, &stage->nodes.at[i]);
}

void nodes_drop(struct stage *stage)
{
	struct nodes *nodes = &stage->nodes;

	for (size_t i = 0; i < nodes->n; i++)
		access_drop(nodes->at[i].question);
	nodes->n = 0;
}

/* Something that takes text may be called by the text that it holds, but for what has a label beside it. */
static bool has_label(const struct access_node *node)
{
	static const char *const labelled[] = {"entry", "text", "editbar", "combo box", "spin button", "search box", "terminal", "document web", "autocomplete"};
	bool is_one = !node->editable;

	for (size_t i = 0; i < ARRAY_LEN(labelled); i++)
		is_one |= strcmp(node->role, labelled[i]) == 0;
	return is_one && !node->password && *node->name;
}

static json_t *bounds_of(const struct access_node *node, struct space native, struct space space)
{
	int x = node->x, y = node->y, width = node->width, height = node->height;

	if (width <= 0 || height <= 0)
		return NULL;
	space_map_rect(native, space, &x, &y, &width, &height);
	return json_pack("{s:i,s:i,s:i,s:i}", "x", x, "y", y, "width", width, "height", height);
}

static json_t *describe(const struct access_node *node, struct space native, struct space space)
{
	json_t *out = json_pack("{s:s}", "role", node->role);
	json_t *bounds = node->password ? NULL : bounds_of(node, native, space);
	size_t len = strnlen(node->name, NODES_NAME_BYTES);

	if (has_label(node))
		json_object_set_new(out, "name", json_stringn(node->name, util_utf8_prefix(node->name, len)));
	if (bounds)
		json_object_set_new(out, "bounds", bounds);
	return out;
}

/* What the keys went to; NULL when that is not known. */
static json_t *describe_focus(const struct access_focus *focus, struct space native, struct space space)
{
	if (!focus->known || (!focus->has_node && !focus->terminal))
		return NULL;
	return focus->has_node ? describe(&focus->node, native, space) : json_pack("{s:s}", "role", "terminal");
}

static void tell_answer(const struct nodes_answer *answer, const char *name, const struct batch *batch, struct space native, json_t *result)
{
	if (answer->known)
		json_object_set_new(result, name, describe(&answer->node, native, batch->place.space));
	else if (answer->why) {
		json_object_set_new(result, name, json_null());
		json_object_set_new(result, "node_reason", json_string(answer->why));
	}
}

void nodes_tell(struct stage *stage, const struct batch *batch, const struct batch_step *step, json_t *result)
{
	static const char *const names[] = {"node", "node_to"};
	struct nodes *nodes = &stage->nodes;
	json_t *focused = NULL;

	for (size_t i = 0; i < nodes->n; i++)
		tell_answer(&nodes->at[i], names[i], batch, stage->native, result);
	if (step->row->flags & ACTION_TYPES)
		focused = describe_focus(&stage->typed.focus, stage->native, batch->place.space);
	if (focused)
		json_object_set_new(result, "node", focused);
	nodes_drop(stage);
}

json_t *nodes_focus(const struct stage *stage)
{
	const struct access_focus *focus = access_of(stage) ? access_focus(access_of(stage)) : NULL;
	const char *app;
	char origin[ORIGIN_SIZE];

	if (!focus || !focus->known)
		return json_pack("{s:b}", "known", 0);
	app = apps_name_of(stage->apps, focus->pid);
	return json_pack("{s:b,s:s?,s:b,s:b,s:b,s:s?,s:s*}", "known", 1, "role", focus->has_node ? focus->node.role : focus->terminal ? "terminal" : NULL,
	                 "password", access_focus_secret(focus), "editable", focus->terminal || (focus->has_node && focus->node.editable), "terminal",
	                 focus->terminal, "app", app, "origin", origin_of(focus->url, origin) ? origin : NULL);
}
