/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps */
/*
 * Launch and windows against a real X server, window manager and glovebox-init, without a jail. The apps are shell lines; the window that
 * they show is this program itself: `test_launch window TITLE [CLASS
 * [FILE]]`, which has the title "after" a little after FILE is there.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "apps/state.h"
#include "session/base/limits.h"
#include "tests/unit/jail.h"
#include "tests/x/xserver.h"

/* $W shows a window until it is killed. */
static const struct {
	const char *name, *class_name, *line;
} APPS[] = {
	{"plain", "", "exec $W plain"},
	{"wrapper", "", "$W wrapper & wait"},
	{"detached", "", "setsid $W detached Detached & exit 0"},
	{"by-class", "Other", "setsid $W other Other & exit 0"},
	{"background", "", "$W background & exit 0"},
	{"single", "Single", "if [ -e $T/single ]; then touch $T/asked; exit 0; fi; touch $T/single; exec $W single Single"},
	{"retitled", "", "if [ -e $T/title ]; then touch $T/more; exit 0; fi; touch $T/title; $W before Plain $T/more"},
	{"again", "", "if [ -e $T/again ]; then touch $T/more; exit 0; fi; touch $T/again; $W one & "
                      "while [ ! -e $T/more ]; do sleep 0.02; done; sleep 0.1; exec $W two"},
	{"starts", "", "(while [ ! -e $T/starts ]; do sleep 0.02; done; exec $W theirs) & exec $W mine"},
	{"quits", "", "echo first >&2; echo 'its last words: ä' >&2; exit 3"},
	{"crashes", "", "kill -SEGV $$"},
	{"never", "", "echo $$ >$T/never; exec sleep 60"},
	{"noisy", "", "while :; do echo noise >&2; done & exec $W noisy"},
	{"long", "", "exec $W $(head -c 3000 /dev/zero | tr '\\0' x)"},
	{"bytes", "", "exec $W $(printf 'a\\377\\300\\200b') $(printf 'k\\351')"},
};

struct world {
	struct jail jail;
	struct xserver server;
	struct loop *loop;
	struct xconn x;
	struct apps *apps;
	char folder[32];
	/* A call and its result. */
	const char *app;
	int64_t limit_ms;
	json_t *result;
	int rc;
	struct err e;
};

static void quiet(void *arg)
{
	(void)arg;
}

/* Apps start in the home folder of a session: where there is none, one is mounted for this test alone. */
static bool has_home(void)
{
	if (access(ENVIRONMENT_HOME, X_OK) == 0)
		return true;
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("home", "/home", "tmpfs", MS_NOSUID, NULL) == 0 && mkdir(ENVIRONMENT_HOME, 0755) == 0;
}

static json_t *manifest(const struct world *world)
{
	json_t *list = json_array();
	char self[256] = "";

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	for (size_t i = 0; i < ARRAY_LEN(APPS); i++) {
		auto_free char *line = util_printf("W='%s window'; T=%s; export DISPLAY=%s; %s", self, world->folder, world->server.display, APPS[i].line);

		json_array_append_new(list, json_pack("{s:s,s:s,s:[s,s,s]}", "name", APPS[i].name, "class", APPS[i].class_name, "argv", "sh", "-c",
		                                      line));
	}
	return json_pack("{s:o}", "apps", list);
}

static void create(void *arg)
{
	struct world *world = arg;
	const struct apps_ops ops = {.init_gone = NULL};
	json_auto_t *apps = manifest(world);
	xcb_atom_t list, type = XCB_NONE;

	/* The window manager manages once its list is on the root; it overlooks windows that come while it starts. */
	assert_int_equal(xconn_atom(&world->x, "_NET_CLIENT_LIST", &list, NULL), 0);
	while (type == XCB_NONE) {
		auto_free char *data = NULL;
		size_t len;
		int format;

		assert_int_equal(xconn_property(&world->x, world->x.root, list, 4, &data, &len, &type, &format, NULL), 0);
		assert_int_equal(co_wait_until(util_now_ms() + 5, NULL), 0);
	}
	if (apps_create(&world->apps, &world->x, world->jail.stage, open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), world->jail.pid, apps,
	                NULL, (const uint8_t[16]){0}, &ops, &world->e) < 0)
		fail_msg("%s", world->e.msg);
}

