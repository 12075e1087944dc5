/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps */
/* The action exec through the real glovebox-init, and the stage's end of its link against an init that lies. */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "apps/state.h"
#include "session/base/limits.h"
#include "tests/unit/jail.h"

#define PATIENCE_MS 20000

struct world {
	struct jail jail;
	struct loop *loop;
	struct xconn x;
	struct apps apps;
	int n_gone;
};

static void on_gone(void *arg)
{
	((struct world *)arg)->n_gone++;
}

static int open_world(void **state)
{
	struct world *world = util_zalloc(sizeof(*world));
	const struct spawner_ops ops = {.gone = on_gone, .arg = world};

	(void)signal(SIGPIPE, SIG_IGN);
	world->loop = loop_create(NULL);
	world->x.loop = world->loop;
	world->apps.x = &world->x;
	assert_int_equal(environment_create(&world->apps.environment, NULL, NULL), 0);
	jail_start(&world->jail);
	world->apps.spawner = spawner_create(world->loop, world->jail.stage, &ops);
	*state = world;
	return 0;
}

static int close_world(void **state)
{
	struct world *world = *state;

	spawner_destroy(world->apps.spawner);
	if (world->n_gone == 0)
		jail_finish(&world->jail);
	environment_finish(&world->apps.environment);
	loop_turn(world->loop, 0);
	loop_destroy(world->loop);
	free(world);
	return 0;
}

/* One exec in a coroutine of its own. */
struct call {
	struct world *world;
	struct co *co;
	json_t *args, *result;
	int64_t limit_ms; /* of the call */
	int rc;
	struct err e;
	bool done;
	int64_t took_ms;
};

static void run_call(void *arg)
{
	struct call *call = arg;
	int64_t start_ms = util_now_ms();
	struct action_run run = {
		.home = &call->world->apps,
		.args = call->args,
		.result = call->result,
		.deadline_ms = start_ms + call->limit_ms,
	};

	call->rc = exec_check(&call->world->apps, call->args, &call->e);
	if (call->rc == 0)
		call->rc = exec_run(&run, &call->e);
	call->took_ms = util_now_ms() - start_ms;
	call->done = true;
}

/* `args` is JSON; a cwd that is there on any machine is put in. */
static void begin(struct call *call, struct world *world, const char *args)
{
	*call = (struct call){.world = world, .args = json_loads(args, 0, NULL), .result = json_object(), .limit_ms = PATIENCE_MS};
	assert_non_null(call->args);
	if (!json_object_get(call->args, "cwd"))
		json_object_set_new(call->args, "cwd", json_string("/"));
	call->co = co_start(world->loop, run_call, call);
}

static void finish(struct call *call)
{
	int64_t limit_ms = util_now_ms() + PATIENCE_MS;

	while (!call->done) {
		if (util_now_ms() > limit_ms)
			fail_msg("the call does not end");
		loop_turn(call->world->loop, 100);
	}
}

static void discard(struct call *call)
{
	json_decref(call->args);
	json_decref(call->result);
}

static void exec_json(struct call *call, struct world *world, const char *args)
{
	begin(call, world, args);
	finish(call);
}

static const char *text_of(const struct call *call, const char *name)
{
	return json_string_value(json_object_get(call->result, name));
}

static void expect(struct world *world, const char *args, const char *out, const char *err, int exit_code)
{
	struct call call;

	exec_json(&call, world, args);
	if (call.rc != 0)
		fail_msg("%s: %s", args, call.e.msg);
	assert_string_equal(text_of(&call, "stdout"), out);
	assert_string_equal(text_of(&call, "stderr"), err);
	assert_int_equal(json_integer_value(json_object_get(call.result, "exit_code")), exit_code);
	assert_true(json_is_null(json_object_get(call.result, "signal")));
	assert_true(json_is_false(json_object_get(call.result, "timed_out")));
	assert_true(json_is_false(json_object_get(call.result, "truncated")));
	discard(&call);
}

