/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What actions meet, and what of typed text may be kept: the stage's side, with apps that say what a test wants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/co.h"
#include "session/base/json.h"
#include "session/base/util.h"

static int fake_wait_event(struct co_event *event, int64_t deadline_ms, struct err *e);
static int fake_wait_until(int64_t at_ms, struct err *e);

/* Alone, so that what they ask is here. */
#define co_wait_event fake_wait_event
#define co_wait_until fake_wait_until
#include "session/stage/nodes.c"
#include "session/stage/typed.c"

struct access_question {
	int x, y;
};

static struct {
	struct access_question questions[4];
	size_t n_asked, n_open, n_waits;
	enum err_code code; /* of an answer that is none; 0: the node is one */
	struct access_node node;
	int64_t waited_ms;  /* how long the last wait was allowed to be, from the question on */
	int pid;            /* of the app at the point */
	struct access_focus focus, fresh; /* as last told; as asked for */
	const char *unavailable;
	size_t n_settled, n_fresh;
	bool types, moves;
	const struct access_focus *next; /* what is told while it is waited for; NULL: nothing */
	int64_t told_ms;                 /* how long that was allowed to be */
	bool heeds;                      /* a rule has a word for password fields */
	size_t n_late;                   /* so often the app does not answer */
	struct access_node there;        /* at the point that is asked about once more */
	int x, y;                        /* that */
} fake;

static struct stage stage;

struct access *apps_access(struct apps *apps)
{
	return (struct access *)apps;
}

const char *apps_name_of(const struct apps *apps, int pid)
{
	(void)apps;
	return pid == 41 ? "firefox" : NULL;
}

const char *access_unavailable(const struct access *access)
{
	(void)access;
	return fake.unavailable;
}

const struct access_focus *access_focus(const struct access *access)
{
	(void)access;
	return &fake.focus;
}

int access_focus_now(struct access *access, int64_t deadline_ms, struct access_focus *out, struct err *e)
{
	(void)access;
	(void)deadline_ms;
	(void)e;
	fake.n_fresh++;
	if (fake.n_late == 0)
		assert_int_equal(fake.n_settled, fake.n_fresh); /* the keys have a place to go */
	*out = fake.fresh;
	if (fake.n_late > 0) {
		fake.n_late--;
		*out = (struct access_focus){.late = true};
		fake.n_settled += fake.heeds; /* it is asked again */
	}
	return 0;
}

struct access_question *access_ask_at(struct access *access, int x, int y, int64_t deadline_ms)
{
	struct access_question *question = &fake.questions[fake.n_asked++];

	(void)access;
	assert_int_equal(deadline_ms, stage.nodes.asked_ms + NODES_ASK_MS);
	*question = (struct access_question){x, y};
	fake.n_open++;
	return question;
}

int access_wait_at(struct access_question *question, int64_t until_ms, struct access_node *out, struct err *e)
{
	(void)question;
	fake.n_waits++;
	fake.waited_ms = until_ms - stage.nodes.asked_ms;
	if (fake.code)
		return err_set(e, fake.code, NULL, "no answer");
	*out = fake.node;
	return 0;
}

int access_pid_at(const struct access_question *question)
{
	(void)question;
	return fake.pid;
}

void access_drop(struct access_question *question)
{
	fake.n_open -= question != NULL;
}

struct co_event *access_changed(struct access *access)
{
	(void)access;
	return NULL;
}

int access_at(struct access *access, int x, int y, int64_t deadline_ms, struct access_node *out, struct err *e)
{
	(void)access;
	(void)deadline_ms;
	(void)e;
	fake.x = x;
	fake.y = y;
	*out = fake.there;
	return 0;
}

bool approvals_heeds_passwords(const struct stage *of)
{
	(void)of;
	return fake.heeds;
}

static int fake_wait_until(int64_t at_ms, struct err *e)
{
	(void)at_ms;
	(void)e;
	return 0;
}

/* Nothing waits here: what is to come has come, or the time is over. */
static int fake_wait_event(struct co_event *event, int64_t deadline_ms, struct err *e)
{
	(void)event;
	fake.told_ms = deadline_ms - stage.typed.moved_ms;
	if (!fake.next)
		return err_set(e, ERR_TIMEOUT, NULL, "nothing");
	fake.focus = *fake.next;
	return 0;
}

