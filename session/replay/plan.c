/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a journal to what a replay does. */
#include "session/replay/plan.h"

#include <stdio.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/title.h"

/* Numbers and truths of `from`, those with these names. */
static void take_values(const json_t *from, const char *const *names, size_t n, json_t *to)
{
	for (size_t i = 0; i < n; i++) {
		json_t *value = json_object_get(from, names[i]);

		if (json_is_integer(value) || json_is_boolean(value))
			json_object_set(to, names[i], value);
	}
}

/* Is `name` of this action something that the journal has the length of alone? */
static bool is_hidden(const json_t *action, const char *name)
{
	return json_is_object(json_object_get(action, name)) && json_object_get(json_object_get(action, name), "bytes");
}

static bool is_about_place(const json_t *action)
{
	static const char *const names[] = {"cursor_position", "move_window", "resize_window", "resize_display"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(form_string(action, "action", ""), names[i]) == 0)
			return true;
	return false;
}

json_t *plan_result(const json_t *action, const json_t *result)
{
	static const char *const always[] = {"exit_code", "signal", "timed_out", "truncated", "delivered", "closed"};
	static const char *const place[] = {"x", "y", "width", "height"};
	const json_t *error = json_object_get(result, "error"), *code = json_is_object(error) ? json_object_get(error, "code") : error;
	json_t *out = json_pack("{s:b}", "ok", json_is_true(json_object_get(result, "ok")));

	if (json_is_string(code))
		json_object_set(out, "error", (json_t *)(uintptr_t)code);
	take_values(result, always, ARRAY_LEN(always), out);
	if (is_about_place(action))
		take_values(result, place, ARRAY_LEN(place), out);
	/* What is given in place of a text that was not recorded may be of another length. */
	if (is_hidden(action, "text"))
		json_object_del(out, "delivered");
	return out;
}

/* The values of an exec's environment, of which the journal has the names. */
static int fill_env(json_t *action, const char *name, const struct plan_given *given, size_t call, struct err *e)
{
	const json_t *names = json_object_get(action, name), *one;
	json_t *env = json_object();
	char quoted[80];
	size_t i;

	json_array_foreach(names, i, one) {
		json_t *value = json_object_get(given->env, json_string_value(one) ? json_string_value(one) : "");

		if (json_is_string(value))
			json_object_set(env, json_string_value(one), value);
		if (value)
			continue;
		json_decref(env);
		err_quote(quoted, sizeof(quoted), json_string_value(one) ? json_string_value(one) : "", json_string_length(one));
		if (call == 0)
			return err_set(e, ERR_BAD_REQUEST, NULL, "the session had %s in its environment, and journals keep no values: give it with --env NAME=VALUE, or leave "
			               "it out with --env NAME", quoted);
		return err_set(e, ERR_BAD_REQUEST, NULL, "call %zu ran a command with %s in its environment, and journals keep no values: give it with --env NAME=VALUE, or "
		               "leave it out with --env NAME", call, quoted);
	}
	json_object_set_new(action, name, env);
	return 0;
}

/* Why a text was not recorded, and whether another recording would have it. */
static int refuse_text(const json_t *hidden, const char *place, const char *own, struct err *e)
{
	static const struct {
		const char *why, *words, *else_words;
	} rows[] = {
		{"password", "into a password field, which journals never keep", ""},
		{"node", "into a node, which journals never keep", ""},
		{"clipboard", "into the clipboard, which journals never keep (of a PNG: in Base64)", ""},
		{"unknown", "where it is not known whether it was a password",
		 ", or record it again in a session with \"record\": {\"text\": \"always\"}"},
		{"", "that were not recorded", ", or record it again in a session with \"record\": {\"text\": \"plain\"}"},
	};
	const char *why = form_string(hidden, "why", "");
	size_t row = 0;

	while (row + 1 < ARRAY_LEN(rows) && strcmp(rows[row].why, why) != 0)
		row++;
	return err_set(e, ERR_BAD_REQUEST, NULL, "action %s (CALL.ACTION) typed %jd bytes %s: give them with --text %s=FILE%s", place,
	               (intmax_t)json_integer_value(json_object_get(hidden, "bytes")), rows[row].words, own, rows[row].else_words);
}