static void results(void **state)
{
	struct world *world = *state;

	expect(world, "{\"argv\":[\"sh\",\"-c\",\"echo out; echo err >&2; exit 7\"]}", "out\n", "err\n", 7);
	expect(world, "{\"argv\":[\"true\"]}", "", "", 0);
	expect(world, "{\"argv\":[\"printf\",\"%s|\",\"a b\",\"\",\"$(id) `id` \\\"'\\n\"]}", "a b||$(id) `id` \"'\n|", "", 0);
	expect(world, "{\"argv\":[\"cat\"]}", "", "", 0); /* no stdin is an empty one */
	expect(world, "{\"argv\":[\"cat\"],\"stdin\":\"\"}", "", "", 0);
	expect(world, "{\"argv\":[\"cat\"],\"stdin\":\"ä\\n日\"}", "ä\n日", "", 0);
	expect(world, "{\"argv\":[\"sh\",\"-c\",\"echo $A; pwd\"],\"env\":{\"A\":\"b  c\"},\"cwd\":\"/usr\"}", "b c\n/usr\n", "", 0);
	expect(world, "{\"argv\":[\"printf\",\"a\\\\377b\\\\360\\\\237\"]}", "a\xEF\xBF\xBD"
	                                                               "b\xEF\xBF\xBD\xEF\xBF\xBD", "", 0);
}

static void nul_is_kept(void **state)
{
	struct call call;
	const json_t *out;

	exec_json(&call, *state, "{\"argv\":[\"printf\",\"a\\\\0b\"]}");
	out = json_object_get(call.result, "stdout");
	assert_int_equal(json_string_length(out), 3);
	assert_memory_equal(json_string_value(out), "a\0b", 3);
	discard(&call);
}

static void signals(void **state)
{
	struct call call;

	exec_json(&call, *state, "{\"argv\":[\"sh\",\"-c\",\"echo x; kill -9 $$\"]}");
	assert_int_equal(call.rc, 0);
	assert_string_equal(text_of(&call, "stdout"), "x\n");
	assert_true(json_is_null(json_object_get(call.result, "exit_code")));
	assert_int_equal(json_integer_value(json_object_get(call.result, "signal")), SIGKILL);
	discard(&call);
}

/* More than all pipes hold goes in and out at once. */
static void much_input(void **state)
{
	enum { N = 1000 * 1000 };
	struct call call;
	auto_free char *text = util_alloc(N);
	json_auto_t *args = json_pack("{s:[s,s],s:s}", "argv", "tail", "-c200000", "cwd", "/");

	memset(text, 'a', N);
	memcpy(text + N - 3, "end", 3);
	json_object_set_new(args, "stdin", json_stringn(text, N));
	auto_free char *json = json_dumps(args, 0);
	exec_json(&call, *state, json);
	assert_int_equal(call.rc, 0);
	assert_int_equal(json_string_length(json_object_get(call.result, "stdout")), 200000);
	assert_memory_equal(text_of(&call, "stdout"), text + N - 200000, 200000);
	discard(&call);
	/* One that does not read it ends all the same. */
	json_object_set_new(args, "argv", json_pack("[s]", "true"));
	free(steal_ptr(&json));
	json = json_dumps(args, 0);
	exec_json(&call, *state, json);
	assert_int_equal(call.rc, 0);
	discard(&call);
}

static void much_output(void **state)
{
	struct call call;
	const json_t *out, *err;

	exec_json(&call, *state, "{\"argv\":[\"sh\",\"-c\",\"yes ä | head -c 3000000; yes | head -c 262144 >&2\"]}");
	assert_int_equal(call.rc, 0);
	out = json_object_get(call.result, "stdout");
	err = json_object_get(call.result, "stderr");
	assert_in_range(json_string_length(out), LIMIT_EXEC_OUTPUT_BYTES - 1, LIMIT_EXEC_OUTPUT_BYTES);
	assert_true(util_utf8_valid(json_string_value(out), json_string_length(out)));
	assert_int_equal(json_string_length(err), 262144);
	assert_true(json_is_true(json_object_get(call.result, "truncated")));
	discard(&call);
}

static void own_time_limit(void **state)
{
	struct call call;

	exec_json(&call, *state, "{\"argv\":[\"sh\",\"-c\",\"echo begun; sleep 60 & sleep 60\"],\"timeout_ms\":200}");
	assert_int_equal(call.rc, 0);
	assert_in_range(call.took_ms, 200, PATIENCE_MS);
	assert_string_equal(text_of(&call, "stdout"), "begun\n");
	assert_true(json_is_true(json_object_get(call.result, "timed_out")));
	assert_true(json_is_null(json_object_get(call.result, "exit_code")));
	assert_int_equal(json_integer_value(json_object_get(call.result, "signal")), SIGKILL);
	discard(&call);
}