bool input_moves(const json_t *args)
{
	(void)args;
	return fake.moves;
}

int display_pointer(struct display *display, int *x, int *y, struct err *e)
{
	(void)display;
	(void)e;
	*x = 7;
	*y = 8;
	return 0;
}

int input_settle(struct input *input, struct err *e)
{
	(void)input;
	(void)e;
	fake.n_settled++;
	return 0;
}

bool input_types(const json_t *args)
{
	return json_object_get(args, "text") || fake.types;
}

static int set_up(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	memset(&stage, 0, sizeof(stage));
	stage.apps = (struct apps *)(uintptr_t)&fake;
	stage.native = (struct space){1920, 1080};
	fake.node = (struct access_node){.role = "push button", .name = "Sign in", .x = 300, .y = 600, .width = 90, .height = 30};
	return 0;
}

static const struct action_row click = {.name = "click", .flags = ACTION_AIMS}, move = {.name = "move", .flags = ACTION_AIMS | ACTION_MOVES},
                               type = {.name = "type", .flags = ACTION_TYPES}, wait = {.name = "wait", .flags = ACTION_WAITS};
static const struct batch batch = {.place.space = {1280, 720}};

static struct batch_step step_of(const struct action_row *row, const char *args)
{
	struct batch_step step = {.row = row, .args = json_loads(args, 0, NULL)};

	assert_non_null(step.args);
	return step;
}

/* One action, from its question to its result, as JSON text. */
static char *run(const struct action_row *row, const char *args)
{
	struct batch_step step = step_of(row, args);
	json_auto_t *result = json_object();

	fake.n_asked = 0;
	nodes_ask(&stage, &step);
	nodes_ask(&stage, &step); /* begun before its guard, and again as the first of its list */
	(void)typed_judge(&stage, &step);
	nodes_wait(&stage);
	typed_note(&stage, &step);
	nodes_tell(&stage, &batch, &step, result);
	json_decref(step.args);
	assert_int_equal(fake.n_open, 0);
	return json_dumps(result, JSON_COMPACT);
}

static void assert_met(const struct action_row *row, const char *args, const char *wanted)
{
	auto_free char *result = run(row, args);

	assert_string_equal(result, wanted);
}

#define AT "{\"x\":330,\"y\":615}"

static void test_what_a_click_meets(void **state)
{
	(void)state;
	/* In the space of the call. */
	assert_met(&click, AT, "{\"node\":{\"role\":\"push button\",\"name\":\"Sign in\",\"bounds\":{\"x\":200,\"y\":400,\"width\":60,\"height\":20}}}");
	assert_int_equal(fake.n_asked, 1);
	assert_int_equal(fake.questions[0].x, 330);
	assert_int_equal(fake.questions[0].y, 615);
	fake.node.width = fake.node.height = 0;
	assert_met(&click, "{}", "{\"node\":{\"role\":\"push button\",\"name\":\"Sign in\"}}");
	assert_int_equal(fake.questions[0].x, 7); /* where the pointer is */
	assert_met(&click, "{\"path\":[[1,2],[3,4],[5,6]]}",
	           "{\"node\":{\"role\":\"push button\",\"name\":\"Sign in\"},\"node_to\":{\"role\":\"push button\",\"name\":\"Sign in\"}}");
	assert_int_equal(fake.questions[1].x, 5);
}

static void test_what_is_not_asked(void **state)
{
	(void)state;
	assert_met(&move, AT, "{}");
	assert_met(&wait, "{}", "{}");
	fake.unavailable = "there is none";
	assert_met(&click, AT, "{}");
	assert_int_equal(fake.n_waits, 0);
}

