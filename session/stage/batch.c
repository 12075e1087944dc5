/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and checking act objects. */
#include "session/stage/batch.h"

#include <stdio.h>
#include <string.h>

#include "display/display.h"
#include "session/base/near.h"
#include "session/base/space.h"
#include "session/base/util.h"
#include "session/stage/forms.h"

/* Vendors call things "left_click" and "typing": a name inside the other is near, too. */
static bool is_near(const char *asked, const char *name)
{
	return near_distance(asked, name) <= 2 || strstr(asked, name) || (asked[0] && strstr(name, asked));
}

static int unknown_action(const char *name, const struct action_set *sets, size_t n_sets, struct err *e)
{
	char quoted[80], near[160] = "";
	size_t used = 0;

	for (size_t s = 0; s < n_sets; s++)
		for (size_t i = 0; i < sets[s].n_rows && used < sizeof(near); i++)
			if (is_near(name, sets[s].rows[i].name))
				used += (size_t)snprintf(near + used, sizeof(near) - used, "%s%s", used ? ", " : "", sets[s].rows[i].name);
	return err_set(e, ERR_UNKNOWN_ACTION, "/action", "%s is not an action; %s%s%s", err_quote(quoted, sizeof(quoted), name, strlen(name)),
	               used ? "near it: " : "", near, used ? "; GET /v1/actions lists all" : "GET /v1/actions lists them");
}

static int find_row(const json_t *action, const struct action_set *sets, size_t n_sets, struct batch_step *step, struct err *e)
{
	const json_t *name = json_object_get(action, "action");
	const struct action_set *set = NULL;

	if (!name)
		return err_set(e, ERR_MISSING_FIELD, "/action", "\"action\" is required: the name of the action");
	if (!json_is_string(name))
		return err_set(e, ERR_BAD_FIELD, "/action", "the name of an action must be a string");
	/* A name that goes on behind a NUL is not the name before it. */
	if (strlen(json_string_value(name)) == json_string_length(name))
		step->row = action_find(sets, n_sets, json_string_value(name), &set);
	if (!step->row)
		return unknown_action(json_string_value(name), sets, n_sets, e);
	step->home = set->home;
	return 0;
}

static json_t *copy_of(const json_t *value)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)value);

	if (!copy)
		DIE("no memory for an action");
	return copy;
}

static json_t *map_number(const json_t *number, int from_px, int to_px)
{
	return json_integer(space_map((int)json_integer_value(number), from_px, to_px));
}

static json_t *map_point(const json_t *point, struct space from, struct space to)
{
	return json_pack("[o,o]", map_number(json_array_get(point, 0), from.width_px, to.width_px),
	                 map_number(json_array_get(point, 1), from.height_px, to.height_px));
}

static json_t *map_path(const json_t *path, struct space from, struct space to)
{
	json_t *mapped = json_array();
	const json_t *point;
	size_t i;

	json_array_foreach(path, i, point)
		json_array_append_new(mapped, map_point(point, from, to));
	return mapped;
}

static json_t *map_rect(const json_t *rect, struct space from, struct space to)
{
	int x = (int)form_int(rect, "x", 0), y = (int)form_int(rect, "y", 0);
	int width = (int)form_int(rect, "width", 0), height = (int)form_int(rect, "height", 0);

	space_map_rect(from, to, &x, &y, &width, &height);
	return json_pack("{s:i,s:i,s:i,s:i}", "x", x, "y", y, "width", width, "height", height);
}

static json_t *map_field(enum field_type type, const json_t *value, struct space from, struct space to)
{
	if (type == FIELD_X)
		return map_number(value, from.width_px, to.width_px);
	if (type == FIELD_Y)
		return map_number(value, from.height_px, to.height_px);
	if (type == FIELD_PATH)
		return map_path(value, from, to);
	if (type == FIELD_RECT)
		return map_rect(value, from, to);
	return NULL;
}