/* What was typed, or put on the clipboard, where the journal does not have it; `own` is what it is given as. */
static int fill_text(json_t *action, const char *name, const struct plan_given *given, const char *place, const char *own, struct err *e)
{
	const json_t *hidden = json_object_get(action, name);
	json_t *text = json_object_get(given->texts, own);
	size_t len = json_string_length(text), recorded;

	if (!text)
		return refuse_text(hidden, place, own, e);
	/* A file that an editor wrote has one more newline. */
	recorded = (size_t)json_integer_value(json_object_get(hidden, "bytes"));
	len -= len == recorded + 1 && json_string_value(text)[len - 1] == '\n';
	return json_object_set_new(action, name, json_stringn(json_string_value(text), len));
}

/* All of them of an action: of one that has two, such as HTML with its text, each is named. */
static int fill_texts(json_t *action, const struct plan_given *given, const char *place, struct err *e)
{
	static const char *const names[] = {"text", "keys", "value", "html", "png"};
	size_t n_hidden = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		n_hidden += is_hidden(action, names[i]);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		auto_free char *own = n_hidden > 1 ? util_printf("%s.%s", place, names[i]) : util_printf("%s", place);

		if (is_hidden(action, names[i]) && fill_text(action, names[i], given, place, own, e) < 0)
			return -1;
	}
	return 0;
}

static int fill_action(json_t *action, const struct plan_given *given, size_t call, size_t index, struct err *e)
{
	auto_free char *place = util_printf("%zu.%zu", call, index);
	json_t *input = json_object_get(given->stdins, place);

	if (strcmp(form_string(action, "action", ""), "request_human") == 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "action %s asked for a person, and no journal has what that did: it cannot be replayed", place);
	if (fill_texts(action, given, place, e) < 0)
		return -1;
	if (is_hidden(action, "stdin") && !input)
		return err_set(e, ERR_BAD_REQUEST, NULL, "call %zu gave a command %jd bytes of input, and journals do not keep input: give it with --stdin %s=FILE",
		               call, (intmax_t)json_integer_value(json_object_get(json_object_get(action, "stdin"), "bytes")), place);
	if (input && json_object_get(action, "stdin"))
		json_object_set(action, "stdin", input);
	return json_is_array(json_object_get(action, "env")) ? fill_env(action, "env", given, call, e) : 0;
}

/* 0x0 for what is no size of a screen. */
static struct space read_space(const json_t *value)
{
	long width = form_int(value, "width", 0), height = form_int(value, "height", 0);

	if (width < 1 || height < 1 || width > LIMIT_SIDE_MAX_PX || height > LIMIT_SIDE_MAX_PX)
		return (struct space){0, 0};
	return (struct space){(int)width, (int)height};
}

/* Where an action aims at, in native pixels. */
static void add_points(const json_t *action, struct space space, struct space native, json_t *points)
{
	json_auto_t *alone = json_pack("[[O*,O*]]", json_object_get(action, "x"), json_object_get(action, "y"));
	const json_t *path = json_object_get(action, "path"), *point;
	size_t i;

	json_array_foreach(path ? path : alone, i, point) {
		const json_t *x = json_array_get(point, 0), *y = json_array_get(point, 1);

		if (!json_is_integer(x) || !json_is_integer(y) || space.width_px <= 0 || space.height_px <= 0 || json_array_size(points) >= LIMIT_PATH_POINTS)
			continue;
		json_array_append_new(points, json_pack("{s:i,s:i}", "x", space_map((int)json_integer_value(x), space.width_px, native.width_px), "y",
		                                        space_map((int)json_integer_value(y), space.height_px, native.height_px)));
	}
}