static void time_limit_of_the_call(void **state)
{
	struct call call;

	begin(&call, *state, "{\"argv\":[\"sh\",\"-c\",\"echo begun; sleep 60\"]}");
	call.limit_ms = 2000; /* a busy machine needs a while until the shell has said it */
	finish(&call);
	assert_int_equal(call.rc, -1);
	assert_int_equal(call.e.code, ERR_TIMEOUT);
	assert_string_equal(text_of(&call, "stdout"), "begun\n");
	assert_true(json_is_true(json_object_get(call.result, "timed_out")));
	discard(&call);
}

static void cancel(void **state)
{
	struct call call;
	int64_t start_ms = util_now_ms();

	begin(&call, *state, "{\"argv\":[\"sleep\",\"60\"]}");
	while (util_now_ms() < start_ms + 200)
		loop_turn(call.world->loop, 10);
	assert_false(call.done);
	co_cancel(call.co);
	finish(&call);
	assert_int_equal(call.rc, -1);
	assert_int_equal(call.e.code, ERR_CANCELLED);
	discard(&call);
}

/* Cancelled before init has answered: the call ends when the program has. */
static void cancel_at_once(void **state)
{
	struct world *world = *state;
	struct call call;
	bool was_done;

	assert_int_equal(kill(world->jail.pid, SIGSTOP), 0);
	begin(&call, world, "{\"argv\":[\"sleep\",\"60\"]}");
	loop_turn(world->loop, 0);
	co_cancel(call.co);
	for (int i = 0; i < 5; i++)
		loop_turn(world->loop, 0);
	was_done = call.done;
	assert_int_equal(kill(world->jail.pid, SIGCONT), 0);
	assert_false(was_done);
	finish(&call);
	assert_int_equal(call.e.code, ERR_CANCELLED);
	discard(&call);
	auto_free char *path = util_printf("/proc/%d/task/%d/children", world->jail.pid, world->jail.pid);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_free char *children = NULL;

	assert_true(util_read_file(fd, 1000, &children) >= 0);
	assert_string_equal(children, "");
	expect(world, "{\"argv\":[\"true\"]}", "", "", 0);
}

static void a_child_that_keeps_the_pipes(void **state)
{
	struct call call;

	exec_json(&call, *state, "{\"argv\":[\"sh\",\"-c\",\"sleep 40 & echo done\"]}");
	assert_int_equal(call.rc, 0);
	assert_string_equal(text_of(&call, "stdout"), "done\n");
	assert_in_range(call.took_ms, 0, PATIENCE_MS);
	discard(&call);
}

/* The report of the end may come before the loop has looked at the pipe. */
static void drain(void **state)
{
	struct world *world = *state;
	struct pipe_reader reader;
	char text[50000];
	int ends[2];

	memset(text, 'a', sizeof(text));
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], text, sizeof(text)), sizeof(text));
	pipe_reader_start(&reader, world->loop, ends[0], PIPE_KEEP_HEAD, 40000, NULL);
	pipe_reader_drain(&reader); /* its writer still has it open: only what is there */
	assert_int_equal(reader.len, 40000);
	assert_true(reader.cut && reader.source);
	pipe_reader_finish(&reader);
	(void)close(ends[1]);
}

static void tail(void **state)
{
	struct world *world = *state;
	struct pipe_reader reader;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	pipe_reader_start(&reader, world->loop, ends[0], PIPE_KEEP_TAIL, 10, NULL);
	for (int i = 0; i < 30; i++) {
		assert_int_equal(write(ends[1], "abcdefghijklmnopqrstuvwxyz", (size_t)i % 26 + 1), i % 26 + 1);
		pipe_reader_drain(&reader);
		assert_int_equal(reader.data[reader.len - 1], 'a' + i % 26);
		assert_true(reader.len <= 10);
	}
	assert_memory_equal(reader.data, "aababcabcd", 10); /* the last ten of "a", "ab", "abc", "abcd" */
	pipe_reader_finish(&reader);
	(void)close(ends[1]);
}

static void refused(struct world *world, const char *args, enum err_code code, const char *path, const char *words)
{
	struct call call;

	exec_json(&call, world, args);
	if (call.rc != -1 || call.e.code != code || strcmp(call.e.path, path) != 0 || !strstr(call.e.msg, words))
		fail_msg("%s: %d %d %s %s", args, call.rc, (int)call.e.code, call.e.path, call.e.msg);
	discard(&call);
}