json_t *batch_map(const struct form *form, const json_t *fields, struct space from, struct space to)
{
	json_t *mapped = copy_of(fields);

	for (size_t i = 0; i < form->n_fields; i++) {
		const json_t *value = json_object_get(fields, form->fields[i].name);
		json_t *other = value ? map_field(form->fields[i].type, value, from, to) : NULL;

		if (other && json_object_set_new(mapped, form->fields[i].name, other) < 0)
			DIE("no memory for an action");
	}
	return mapped;
}

/* One action; paths in *e are relative to it. On failure the step holds nothing. */
static int read_step(struct batch_step *step, const json_t *action, const struct action_set *sets, size_t n_sets, struct space space,
                     struct space native, struct err *e)
{
	struct batch_step read = {0};

	if (find_row(action, sets, n_sets, &read, e) < 0)
		return -1;
	read.asked = copy_of(action);
	json_object_del(read.asked, "action");
	if (form_check(&read.row->form, read.asked, "", &space, e) < 0 || (read.row->check && read.row->check(read.home, read.asked, e) < 0)) {
		json_decref(read.asked);
		return -1;
	}
	read.args = batch_map(&read.row->form, read.asked, space, native);
	*step = read;
	return 0;
}

static int check_observe(const json_t *body, struct space space, struct err *e)
{
	const json_t *observe = json_object_get(body, "observe");

	if (!observe || json_is_boolean(observe))
		return 0;
	if (!json_is_object(observe))
		return err_set(e, ERR_BAD_FIELD, "/observe", "observe must be true, false or an object");
	if (form_check(&forms_observe, observe, "/observe", &space, e) < 0)
		return -1;
	if (display_check_space(observe, "space", e) < 0) {
		err_prefix(e, "/observe");
		return -1;
	}
	return 0;
}

/* Everything but the actions themselves. */
static int read_envelope(struct batch *batch, const char *body, size_t len, struct space space, struct space native, struct err *e)
{
	const json_t *observe;

	if (json_parse(body, len, &batch->body, e) < 0 || form_check(&forms_act, batch->body, "", NULL, e) < 0 ||
	    display_check_space(batch->body, "space", e) < 0)
		return -1;
	batch->space = display_read_space(batch->body, "space", native, space);
	if (check_observe(batch->body, batch->space, e) < 0)
		return -1;
	observe = json_object_get(batch->body, "observe");
	if (json_is_true(observe))
		json_object_set_new(batch->body, "observe", json_object());
	if (json_is_false(observe))
		json_object_del(batch->body, "observe");
	batch->observe = json_object_get(batch->body, "observe");
	batch->timeout_ms = form_int(batch->body, "timeout_ms", LIMIT_CALL_DEFAULT_MS);
	batch->check_only = form_bool(batch->body, "check_only", false);
	return 0;
}

int batch_read(struct batch *batch, const char *body, size_t len, const struct action_set *sets, size_t n_sets, struct space space,
              struct space native, struct batch_faults *faults)
{
	const json_t *action;
	size_t i;

	batch->body = NULL;
	batch->n_steps = 0;
	faults->n = 0;
	if (read_envelope(batch, body, len, space, native, &faults->list[0]) < 0) {
		faults->n = 1;
		batch_free(batch);
		return -1;
	}
	json_array_foreach(json_object_get(batch->body, "actions"), i, action) {
		struct err *e = &faults->list[faults->n];
		char prefix[32];

		if (read_step(&batch->steps[batch->n_steps], action, sets, n_sets, batch->space, native, e) == 0) {
			batch->n_steps++;
			continue;
		}
		(void)snprintf(prefix, sizeof(prefix), "/actions/%zu", i);
		err_prefix(e, prefix);
		if (++faults->n == LIMIT_FAULTS)
			break;
	}
	if (faults->n == 0)
		return 0;
	batch_free(batch);
	return -1;
}

void batch_free(struct batch *batch)
{
	for (size_t i = 0; i < batch->n_steps; i++) {
		json_decref(batch->steps[i].asked);
		json_decref(batch->steps[i].args);
	}
	batch->n_steps = 0;
	json_decref(batch->body);
	batch->body = NULL;
}
