/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The apps folder on an X server of its own. */
#include "tests/x/desk.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"

#define CALL_MS 20000
#define PATIENCE_MS 20000

static void on_lost(void *arg)
{
	(void)arg;
}

/* The window manager manages once its list is on the root; it overlooks windows that come while it starts. */
static void create(void *arg)
{
	struct desk *desk = arg;
	const struct apps_ops ops = {.init_gone = NULL};
	json_auto_t *manifest = json_pack("{s:[]}", "apps");
	xcb_atom_t list, type = XCB_NONE;

	assert_int_equal(xconn_atom(&desk->x, "_NET_CLIENT_LIST", &list, NULL), 0);
	while (type == XCB_NONE) {
		auto_free char *data = NULL;
		size_t len;
		int format;

		assert_int_equal(xconn_property(&desk->x, desk->x.root, list, 4, &data, &len, &type, &format, NULL), 0);
		assert_int_equal(co_wait_until(util_now_ms() + 5, NULL), 0);
	}
	if (apps_create(&desk->apps, &desk->x, desk->jail.stage, open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), desk->jail.pid, manifest,
	                NULL, (const uint8_t[16]){0}, &ops, &desk->e) < 0)
		fail_msg("%s", desk->e.msg);
	/* And it has begun to: it answers from the loop in which it takes new windows. */
	assert_int_equal(wm_wait(&desk->apps->wm, util_now_ms() + PATIENCE_MS, NULL), 0);
}

int desk_set_up(void **state)
{
	struct desk *desk = util_zalloc(sizeof(*desk));

	desk->space = (struct space){DESK_WIDTH, DESK_HEIGHT};
	xserver_start(&desk->server, DESK_WIDTH, DESK_HEIGHT);
	xserver_start_manager(&desk->server);
	jail_start(&desk->jail);
	desk->loop = loop_create(NULL);
	if (xconn_open(&desk->x, desk->loop, desk->server.display, NULL, on_lost, NULL, &desk->e) < 0)
		fail_msg("%s", desk->e.msg);
	xserver_run(desk->loop, create, desk);
	desk->client = desk_connect(desk);
	desk->root = desk->x.root;
	*state = desk;
	return 0;
}

int desk_tear_down(void **state)
{
	struct desk *desk = *state;

	/* A test that failed left them. */
	for (size_t i = 0; i < desk->n_others; i++)
		if (kill(desk->others[i], SIGKILL) == 0)
			(void)waitpid(desk->others[i], NULL, 0);
	xcb_disconnect(desk->client);
	apps_destroy(desk->apps);
	loop_turn(desk->loop, 0);
	loop_turn(desk->loop, 0);
	jail_finish(&desk->jail);
	xconn_close(&desk->x);
	xserver_stop(&desk->server);
	loop_destroy(desk->loop);
	json_decref(desk->result);
	free(desk);
	return 0;
}

xcb_connection_t *desk_connect(const struct desk *desk)
{
	xcb_connection_t *client = xcb_connect(desk->server.display, NULL);

	assert_int_equal(xcb_connection_has_error(client), 0);
	return client;
}

struct call {
	struct desk *desk;
	const struct action_row *row;
	json_t *args;
};

static void run(void *arg)
{
	const struct call *call = arg;
	struct desk *desk = call->desk;
	const struct space native = {DESK_WIDTH, DESK_HEIGHT};
	const struct bounds bounds = {desk->space, native};
	struct action_run run = {.home = desk->apps, .args = call->args, .asked = call->args, .result = desk->result,
	                         .deadline_ms = util_now_ms() + CALL_MS, .space = desk->space, .native = native};

	desk->rc = form_check(&call->row->form, call->args, "", &bounds, &desk->e);
	if (desk->rc == 0 && call->row->check)
		desk->rc = call->row->check(desk->apps, call->args, &desk->e);
	if (desk->rc == 0)
		desk->rc = call->row->run(&run, &desk->e);
}

void desk_try(struct desk *desk, const char *action)
{
	const struct action_set set = {apps_rows, apps_n_rows, desk->apps}, *found;
	json_auto_t *args = json_loads(action, 0, NULL);
	struct call call = {desk, action_find(&set, 1, form_string(args, "action", ""), &found), args};
	int64_t start_ms = util_now_ms();

	if (!args || !call.row)
		fail_msg("no such action: %s", action);
	json_object_del(args, "action");
	json_decref(desk->result);
	desk->result = json_object();
	desk->e = (struct err){0};
	xserver_run(desk->loop, run, &call);
	desk->took_ms = util_now_ms() - start_ms;
}

void desk_act(struct desk *desk, const char *action)
{
	desk_try(desk, action);
	if (desk->rc < 0)
		fail_msg("%s: %s: %s", action, desk->e.path, desk->e.msg);
}

void desk_try_on(struct desk *desk, const char *action, xcb_window_t window)
{
	auto_free char *text = util_printf("{\"window\":%u,%s}", window, action);

	desk_try(desk, text);
}

