/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Playing a plan. */
#include "session/replay/step.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/title.h"

json_t *step_say(const char *fmt, ...)
{
	char text[1000];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return json_stringn(text, util_utf8_prefix(text, strlen(text)));
}

void step_set(const struct step *step, const char *name, json_t *value)
{
	json_object_set_new(step->facts, name, value);
}

void step_differ(const struct step *step, const char *where, json_t *reason)
{
	if (strcmp(where, "result") == 0)
		step_set(step, "results_differ", json_true());
	/* The first difference is the reason; later ones follow from it. */
	if (json_object_get(step->facts, "where")) {
		json_decref(reason);
		return;
	}
	step_set(step, "verdict", json_string("differs"));
	step_set(step, "where", json_string(where));
	step_set(step, "reason", reason);
}

json_t *step_rect(struct rect rect)
{
	return json_pack("{s:i,s:i,s:i,s:i}", "x", rect.x, "y", rect.y, "width", rect.width, "height", rect.height);
}

static const struct field ignore_fields[] = {
	{"regions", FIELD_LIST, false, 0, LIMIT_IGNORED, NULL, &form_rect, "px", NULL, "of every step"},
	{"steps", FIELD_OBJECT, false, 0, 0, NULL, NULL, NULL, NULL, "of some: by their number"},
};
static const struct form ignore_form = {ignore_fields, ARRAY_LEN(ignore_fields), NULL};
static const struct field regions_fields[] = {
	{"regions", FIELD_LIST, true, 0, LIMIT_IGNORED, NULL, &form_rect, "px", NULL, "of one step"},
};
static const struct form regions_form = {regions_fields, ARRAY_LEN(regions_fields), NULL};

int player_check_ignore(const json_t *ignore, struct space native, struct err *e)
{
	const struct bounds bounds = {native, native};
	const char *number;
	json_t *regions;

	if (form_check(&ignore_form, ignore, "", &bounds, e) < 0)
		return -1;
	json_object_foreach(json_object_get(ignore, "steps"), number, regions) {
		json_auto_t *wrapped = json_pack("{s:O}", "regions", regions);
		char path[ERR_PATH_MAX] = "/steps";

		form_pointer_add(path, number);
		if (strspn(number, "0123456789") != strlen(number) || number[0] == '0' || !*number)
			return err_set(e, ERR_BAD_FIELD, path, "the name of a member must be the number of a step, from 1");
		if (form_check(&regions_form, wrapped, path, &bounds, e) < 0)
			return -1;
	}
	return 0;
}

/* The windows of this session have other ids than those of the recorded one. */
static void map_windows(const struct player *player, json_t *body)
{
	json_t *action;
	size_t i;

	json_array_foreach(json_object_get(body, "actions"), i, action) {
		const json_t *window = json_object_get(action, "window");
		auto_free char *id = json_is_integer(window) ? util_printf("%jd", (intmax_t)json_integer_value(window)) : NULL;
		json_t *now = id ? json_object_get(player->windows, id) : NULL;

		if (now)
			json_object_set(action, "window", now);
	}
}

static void learn_window(const struct player *player, const json_t *recorded, const json_t *actual)
{
	const json_t *then = json_object_get(recorded, "window");
	json_t *now = json_object_get(actual, "window");
	auto_free char *id = json_is_integer(then) ? util_printf("%jd", (intmax_t)json_integer_value(then)) : NULL;

	if (id && json_is_integer(now))
		json_object_set(player->windows, id, now);
}

static json_t *short_json(const json_t *value)
{
	auto_free char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : util_strdup("nothing");

	return step_say("%.200s", text ? text : "");
}

/* One result against the recorded one. */
static void check_result(const struct step *step, size_t index, const json_t *expected, const json_t *answered, json_t *results)
{
	const struct reader_call *call = step->plan->call;
	json_auto_t *actual = answered ? plan_result(call->actions[index].action, answered) : NULL;
	json_auto_t *then = short_json(expected), *now = short_json(actual);
	auto_free char *title = title_action(call->actions[index].action, call->actions[index].result);
	bool same = actual && json_equal(expected, actual);

	json_array_append_new(results, json_pack("{s:s,s:O,s:O?,s:b}", "action", title, "expected", expected, "actual", actual, "same", same));
	if (answered && !same && json_object_get(json_object_get(answered, "error"), "detail"))
		json_object_set(json_array_get(results, json_array_size(results) - 1), "detail",
		                json_object_get(json_object_get(answered, "error"), "detail"));
	if (!same)
		step_differ(step, "result", step_say("action %zu (%s): %s was recorded, now it is %s", index + 1, title, json_string_value(then),
		                                    json_string_value(now)));
	step_check_node(step, index, answered);
	learn_window(step->player, call->actions[index].result, answered);
}