/* What it met there, if that is known. */
static void add_aim(const struct plan *plan, const struct plan_step *step, size_t action, struct space space, size_t n_before)
{
	const json_t *met = json_object_get(step->call->actions[action].result, "node"), *point = json_array_get(step->points, n_before);
	json_t *node, *bounds;
	struct rect rect;

	if (!point || !json_is_object(met))
		return;
	node = json_deep_copy(met);
	bounds = json_object_get(node, "bounds");
	rect = space_rect(bounds);
	space_map_rect(space, plan->now, &rect.x, &rect.y, &rect.width, &rect.height);
	if (bounds)
		json_object_set_new(node, "bounds", json_pack("{s:i,s:i,s:i,s:i}", "x", rect.x, "y", rect.y, "width", rect.width, "height", rect.height));
	json_array_append_new(step->aims, json_pack("{s:I,s:O,s:O,s:o}", "action", (json_int_t)action, "x", json_object_get(point, "x"), "y",
	                                            json_object_get(point, "y"), "node", node));
}

/* What an observation did not count, such as a film, is not compared either: the smallest native rectangles that cover it. */
static void add_masks(const struct reader_call *call, struct space native, json_t *masks)
{
	struct space space = read_space(json_object_get(call->line, "space"));
	const json_t *mask;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(call->line, "observe"), "mask"), i, mask) {
		struct rect rect = space_rect(mask);

		if (rect.x < 0 || rect.y < 0 || rect.width < 1 || rect.height < 1 || rect.x > space.width_px - rect.width || rect.y > space.height_px - rect.height)
			continue;
		space_cover_rect(space, native, &rect);
		json_array_append_new(masks, json_pack("{s:i,s:i,s:i,s:i}", "x", rect.x, "y", rect.y, "width", rect.width, "height", rect.height));
	}
}

/* The act that does what a call did. */
static int make_body(struct plan *plan, struct plan_step *step, const struct plan_given *given, size_t number, struct err *e)
{
	static const char *const kept[] = {"observe", "timeout_ms", "space"};
	const struct reader_call *call = step->call;
	const json_t *line = call->line ? call->line : call->n_actions > 0 ? call->actions[0].intent : NULL;
	json_t *actions = json_array();
	size_t n_before;

	step->body = json_pack("{s:o}", "actions", actions);
	for (size_t i = 0; i < call->n_actions; i++) {
		const struct reader_action *done = &call->actions[i];
		struct space space = read_space(json_object_get(json_object_get(done->intent, "space") ? done->intent : line, "space"));
		json_t *action = json_deep_copy(done->action);

		json_array_append_new(actions, action);
		if (fill_action(action, given, number, i + 1, e) < 0)
			return -1;
		json_array_append_new(step->expected, plan_result(done->action, done->result));
		n_before = json_array_size(step->points);
		add_points(action, space, plan->now, step->points);
		add_aim(plan, step, i, space, n_before);
		plan->now = reader_resized(done, plan->now);
	}
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		json_t *value = json_object_get(line, kept[i]);

		if (value)
			json_object_set(step->body, kept[i], value);
	}
	return 0;
}

/* When the last thing of a call was noted, in milliseconds of the server's clock. */
static int64_t end_ms(const struct reader_call *call)
{
	const struct reader_action *last = call->n_actions > 0 ? &call->actions[call->n_actions - 1] : NULL;
	const json_t *line = call->observation ? call->observation : last && last->result ? last->result : last ? last->intent : call->line;

	return reader_ms(line);
}

static int64_t begin_ms(const struct reader_call *call)
{
	const json_t *line = call->line ? call->line : call->n_actions > 0 ? call->actions[0].intent : NULL;

	return reader_ms(line);
}

static bool was_settled(const struct reader_call *call)
{
	const struct reader_action *last = call->n_actions > 0 ? &call->actions[call->n_actions - 1] : NULL;

	if (call->observation)
		return json_is_true(json_object_get(call->observation, "settled"));
	return last && last->result && json_is_true(json_object_get(last->result, "settled"));
}

/* Before the first call: since the session was ready. */
static int64_t ready_ms(const struct reader *reader)
{
	const json_t *line;
	size_t i;

	json_array_foreach(reader_lines(reader), i, line)
		if (strcmp(form_string(line, "event", ""), "ready") == 0)
			return reader_ms(line);
	return 0;
}

