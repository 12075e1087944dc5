/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a journal says, step by step. */
#include <string.h>

#include "session/base/space.h"
#include "session/base/util.h"
#include "session/replay/export.h"
#include "session/replay/title.h"

static void set(json_t *object, const char *name, json_t *value)
{
	if (value && json_object_set_new(object, name, value) < 0)
		DIE("no memory for a step");
}

static void copy(json_t *to, const char *name, const json_t *from, const char *as)
{
	set(to, name, json_incref(json_object_get(from, as)));
}

static void set_picture(json_t *step, const char *name, uint64_t number)
{
	if (number > 0)
		set(step, name, json_integer((json_int_t)number));
}

static struct space space_of(const json_t *size, struct space otherwise)
{
	int width = (int)form_int(size, "width", 0), height = (int)form_int(size, "height", 0);

	return width > 0 && height > 0 ? (struct space){width, height} : otherwise;
}

/* A number of a journal, which may be anybody's file. */
static int number(const json_t *value)
{
	double n = json_is_number(value) ? json_number_value(value) : 0;

	return n > -1e6 && n < 1e6 ? (int)n : 0;
}

static void add_mark(json_t *marks, const json_t *x, const json_t *y, struct space from, struct space to)
{
	if (json_is_number(x) && json_is_number(y))
		json_array_append_new(marks, json_pack("{s:i,s:i}", "x", space_map(number(x), from.width_px, to.width_px), "y",
		                                       space_map(number(y), from.height_px, to.height_px)));
}

/* Where it aims at. */
static void set_marks(json_t *step, const json_t *action, struct space from, struct space to)
{
	const json_t *point, *region = json_object_get(action, "region");
	json_t *marks = json_array();
	size_t i;

	add_mark(marks, json_object_get(action, "x"), json_object_get(action, "y"), from, to);
	json_array_foreach(json_object_get(action, "path"), i, point)
		add_mark(marks, json_array_get(point, 0), json_array_get(point, 1), from, to);
	set(step, "marks", marks);
	if (json_is_object(region)) {
		int x = number(json_object_get(region, "x")), y = number(json_object_get(region, "y"));
		int width = number(json_object_get(region, "width")), height = number(json_object_get(region, "height"));

		space_map_rect(from, to, &x, &y, &width, &height);
		set(step, "region", json_pack("{s:i,s:i,s:i,s:i}", "x", x, "y", y, "width", width, "height", height));
	}
}

/* What it met, with its place on the display. */
static void set_node(json_t *step, const char *name, const json_t *result, struct space from, struct space to)
{
	json_t *node = json_is_object(json_object_get(result, name)) ? json_deep_copy(json_object_get(result, name)) : NULL;
	const json_t *bounds = json_object_get(node, "bounds");
	int x = number(json_object_get(bounds, "x")), y = number(json_object_get(bounds, "y"));
	int width = number(json_object_get(bounds, "width")), height = number(json_object_get(bounds, "height"));

	space_map_rect(from, to, &x, &y, &width, &height);
	if (bounds)
		set(node, "bounds", json_pack("{s:i,s:i,s:i,s:i}", "x", x, "y", y, "width", width, "height", height));
	set(step, name, node);
}

struct journey {
	const struct reader *reader;
	int64_t start_ms; /* monotonic, of the first line */
	struct space native; /* after the steps so far */
	json_t *steps;
};

/* What all steps of a call have; `line` is the one that it begins with. */
static json_t *begin(const struct journey *journey, size_t call_index, const char *kind, const json_t *line)
{
	const struct reader_call *call = reader_call(journey->reader, call_index);
	json_t *step = json_pack("{s:s,s:I}", "kind", kind, "call", (json_int_t)call_index + 1);

	copy(step, "time", line, "time");
	if (reader_ms(line) > 0)
		set(step, "at_ms", json_integer(reader_ms(line) - journey->start_ms));
	copy(step, "actor", json_object_get(line, "actor"), "role");
	set(step, "request", json_string(call->request));
	copy(step, "dialect", call->line, "dialect");
	return step;
}

static void add_action(struct journey *journey, size_t call_index, const struct reader_action *action)
{
	static const char *const of_result[] = {"ok", "error", "elapsed_ms", "node_reason"};
	struct space space = space_of(json_object_get(action->intent, "space"), journey->native);
	json_t *step = begin(journey, call_index, "action", action->intent);
	auto_free char *title = title_action(action->action, action->result);

	set(step, "title", json_string(title));
	set(step, "action", json_incref((json_t *)(uintptr_t)action->action));
	for (size_t i = 0; i < ARRAY_LEN(of_result); i++)
		copy(step, of_result[i], action->result, of_result[i]);
	set_marks(step, action->action, space, journey->native);
	set_node(step, "node", action->result, space, journey->native);
	set_node(step, "node_to", action->result, space, journey->native);
	set_picture(step, "before", action->before);
	set_picture(step, "after", action->after);
	json_array_append_new(journey->steps, step);
	journey->native = reader_resized(action, journey->native);
}

/* Actions that the list had behind the one that failed. */
static void add_left_out(struct journey *journey, size_t call_index)
{
	const struct reader_call *call = reader_call(journey->reader, call_index);
	const struct reader_action *last = call->n_actions > 0 ? &call->actions[call->n_actions - 1] : NULL;
	json_t *step;

	/* Where the journal breaks off nobody knows what came next. */
	if (call->n_asked <= call->n_actions || !last || !json_is_false(json_object_get(last->result, "ok")))
		return;
	step = begin(journey, call_index, "left_out", call->line);
	set(step, "n", json_integer((json_int_t)(call->n_asked - call->n_actions)));
	json_array_append_new(journey->steps, step);
}

static void add_look(struct journey *journey, size_t call_index)
{
	static const char *const of_line[] = {"settled", "elapsed_ms", "error"};
	const struct reader_call *call = reader_call(journey->reader, call_index);
	json_t *step;

	if (!call->observation)
		return;
	step = begin(journey, call_index, "look", call->observation);
	for (size_t i = 0; i < ARRAY_LEN(of_line); i++)
		copy(step, of_line[i], call->observation, of_line[i]);
	set_picture(step, "after", call->after);
	json_array_append_new(journey->steps, step);
}

json_t *export_steps(const struct reader *reader)
{
	const json_t *first = json_array_get(reader_lines(reader), 0);
	struct journey journey = {.reader = reader, .start_ms = reader_ms(first), .steps = json_array()};

	journey.native = space_of(json_object_get(reader_start(reader), "native"), (struct space){1, 1});
	for (size_t i = 0; i < reader_n_calls(reader); i++) {
		const struct reader_call *call = reader_call(reader, i);

		for (size_t k = 0; k < call->n_actions; k++)
			add_action(&journey, i, &call->actions[k]);
		add_left_out(&journey, i);
		add_look(&journey, i);
	}
	return journey.steps;
}
