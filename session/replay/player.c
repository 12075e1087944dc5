/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Playing a plan. */
#include "session/replay/player.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/compare.h"
#include "session/replay/title.h"
#include "session/replay/watch.h"

#define LOOK_MS 40     /* between two looks while it waits */
#define UNSURE_MS 1000 /* for a screen that was not at rest when it was recorded */

struct player {
	const struct player_api *api;
	const struct player_options *options;
	struct reader *reader;
	const struct plan *plan;
	struct report *report;
	struct pixels shown; /* the look last taken */
	json_t *windows;     /* ids of windows: as recorded, as text, to those of now */
};

/* One step on its way. */
struct step {
	struct player *player;
	const struct plan_step *plan;
	size_t number; /* from 1 */
	json_t *facts;
	int64_t start_ms;
};

/* A text that may have others in it, cut where it is no UTF-8 any more. */
__attribute__((format(printf, 1, 2))) static json_t *say(const char *fmt, ...)
{
	char text[1000];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return json_stringn(text, util_utf8_prefix(text, strlen(text)));
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

static void hide_regions(const json_t *regions, struct hidden *hidden)
{
	const json_t *region;
	size_t i;

	json_array_foreach(regions, i, region)
		hidden_add(hidden, space_rect(region));
}

static void hide_ignored(const struct step *step, struct hidden *hidden)
{
	const json_t *ignore = step->player->options->ignore;
	char number[24];

	(void)snprintf(number, sizeof(number), "%zu", step->number);
	hide_regions(step->plan->masks, hidden);
	hide_regions(json_object_get(ignore, "regions"), hidden);
	hide_regions(json_object_get(json_object_get(ignore, "steps"), number), hidden);
}

static json_t *rect_json(struct rect rect)
{
	return json_pack("{s:i,s:i,s:i,s:i}", "x", rect.x, "y", rect.y, "width", rect.width, "height", rect.height);
}

static void note_hidden(void *arg, struct rect rect, const char *why)
{
	json_t *place = rect_json(rect);

	json_object_set_new(place, "why", json_string(why));
	json_array_append_new(arg, place);
}

/* What one comparison of a step came to. */
struct look {
	struct compare compare;
	bool is_same;
	int64_t waited_ms;
	struct hidden hidden; /* that were left out */
	json_t *places;       /* and were found to change by themselves */
};

static void look_finish(struct look *look)
{
	hidden_finish(&look->hidden);
	json_decref(look->places);
}

/* Compares what is shown with what is expected; leaves out what `watch` knows if that is needed. */
static void compare_now(const struct step *step, const struct pixels *expected, const struct watch *watch, bool at_end, struct look *look)
{
	const struct player *player = step->player;
	const struct player_options *options = player->options;

	hidden_finish(&look->hidden);
	hidden_init(&look->hidden, expected->width, expected->height);
	json_array_clear(look->places);
	hide_ignored(step, &look->hidden);
	look->compare = compare_pixels(expected, &player->shown, &look->hidden, options->tolerance);
	look->is_same = compare_is_same(&look->compare, options->max_share);
	if (look->is_same || look->compare.is_size)
		return;
	if (watch_hide(watch, expected, options->tolerance, player->api->now_ms(player->api->arg), at_end, &look->hidden, note_hidden, look->places) == 0)
		return;
	look->compare = compare_pixels(expected, &player->shown, &look->hidden, options->tolerance);
	look->is_same = compare_is_same(&look->compare, options->max_share);
}

/* Looks until the screen is as expected, or the time is over. */
static int look_until(const struct step *step, const struct pixels *expected, int wait_ms, struct look *look, struct err *e)
{
	struct player *player = step->player;
	const struct player_api *api = player->api;
	int64_t start_ms = api->now_ms(api->arg);
	struct watch *watch = watch_create();
	int rc = 0;

	look->places = json_array();
	for (bool at_end = false; rc == 0;) {
		bool changed = false;

		rc = api->look(api->arg, &player->shown, &changed, e);
		if (rc < 0)
			break;
		look->waited_ms = api->now_ms(api->arg) - start_ms;
		watch_see(watch, &player->shown, start_ms + look->waited_ms);
		at_end = look->waited_ms >= wait_ms;
		compare_now(step, expected, watch, at_end, look);
		if (look->is_same || at_end)
			break;
		rc = api->rest(api->arg, LOOK_MS, e);
	}
	watch_destroy(watch);
	return rc;
}

static void set(const struct step *step, const char *name, json_t *value)
{
	json_object_set_new(step->facts, name, value);
}

static void add_picture(const struct step *step, const char *fact, const char *name, const struct pixels *pixels)
{
	report_add_picture(step->player->report, name, pixels);
	set(step, fact, json_string(name));
}

/* A recorded picture is kept once, however many steps show it. */
static void add_recorded(const struct step *step, const char *fact, uint64_t number, const struct pixels *pixels)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "recorded-%ju", (uintmax_t)number);
	add_picture(step, fact, name, pixels);
}

static void add_difference(const struct step *step, const char *where, const struct pixels *expected, uint64_t number, const struct look *look)
{
	const struct player *player = step->player;
	struct pixels drawn = compare_draw(expected, &player->shown, &look->hidden, player->options->tolerance);
	char name[32];

	add_recorded(step, "expected", number, expected);
	(void)snprintf(name, sizeof(name), "%zu-%s", step->number, where);
	add_picture(step, "actual", name, &player->shown);
	(void)snprintf(name, sizeof(name), "%zu-%s-difference", step->number, where);
	add_picture(step, "difference", name, &drawn);
	pixels_finish(&drawn);
}

