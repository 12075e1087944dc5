/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/replay */
/* Replays of a recording on a server that is played here: what is sent, what is waited for, what counts as a difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "replay_make.h"
#include "session/replay/player.h"
#include "session/replay/title.h"

#define WIDTH 64
#define HEIGHT 48

/* The stand-in: what it shows after so many acts, what it answers, and what it got. */
struct fake {
	unsigned colours[8]; /* of the screen after N acts */
	int painted_ms;      /* from an act until it shows */
	const char *answers[8]; /* JSON; a leading '!' is a refusal */
	json_t *bodies;
	size_t n_acts, n_looks;
	int64_t now_ms, acted_ms;
	unsigned shown;
	bool gone; /* no answer */
	const char *tree; /* JSON; NULL: the server has no such action */
	size_t n_trees;
};

static bool is_question(const json_t *body, const char *name)
{
	const json_t *action = json_array_get(json_object_get(body, "actions"), 0);

	return strcmp(json_string_value(json_object_get(action, "action")), name) == 0 && json_is_string(json_object_get(body, "space"));
}

static int fake_act(void *arg, const json_t *body, json_t **answer, struct err *e)
{
	struct fake *fake = arg;
	const char *text = fake->answers[fake->n_acts] ? fake->answers[fake->n_acts] : "{\"ok\":true,\"results\":[{\"ok\":true}]}";

	if (fake->gone)
		return err_set(e, ERR_GONE, NULL, "no answer");
	if (is_question(body, "windows")) {
		*answer = json_loads("{\"ok\":true,\"results\":[{\"ok\":true,\"windows\":[{\"id\":5}]}]}", 0, NULL);
		return 0;
	}
	if (is_question(body, "tree")) {
		fake->n_trees++;
		*answer = fake->tree ? json_pack("{s:b,s:[o]}", "ok", 1, "results", json_loads(fake->tree, 0, NULL)) : json_object();
		return !fake->tree;
	}
	json_array_append(fake->bodies, (json_t *)(uintptr_t)body);
	fake->n_acts++;
	fake->acted_ms = fake->now_ms;
	*answer = json_loads(*text == '!' ? text + 1 : text, 0, NULL);
	assert_non_null(*answer);
	return *text == '!';
}

static int fake_look(void *arg, struct pixels *shown, bool *changed, struct err *e)
{
	struct fake *fake = arg;
	size_t at = fake->now_ms - fake->acted_ms >= fake->painted_ms || fake->n_acts == 0 ? fake->n_acts : fake->n_acts - 1;

	(void)e;
	fake->n_looks++;
	*changed = !shown->rgb || fake->shown != fake->colours[at];
	fake->shown = fake->colours[at];
	pixels_finish(shown);
	*shown = make_pixels(WIDTH, HEIGHT, fake->shown);
	return 0;
}

static int64_t fake_now(void *arg)
{
	return ((struct fake *)arg)->now_ms;
}

static int fake_rest(void *arg, int ms, struct err *e)
{
	(void)e;
	((struct fake *)arg)->now_ms += ms;
	return 0;
}

/* Three observed calls; the screen is red before them, then green, blue, white. */
static struct reader *make_recording(const char *second_action, const char *second_result)
{
	static const unsigned colours[] = {0xff0000, 0x00ff00, 0x0000ff, 0xffffff};
	struct make make = {0};
	struct reader_parts parts;
	struct reader *reader;
	struct err e;

	make_line(&make, "start", "{\"image\":\"minimal\",\"image_hash\":\"ab\",\"native\":{\"width\":64,\"height\":48},\"spec\":{\"image\":\"minimal\",\"env\":[]}}");
	for (size_t i = 0; i < 4; i++) {
		struct pixels screen = make_pixels(WIDTH, HEIGHT, colours[i]);
		auto_free char *call = util_printf("{\"request\":\"r%zu\",\"actions\":1,\"observe\":{\"quiet_ms\":50},\"space\":{\"width\":32,\"height\":24},"
		                                   "\"timeout_ms\":9000,\"before\":%zu}", i, i);
		auto_free char *intent = util_printf("{\"request\":\"r%zu\",\"index\":0,\"action\":%s,\"before\":%zu}", i,
		                                     i == 2 ? second_action : "{\"action\":\"click\",\"x\":10,\"y\":20}", i);
		auto_free char *result = util_printf("{\"request\":\"r%zu\",\"index\":0,%s,\"after\":%zu}", i, i == 2 ? second_result : "\"ok\":true", i + 1);
		auto_free char *observation = util_printf("{\"request\":\"r%zu\",\"settled\":true,\"after\":%zu}", i, i + 1);

		if (i > 0) {
			make_line(&make, "call", call);
			make_line(&make, "intent", intent);
		}
		make_picture(&make, &screen, 0, 0, WIDTH, HEIGHT, true);
		pixels_finish(&screen);
		if (i == 0)
			continue;
		make_line(&make, "result", result);
		make_line(&make, "observation", observation);
	}
	parts = make_parts(&make);
	assert_int_equal(reader_read(&parts, &reader, &e), 0);
	return reader;
}