/* Which of its pictures the screen must come to again. */
static void choose_pictures(const struct reader *reader, struct plan_step *step, const struct reader_call *last)
{
	const struct reader_call *call = step->call;
	bool as_left = last && was_settled(last) && last->after == call->before;
	int64_t since_ms = last ? end_ms(last) : ready_ms(reader);

	step->before = call->before;
	step->before_sure = call->before && (as_left || begin_ms(call) - since_ms >= PLAN_REST_MS);
	step->after = call->after;
	step->after_sure = call->after && was_settled(call);
	if (!call->after)
		step->unsure = "the recording has no picture of it";
	else if (!step->after_sure)
		step->unsure = call->observation ? "the screen was not at rest when it was recorded" : "nothing was waited for when it was recorded (no observe)";
}

static bool is_unfinished(const struct reader_call *call)
{
	const struct reader_action *last = call->n_actions > 0 ? &call->actions[call->n_actions - 1] : NULL;

	if (!last)
		return call->n_asked > 0;
	return !last->result || strcmp(form_string(last->result, "error", ""), "cancelled") == 0;
}

static int make_step(const struct reader *reader, struct plan *plan, size_t index, const struct plan_given *given, struct err *e)
{
	struct plan_step *step = &plan->steps[index];
	const struct reader_call *call = reader_call(reader, index);

	*step = (struct plan_step){.call = call, .expected = json_array(), .points = json_array(), .aims = json_array(), .masks = json_array(), .title = title_call(call),
	                           .unfinished = is_unfinished(call)};
	plan->n_steps++;
	choose_pictures(reader, step, index > 0 ? reader_call(reader, index - 1) : NULL);
	if (index > 0)
		add_masks(reader_call(reader, index - 1), plan->now, step->masks);
	if (make_body(plan, step, given, index + 1, e) < 0)
		return -1;
	add_masks(call, plan->now, step->masks);
	return 0;
}

static int make_spec(const struct reader *reader, const struct plan_given *given, struct plan *plan, struct err *e)
{
	const json_t *start = reader_start(reader), *spec = json_object_get(start, "spec");

	if (!json_is_object(spec))
		return err_set(e, ERR_BAD_REQUEST, NULL, "this journal does not say what its session was: its line start has no spec, and there is no session.json");
	plan->spec = json_deep_copy(spec);
	plan->image = form_string(start, "image", form_string(spec, "image", ""));
	plan->image_hash = form_string(start, "image_hash", "");
	plan->native = read_space(json_object_get(start, "native"));
	if (plan->native.width_px == 0)
		plan->native = read_space(json_object_get(spec, "display"));
	plan->now = plan->native;
	if (*plan->image)
		json_object_set_new(plan->spec, "image", json_string(plan->image));
	/* Nobody waits for a person. */
	(void)json_object_del(plan->spec, "lease");
	return json_is_array(json_object_get(plan->spec, "env")) ? fill_env(plan->spec, "env", given, 0, e) : 0;
}

int plan_make(const struct reader *reader, const struct plan_given *given, bool allow_broken, struct plan *out, struct err *e)
{
	struct plan plan = {0};
	size_t n = reader_n_calls(reader);
	int rc;

	if (reader_broken(reader) && !allow_broken)
		return err_set(e, ERR_BAD_REQUEST, NULL, "this journal was changed or is damaged, at %s; --broken replays what is good of it", reader_broken(reader));
	if (n == 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "this journal has no calls: there is nothing to replay");
	plan.steps = util_zalloc(n * sizeof(*plan.steps));
	rc = make_spec(reader, given, &plan, e);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = make_step(reader, &plan, i, given, e);
	if (rc < 0) {
		plan_finish(&plan);
		return -1;
	}
	*out = plan;
	return 0;
}

void plan_finish(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_steps; i++) {
		json_decref(plan->steps[i].body);
		json_decref(plan->steps[i].expected);
		json_decref(plan->steps[i].points);
		json_decref(plan->steps[i].aims);
		json_decref(plan->steps[i].masks);
		free(plan->steps[i].title);
	}
	free(plan->steps);
	json_decref(plan->spec);
	*plan = (struct plan){.spec = NULL};
}
