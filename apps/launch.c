/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The action launch: an app of the catalogue, from its start to its window.
 *
 * The window is known by the process of its X client, not by what it says. When the program has handed over to one that already runs, and
 * ended well, it is a window of that one: a new one, or one that got a new title, or in the end any.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "apps/state.h"
#include "apps/text.h"
#include "apps/windows.h"
#include "session/base/limits.h"
#include "session/base/util.h"

/* A program that ended well may have left the window to another one, which then needs a moment to show it. */
#define HANDOVER_MS 5000
/* With windows of the same app there already: how long a new one, or a new title of one of these, is waited for. A busy Firefox takes a
 * second or more to open a window. */
#define NEW_WINDOW_MS 3000
#define LOOK_AGAIN_MS 50 /* titles are looked at so often meanwhile: other clients' windows send us no events */
/* A new window is there before the window manager has given it the keys: what was typed between went to the window that had them. */
#define FOCUS_MS 1000

const char *apps_name_of(const struct apps *apps, int pid)
{
	for (const struct launched *launched = apps->launched; launched; launched = launched->next)
		if (launched->process->pid == pid)
			return launched->app->name;
	return NULL;
}

const struct catalogue_app *launch_row_of(const struct apps *apps, const struct owner_line *line)
{
	for (const struct launched *launched = apps->launched; launched; launched = launched->next)
		if (owner_is(line, launched->process->pid))
			return launched->app;
	return NULL;
}

bool launch_is_itself(const struct apps *apps, const struct owner_line *line, uint64_t started)
{
	for (const struct launched *launched = apps->launched; launched; launched = launched->next)
		if (owner_is(line, launched->process->pid))
			return launched->app->trusted || line->of[0].pid == launched->process->pid ||
			       (line->of[0].pid == launched->shown_pid && started == launched->shown_started);
	return false;
}

static void forget(struct launched **place)
{
	struct launched *launched = *place;

	*place = launched->next;
	pipe_reader_finish(&launched->err);
	spawner_release(launched->process);
	free(launched);
}

void launch_sweep(struct apps *apps, bool all)
{
	for (struct launched **place = &apps->launched; *place;)
		if (all || ((*place)->process->ended && !(*place)->err.source && !(*place)->waited))
			forget(place);
		else
			place = &(*place)->next;
}

/* One launch that is going on. */
struct launching {
	struct apps *apps;
	struct launched *launched;
	xcb_window_t *before; /* windows that were there */
	size_t n_before;
	int64_t ended_ms;     /* when the program ended, or 0 */
	struct windows first; /* all as they were at the first look after that; list NULL until then */
	/* What was found. */
	xcb_window_t window;
	int pid; /* in the app jail; 0 if its process is not in it any more */
	uint64_t started;
};

static int start_program(struct launching *launching, const struct catalogue_app *app, const json_t *args, int64_t deadline_ms, struct err *e)
{
	struct apps *apps = launching->apps;
	struct spawn spawn = {
		.group = app->terminal ? INIT_GROUP_AGENT : INIT_GROUP_APPS,
		.trusted = app->trusted,
		.runs = (char *const *)(uintptr_t)app->runs, /* only read */
		.folder = ENVIRONMENT_HOME,
		.env = apps->environment.list,
		.pipes = INIT_PIPE_STDERR,
		.changed = &apps->changed,
	};
	struct process *process;
	struct err why;
	struct environment environment = {.n = 0};
	char **argv;
	int rc;

	if (catalogue_argv(app, args, &argv, e) < 0)
		return -1;
	if (app->trusted) {
		environment_trust(&environment, &apps->environment);
		spawn.env = environment.list;
	}
	spawn.argv = argv;
	rc = spawner_start(apps->spawner, &spawn, deadline_ms, &process, &why);
	catalogue_free_argv(argv);
	environment_finish(&environment);
	if (rc < 0 && (why.code == ERR_NOT_FOUND || why.code == ERR_BAD_FIELD))
		return err_set(e, ERR_SESSION_FAILED, NULL, "%s could not be started: %s", app->name, why.msg);
	if (rc < 0) {
		if (e)
			*e = why;
		return -1;
	}
	launching->launched = util_zalloc(sizeof(*launching->launched));
	*launching->launched = (struct launched){.next = apps->launched, .app = app, .process = process, .waited = true};
	apps->launched = launching->launched;
	pipe_reader_start(&launching->launched->err, apps->x->loop, steal_fd(&process->err), PIPE_KEEP_TAIL, LIMIT_STDERR_TAIL_BYTES, NULL);
	return 0;
}

static bool was_there(const struct launching *launching, xcb_window_t id)
{
	for (size_t i = 0; i < launching->n_before; i++)
		if (launching->before[i] == id)
			return true;
	return false;
}