static const char click[] = "{\"action\":\"click\",\"x\":10,\"y\":20}";
static const struct fake as_recorded = {.colours = {0xff0000, 0x00ff00, 0x0000ff, 0xffffff}, .painted_ms = 200, .now_ms = 1};

struct played {
	struct report report;
	int rc;
	struct err e;
};

static struct played play(struct reader *reader, struct fake *fake, struct player_options options)
{
	const struct plan_given given = {.env = NULL};
	const struct player_api api = {.arg = fake, .act = fake_act, .look = fake_look, .now_ms = fake_now, .rest = fake_rest};
	struct played played = {.rc = 0};
	struct plan plan;

	fake->bodies = json_array();
	report_init(&played.report);
	assert_int_equal(plan_make(reader, &given, false, &plan, &played.e), 0);
	if (!options.wait_ms)
		options.wait_ms = 2000;
	played.rc = player_run(&api, &options, reader, &plan, &played.report, &played.e);
	report_close(&played.report);
	plan_finish(&plan);
	return played;
}

static const char *fact(const struct played *played, size_t step, const char *name)
{
	const char *text = json_string_value(json_object_get(json_array_get(played->report.steps, step), name));

	return text ? text : "";
}

static const char *verdict(const struct played *played)
{
	return json_string_value(json_object_get(played->report.head, "verdict"));
}

static bool has_picture(const struct played *played, const char *name)
{
	for (size_t i = 0; i < played->report.n_pictures; i++)
		if (strcmp(played->report.pictures[i].name, name) == 0)
			return true;
	return false;
}

static void finish(struct played *played, struct fake *fake, struct reader *reader)
{
	report_finish(&played->report);
	json_decref(fake->bodies);
	reader_close(reader);
}

static void test_passes(void **state)
{
	struct fake fake = as_recorded;
	struct reader *reader = make_recording(click, "\"ok\":true");
	struct played played = play(reader, &fake, (struct player_options){.tolerance = 2});
	json_auto_t *body = json_loads("{\"actions\":[{\"action\":\"click\",\"x\":10,\"y\":20}],\"observe\":{\"quiet_ms\":50},\"space\":{\"width\":32,"
	                               "\"height\":24},\"timeout_ms\":9000}", 0, NULL);
	json_auto_t *points = json_loads("[{\"x\":21,\"y\":41}]", 0, NULL);

	(void)state;
	assert_int_equal(played.rc, 0);
	assert_string_equal(verdict(&played), "passed");
	assert_int_equal(fake.n_acts, 3);
	assert_true(json_equal(json_array_get(fake.bodies, 0), body));
	assert_true(json_equal(json_object_get(json_array_get(played.report.steps, 0), "points"), points));
	assert_string_equal(fact(&played, 0, "title"), "click 10, 20");
	assert_int_equal(json_integer_value(json_object_get(played.report.head, "compared")), 3);
	/* It came 200 ms late each time, and was waited for. */
	assert_true(fake.now_ms >= 600 && fake.now_ms < 1000);
	finish(&played, &fake, reader);
}

/* The screen comes to look otherwise after the second step: the third is not played. */
static void test_stops_at_the_first_difference(void **state)
{
	struct fake fake = as_recorded;
	struct reader *reader = make_recording(click, "\"ok\":true");
	struct played played;

	(void)state;
	fake.colours[2] = 0x0000f0;
	played = play(reader, &fake, (struct player_options){.tolerance = 2});
	assert_int_equal(played.rc, 0);
	assert_string_equal(verdict(&played), "differs");
	assert_int_equal(fake.n_acts, 2);
	assert_string_equal(fact(&played, 0, "verdict"), "passed");
	assert_string_equal(fact(&played, 1, "verdict"), "differs");
	assert_string_equal(fact(&played, 1, "where"), "after");
	assert_string_equal(fact(&played, 1, "reason"), "after it 3072 pixels (100 %) differ from the recording, within 64x48 at 0, 0");
	assert_string_equal(fact(&played, 2, "verdict"), "not_played");
	assert_true(has_picture(&played, fact(&played, 1, "expected")) && has_picture(&played, fact(&played, 1, "actual")) &&
	            has_picture(&played, fact(&played, 1, "difference")));
	finish(&played, &fake, reader);
	fake = as_recorded;
	fake.colours[2] = 0x0000fd; /* within the tolerance */
	reader = make_recording(click, "\"ok\":true");
	played = play(reader, &fake, (struct player_options){.tolerance = 2});
	assert_string_equal(verdict(&played), "passed");
	finish(&played, &fake, reader);
}