static void refusals(void **state)
{
	struct world *world = *state;
	auto_free char *big = util_zalloc(200001);
	json_auto_t *args = json_object();

	refused(world, "{\"argv\":[\"no-such-program\"]}", ERR_NOT_FOUND, "/argv/0", "no program \"no-such-program\" is in PATH");
	refused(world, "{\"argv\":[\"/no/such\"]}", ERR_NOT_FOUND, "/argv/0", "\"/no/such\" is not there");
	refused(world, "{\"argv\":[\"/etc/passwd\"]}", ERR_BAD_FIELD, "/argv/0", "may run");
	refused(world, "{\"argv\":[\"/\"]}", ERR_BAD_FIELD, "/argv/0", "may run");
	refused(world, "{\"argv\":[\"true\"],\"cwd\":\"/no/such\"}", ERR_NOT_FOUND, "/cwd", "not there");
	refused(world, "{\"argv\":[\"true\"],\"cwd\":\"/etc/passwd\"}", ERR_BAD_FIELD, "/cwd", "not a folder");
	refused(world, "{\"argv\":[\"true\"],\"cwd\":\"tmp\"}", ERR_BAD_FIELD, "/cwd", "absolute");
	refused(world, "{\"argv\":[\"\"]}", ERR_BAD_FIELD, "/argv/0", "empty");
	refused(world, "{\"argv\":[\"true\"],\"env\":{\"A-B\":\"\"}}", ERR_BAD_FIELD, "/env", "variable");
	memset(big, 'a', 200000);
	json_object_set_new(args, "argv", json_pack("[s,s]", "true", big));
	auto_free char *text = json_dumps(args, 0);
	refused(world, text, ERR_BAD_FIELD, "/argv", "at most 98304");
}

/* The form of the row itself: what is refused before anything runs. */
static void form(void **state)
{
	static const struct {
		const char *args, *path, *words;
	} rows[] = {
		{"{\"argv\":\"ls -l\"}", "/argv", "[\"sh\",\"-c\",\"LINE\"]"},
		{"{\"argv\":[]}", "/argv", "1 to 1024"},
		{"{\"argv\":[1]}", "/argv/0", "string"},
		{"{\"argv\":[\"a\\u0000b\"]}", "/argv/0", "NUL"},
		{"{\"argv\":[\"a\"],\"env\":{\"A\":\"\\u0000\"}}", "/env/A", "NUL"},
		{"{\"argv\":[\"a\"],\"timeout_ms\":0}", "/timeout_ms", "1 to 300000"},
		{"{\"argv\":[\"a\"],\"shell\":true}", "/shell", "not a field"},
		{"{}", "/argv", "required"},
	};
	const struct action_set set = {.rows = apps_rows, .n_rows = apps_n_rows};
	const struct action_set *found;
	const struct action_row *row = action_find(&set, 1, "exec", &found);

	(void)state;
	assert_non_null(row);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *args = json_loads(rows[i].args, JSON_ALLOW_NUL, NULL);
		struct err e;

		assert_int_equal(form_check(&row->form, args, "", NULL, &e), -1);
		if (strcmp(e.path, rows[i].path) != 0 || !strstr(e.msg, rows[i].words))
			fail_msg("%s: %s %s", rows[i].args, e.path, e.msg);
	}
}

static void many_at_once(void **state)
{
	enum { N = 100 };
	static struct call calls[N];

	for (int i = 0; i < N; i++) {
		auto_free char *args = util_printf("{\"argv\":[\"sh\",\"-c\",\"cat; exit %d\"],\"stdin\":\"%d\"}", i, i);

		begin(&calls[i], *state, args);
	}
	for (int i = 0; i < N; i++) {
		auto_free char *text = util_printf("%d", i);

		finish(&calls[i]);
		assert_int_equal(calls[i].rc, 0);
		assert_string_equal(text_of(&calls[i], "stdout"), text);
		assert_int_equal(json_integer_value(json_object_get(calls[i].result, "exit_code")), i);
		discard(&calls[i]);
	}
}

static void init_dies(void **state)
{
	struct world *world = *state;
	struct call call;

	begin(&call, world, "{\"argv\":[\"sleep\",\"60\"]}");
	for (int i = 0; i < 20; i++)
		loop_turn(world->loop, 10);
	assert_int_equal(kill(world->jail.pid, SIGKILL), 0);
	finish(&call);
	assert_int_equal(call.rc, -1);
	assert_int_equal(call.e.code, ERR_GONE);
	assert_int_equal(world->n_gone, 1);
	discard(&call);
	exec_json(&call, world, "{\"argv\":[\"true\"]}");
	assert_int_equal(call.e.code, ERR_GONE);
	discard(&call);
	assert_int_equal(waitpid(world->jail.pid, NULL, 0), world->jail.pid);
}