/* Nothing that somebody typed: of a password field the role, of what is written into no name, of labels what fits. */
static void test_no_value_is_told(void **state)
{
	char wanted[300];
	auto_free char *result = NULL;

	(void)state;
	fake.node = (struct access_node){.role = "password text", .name = "canary", .password = true, .editable = true, .width = 9, .height = 9};
	assert_met(&click, AT, "{\"node\":{\"role\":\"password text\"}}");
	fake.node = (struct access_node){.role = "paragraph", .name = "canary", .editable = true};
	assert_met(&click, AT, "{\"node\":{\"role\":\"paragraph\"}}");
	fake.node = (struct access_node){.role = "entry", .name = "Search", .editable = true};
	assert_met(&click, AT, "{\"node\":{\"role\":\"entry\",\"name\":\"Search\"}}");
	fake.node = (struct access_node){.role = "label"};
	memset(fake.node.name, 'a', 199);
	memcpy(fake.node.name + 199, "\xc3\xa9 and more", 12);
	(void)snprintf(wanted, sizeof(wanted), "{\"node\":{\"role\":\"label\",\"name\":\"%.199s\"}}", fake.node.name);
	result = run(&click, AT);
	assert_string_equal(result, wanted);
}

static void test_reasons(void **state)
{
	static const struct {
		enum err_code code;
		const char *result;
	} rows[] = {
		{ERR_NOT_FOUND, "{\"node\":null,\"node_reason\":\"none\"}"}, {ERR_TIMEOUT, "{\"node\":null,\"node_reason\":\"late\"}"},
		{ERR_GONE, "{\"node\":null,\"node_reason\":\"failed\"}"}, {ERR_UNSUPPORTED, "{}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fake.code = rows[i].code;
		assert_met(&click, AT, rows[i].result);
	}
}

/* An app that does not answer costs one click its time, not each. */
static void test_late_ones_are_remembered(void **state)
{
	(void)state;
	fake.code = ERR_TIMEOUT;
	free(run(&click, AT));
	assert_int_equal(fake.waited_ms, NODES_WAIT_MS);
	for (int i = 0; i < 3; i++) {
		free(run(&click, AT));
		assert_int_equal(fake.waited_ms, i == 0 ? NODES_BRIEF_MS : NODES_LEAST_MS);
	}
	/* One that says that there is nothing answers, too, but only what answers in time is waited for again. */
	fake.code = 0;
	free(run(&click, AT));
	fake.code = ERR_TIMEOUT;
	free(run(&click, AT));
	assert_int_equal(fake.waited_ms, NODES_WAIT_MS);
	for (size_t i = 0; i < NODES_LATE; i++)
		stage.nodes.late[i].until_ms -= NODES_AGAIN_MS; /* later */
	free(run(&click, AT));
	assert_int_equal(fake.waited_ms, NODES_WAIT_MS);
}

/* What one app does not answer is no fault of another; of more than are remembered the oldest are forgotten. */
static void test_others_are_not_late(void **state)
{
	(void)state;
	fake.code = ERR_TIMEOUT;
	for (fake.pid = 1; fake.pid <= NODES_LATE; fake.pid++) {
		free(run(&click, AT));
		assert_int_equal(fake.waited_ms, NODES_WAIT_MS);
	}
	for (fake.pid = 1; fake.pid <= NODES_LATE; fake.pid++) {
		free(run(&click, AT));
		assert_int_equal(fake.waited_ms, NODES_BRIEF_MS);
	}
	fake.code = 0;
	fake.pid = 2;
	free(run(&click, AT));
	fake.code = ERR_TIMEOUT;
	free(run(&click, AT)); /* in the place of the first */
	assert_int_equal(fake.waited_ms, NODES_WAIT_MS);
	fake.pid = 1;
	free(run(&click, AT));
	assert_int_equal(fake.waited_ms, NODES_WAIT_MS);
	fake.pid = NODES_LATE;
	free(run(&click, AT));
	assert_int_equal(fake.waited_ms, NODES_LEAST_MS);
}

static void test_an_action_that_is_refused(void **state)
{
	struct batch_step step = step_of(&click, AT);
	json_auto_t *result = json_object();

	(void)state;
	nodes_ask(&stage, &step);
	nodes_drop(&stage);
	assert_int_equal(fake.n_open, 0);
	/* One that fails before its press tells nothing. */
	nodes_ask(&stage, &step);
	nodes_tell(&stage, &batch, &step, result);
	assert_int_equal(json_object_size(result), 0);
	assert_int_equal(fake.n_open, 0);
	json_decref(step.args);
}

static const struct access_focus UNKNOWN = {.known = false}, PLAIN = {.known = true, .has_node = true, .node = {.role = "entry", .name = "User"}},
                                 PASSWORD = {.known = true, .has_node = true, .node = {.role = "password text", .name = "canary", .password = true}},
                                 LINES = {.known = true, .has_node = true, .node = {.role = "text", .multi_line = true}}, SHELL = {.known = true, .terminal = true}, PROMPT = {.known = true, .terminal = true, .prompt = true};

static void assert_judged(enum stage_text text, const struct access_focus *focus, const char *args, enum journal_text wanted)
{
	struct batch_step step = step_of(&type, args);

	stage.text = text;
	fake.fresh = *focus;
	if (typed_judge(&stage, &step) != wanted)
		fail_msg("%s into %s %s with record.text %d is not judged as %d", args, focus->known ? "a known" : "an unknown", focus->node.role, text, wanted);
	nodes_drop(&stage);
	json_decref(step.args);
}

static void test_what_is_kept_of_text(void **state)
{
	static const struct {
		enum stage_text text;
		const struct access_focus *focus;
		enum journal_text wanted;
	} rows[] = {
		{STAGE_TEXT_PLAIN, &PLAIN, JOURNAL_TEXT_KEPT},       {STAGE_TEXT_PLAIN, &SHELL, JOURNAL_TEXT_KEPT},
		{STAGE_TEXT_PLAIN, &PASSWORD, JOURNAL_TEXT_PASSWORD}, {STAGE_TEXT_PLAIN, &PROMPT, JOURNAL_TEXT_PASSWORD},
		{STAGE_TEXT_PLAIN, &UNKNOWN, JOURNAL_TEXT_UNKNOWN},  {STAGE_TEXT_ALWAYS, &PLAIN, JOURNAL_TEXT_KEPT},
		{STAGE_TEXT_ALWAYS, &UNKNOWN, JOURNAL_TEXT_KEPT},    {STAGE_TEXT_ALWAYS, &PASSWORD, JOURNAL_TEXT_PASSWORD},
		{STAGE_TEXT_ALWAYS, &PROMPT, JOURNAL_TEXT_PASSWORD}, {STAGE_TEXT_NONE, &PLAIN, JOURNAL_TEXT_NONE},
		{STAGE_TEXT_NONE, &UNKNOWN, JOURNAL_TEXT_NONE},      {STAGE_TEXT_NONE, &PASSWORD, JOURNAL_TEXT_PASSWORD},
	};
	static const struct {
		const char *args;
		enum journal_text wanted;
	} texts[] = {
		{"{\"text\":\"ada\\n\"}", JOURNAL_TEXT_KEPT},     {"{\"text\":\"ada\\t\"}", JOURNAL_TEXT_KEPT},       {"{\"text\":\"\"}", JOURNAL_TEXT_KEPT},
		{"{\"text\":\"ada\\thush\"}", JOURNAL_TEXT_UNKNOWN}, {"{\"text\":\"su\\nhush\\n\"}", JOURNAL_TEXT_UNKNOWN}, {"{\"text\":\"\\rhush\"}", JOURNAL_TEXT_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_judged(rows[i].text, rows[i].focus, "{\"text\":\"hush\"}", rows[i].wanted);
		fake.types = true;
		assert_judged(rows[i].text, rows[i].focus, "{\"keys\":\"h\"}", rows[i].wanted);
		fake.types = false;
	}
	/* What comes behind a Tab or a Return may go to the next field. */
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_judged(STAGE_TEXT_PLAIN, &PLAIN, texts[i].args, texts[i].wanted);
	assert_judged(STAGE_TEXT_ALWAYS, &PLAIN, texts[3].args, JOURNAL_TEXT_KEPT);
	assert_judged(STAGE_TEXT_PLAIN, &LINES, "{\"text\":\"Dear Ada,\\nhow are you?\\n\"}", JOURNAL_TEXT_KEPT);
	assert_judged(STAGE_TEXT_PLAIN, &LINES, "{\"text\":\"Dear Ada,\\n\\thow are you?\"}", JOURNAL_TEXT_UNKNOWN);
}

/* What goes to a clipboard is none of typed text, whatever the spec says of that. */
static void test_clipboards(void **state)
{
	static const struct action_row set = {.name = "clipboard_set", .flags = ACTION_HIDES};
	struct batch_step step = step_of(&set, "{\"text\":\"hush\"}");

	(void)state;
	for (enum stage_text text = STAGE_TEXT_PLAIN; text <= STAGE_TEXT_ALWAYS; text++) {
		stage.text = text;
		assert_int_equal(typed_judge(&stage, &step), JOURNAL_TEXT_CLIPBOARD);
	}
	json_decref(step.args);
}

/* Keys that type nothing are kept, and wait for nothing. */
static void test_keys(void **state)
{
	(void)state;
	fake.focus = PASSWORD;
	assert_met(&type, "{\"keys\":\"enter\"}", "{\"node\":{\"role\":\"password text\"}}");
	assert_int_equal(fake.n_settled + fake.n_fresh, 0);
	fake.fresh = PLAIN;
	assert_met(&type, "{\"text\":\"ada\"}", "{\"node\":{\"role\":\"entry\",\"name\":\"User\"}}");
	fake.fresh = SHELL;
	assert_met(&type, "{\"text\":\"ada\"}", "{\"node\":{\"role\":\"terminal\"}}");
	fake.fresh = UNKNOWN;
	assert_met(&type, "{\"text\":\"ada\"}", "{}");
}

/* One action of a list. */
static void begin(const struct action_row *row, const char *args)
{
	free(run(row, args));
	fake.told_ms = 0;
}

/* The field that something is typed into was asked for right before: an app tells of it late. */
static void test_a_focus_that_is_on_its_way(void **state)
{
	(void)state;
	/* It is told, and asked for only then. */
	fake.focus = fake.fresh = PLAIN;
	fake.node = (struct access_node){.role = "push button", .name = "Next"};
	begin(&click, AT);
	fake.next = &PASSWORD;
	fake.fresh = PASSWORD;
	assert_judged(STAGE_TEXT_PLAIN, &PASSWORD, "{\"text\":\"hush\"}", JOURNAL_TEXT_PASSWORD);
	assert_int_equal(fake.told_ms, TYPED_MOVED_MS);
	/* Once: what is typed behind it waits for nothing. */
	fake.told_ms = 0;
	assert_judged(STAGE_TEXT_PLAIN, &PASSWORD, "{\"text\":\"hush\"}", JOURNAL_TEXT_PASSWORD);
	assert_int_equal(fake.told_ms, 0);
	/* It was told before. */
	fake.focus = PLAIN;
	begin(&click, AT);
	fake.focus = PASSWORD;
	assert_judged(STAGE_TEXT_PLAIN, &PASSWORD, "{\"text\":\"hush\"}", JOURNAL_TEXT_PASSWORD);
	assert_int_equal(fake.told_ms, 0);
}

/* A click on a password field is one on a password field, whatever its app says of the focus; one on the field that has the focus waits for nothing. */
static void test_the_field_that_was_clicked(void **state)
{
	(void)state;
	fake.focus = PLAIN;
	fake.node = PASSWORD.node;
	begin(&click, AT);
	assert_judged(STAGE_TEXT_ALWAYS, &PLAIN, "{\"text\":\"hush\"}", JOURNAL_TEXT_PASSWORD);
	assert_judged(STAGE_TEXT_ALWAYS, &PLAIN, "{\"text\":\"hush\"}", JOURNAL_TEXT_PASSWORD);
	fake.node = PLAIN.node;
	begin(&click, AT);
	assert_judged(STAGE_TEXT_PLAIN, &PLAIN, "{\"text\":\"ada\"}", JOURNAL_TEXT_KEPT);
	assert_int_equal(fake.told_ms, 0);
}

/* What was clicked was told after the press: it is asked about once more before anything is typed. */
static void test_the_field_that_was_clicked_late(void **state)
{
	(void)state;
	fake.focus = PLAIN;
	fake.code = ERR_TIMEOUT;
	begin(&click, AT);
	fake.there = PASSWORD.node;
	assert_judged(STAGE_TEXT_ALWAYS, &PLAIN, "{\"text\":\"hush\"}", JOURNAL_TEXT_PASSWORD);
	assert_int_equal(fake.x, 330);
	assert_int_equal(fake.y, 615);
}

/* One that does not answer may be a password field, where a rule heeds these: it is asked again for a while, and counts as one then. */
static void test_an_app_that_does_not_answer(void **state)
{
	(void)state;
	fake.n_late = 1;
	assert_judged(STAGE_TEXT_PLAIN, &PLAIN, "{\"text\":\"ada\"}", JOURNAL_TEXT_UNKNOWN);
	assert_true(typed_is_unsure(&stage.typed));
	fake.heeds = true;
	fake.n_late = 3;
	assert_judged(STAGE_TEXT_PLAIN, &PLAIN, "{\"text\":\"ada\"}", JOURNAL_TEXT_KEPT);
	assert_false(typed_is_unsure(&stage.typed));
}

static void test_what_may_move_the_focus(void **state)
{
	static const struct {
		const struct access_focus *focus;
		const char *args;
		bool moves;
		int64_t wait_ms;
	} rows[] = {
		{&PLAIN, "{\"text\":\"ada\\t\"}", false, TYPED_MOVED_MS}, {&PLAIN, "{\"text\":\"ada\"}", false, 0}, {&PLAIN, "{\"keys\":\"tab\"}", true, TYPED_MOVED_MS},
		{&PLAIN, "{\"keys\":\"left\"}", false, 0}, {&SHELL, "{\"text\":\"su\\n\"}", false, TYPED_ELSE_MS}, {&UNKNOWN, "{\"text\":\"su\\n\"}", false, TYPED_ELSE_MS},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fake.focus = fake.fresh = *rows[i].focus;
		fake.moves = rows[i].moves;
		begin(&type, rows[i].args);
		assert_judged(STAGE_TEXT_ALWAYS, rows[i].focus, "{\"text\":\"x\"}", JOURNAL_TEXT_KEPT);
		if (fake.told_ms != rows[i].wait_ms)
			fail_msg("%s: %jd ms, not %jd", rows[i].args, (intmax_t)fake.told_ms, (intmax_t)rows[i].wait_ms);
		stage.typed.moved = false;
	}
	fake.focus = PLAIN;
	begin(&wait, "{}");
	begin(&move, AT);
	assert_false(stage.typed.moved);
	/* Nobody would tell. */
	begin(&click, AT);
	fake.unavailable = "gone";
	assert_judged(STAGE_TEXT_PLAIN, &UNKNOWN, "{\"text\":\"hush\"}", JOURNAL_TEXT_UNKNOWN);
	assert_int_equal(fake.told_ms, 0);
}

static void assert_focus(const char *wanted)
{
	json_auto_t *focus = nodes_focus(&stage);
	auto_free char *text = json_dumps(focus, JSON_COMPACT);

	assert_string_equal(text, wanted);
}

/* Whoever may see the state of a session sees no text of it. */
static void test_focus_of_the_state(void **state)
{
	(void)state;
	assert_focus("{\"known\":false}");
	fake.focus = PASSWORD;
	fake.focus.pid = 41;
	assert_focus("{\"known\":true,\"role\":\"password text\",\"password\":true,\"editable\":false,\"terminal\":false,\"app\":\"firefox\"}");
	fake.focus = PROMPT;
	assert_focus("{\"known\":true,\"role\":\"terminal\",\"password\":true,\"editable\":true,\"terminal\":true,\"app\":null}");
	fake.focus = (struct access_focus){.known = true};
	assert_focus("{\"known\":true,\"role\":null,\"password\":false,\"editable\":false,\"terminal\":false,\"app\":null}");
	(void)strcpy(fake.focus.url, "https://Shop.example:443/basket?of=me");
	assert_focus("{\"known\":true,\"role\":null,\"password\":false,\"editable\":false,\"terminal\":false,\"app\":null,\"origin\":\"https://shop.example\"}");
	stage.apps = NULL;
	assert_focus("{\"known\":false}");
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_a_click_meets), TEST(test_what_is_not_asked),       TEST(test_no_value_is_told),     TEST(test_reasons),
		TEST(test_late_ones_are_remembered), TEST(test_others_are_not_late), TEST(test_an_action_that_is_refused), TEST(test_what_is_kept_of_text), TEST(test_keys), TEST(test_clipboards),
		TEST(test_focus_of_the_state), TEST(test_a_focus_that_is_on_its_way), TEST(test_the_field_that_was_clicked), TEST(test_the_field_that_was_clicked_late), TEST(test_an_app_that_does_not_answer), TEST(test_what_may_move_the_focus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