static void check_results(const struct step *step, const json_t *answer)
{
	const json_t *answers = json_object_get(answer, "results"), *expected;
	json_t *results = json_array();
	size_t i;

	json_array_foreach(step->plan->expected, i, expected)
		check_result(step, i, expected, json_array_get(answers, i), results);
	step_set(step, "results", results);
}

static int fail(const struct step *step, struct err *e)
{
	step_set(step, "verdict", json_string("failed"));
	step_set(step, "reason", json_string(e->msg));
	return -1;
}

/* Sends the act. A refusal is a difference: what was recorded was begun. */
static int act(const struct step *step, struct err *e)
{
	const struct player_api *api = step->player->api;
	json_auto_t *answer = NULL;
	int rc;

	map_windows(step->player, step->body);
	rc = api->act(api->arg, step->body, &answer, e);
	if (rc < 0)
		return -1;
	if (rc == 0)
		check_results(step, answer);
	else
		step_differ(step, "result", step_say("it was refused: %.200s (%s)", form_string(answer, "detail", ""), form_string(answer, "code", "")));
	if (step->plan->unfinished)
		step_differ(step, "result", json_string("the recording does not say how it ended: it was cancelled, or the session ended meanwhile"));
	return 0;
}

static bool goes_on(const struct player_options *options)
{
	return options->keep_going || options->accept;
}

/* The screen before it. *go: it is to be played. */
static int check_before(const struct step *step, bool *go, struct err *e)
{
	const struct player *player = step->player;
	bool same = true, followed = player->followed;

	if (step->plan->before && step_check_picture(step, true, step->plan->before_sure && !followed, &same, e) < 0)
		return -1;
	if (!same || followed)
		same = step_explain(step);
	*go = same || goes_on(player->options);
	return 0;
}

static int play_step(const struct step *step, struct err *e)
{
	const struct plan_step *plan = step->plan;
	bool compared, same, go;

	if (check_before(step, &go, e) < 0)
		return -1;
	if (!go)
		return 0;
	if (act(step, e) < 0)
		return -1;
	compared = plan->after_sure && !step->player->followed;
	if (compared && step_check_picture(step, false, true, &same, e) < 0)
		return -1;
	step_set(step, "compared", json_boolean(compared));
	if (!compared)
		step_set(step, "note", step_say("its picture was not compared: %s", plan->unsure ? plan->unsure : "something has moved, and was followed"));
	return 0;
}

static json_t *make_facts(const struct plan_step *plan, size_t number)
{
	return json_pack("{s:I,s:I,s:s,s:s,s:s,s:O}", "step", (json_int_t)number, "seq", (json_int_t)plan->call->seq, "time", plan->call->time, "title",
	                 plan->title, "verdict", "not_played", "points", plan->points);
}

/* 0: on with the next; 1: this was the last. */
static int run_step(struct player *player, size_t index, struct err *e)
{
	const struct plan_step *plan = &player->plan->steps[index];
	const struct player_api *api = player->api;
	struct step step = {.player = player, .plan = plan, .number = index + 1, .facts = make_facts(plan, index + 1),
	                    .body = json_deep_copy(plan->body), .start_ms = api->now_ms(api->arg)};
	const char *where;
	int rc;

	json_array_append_new(player->report->steps, step.facts);
	step_set(&step, "verdict", json_string("passed"));
	rc = play_step(&step, e);
	json_decref(step.body);
	if (rc < 0)
		(void)fail(&step, e);
	step_set(&step, "elapsed_ms", json_integer(api->now_ms(api->arg) - step.start_ms));
	if (api->stepped)
		api->stepped(api->arg, step.facts);
	where = form_string(step.facts, "where", NULL);
	if (rc < 0 || !where || player->options->keep_going)
		return rc;
	return player->options->accept && !json_is_true(json_object_get(step.facts, "results_differ")) ? 0 : 1;
}

int player_run(const struct player_api *api, const struct player_options *options, struct reader *reader, const struct plan *plan,
               struct report *report, struct err *e)
{
	struct player player = {.api = api, .options = options, .reader = reader, .plan = plan, .report = report, .windows = json_object()};
	int rc = 0;
	size_t i;

	for (i = 0; i < plan->n_steps && rc == 0; i++)
		rc = run_step(&player, i, e);
	for (; i < plan->n_steps; i++)
		json_array_append_new(report->steps, make_facts(&plan->steps[i], i + 1));
	json_decref(player.windows);
	pixels_finish(&player.shown);
	return rc < 0 ? -1 : 0;
}