/* A window of the same app, started earlier: by its process, or by the class that the catalogue gives. */
static bool is_same_app(const struct launching *launching, const struct window *window, const struct owner_line *line)
{
	const struct catalogue_app *app = launching->launched->app;

	return launch_row_of(launching->apps, line) == app || (app->class_name[0] != '\0' && strcmp(window->class_name, app->class_name) == 0);
}

/* How well a window fits, from worst to best. An old one that changed its title after the hand-over has got what was handed over. */
enum match { MATCH_NONE, MATCH_OLD, MATCH_CHANGED, MATCH_NEW };

static bool has_changed(const struct launching *launching, const struct window *window)
{
	for (size_t i = 0; i < launching->first.n; i++)
		if (launching->first.list[i].id == window->id && !launching->first.list[i].gone)
			return strcmp(launching->first.list[i].title, window->title) != 0;
	return false;
}

static enum match match(const struct launching *launching, const struct window *window, bool handed_over, const struct owner_line *line)
{
	bool ours = owner_descends(line, launching->launched->process->pid) || (handed_over && is_same_app(launching, window, line));

	if (!ours || window->gone || window->kind == WINDOW_SPLASH)
		return MATCH_NONE;
	if (!was_there(launching, window->id))
		return MATCH_NEW;
	return has_changed(launching, window) ? MATCH_CHANGED : MATCH_OLD;
}