/* Another screen before the first step: nothing is clicked on it, unless it is told to go on. */
static void test_does_not_click_on_another_screen(void **state)
{
	struct fake fake = as_recorded;
	struct reader *reader = make_recording(click, "\"ok\":true");
	struct played played;

	(void)state;
	fake.colours[0] = 0x123456;
	played = play(reader, &fake, (struct player_options){.tolerance = 2});
	assert_int_equal(fake.n_acts, 0);
	assert_string_equal(verdict(&played), "differs");
	assert_string_equal(fact(&played, 0, "where"), "before");
	assert_true(fake.now_ms >= 2000);
	finish(&played, &fake, reader);
	fake = as_recorded;
	reader = make_recording(click, "\"ok\":true");
	fake.colours[1] = 0x123456;
	played = play(reader, &fake, (struct player_options){.accept = true});
	assert_int_equal(fake.n_acts, 3);
	assert_string_equal(verdict(&played), "differs");
	assert_string_equal(fact(&played, 0, "where"), "after");
	assert_string_equal(fact(&played, 1, "where"), "before");
	assert_string_equal(fact(&played, 2, "verdict"), "passed");
	finish(&played, &fake, reader);
	fake = as_recorded;
	fake.colours[1] = 0x123456;
	reader = make_recording(click, "\"ok\":true");
	played = play(reader, &fake, (struct player_options){.keep_going = true});
	assert_int_equal(fake.n_acts, 3);
	assert_string_equal(fact(&played, 1, "verdict"), "differs");
	finish(&played, &fake, reader);
}