static void note_look(const struct step *step, const struct look *look)
{
	set(step, "differing", json_integer((json_int_t)look->compare.differing));
	set(step, "share", json_real(look->compare.compared ? (double)look->compare.differing / (double)look->compare.compared : 0));
	if (look->compare.box.width > 0)
		set(step, "box", rect_json(look->compare.box));
}

static void differ(const struct step *step, const char *where, json_t *reason)
{
	if (strcmp(where, "result") == 0)
		set(step, "results_differ", json_true());
	/* The first difference is the reason; later ones follow from it. */
	if (json_object_get(step->facts, "where")) {
		json_decref(reason);
		return;
	}
	set(step, "verdict", json_string("differs"));
	set(step, "where", json_string(where));
	set(step, "reason", reason);
}

static json_t *picture_reason(const char *what, const struct look *look)
{
	const struct compare *compare = &look->compare;

	if (compare->is_size)
		return say("%s the screen has another size than the recording", what);
	return say("%s %ju pixels (%.4g %%) differ from the recording, within %dx%d at %d, %d", what, (uintmax_t)compare->differing,
	                    compare->compared ? 100.0 * (double)compare->differing / (double)compare->compared : 0, compare->box.width,
	                    compare->box.height, compare->box.x, compare->box.y);
}

/* What a comparison came to, in the facts of its step. */
static void judge(const struct step *step, bool is_before, bool sure, uint64_t number, const struct pixels *expected, const struct look *look)
{
	const char *where = is_before ? "before" : "after";
	bool is_first = !json_object_get(step->facts, "where");

	set(step, is_before ? "waited_before_ms" : "waited_after_ms", json_integer(look->waited_ms));
	if (!look->is_same && !sure)
		set(step, "note_before", say("the screen was another one than when it was recorded, which was not at rest"));
	if (json_array_size(look->places) > 0)
		json_object_set(step->facts, "hidden", look->places);
	if (look->is_same || !sure) {
		if (step->player->options->keep_pictures && is_first)
			add_recorded(step, is_before ? "before" : "expected", number, expected);
		return;
	}
	differ(step, where, picture_reason(is_before ? "before it" : "after it", look));
	if (!is_first)
		return;
	note_look(step, look);
	add_difference(step, where, expected, number, look);
}

/* The screen before (or after) a step against the recorded one. *same false: it differs, and that counts. */
static int check_picture(const struct step *step, bool is_before, bool sure, bool *same, struct err *e)
{
	uint64_t number = is_before ? step->plan->before : step->plan->after;
	int wait_ms = sure ? step->player->options->wait_ms : MIN(step->player->options->wait_ms, UNSURE_MS);
	const struct pixels *expected;
	struct look look = {.is_same = false};
	struct err why = {0};
	int rc;

	*same = false;
	if (reader_picture(step->player->reader, number, &expected, &why) < 0) {
		differ(step, is_before ? "before" : "after", say("the recording cannot be shown: %s", why.msg));
		return 0;
	}
	rc = look_until(step, expected, wait_ms, &look, e);
	if (rc == 0) {
		judge(step, is_before, sure, number, expected, &look);
		*same = look.is_same || !sure;
	}
	look_finish(&look);
	return rc;
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

	return say("%.200s", text ? text : "");
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
		differ(step, "result", say("action %zu (%s): %s was recorded, now it is %s", index + 1, title, json_string_value(then),
		                                    json_string_value(now)));
	learn_window(step->player, call->actions[index].result, answered);
}

static void check_results(const struct step *step, const json_t *answer)
{
	const json_t *answers = json_object_get(answer, "results"), *expected;
	json_t *results = json_array();
	size_t i;

	json_array_foreach(step->plan->expected, i, expected)
		check_result(step, i, expected, json_array_get(answers, i), results);
	set(step, "results", results);
}

static int fail(const struct step *step, struct err *e)
{
	set(step, "verdict", json_string("failed"));
	set(step, "reason", json_string(e->msg));
	return -1;
}

/* Sends the act. A refusal is a difference: what was recorded was begun. */
static int act(const struct step *step, struct err *e)
{
	const struct player_api *api = step->player->api;
	json_auto_t *body = json_deep_copy(step->plan->body), *answer = NULL;
	int rc;

	map_windows(step->player, body);
	rc = api->act(api->arg, body, &answer, e);
	if (rc < 0)
		return -1;
	if (rc == 0)
		check_results(step, answer);
	else
		differ(step, "result", say("it was refused: %.200s (%s)", form_string(answer, "detail", ""), form_string(answer, "code", "")));
	if (step->plan->unfinished)
		differ(step, "result", json_string("the recording does not say how it ended: it was cancelled, or the session ended meanwhile"));
	return 0;
}

static bool goes_on(const struct player_options *options)
{
	return options->keep_going || options->accept;
}

static int play_step(const struct step *step, struct err *e)
{
	const struct player_options *options = step->player->options;
	const struct plan_step *plan = step->plan;
	bool same = true;

	if (plan->before && check_picture(step, true, plan->before_sure, &same, e) < 0)
		return -1;
	if (!same && !goes_on(options))
		return 0;
	if (act(step, e) < 0)
		return -1;
	if (plan->after_sure && check_picture(step, false, true, &same, e) < 0)
		return -1;
	set(step, "compared", json_boolean(plan->after_sure));
	if (plan->unsure)
		set(step, "note", say("its picture was not compared: %s", plan->unsure));
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
	                    .start_ms = api->now_ms(api->arg)};
	const char *where;
	int rc;

	json_array_append_new(player->report->steps, step.facts);
	set(&step, "verdict", json_string("passed"));
	rc = play_step(&step, e);
	if (rc < 0)
		(void)fail(&step, e);
	set(&step, "elapsed_ms", json_integer(api->now_ms(api->arg) - step.start_ms));
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