/* Looks through the windows, top first, for the best one: among the new ones, and when the program has handed over, among all. */
static int look(struct launching *launching, enum match *best, struct err *e)
{
	const struct process *process = launching->launched->process;
	bool handed_over = process->ended && process->exit_code == 0;
	auto_free xcb_window_t *ids = NULL;
	struct windows windows;
	size_t n, kept = 0;

	*best = MATCH_NONE;
	if (windows_ids(launching->apps->x, &ids, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (handed_over || !was_there(launching, ids[i]))
			ids[kept++] = ids[i];
	if (kept == 0)
		return 0;
	if (windows_describe(launching->apps->x, ids, kept, &windows, e) < 0)
		return -1;
	for (size_t i = 0; i < windows.n; i++) {
		struct owner_line line;
		enum match found;

		owner_read(&launching->apps->proc, windows.list[i].outer_pid, &line);
		found = match(launching, &windows.list[i], handed_over, &line);
		if (found <= *best)
			continue;
		*best = found;
		launching->window = windows.list[i].id;
		launching->pid = line.n > 0 ? line.of[0].pid : 0;
		launching->started = owner_started(&launching->apps->proc, windows.list[i].outer_pid);
	}
	if (handed_over && !launching->first.list)
		launching->first = windows;
	else
		windows_finish(&windows);
	return 0;
}

/* Its end, and what it said last. */
static int failed(struct launching *launching, struct err *e)
{
	const struct process *process = launching->launched->process;
	struct pipe_reader *err = &launching->launched->err;
	char how[48];
	size_t len;

	pipe_reader_drain(err);
	auto_free char *text = text_name(err->data, err->len, false, LIMIT_STDERR_TAIL_BYTES, &len);
	while (len > 0 && strchr(" \n\r\t", text[len - 1]))
		text[--len] = '\0';
	if (process->exit_code >= 0)
		(void)snprintf(how, sizeof(how), "exit code %d", process->exit_code);
	else
		(void)snprintf(how, sizeof(how), "signal %d", process->signo);
	/* The message holds less than the tail: its end is what matters. */
	const char *last = text + (len > 160 ? len - 160 : 0);
	while (((unsigned char)*last & 0xC0) == 0x80)
		last++;
	return err_set(e, ERR_SESSION_FAILED, NULL, "%s ended without a window (%s): %s", launching->launched->app->name, how,
	               len > 0 ? last : "it said nothing");
}

/* The program has ended. 0 if its window may still come, until *until_ms; 1 if the one that was found will do; -1 if it has failed. */
static int judge_end(struct launching *launching, enum match best, int64_t *until_ms, struct err *e)
{
	struct process *process = launching->launched->process;

	if (spawner_wait_end(process, 0, e) < 0)
		return -1; /* not it alone: the jail is dead */
	if (process->exit_code != 0)
		return failed(launching, e);
	if (launching->ended_ms == 0)
		launching->ended_ms = util_now_ms();
	*until_ms = launching->ended_ms + (best == MATCH_OLD ? NEW_WINDOW_MS : HANDOVER_MS);
	if (util_now_ms() >= *until_ms)
		return best == MATCH_OLD ? 1 : failed(launching, e);
	if (best == MATCH_OLD)
		*until_ms = MIN(*until_ms, util_now_ms() + LOOK_AGAIN_MS);
	return 0;
}

/* Until the window is there. Whatever changed while we looked is looked at again: no change is slept over. */
static int wait_for_window(struct launching *launching, int64_t deadline_ms, struct err *e)
{
	struct apps *apps = launching->apps;
	const struct process *process = launching->launched->process;

	for (;;) {
		uint64_t seen = apps->changes;
		bool ended = process->ended;
		int64_t until_ms = deadline_ms;
		enum match best;
		struct err why;

		if (look(launching, &best, e) < 0)
			return -1;
		if (best >= MATCH_CHANGED)
			return 0;
		if (util_now_ms() >= deadline_ms)
			return err_set(e, ERR_TIMEOUT, NULL, "%s showed no window in time and was ended", launching->launched->app->name);
		if (seen != apps->changes || ended != process->ended)
			continue;
		if (ended) {
			int verdict = judge_end(launching, best, &until_ms, e);

			if (verdict != 0)
				return verdict > 0 ? 0 : -1;
		}
		if (co_wait_event(&apps->changed, MIN(until_ms, deadline_ms), &why) < 0 && why.code != ERR_TIMEOUT) {
			if (e)
				*e = why;
			return -1;
		}
	}
}

/* Is nothing to be waited for: the window, its dialog or another new window has the keys, or it is of a kind that does not get them? */
static int has_settled(const struct launching *launching, struct err *e)
{
	auto_free xcb_window_t *ids = NULL;
	const struct window *window;
	struct windows now;
	size_t n;

	if (windows_ids(launching->apps->x, &ids, &n, e) < 0 || windows_describe(launching->apps->x, ids, n, &now, e) < 0)
		return -1;
	window = windows_find(&now, launching->window);
	bool settled = !window || !windows_takes_keys(window) || (windows_find(&now, now.active) && !was_there(launching, now.active));
	windows_finish(&now);
	return settled;
}

/* Until a new window has the keys, so that what is typed next is for it; FOCUS_MS at most, since not every window takes them. */
static int wait_for_focus(const struct launching *launching, int64_t deadline_ms, struct err *e)
{
	struct apps *apps = launching->apps;
	int rc;

	if (was_there(launching, launching->window))
		return 0;
	deadline_ms = MIN(deadline_ms, util_now_ms() + FOCUS_MS);
	for (;;) {
		uint64_t seen = apps->changes;
		struct err why;

		rc = has_settled(launching, e);
		if (rc != 0 || util_now_ms() >= deadline_ms)
			return MIN(rc, 0);
		if (seen == apps->changes && co_wait_event(&apps->changed, MIN(deadline_ms, util_now_ms() + LOOK_AGAIN_MS), &why) < 0 &&
		    why.code != ERR_TIMEOUT) {
			if (e)
				*e = why;
			return -1;
		}
	}
}

static int launch(struct apps *apps, const struct catalogue_app *app, const json_t *args, int64_t deadline_ms, json_t *result, struct err *e)
{
	struct launching launching = {.apps = apps};
	auto_free xcb_window_t *before = NULL;
	size_t n_launched = 0;
	int rc;

	launch_sweep(apps, false);
	for (const struct launched *launched = apps->launched; launched; launched = launched->next)
		n_launched++;
	if (n_launched >= LIMIT_LAUNCHED)
		return err_set(e, ERR_LIMIT, NULL, "%zu launched programs run; at most %d", n_launched, LIMIT_LAUNCHED);
	if (windows_ids(apps->x, &before, &launching.n_before, e) < 0)
		return -1;
	launching.before = before;
	deadline_ms = MIN(deadline_ms, util_now_ms() + LIMIT_LAUNCH_MS);
	if (start_program(&launching, app, args, deadline_ms, e) < 0)
		return -1;
	rc = wait_for_window(&launching, deadline_ms, e);
	if (rc == 0) {
		launching.launched->shown_pid = launching.pid;
		launching.launched->shown_started = launching.started;
		rc = wait_for_focus(&launching, deadline_ms, e);
	}
	if (rc < 0) {
		/* Nothing half started is left behind. */
		spawner_signal(launching.launched->process, SIGKILL);
	} else {
		json_object_set_new(result, "pid", launching.pid > 0 ? json_integer(launching.pid) : json_null());
		json_object_set_new(result, "window", json_integer(launching.window));
	}
	windows_finish(&launching.first);
	launching.launched->waited = false;
	return rc;
}

int apps_launch(struct apps *apps, const char *name, const json_t *args, int64_t deadline_ms, json_t *result, struct err *e)
{
	const struct catalogue_app *app = catalogue_find(&apps->catalogue, name, e);

	return app ? launch(apps, app, args, deadline_ms, result, e) : -1;
}

int launch_check(void *home, const json_t *args, struct err *e)
{
	const struct apps *apps = home;
	const struct catalogue_app *app = catalogue_find(&apps->catalogue, form_string(args, "app", ""), e);

	return app ? catalogue_argv(app, json_object_get(args, "args"), NULL, e) : -1;
}

int launch_run(struct action_run *run, struct err *e)
{
	return apps_launch(run->home, form_string(run->args, "app", ""), json_object_get(run->args, "args"), run->deadline_ms, run->result, e);
}