/* Steps that quietly fail: an exit code, an action that went well then and fails now, and the other way round. */
static void test_results(void **state)
{
	static const struct {
		const char *recorded, *answer, *verdict, *reason;
	} cases[] = {
		{"\"ok\":true,\"exit_code\":0", "{\"ok\":true,\"results\":[{\"ok\":true,\"exit_code\":1,\"stdout\":\"\"}]}", "differs",
		 "action 1 (exec [\"true\"]): {\"ok\":true,\"exit_code\":0} was recorded, now it is {\"ok\":true,\"exit_code\":1}"},
		{"\"ok\":true", "{\"ok\":false,\"results\":[{\"ok\":false,\"error\":{\"code\":\"timeout\",\"detail\":\"late\"}}]}", "differs",
		 "action 1 (exec [\"true\"]): {\"ok\":true} was recorded, now it is {\"ok\":false,\"error\":\"timeout\"}"},
		{"\"ok\":false,\"error\":\"timeout\"", "{\"ok\":true,\"results\":[{\"ok\":true}]}", "differs",
		 "action 1 (exec [\"true\"]): {\"ok\":false,\"error\":\"timeout\"} was recorded, now it is {\"ok\":true}"},
		{"\"ok\":false,\"error\":\"timeout\"", "{\"ok\":false,\"results\":[{\"ok\":false,\"error\":{\"code\":\"timeout\"}}]}", "passed", ""},
		{"\"ok\":true,\"elapsed_ms\":4,\"pid\":7", "{\"ok\":true,\"results\":[{\"ok\":true,\"elapsed_ms\":400,\"pid\":9}]}", "passed", ""},
		{"\"ok\":true", "{\"ok\":true,\"results\":[]}", "differs", "action 1 (exec [\"true\"]): {\"ok\":true} was recorded, now it is nothing"},
		{"\"ok\":true", "!{\"code\":\"paused\",\"detail\":\"it is paused\"}", "differs", "it was refused: it is paused (paused)"},
		{"\"ok\":false,\"error\":\"cancelled\"", "{\"ok\":false,\"results\":[{\"ok\":false,\"error\":{\"code\":\"cancelled\"}}]}", "differs",
		 "the recording does not say how it ended: it was cancelled, or the session ended meanwhile"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fake fake = as_recorded;
		struct reader *reader = make_recording("{\"action\":\"exec\",\"argv\":[\"true\"]}", cases[i].recorded);
		struct played played;

		fake.answers[1] = cases[i].answer;
		played = play(reader, &fake, (struct player_options){.tolerance = 2});
		assert_string_equal(verdict(&played), cases[i].verdict);
		assert_string_equal(fact(&played, 1, "reason"), cases[i].reason);
		assert_int_equal(fake.n_acts, strcmp(cases[i].verdict, "passed") == 0 ? 3 : 2);
		finish(&played, &fake, reader);
	}
}

/* New pictures are accepted, other results are not: it stops there. */
static void test_accepts_pictures_alone(void **state)
{
	struct fake fake = as_recorded;
	struct reader *reader = make_recording("{\"action\":\"exec\",\"argv\":[\"true\"]}", "\"ok\":true,\"exit_code\":0");
	struct played played;

	(void)state;
	fake.colours[1] = 0x123456;
	fake.answers[1] = "{\"ok\":true,\"results\":[{\"ok\":true,\"exit_code\":1}]}";
	played = play(reader, &fake, (struct player_options){.accept = true});
	assert_int_equal(fake.n_acts, 2);
	assert_string_equal(fact(&played, 0, "where"), "after");
	assert_string_equal(fact(&played, 1, "where"), "before");
	finish(&played, &fake, reader);
}

/* Windows have other ids now: those that a result told are known. */
static void test_windows_are_mapped(void **state)
{
	struct fake fake = as_recorded;
	struct reader *reader = make_recording("{\"action\":\"launch\",\"app\":\"terminal\"}", "\"ok\":true,\"window\":77");
	const struct reader_call *last;
	struct played played;
	json_t *action;

	(void)state;
	last = reader_call(reader, 2);
	action = (json_t *)(uintptr_t)last->actions[0].action;
	json_object_set_new(action, "action", json_string("focus_window"));
	json_object_set_new(action, "window", json_integer(77));
	fake.answers[1] = "{\"ok\":true,\"results\":[{\"ok\":true,\"window\":99}]}";
	played = play(reader, &fake, (struct player_options){.tolerance = 2});
	assert_string_equal(verdict(&played), "passed");
	action = json_array_get(json_object_get(json_array_get(fake.bodies, 2), "actions"), 0);
	assert_int_equal(json_integer_value(json_object_get(action, "window")), 99);
	finish(&played, &fake, reader);
}

/* What an observation was told not to count is not compared: after its own step and before the next one; in the space of its call, half of native. */
/* What comes after another size of the display is in that; and it must be the same one. */
static void test_another_size(void **state)
{
	static const char *const answers[] = {"{\"ok\":true,\"results\":[{\"ok\":true,\"width\":96,\"height\":72,\"settled\":false}]}",
	                                      "{\"ok\":true,\"results\":[{\"ok\":true,\"width\":95,\"height\":72,\"settled\":true}]}"};
	json_auto_t *before = json_loads("[{\"x\":21,\"y\":41}]", 0, NULL), *after = json_loads("[{\"x\":31,\"y\":61}]", 0, NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct fake fake = as_recorded;
		struct reader *reader = make_recording("{\"action\":\"resize_display\",\"width\":96,\"height\":72}",
		                                       "\"ok\":true,\"width\":96,\"height\":72,\"settled\":true");

		fake.answers[1] = answers[i];
		struct played played = play(reader, &fake, (struct player_options){.tolerance = 2});

		assert_string_equal(verdict(&played), i == 0 ? "passed" : "differs");
		assert_true(json_equal(json_object_get(json_array_get(played.report.steps, 0), "points"), before));
		if (i == 0)
			assert_true(json_equal(json_object_get(json_array_get(played.report.steps, 2), "points"), after));
		finish(&played, &fake, reader);
	}
}

static void test_masks_of_observations(void **state)
{
	static const struct {
		const char *mask, *verdict;
	} cases[] = {
		{"{\"x\":0,\"y\":0,\"width\":32,\"height\":24}", "passed"}, {"{\"x\":0,\"y\":0,\"width\":32,\"height\":23}", "differs"},
		{"{\"x\":1,\"y\":0,\"width\":32,\"height\":24}", "differs"}, {"{\"x\":-1,\"y\":0,\"width\":33,\"height\":24}", "differs"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fake fake = as_recorded;
		struct reader *reader = make_recording(click, "\"ok\":true");
		json_t *observe = json_object_get(reader_call(reader, 1)->line, "observe");
		json_t *mask = json_loads(cases[i].mask, 0, NULL);
		struct played played;

		json_object_set_new(observe, "mask", json_pack("[o]", mask));
		fake.colours[2] = 0x777777;
		played = play(reader, &fake, (struct player_options){.tolerance = 2});
		assert_string_equal(verdict(&played), cases[i].verdict);
		finish(&played, &fake, reader);
	}
}

static void test_regions_of_one_step(void **state)
{
	struct fake fake = as_recorded;
	struct reader *reader = make_recording(click, "\"ok\":true");
	json_auto_t *all = json_loads("{\"steps\":{\"2\":[{\"x\":0,\"y\":0,\"width\":64,\"height\":48}],\"3\":[{\"x\":0,\"y\":0,\"width\":64,\"height\":48}]}}", 0, NULL);
	struct played played;
	struct err e;
	static const struct {
		const char *ignore, *path;
	} bad[] = {
		{"{\"steps\":{\"0\":[]}}", "/steps/0"}, {"{\"steps\":{\"x\":[]}}", "/steps/x"}, {"{\"region\":[]}", "/region"},
		{"{\"regions\":[{\"x\":60,\"y\":0,\"width\":5,\"height\":1}]}", "/regions/0"}, {"[]", ""},
		{"{\"steps\":{\"1\":[{\"x\":0}]}}", "/steps/1/regions/0/y"},
	};

	(void)state;
	assert_int_equal(player_check_ignore(all, (struct space){WIDTH, HEIGHT}, &e), 0);
	fake.colours[2] = 0x777777;
	played = play(reader, &fake, (struct player_options){.ignore = all});
	assert_string_equal(verdict(&played), "passed");
	finish(&played, &fake, reader);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		json_auto_t *value = json_loads(bad[i].ignore, 0, NULL);

		assert_int_equal(player_check_ignore(value, (struct space){WIDTH, HEIGHT}, &e), -1);
		assert_string_equal(e.path, bad[i].path);
	}
}

static void test_server_gone(void **state)
{
	struct fake fake = as_recorded;
	struct reader *reader = make_recording(click, "\"ok\":true");
	struct played played;

	(void)state;
	fake.gone = true;
	played = play(reader, &fake, (struct player_options){.keep_going = true});
	assert_int_equal(played.rc, -1);
	assert_string_equal(played.e.msg, "no answer");
	assert_string_equal(verdict(&played), "failed");
	assert_string_equal(fact(&played, 0, "verdict"), "failed");
	assert_string_equal(fact(&played, 1, "verdict"), "not_played");
	finish(&played, &fake, reader);
}

static void assert_refused(const char *spec, const char *action, const char *why)
{
	struct make make = {0};
	struct reader_parts parts;
	struct reader *reader;
	struct plan plan;
	struct err e = {0};
	const struct plan_given given = {.env = NULL};
	auto_free char *start = util_printf("{\"image\":\"minimal\"%s}", spec);
	auto_free char *intent = util_printf("{\"request\":\"r\",\"index\":0,\"action\":%s}", action ? action : "");

	make_line(&make, "start", start);
	if (action)
		make_line(&make, "intent", intent);
	parts = make_parts(&make);
	assert_int_equal(reader_read(&parts, &reader, &e), 0);
	assert_int_equal(plan_make(reader, &given, false, &plan, &e), -1);
	assert_string_equal(e.msg, why);
	reader_close(reader);
}

static void test_what_cannot_be_replayed(void **state)
{
	static const char spec[] = ",\"spec\":{\"image\":\"minimal\"}";

	(void)state;
	assert_refused(spec, NULL, "this journal has no calls: there is nothing to replay");
	assert_refused("", click, "this journal does not say what its session was: its line start has no spec, and there is no session.json");
	assert_refused(spec, "{\"action\":\"type\",\"text\":{\"bytes\":7}}",
	               "action 1.1 (CALL.ACTION) typed 7 bytes that were not recorded: give them with --text 1.1=FILE, or record it again in a session with "
	               "\"record\": {\"text\": \"plain\"}");
	assert_refused(spec, "{\"action\":\"type\",\"text\":{\"bytes\":7,\"why\":\"unknown\"}}",
	               "action 1.1 (CALL.ACTION) typed 7 bytes where it is not known whether it was a password: give them with --text 1.1=FILE, or record it "
	               "again in a session with \"record\": {\"text\": \"always\"}");
	assert_refused(spec, "{\"action\":\"key\",\"keys\":{\"bytes\":1,\"why\":\"password\"}}",
	               "action 1.1 (CALL.ACTION) typed 1 bytes into a password field, which journals never keep: give them with --text 1.1=FILE");
	assert_refused(spec, "{\"action\":\"set_node\",\"node\":7,\"value\":{\"bytes\":7,\"why\":\"node\"}}",
	               "action 1.1 (CALL.ACTION) typed 7 bytes into a node, which journals never keep: give them with --text 1.1=FILE");
	assert_refused(spec, "{\"action\":\"exec\",\"argv\":[\"cat\"],\"stdin\":{\"bytes\":7}}",
	               "call 1 gave a command 7 bytes of input, and journals do not keep input: give it with --stdin 1.1=FILE");
	assert_refused(spec, "{\"action\":\"exec\",\"argv\":[\"cat\"],\"env\":[\"A\"]}",
	               "call 1 ran a command with \"A\" in its environment, and journals keep no values: give it with --env NAME=VALUE, or leave it out with --env NAME");
	assert_refused(spec, "{\"action\":\"request_human\",\"reason\":\"x\"}",
	               "action 1.1 asked for a person, and no journal has what that did: it cannot be replayed");
	assert_refused(",\"spec\":{\"env\":[\"B\"]}", click,
	               "the session had \"B\" in its environment, and journals keep no values: give it with --env NAME=VALUE, or leave it out with --env NAME");
}

static void test_what_is_given(void **state)
{
	struct make make = {0};
	struct reader_parts parts;
	struct reader *reader;
	struct plan plan;
	struct err e = {0};
	json_auto_t *env = json_loads("{\"A\":\"1\",\"B\":null}", 0, NULL), *stdins = json_loads("{\"1.1\":\"text\"}", 0, NULL);
	const struct plan_given given = {.env = env, .stdins = stdins};
	json_auto_t *wanted = json_loads("[{\"action\":\"exec\",\"argv\":[\"cat\"],\"stdin\":\"text\",\"env\":{\"A\":\"1\"}}]", 0, NULL);

	(void)state;
	make_line(&make, "start", "{\"image\":\"minimal\",\"spec\":{\"env\":[\"A\",\"B\"]}}");
	make_line(&make, "intent", "{\"request\":\"r\",\"index\":0,\"action\":{\"action\":\"exec\",\"argv\":[\"cat\"],\"stdin\":{\"bytes\":4},\"env\":[\"A\",\"B\"]}}");
	parts = make_parts(&make);
	assert_int_equal(reader_read(&parts, &reader, &e), 0);
	assert_int_equal(plan_make(reader, &given, false, &plan, &e), 0);
	assert_true(json_equal(json_object_get(plan.steps[0].body, "actions"), wanted));
	assert_int_equal(json_object_size(json_object_get(plan.spec, "env")), 1);
	assert_true(plan.steps[0].unfinished);
	plan_finish(&plan);
	reader_close(reader);
}

/* A password that is given goes out as it is in its file, but for the newline of an editor; how long it is does not count. */
static void test_texts_that_are_given(void **state)
{
	static const struct {
		const char *given, *typed;
	} rows[] = {{"secret7\n", "secret7"}, {"longer secret\n", "longer secret\n"}, {"secret7", "secret7"}, {"", ""}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *texts = json_pack("{s:s}", "2.1", rows[i].given);
		const struct plan_given given = {.texts = texts};
		struct reader *reader = make_recording("{\"action\":\"type\",\"text\":{\"bytes\":7,\"why\":\"password\"}}", "\"ok\":true,\"delivered\":7");
		const json_t *action;
		struct plan plan;
		struct err e = {0};

		assert_int_equal(plan_make(reader, &given, false, &plan, &e), 0);
		action = json_array_get(json_object_get(plan.steps[1].body, "actions"), 0);
		assert_string_equal(json_string_value(json_object_get(action, "text")), rows[i].typed);
		assert_null(json_object_get(json_array_get(plan.steps[1].expected, 0), "delivered"));
		assert_string_equal(plan.steps[1].title, "type 7 bytes, not recorded");
		plan_finish(&plan);
		reader_close(reader);
	}
}

/* Each of two texts of one action is given by its name. */
static void test_two_texts_that_are_given(void **state)
{
	static const char set[] = "{\"action\":\"clipboard_set\",\"text\":{\"bytes\":3,\"why\":\"clipboard\"},\"html\":{\"bytes\":8,\"why\":\"clipboard\"}}";
	json_auto_t *one = json_loads("{\"2.1\":\"abc\"}", 0, NULL), *both = json_loads("{\"2.1.html\":\"<b>a</b>\\n\",\"2.1.text\":\"abc\"}", 0, NULL);
	const struct plan_given too_few = {.texts = one}, given = {.texts = both};
	struct reader *reader = make_recording(set, "\"ok\":true");
	json_auto_t *wanted = json_loads("[{\"action\":\"clipboard_set\",\"text\":\"abc\",\"html\":\"<b>a</b>\"}]", 0, NULL);
	struct plan plan;
	struct err e = {0};

	(void)state;
	assert_int_equal(plan_make(reader, &too_few, false, &plan, &e), -1);
	assert_string_equal(e.msg, "action 2.1 (CALL.ACTION) typed 3 bytes into the clipboard, which journals never keep (of a PNG: in Base64): give them "
	                           "with --text 2.1.text=FILE");
	assert_int_equal(plan_make(reader, &given, false, &plan, &e), 0);
	assert_true(json_equal(json_object_get(plan.steps[1].body, "actions"), wanted));
	plan_finish(&plan);
	reader_close(reader);
}

static void assert_title(const char *action, const char *result, const char *wanted)
{
	json_auto_t *asked = json_loads(action, 0, NULL), *told = json_loads(result, 0, NULL);
	auto_free char *title = title_action(asked, told);

	assert_string_equal(title, wanted);
	assert_true(strlen(title) < TITLE_MAX && util_utf8_valid(title, strlen(title)));
}

static void test_titles(void **state)
{
	static const char drag[] = "{\"action\":\"drag\",\"path\":[[1,2],[3,4]]}";
	auto_free char *long_name = util_zalloc(1001), *long_node = NULL, *long_title = NULL;

	(void)state;
	assert_title(click, "{}", "click 10, 20");
	assert_title(click, "{\"node\":null,\"node_reason\":\"late\"}", "click 10, 20");
	assert_title(click, "{\"node\":{\"role\":\"push button\",\"name\":\"Sign in\"}}", "click push button \"Sign in\" at 10, 20");
	assert_title(click, "{\"node\":{\"role\":\"panel\"}}", "click panel at 10, 20");
	assert_title("{\"action\":\"click\",\"x\":1,\"y\":2,\"count\":2}", "{\"node\":{\"role\":\"link\",\"name\":\"a\\nb\\u001b[0m\"}}",
	             "click link \"a\\nb\\x1b[0m\" at 1, 2 count=2");
	assert_title(drag, "{\"node\":{\"role\":\"icon\",\"name\":\"a\"},\"node_to\":{\"role\":\"list\"}}", "drag icon \"a\" to list path=[[1,2],[3,4]]");
	assert_title("{\"action\":\"type\",\"text\":\"x\"}", "{\"node\":{\"role\":\"entry\",\"name\":\"Search\"}}", "type \"x\" into entry \"Search\"");
	assert_title("{\"action\":\"key\",\"keys\":\"enter\"}", "{\"node\":{\"role\":\"entry\"}}", "key \"enter\" into entry");
	/* However long a name is, and whatever a journal that somebody made has in its place. */
	memset(long_name, 'x', 1000);
	long_node = util_printf("{\"node\":{\"role\":\"%s\",\"name\":\"%s\"},\"node_to\":[1]}", long_name, long_name);
	json_auto_t *asked = json_loads(drag, 0, NULL), *told = json_loads(long_node, 0, NULL);

	long_title = title_action(asked, told);
	assert_true(strlen(long_title) < TITLE_MAX && strncmp(long_title, "drag xxxx", 9) == 0);
	assert_title(click, "{\"node\":{\"role\":7,\"name\":[]}}", "click ? at 10, 20");
}

#define BUTTON "{\"role\":\"push button\",\"name\":\"Sign in\""
#define MET "\"ok\":true,\"node\":" BUTTON ",\"bounds\":{\"x\":8,\"y\":18,\"width\":8,\"height\":4}}" /* native 16,36 16x8; the click 21,41 */
#define TREE(nodes) "{\"ok\":true,\"nodes\":[{\"role\":\"frame\"}," nodes "],\"truncated\":false,\"hung\":[]}"
#define NODE(node, x, y, w, h) node ",\"x\":" x ",\"y\":" y ",\"width\":" w ",\"height\":" h "}"

static const char *node_state(const struct played *played)
{
	return json_string_value(json_object_get(json_object_get(json_array_get(played->report.steps, 1), "node"), "state"));
}

/* The screen before a click is another one: has it moved, or is it gone? */
static void test_moved_or_gone(void **state)
{
	static const struct {
		const char *tree, *state, *words;
		bool is_behind; /* what the pictures say comes first */
	} rows[] = {
		{TREE(NODE(BUTTON, "26", "40", "16", "8")), "moved", "push button \"Sign in\" has moved: it is at 31, 45 now; before it ", false},
		{TREE(NODE(BUTTON, "26", "30", "20", "10")), "moved", "push button \"Sign in\" has moved: it is at 36, 35 now; before it ", false},
		{TREE(NODE(BUTTON, "16", "36", "16", "8")), "there", "; push button \"Sign in\" is still there", true},
		{TREE(NODE("{\"role\":\"push button\",\"name\":\"Sign up\"", "16", "36", "16", "8")), "gone", "push button \"Sign in\" is gone; before it ", false},
		{TREE(NODE("{\"role\":\"link\",\"name\":\"Sign in\"", "16", "36", "16", "8")), "gone", "push button \"Sign in\" is gone; before it ", false},
		{TREE(BUTTON "}"), "gone", "push button \"Sign in\" is gone; before it ", false}, /* without a place nobody can click it */
		{TREE(NODE(BUTTON, "1", "1", "2", "2") "," NODE(BUTTON, "5", "5", "2", "2")), "alike",
		 "push button \"Sign in\" is not where it was; 2 like it are elsewhere, the first at 2, 2; before it ", false},
		{TREE(NODE(BUTTON, "1", "1", "2", "2") "," NODE(BUTTON, "16", "36", "16", "8")), "there", "; push button \"Sign in\" is still there", true},
		{TREE(NODE(BUTTON, "16", "36", "16", "8") "," NODE(BUTTON, "1", "1", "2", "2")), "there", "; push button \"Sign in\" is still there", true},
		{TREE(NODE(BUTTON, "1e9", "-2147483648", "2147483647", "2")), "gone", "push button \"Sign in\" is gone; before it ", false},
		{"{\"ok\":true,\"nodes\":[],\"truncated\":true,\"hung\":[]}", NULL, "before it ", false},
		{"{\"ok\":true,\"nodes\":[],\"truncated\":false,\"hung\":[{\"pid\":7}]}", NULL, "before it ", false},
		{"{\"ok\":false}", NULL, "before it ", false},
		{NULL, NULL, "before it ", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct reader *reader = make_recording(click, MET);
		struct fake fake = as_recorded;
		struct played played;
		const char *reason;

		fake.tree = rows[i].tree;
		fake.colours[1] = 0x00ff80;
		played = play(reader, &fake, (struct player_options){.keep_going = true});
		reason = fact(&played, 1, "reason");
		assert_string_equal(fact(&played, 1, "verdict"), "differs");
		assert_string_equal(fact(&played, 1, "where"), "before");
		if (rows[i].state)
			assert_string_equal(node_state(&played), rows[i].state);
		else
			assert_null(node_state(&played));
		if (rows[i].is_behind ? !strstr(reason, rows[i].words) : strncmp(reason, rows[i].words, strlen(rows[i].words)) != 0)
			fail_msg("%zu: \"%s\" does not say \"%s\"", i, reason, rows[i].words);
		finish(&played, &fake, reader);
	}
}

/* What it would click has moved: there it is clicked, and from then on pictures do not count; but what is gone does. */
static void test_follow(void **state)
{
	static const char *const after[] = {TREE(NODE(BUTTON, "26", "40", "16", "8")), TREE("{\"role\":\"label\"}")};
	const json_t *action;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(after); i++) {
		struct reader *reader = make_recording(click, MET);
		struct fake fake = as_recorded;
		struct played played;

		fake.tree = after[i];
		fake.colours[1] = fake.colours[2] = fake.colours[3] = 0x00ff80;
		played = play(reader, &fake, (struct player_options){.follow = true, .keep_going = true});
		if (i == 0) {
			assert_string_equal(fact(&played, 1, "verdict"), "passed");
			assert_string_equal(fact(&played, 1, "note_before"), "push button \"Sign in\" has moved: it is at 31, 45 now, and was followed");
			assert_string_equal(fact(&played, 2, "verdict"), "passed");
			action = json_array_get(json_object_get(json_array_get(fake.bodies, 1), "actions"), 0);
			assert_int_equal(json_integer_value(json_object_get(action, "x")), 15); /* of 32 for 31 of 64 */
			assert_int_equal(json_integer_value(json_object_get(action, "y")), 22);
		} else {
			assert_string_equal(fact(&played, 1, "verdict"), "differs");
			assert_string_equal(node_state(&played), "gone");
		}
		finish(&played, &fake, reader);
	}
}

/* Of the right look, but another thing: a click that meets it is no success. */
static void test_another_node(void **state)
{
	static const struct {
		const char *now, *reason;
		bool any;
	} rows[] = {
		{"{\"role\":\"push button\",\"name\":\"Cancel\"}", "action 1 (click) met push button \"Cancel\", and push button \"Sign in\" when it was recorded", false},
		{"{\"role\":\"link\",\"name\":\"Sign in\"}", "action 1 (click) met link \"Sign in\", and push button \"Sign in\" when it was recorded", false},
		{"{\"role\":\"push button\",\"name\":\"Cancel\"}", NULL, true},
		{BUTTON "}", NULL, false}, {"{\"role\":\"push button\"}", NULL, false}, {"null", NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct reader *reader = make_recording(click, MET);
		auto_free char *answer = util_printf("{\"ok\":true,\"results\":[{\"ok\":true,\"node\":%s}]}", rows[i].now);
		struct fake fake = as_recorded;
		struct played played;

		fake.answers[1] = answer;
		played = play(reader, &fake, (struct player_options){.any_node = rows[i].any});
		assert_string_equal(fact(&played, 1, "verdict"), rows[i].reason ? "differs" : "passed");
		if (rows[i].reason)
			assert_string_equal(fact(&played, 1, "reason"), rows[i].reason);
		assert_int_equal(fake.n_trees, 0); /* nobody need ask */
		finish(&played, &fake, reader);
	}
}

/* A journal that is to take the place of the old one has no acts that are not its own. */
static void test_an_update_asks_nothing(void **state)
{
	struct reader *reader = make_recording(click, MET);
	struct fake fake = as_recorded;
	struct played played;

	(void)state;
	fake.tree = TREE(NODE(BUTTON, "26", "40", "16", "8"));
	fake.colours[1] = 0x00ff80;
	played = play(reader, &fake, (struct player_options){.accept = true});
	assert_int_equal(fake.n_trees, 0);
	assert_int_equal(fake.n_acts, 3);
	finish(&played, &fake, reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes), cmocka_unit_test(test_stops_at_the_first_difference), cmocka_unit_test(test_does_not_click_on_another_screen),
		cmocka_unit_test(test_results), cmocka_unit_test(test_accepts_pictures_alone), cmocka_unit_test(test_windows_are_mapped), cmocka_unit_test(test_masks_of_observations), cmocka_unit_test(test_another_size), cmocka_unit_test(test_regions_of_one_step),
		cmocka_unit_test(test_server_gone), cmocka_unit_test(test_what_cannot_be_replayed), cmocka_unit_test(test_what_is_given),
		cmocka_unit_test(test_texts_that_are_given), cmocka_unit_test(test_two_texts_that_are_given), cmocka_unit_test(test_titles),
		cmocka_unit_test(test_moved_or_gone),
		cmocka_unit_test(test_follow), cmocka_unit_test(test_another_node), cmocka_unit_test(test_an_update_asks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
