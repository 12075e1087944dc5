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

static int unknown_action(const char *name, const struct action_set *sets, size_t n_sets, struct err *e)
{
	char quoted[80], near[160] = "";
	size_t used = 0;

	for (size_t s = 0; s < n_sets; s++)
		for (size_t i = 0; i < sets[s].n_rows && used < sizeof(near); i++)
			if (near_action(name, sets[s].rows[i].name))
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
	if (step->row->lease == ACTION_UNSAID)
		return err_set(e, ERR_FORBIDDEN, "/action", "%s does not say what a change of the lease does to it", step->row->name);
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

/* One action, whose pointer is `path`. On failure the step holds nothing. */
static int read_step(struct batch_step *step, const json_t *action, const char *path, const struct action_set *sets, size_t n_sets,
                     const struct batch_place *place, struct faults *faults)
{
	const struct bounds bounds = {place->space, place->native};
	struct batch_step read = {.place = *place};
	size_t before = faults->n;
	struct err e;

	if (find_row(action, sets, n_sets, &read, &e) < 0) {
		faults_add(faults, &e, path);
		return -1;
	}
	read.asked = copy_of(action);
	json_object_del(read.asked, "action");
	if (form_check_all(&read.row->form, read.asked, path, &bounds, faults) == 0 && read.row->check &&
	    read.row->check(read.home, read.asked, &e) < 0)
		faults_add(faults, &e, path);
	if (faults->n > before) {
		json_decref(read.asked);
		return -1;
	}
	read.args = batch_map(&read.row->form, read.asked, place->space, place->native);
	*step = read;
	return 0;
}

struct batch_place batch_resize(struct batch_place place, struct space native)
{
	if (place.is_native)
		place.space = native;
	else if (place.follows)
		place.space = space_follow(place.space, place.native, native);
	place.native = native;
	return place;
}

static bool is_side(long px)
{
	return px >= LIMIT_SIDE_MIN_PX && px <= LIMIT_SIDE_MAX_PX;
}

/* The action, which need not be good, may give the display another size. */
static void pass_resize(struct batch_place *place, const json_t *action, const struct action_set *sets, size_t n_sets)
{
	const struct action_set *set;
	const struct action_row *row = action_find(sets, n_sets, form_string(action, "action", ""), &set);
	long width = form_int(action, "width", 0), height = form_int(action, "height", 0);

	if (row && row->flags & ACTION_RESIZES && is_side(width) && is_side(height))
		*place = batch_resize(*place, (struct space){(int)width, (int)height});
}

/* The place in which the list ends when all goes well. */
static struct batch_place end_of(const struct batch *batch, const struct action_set *sets, size_t n_sets)
{
	struct batch_place place = batch->place;
	const json_t *action;
	size_t i;

	json_array_foreach(json_object_get(batch->body, "actions"), i, action)
		if (i < LIMIT_ACTIONS)
			pass_resize(&place, action, sets, n_sets);
	return place;
}

static void check_observe(const json_t *body, const struct batch_place *place, struct faults *faults)
{
	const json_t *observe = json_object_get(body, "observe");
	const struct bounds bounds = {place->space, place->native};
	struct err e;

	if (!observe || json_is_boolean(observe))
		return;
	if (!json_is_object(observe)) {
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, "/observe", "observe must be true, false or an object");
		return;
	}
	(void)form_check_all(&forms_observe, observe, "/observe", &bounds, faults);
	if (display_check_picture(observe, &e) < 0)
		faults_add(faults, &e, "/observe");
}

/* That of the call: of a space which it names by its size nothing is known but that. */
static struct batch_place place_of(const json_t *body, const struct batch_place *session)
{
	const struct space native = session->native, named = display_read_space(body, "space", native, session->space);
	bool is_own = space_is_same(named, native) || space_is_same(named, space_for_models(native));
	const json_t *space = json_object_get(body, "space");

	return (struct batch_place){named, native, space ? is_own : session->follows, json_is_string(space)};
}

/* Everything but the actions themselves. False if coordinates have no meaning, or there is nothing more to check. */
static bool check_envelope(struct batch *batch, const struct action_set *sets, size_t n_sets, const struct batch_place *place,
                           struct faults *faults)
{
	struct batch_place end;
	struct err e;

	(void)form_check_all(&forms_act, batch->body, "", NULL, faults);
	if (!json_is_object(batch->body))
		return false;
	if (display_check_space(batch->body, "space", &e) < 0) {
		faults_add(faults, &e, "");
		return false;
	}
	batch->place = place_of(batch->body, place);
	end = end_of(batch, sets, n_sets);
	check_observe(batch->body, &end, faults);
	return true;
}

static void read_envelope(struct batch *batch)
{
	const json_t *observe = json_object_get(batch->body, "observe");

	if (json_is_true(observe))
		json_object_set_new(batch->body, "observe", json_object());
	if (json_is_false(observe))
		json_object_del(batch->body, "observe");
	batch->observe = json_object_get(batch->body, "observe");
	batch->timeout_ms = form_int(batch->body, "timeout_ms", LIMIT_CALL_DEFAULT_MS);
	batch->seen = json_object_get(batch->body, "seen");
	batch->check_only = form_bool(batch->body, "check_only", false);
}

static void read_actions(struct batch *batch, const struct action_set *sets, size_t n_sets, struct faults *faults)
{
	struct batch_place place = batch->place;
	const json_t *action;
	size_t i;

	json_array_foreach(json_object_get(batch->body, "actions"), i, action) {
		char path[32];

		(void)snprintf(path, sizeof(path), "/actions/%zu", i);
		/* What is no object is a fault of the envelope already, and so is a list that is too long. */
		if (i >= LIMIT_ACTIONS || faults_full(faults))
			break;
		if (!json_is_object(action))
			continue;
		batch->n_steps += read_step(&batch->steps[batch->n_steps], action, path, sets, n_sets, &place, faults) == 0;
		pass_resize(&place, action, sets, n_sets);
	}
}

int batch_take(struct batch *batch, json_t *body, const struct action_set *sets, size_t n_sets, const struct batch_place *place,
               struct faults *faults)
{
	size_t before = faults->n;

	batch->body = body;
	batch->n_steps = 0;
	if (check_envelope(batch, sets, n_sets, place, faults))
		read_actions(batch, sets, n_sets, faults);
	if (faults->n == before) {
		read_envelope(batch);
		return 0;
	}
	batch_free(batch);
	return -1;
}

int batch_read(struct batch *batch, const char *body, size_t len, const struct action_set *sets, size_t n_sets,
               const struct batch_place *place, struct faults *faults)
{
	size_t before = faults->n;
	json_t *value;

	if (json_parse_few(body, len, LIMIT_ACT_VALUES, &value, faults_next(faults)) < 0)
		return -1;
	faults->n = before;
	return batch_take(batch, value, sets, n_sets, place, faults);
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