static int set_up(void **state)
{
	struct world *world = util_zalloc(sizeof(*world));

	(void)snprintf(world->folder, sizeof(world->folder), "/tmp/test-launch-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	xserver_start(&world->server, 800, 600);
	xserver_start_manager(&world->server);
	jail_start(&world->jail);
	world->loop = loop_create(NULL);
	if (xconn_open(&world->x, world->loop, world->server.display, NULL, quiet, NULL, &world->e) < 0)
		fail_msg("%s", world->e.msg);
	xserver_run(world->loop, create, world);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;
	auto_free char *remove = util_printf("rm -r %s", world->folder);

	apps_destroy(world->apps);
	loop_turn(world->loop, 0);
	loop_turn(world->loop, 0);
	jail_finish(&world->jail);
	xconn_close(&world->x);
	xserver_stop(&world->server); /* takes every window's program with it */
	loop_destroy(world->loop);
	json_decref(world->result);
	assert_int_equal(system(remove), 0);
	free(world);
	return 0;
}

static const struct action_row *row(const char *name)
{
	const struct action_set set = {.rows = apps_rows, .n_rows = apps_n_rows};
	const struct action_set *found;

	return action_find(&set, 1, name, &found);
}

static void launch_in_coroutine(void *arg)
{
	struct world *world = arg;

	world->rc = apps_launch(world->apps, world->app, NULL, util_now_ms() + world->limit_ms, world->result, &world->e);
}

static void launch(struct world *world, const char *app, int64_t limit_ms)
{
	json_decref(world->result);
	world->result = json_object();
	world->app = app;
	world->limit_ms = limit_ms;
	xserver_run(world->loop, launch_in_coroutine, world);
}

static void list_in_coroutine(void *arg)
{
	struct world *world = arg;
	struct action_run run = {
		.home = world->apps, .result = json_object(), .deadline_ms = util_now_ms() + 5000, .space = {400, 300}, .native = {800, 600}};

	if (row("windows")->run(&run, &world->e) < 0)
		fail_msg("%s", world->e.msg);
	json_decref(world->result);
	world->result = json_incref(json_object_get(run.result, "windows"));
	json_decref(run.result);
}

/* The window with this id in a fresh list. */
static const json_t *window_of(struct world *world, json_int_t id)
{
	const json_t *window;
	size_t i;

	xserver_run(world->loop, list_in_coroutine, world);
	json_array_foreach(world->result, i, window)
		if (json_integer_value(json_object_get(window, "id")) == id)
			return window;
	fail_msg("no window %lld in the list", (long long)id);
	return NULL;
}

/* Launches and returns its window. */
static const json_t *launched(struct world *world, const char *app)
{
	launch(world, app, 20000);
	if (world->rc < 0)
		fail_msg("%s: %s", app, world->e.msg);
	assert_true(json_integer_value(json_object_get(world->result, "pid")) > 1);
	return window_of(world, json_integer_value(json_object_get(world->result, "window")));
}

static void expect_title(const json_t *window, const char *title)
{
	assert_string_equal(json_string_value(json_object_get(window, "title")), title);
}

static void expect_app(const json_t *window, const char *app)
{
	if (app)
		assert_string_equal(json_string_value(json_object_get(window, "app")), app);
	else
		assert_true(json_is_null(json_object_get(window, "app")));
}

static void by_process(void **state)
{
	struct world *world = *state;
	const json_t *window;

	expect_title(launched(world, "plain"), "plain");
	window = launched(world, "wrapper");
	expect_title(window, "wrapper");
	expect_app(window, "wrapper");
	expect_title(launched(world, "background"), "background");
	expect_title(launched(world, "noisy"), "noisy");
	/* A second one of the same is another window of another process. */
	window = launched(world, "plain");
	expect_title(window, "plain");
	assert_int_equal(json_array_size(world->result), 5);
}

/* A program that an app starts is nobody's, and the agent's. */
static void started_by_an_app(void **state)
{
	struct world *world = *state;
	const json_t *window = launched(world, "starts");
	auto_free char *mark = util_printf("%s/starts", world->folder);

	expect_app(window, "starts");
	assert_string_equal(json_string_value(json_object_get(window, "group")), "apps");
	util_close_fd(&(int){creat(mark, 0600)});
	while (json_array_size(world->result) < 2)
		xserver_run(world->loop, list_in_coroutine, world);
	for (size_t i = 0; i < 2; i++) {
		bool mine = strcmp(json_string_value(json_object_get(json_array_get(world->result, i), "title")), "mine") == 0;

		window = json_array_get(world->result, i);
		expect_app(window, mine ? "starts" : NULL);
		assert_string_equal(json_string_value(json_object_get(window, "group")), mine ? "apps" : "agent");
	}
}

static void by_class(void **state)
{
	struct world *world = *state;
	const json_t *window = launched(world, "by-class");

	expect_title(window, "other");
	expect_app(window, NULL); /* a class is only what a window says */
	launch(world, "detached", 20000);
	assert_int_equal(world->e.code, ERR_SESSION_FAILED);
	assert_non_null(strstr(world->e.msg, "exit code 0"));
}

static void handed_over(void **state)
{
	struct world *world = *state;
	json_int_t first = json_integer_value(json_object_get(launched(world, "single"), "id"));
	const json_t *window = launched(world, "single");
	int64_t start_ms;

	assert_int_equal(json_integer_value(json_object_get(window, "id")), first);
	/* One whose title changes is known by that, long before the wait for a new one is over. */
	first = json_integer_value(json_object_get(launched(world, "retitled"), "id"));
	start_ms = util_now_ms();
	window = launched(world, "retitled");
	assert_true(util_now_ms() - start_ms < 2500);
	assert_int_equal(json_integer_value(json_object_get(window, "id")), first);
	expect_title(window, "after");
	/* One that shows a new window for it, a little later. */
	first = json_integer_value(json_object_get(launched(world, "again"), "id"));
	window = launched(world, "again");
	assert_int_not_equal(json_integer_value(json_object_get(window, "id")), first);
	expect_title(window, "two");
	expect_app(window, "again");
}

static void failures(void **state)
{
	struct world *world = *state;

	launch(world, "quits", 20000);
	assert_int_equal(world->rc, -1);
	assert_int_equal(world->e.code, ERR_SESSION_FAILED);
	assert_string_equal(world->e.msg, "quits ended without a window (exit code 3): first\nits last words: ä");
	launch(world, "crashes", 20000);
	assert_string_equal(world->e.msg, "crashes ended without a window (signal 11): it said nothing");
	launch(world, "nothing", 20000);
	assert_int_equal(world->e.code, ERR_BAD_FIELD);
}

/* At its limit the program is killed, so that nothing half started stays. */
static void time_limit(void **state)
{
	struct world *world = *state;
	auto_free char *path = util_printf("%s/never", world->folder);
	auto_free char *text = NULL;
	auto_fd fd = -1;
	int64_t limit_ms;

	launch(world, "never", 500);
	assert_int_equal(world->e.code, ERR_TIMEOUT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(util_read_file(fd, 100, &text) > 0);
	for (limit_ms = util_now_ms() + 5000; kill(atoi(text), 0) == 0; loop_turn(world->loop, 10))
		assert_true(util_now_ms() < limit_ms);
}

static void cancel(void **state)
{
	struct world *world = *state;
	struct co *co;

	world->app = "never";
	world->limit_ms = 20000;
	world->rc = 1;
	co = co_start(world->loop, launch_in_coroutine, world);
	for (int64_t until_ms = util_now_ms() + 300; util_now_ms() < until_ms;)
		loop_turn(world->loop, 10);
	assert_int_equal(world->rc, 1);
	co_cancel(co);
	for (int i = 0; i < 3; i++)
		loop_turn(world->loop, 0);
	assert_int_equal(world->rc, -1);
	assert_int_equal(world->e.code, ERR_CANCELLED);
}

static void facts(void **state)
{
	struct world *world = *state;
	const json_t *window = launched(world, "plain");
	json_int_t width = json_integer_value(json_object_get(window, "width"));

	assert_string_equal(json_string_value(json_object_get(window, "class")), "Plain");
	assert_string_equal(json_string_value(json_object_get(window, "layer")), "normal");
	assert_int_equal(json_array_size(json_object_get(window, "state")), 0);
	assert_in_range(width, 59, 61); /* 120 pixels of a display of twice the space */
}

/* What is typed right after a launch is for the new window, not for the one that had the keys before. */
static void gets_the_keys(void **state)
{
	for (int i = 0; i < 12; i++)
		assert_true(json_is_true(json_object_get(launched(*state, "plain"), "focused")));
}

static void hostile(void **state)
{
	struct world *world = *state;
	const json_t *window = launched(world, "bytes");

	expect_title(window, "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" "b");
	assert_string_equal(json_string_value(json_object_get(window, "class")), "ké");
	window = launched(world, "long");
	assert_int_equal(json_string_length(json_object_get(window, "title")), LIMIT_TITLE_BYTES);
}

/* A list made while windows come and go: whole entries, no failure. */
static void vanishing(void **state)
{
	struct world *world = *state;
	char self[256] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	auto_free char *line = util_printf("while :; do timeout 0.05 %s window x; done", self);
	pid_t pid = n > 0 ? fork() : -1;
	size_t seen = 0;

	if (pid == 0) {
		(void)setpgid(0, 0);
		(void)setenv("DISPLAY", world->server.display, 1);
		(void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(99);
	}
	for (int64_t until_ms = util_now_ms() + 1500; util_now_ms() < until_ms; loop_turn(world->loop, 1)) {
		const json_t *window;
		size_t i;

		xserver_run(world->loop, list_in_coroutine, world);
		json_array_foreach(world->result, i, window)
			seen += json_integer_value(json_object_get(window, "width")) == 60;
	}
	assert_int_equal(kill(-pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(seen > 0);
}

/* glovebox-launch, from outside of the stage's own calls. */
static void launcher(void **state)
{
	struct world *world = *state;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		(void)setenv("GLOVEBOX_LAUNCH_SOCKET", world->jail.door, 1);
		jail_exec("glovebox-launch", "plain");
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		loop_turn(world->loop, 10);
	assert_int_equal(status, 0);
	xserver_run(world->loop, list_in_coroutine, world);
	assert_int_equal(json_array_size(world->result), 1);
	expect_app(json_array_get(world->result, 0), "plain");
}

/* The session ends while a caller of the launcher waits. */
static void end_while_launching(void **state)
{
	struct world *world = *state;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		(void)setenv("GLOVEBOX_LAUNCH_SOCKET", world->jail.door, 1);
		jail_exec("glovebox-launch", "never");
	}
	while (!world->apps->calls || !world->apps->launched)
		loop_turn(world->loop, 10);
	apps_destroy(steal_ptr(&world->apps));
	loop_turn(world->loop, 0);
	loop_turn(world->loop, 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 1);
}

static void set_text(xcb_connection_t *xcb, xcb_window_t window, xcb_atom_t property, xcb_atom_t type, const char *text, size_t len)
{
	xcb_change_property(xcb, XCB_PROP_MODE_REPLACE, window, property, type, 8, (uint32_t)len, text);
}

/* The app: a window with this title and class, until the display or a signal ends it. */
static int show_window(const char *title, const char *class_name, const char *file)
{
	xcb_connection_t *xcb = xcb_connect(NULL, NULL);

	if (xcb_connection_has_error(xcb))
		return 1;
	const xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(xcb)).data;
	xcb_window_t window = xcb_generate_id(xcb);
	auto_free char *both = util_printf("instance/%s/", class_name);
	size_t len = strlen(both);
	auto_free xcb_intern_atom_reply_t *name = xcb_intern_atom_reply(xcb, xcb_intern_atom(xcb, 0, 12, "_NET_WM_NAME"), NULL);
	auto_free xcb_intern_atom_reply_t *utf8 = xcb_intern_atom_reply(xcb, xcb_intern_atom(xcb, 0, 11, "UTF8_STRING"), NULL);
	xcb_generic_event_t *event;

	for (size_t i = 0; i < len; i++)
		both[i] = both[i] == '/' ? '\0' : both[i];
	xcb_create_window(xcb, XCB_COPY_FROM_PARENT, window, screen->root, 10, 10, 120, 80, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
	                  XCB_COPY_FROM_PARENT, 0, NULL);
	set_text(xcb, window, name->atom, utf8->atom, title, strlen(title));
	set_text(xcb, window, XCB_ATOM_WM_CLASS, XCB_ATOM_STRING, both, len);
	xcb_map_window(xcb, window);
	xcb_flush(xcb);
	while (file && access(file, F_OK) < 0)
		(void)poll(NULL, 0, 20);
	if (file) {
		(void)poll(NULL, 0, 200);
		set_text(xcb, window, name->atom, utf8->atom, "after", 5);
		xcb_flush(xcb);
	}
	while ((event = xcb_wait_for_event(xcb)))
		free(event);
	return 0;
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(by_process), IN_WORLD(started_by_an_app), IN_WORLD(by_class),  IN_WORLD(handed_over), IN_WORLD(failures), IN_WORLD(time_limit),
		IN_WORLD(cancel),     IN_WORLD(facts),     IN_WORLD(hostile),     IN_WORLD(vanishing), IN_WORLD(launcher),
		IN_WORLD(gets_the_keys), IN_WORLD(end_while_launching),
	};

	if (argc > 2 && strcmp(argv[1], "window") == 0)
		return show_window(argv[2], argc > 3 ? argv[3] : "Plain", argc > 4 ? argv[4] : NULL);
	if (!has_home()) {
		(void)fprintf(stderr, "test_launch: " ENVIRONMENT_HOME " is not there and cannot be mounted\n");
		return getenv("CI") != NULL;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