void desk_act_on(struct desk *desk, const char *action, xcb_window_t window)
{
	desk_try_on(desk, action, window);
	if (desk->rc < 0)
		fail_msg("%s: %s: %s", action, desk->e.path, desk->e.msg);
}

const json_t *desk_find(struct desk *desk, const char *list, xcb_window_t id)
{
	const json_t *window;
	size_t i;

	desk_act(desk, "{\"action\":\"windows\"}");
	json_array_foreach(json_object_get(desk->result, list), i, window)
		if (desk_int(window, "id") == (int)id)
			return window;
	return NULL;
}

const json_t *desk_window(struct desk *desk, xcb_window_t id)
{
	const int64_t until_ms = util_now_ms() + PATIENCE_MS;
	const json_t *window;

	/* Listed, and shown: the window manager lists it a little before. */
	while (!(window = desk_find(desk, "windows", id)) ||
	       (strcmp(desk_text(window, "visible"), "none") == 0 && json_array_size(json_object_get(window, "hidden_by")) == 0))
		if (util_now_ms() > until_ms)
			fail_msg("window %u does not come", id);
	return window;
}

int desk_int(const json_t *object, const char *name)
{
	return (int)json_integer_value(json_object_get(object, name));
}

const char *desk_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

xcb_atom_t desk_atom(xcb_connection_t *client, const char *name)
{
	auto_free xcb_intern_atom_reply_t *reply =
		xcb_intern_atom_reply(client, xcb_intern_atom(client, 0, (uint16_t)strlen(name), name), NULL);

	assert_non_null(reply);
	return reply->atom;
}

void desk_set(xcb_connection_t *client, xcb_window_t window, const char *property, const char *type, int format, const void *data, size_t n)
{
	xcb_change_property(client, XCB_PROP_MODE_REPLACE, window, desk_atom(client, property), desk_atom(client, type), (uint8_t)format,
	                    (uint32_t)n, data);
}

static void set_atom(xcb_connection_t *client, xcb_window_t window, const char *property, const char *word)
{
	auto_free char *name = util_printf("%s_%s", property, word);
	const xcb_atom_t atom = desk_atom(client, name);

	desk_set(client, window, property, "ATOM", 32, &atom, 1);
}

static void set_hints(xcb_connection_t *client, xcb_window_t window, const struct desk_look *look)
{
	uint32_t hints[18] = {0};

	hints[0] = (look->at_place ? 1U : 0) | (look->min_width ? 1U << 4 : 0) | (look->step ? 1U << 6 : 0);
	hints[5] = (uint32_t)look->min_width;
	hints[6] = (uint32_t)look->min_height;
	hints[9] = hints[10] = (uint32_t)look->step;
	desk_set(client, window, "WM_NORMAL_HINTS", "WM_SIZE_HINTS", 32, hints, ARRAY_LEN(hints));
}

xcb_window_t desk_create(xcb_connection_t *client, xcb_window_t root, const struct desk_look *look)
{
	const uint32_t values[] = {look->colour, look->alone};
	xcb_window_t window = xcb_generate_id(client);

	xcb_create_window(client, XCB_COPY_FROM_PARENT, window, root, (int16_t)look->x, (int16_t)look->y, (uint16_t)look->width,
	                  (uint16_t)look->height, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT,
	                  XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT, values);
	if (look->type)
		set_atom(client, window, "_NET_WM_WINDOW_TYPE", look->type);
	if (look->state)
		set_atom(client, window, "_NET_WM_STATE", look->state);
	if (look->of)
		desk_set(client, window, "WM_TRANSIENT_FOR", "WINDOW", 32, &look->of, 1);
	if (look->title)
		desk_set(client, window, "_NET_WM_NAME", "UTF8_STRING", 8, look->title, strlen(look->title));
	set_hints(client, window, look);
	return window;
}

xcb_window_t desk_show(struct desk *desk, xcb_connection_t *client, const struct desk_look *look)
{
	xcb_window_t window = desk_create(client, desk->root, look);

	xcb_map_window(client, window);
	desk_sync(client);
	if (!look->alone)
		(void)desk_window(desk, window);
	return window;
}

void desk_sync(xcb_connection_t *client)
{
	auto_free xcb_get_input_focus_reply_t *reply = xcb_get_input_focus_reply(client, xcb_get_input_focus(client), NULL);

	assert_non_null(reply);
}

pid_t desk_other_program(struct desk *desk, const struct desk_look *look, xcb_window_t *window)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		xcb_connection_t *client = xcb_connect(desk->server.display, NULL);
		xcb_window_t made = desk_create(client, desk->root, look);

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		xcb_map_window(client, made);
		desk_sync(client);
		(void)!write(ends[1], &made, sizeof(made));
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0 && desk->n_others < ARRAY_LEN(desk->others));
	desk->others[desk->n_others++] = pid;
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], window, sizeof(*window)), sizeof(*window));
	(void)close(ends[0]);
	return pid;
}

void desk_end_program(struct desk *desk, pid_t pid)
{
	size_t i = 0;

	while (i < desk->n_others && desk->others[i] != pid)
		i++;
	assert_true(i < desk->n_others);
	desk->others[i] = desk->others[--desk->n_others];
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}