/* A world whose init is this test; returns its end of the link. */
static int fake_world(struct world *world)
{
	const struct spawner_ops ops = {.gone = on_gone, .arg = world};
	int ends[2];

	*world = (struct world){.loop = loop_create(NULL)};
	world->x.loop = world->loop;
	world->apps.x = &world->x;
	assert_int_equal(environment_create(&world->apps.environment, NULL, NULL), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	world->apps.spawner = spawner_create(world->loop, ends[0], &ops);
	return ends[1];
}

static void end_fake_world(struct world *world, int end)
{
	spawner_destroy(world->apps.spawner);
	environment_finish(&world->apps.environment);
	loop_turn(world->loop, 0);
	loop_destroy(world->loop);
	(void)close(end);
}

/* What an init says that lies. Whatever breaks the protocol ends the link, once, and the call with it. */
static void says(const void *record, size_t len)
{
	const struct init_report ready = {.op = INIT_READY};
	struct world world;
	struct call call;
	int end = fake_world(&world);

	assert_int_equal(ipc_send(end, &ready, sizeof(ready), NULL, 0, NULL), 0);
	begin(&call, &world, "{\"argv\":[\"true\"]}");
	loop_turn(world.loop, 0);
	loop_turn(world.loop, 0);
	assert_int_equal(ipc_send(end, record, len, NULL, 0, NULL), 0);
	finish(&call);
	if (call.rc != -1 || call.e.code != ERR_GONE || world.n_gone != 1)
		fail_msg("op %u, %zu bytes: rc %d, code %d, gone %d", *(const uint32_t *)record, len, call.rc, (int)call.e.code, world.n_gone);
	discard(&call);
	end_fake_world(&world, end);
}

static void hostile_init(void **state)
{
	const struct init_report reports[] = {
		{.op = INIT_SPAWNED, .tag = 99, .pid = 5},  {.op = INIT_SPAWNED, .tag = 1, .pid = 0},  {.op = INIT_SPAWNED, .tag = 1, .pid = -1},
		{.op = INIT_EXITED, .tag = 1, .status = 0}, {.op = INIT_EXITED, .tag = 7},             {.op = INIT_READY},
		{.op = INIT_SPAWN, .tag = 1},               {.op = 77},                                {.op = INIT_LAUNCHED},
	};
	struct init_launch launches[] = {{.op = INIT_LAUNCH, .name = ""}, {.op = INIT_LAUNCH, .name = "../sh"}, {.op = INIT_LAUNCH}, {.op = 3}};
	const struct init_launch good = {.op = INIT_LAUNCH, .name = "editor"};

	(void)state;
	memset(launches[2].name, 'a', sizeof(launches[2].name));
	for (size_t i = 0; i < ARRAY_LEN(reports); i++)
		says(&reports[i], sizeof(reports[i]));
	for (size_t i = 0; i < ARRAY_LEN(launches); i++)
		says(&launches[i], sizeof(launches[i]));
	for (size_t len = 4; len < sizeof(good); len += 9)
		says(&good, len);
}

/* An init that does not read, and does not answer: calls end at their limits. */
static void silent_init(void **state)
{
	static struct call calls[40];
	struct world world;
	int end = fake_world(&world);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		auto_free char *args = util_printf("{\"argv\":[\"true\",\"%*d\"]}", 60000, 1); /* fills the link */

		begin(&calls[i], &world, args);
		calls[i].limit_ms = 300;
	}
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		finish(&calls[i]);
		assert_int_equal(calls[i].e.code, ERR_TIMEOUT);
		assert_in_range(calls[i].took_ms, 300, LIMIT_KILL_MS + PATIENCE_MS);
		discard(&calls[i]);
	}
	end_fake_world(&world, end);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(results),
		IN_WORLD(nul_is_kept),
		IN_WORLD(signals),
		IN_WORLD(much_input),
		IN_WORLD(much_output),
		IN_WORLD(own_time_limit),
		IN_WORLD(time_limit_of_the_call),
		IN_WORLD(cancel),
		IN_WORLD(cancel_at_once),
		IN_WORLD(a_child_that_keeps_the_pipes),
		IN_WORLD(drain),
		IN_WORLD(tail),
		IN_WORLD(refusals),
		IN_WORLD(many_at_once),
		IN_WORLD(init_dies),
		cmocka_unit_test(form),
		cmocka_unit_test(hostile_init),
		cmocka_unit_test(silent_init),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
