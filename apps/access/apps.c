/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which apps there are, and which of their top nodes an X window is. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "apps/access/desk.h"
#include "session/base/util.h"

#define APPS_MS 1000      /* the registry's answer */
#define COMER_MS 2000     /* in which who has come to the bus tells the registry of itself */
#define LISTED_MS 2000    /* for which the registry's word is taken: under load an app that has come may tell of itself much later */
#define TITLE_POINTS 8    /* of a frame that has the window's title */
#define PLACE_POINTS 4    /* and its place */
#define SHOWING_POINTS 2
#define ACTIVE_POINTS 1
#define PLACE_SLACK_PX 64 /* of shadows and decorations that apps draw themselves */

struct app *desk_app(struct desk *desk, const char *name)
{
	for (struct app *app = desk->apps; app; app = app->next)
		if (!app->gone && strcmp(app->peer.name, name) == 0)
			return app;
	return NULL;
}

void desk_app_gone(struct desk *desk, const char *name)
{
	struct app *app = desk_app(desk, name);

	if (app) {
		app->gone = true;
		app->peer.hung = true;
	}
}

void desk_sweep(struct desk *desk, bool all)
{
	for (struct app **place = &desk->apps; *place && desk->n_asks == 0;) {
		struct app *app = *place;

		if (!all && !app->gone) {
			place = &app->next;
			continue;
		}
		*place = app->next;
		bus_forget(&desk->a11y, &app->peer);
		free(app);
	}
}

static size_t count_apps(const struct desk *desk)
{
	size_t n = 0;

	for (const struct app *app = desk->apps; app; app = app->next)
		n++;
	return n;
}

static struct app *add_app(struct desk *desk, const struct ref *root, bool guessed)
{
	struct app *app = desk_app(desk, root->name);

	if (app && app->guessed && !guessed) {
		app->root = *root;
		app->guessed = app->introduced = false;
	}
	if (app || count_apps(desk) >= LIMIT_ACCESS_APPS)
		return app;
	app = util_zalloc(sizeof(*app));
	*app = (struct app){.next = desk->apps, .root = *root, .guessed = guessed};
	(void)strcpy(app->peer.name, root->name);
	desk->apps = app;
	return app;
}

struct call *desk_ask_pid(struct desk *desk, const char *name)
{
	DBusMessage *message = bus_message(NULL, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "GetConnectionUnixProcessID");

	if (!dbus_message_append_args(message, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID))
		DIE("no memory");
	return bus_send(&desk->a11y, NULL, message);
}

static void introduce(struct desk *desk, struct app *app, int64_t deadline_ms)
{
	struct call *pid = desk_ask_pid(desk, app->peer.name);
	struct call *title = atspi_get(&desk->a11y, app, &app->root, ATSPI_ACCESSIBLE, "Name");
	struct call *toolkit = atspi_get(&desk->a11y, app, &app->root, "org.a11y.atspi.Application", "ToolkitName");
	struct call *version = atspi_get(&desk->a11y, app, &app->root, "org.a11y.atspi.Application", "Version");
	char name[16] = "", number[16] = "";

	if (!atspi_take_int(pid, deadline_ms, &app->pid))
		app->pid = 0;
	(void)atspi_take_text(title, deadline_ms, app->title, LIMIT_NODE_ROLE_BYTES, NULL);
	(void)atspi_take_text(toolkit, deadline_ms, name, sizeof(name) - 1, NULL);
	(void)atspi_take_text(version, deadline_ms, number, sizeof(number) - 1, NULL);
	app->lends_keys = strcmp(name, "Qt") == 0;
	app->gtk4 = strcmp(name, "GTK") == 0 && strncmp(number, "3.", 2) != 0;
	app->introduced = app->pid > 0 && !app->peer.hung;
}

/* Asks the registry who is there. */
static void refresh(struct desk *desk, int64_t deadline_ms)
{
	struct ref *list = util_alloc(LIMIT_TREE_CHILDREN * sizeof(*list));
	struct children_call calls = {.all = true, .n = 1};
	uint32_t n;

	calls.list = bus_send(&desk->a11y, NULL, bus_message(ATSPI_REGISTRY, ATSPI_ROOT, ATSPI_ACCESSIBLE, "GetChildren"));
	n = atspi_children_take(&calls, NULL, deadline_ms, list);
	for (uint32_t i = 0; i < n; i++)
		(void)add_app(desk, &list[i], false);
	free(list);
	for (struct app *app = desk->apps; app; app = app->next)
		if (!app->introduced && !app->gone)
			introduce(desk, app, deadline_ms);
}

/* The names on the bus, each as the root of an app; at most LIMIT_TREE_CHILDREN. */
static size_t list_names(struct desk *desk, int64_t deadline_ms, struct ref *list)
{
	DBusMessage *reply = bus_ask(&desk->a11y, NULL, bus_message(NULL, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "ListNames"), deadline_ms);
	char **names;
	size_t n = 0;
	int n_names;

	if (!reply)
		return 0;
	if (dbus_message_get_args(reply, NULL, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &names, &n_names, DBUS_TYPE_INVALID)) {
		for (int i = 0; i < n_names && n < LIMIT_TREE_CHILDREN; i++) {
			if (names[i][0] != ':' || strlen(names[i]) > BUS_NAME_BYTES || desk_app(desk, names[i]))
				continue;
			(void)strcpy(list[n].name, names[i]);
			(void)strcpy(list[n++].path, ATSPI_ROOT);
		}
		dbus_free_string_array(names);
	}
	dbus_message_unref(reply);
	return n;
}

/* Qt does not tell the registry of itself: then the bus says which of its clients the process is. */
static void find_by_pid(struct desk *desk, int pid, int64_t deadline_ms)
{
	struct ref *list = util_alloc(LIMIT_TREE_CHILDREN * sizeof(*list));
	struct call **calls = util_alloc(LIMIT_TREE_CHILDREN * sizeof(*calls));
	size_t n = list_names(desk, deadline_ms, list);

	for (size_t i = 0; i < n; i++)
		calls[i] = desk_ask_pid(desk, list[i].name);
	for (size_t i = 0; i < n; i++) {
		struct app *app;
		int32_t found;

		if (!atspi_take_int(calls[i], deadline_ms, &found) || found != pid)
			continue;
		app = add_app(desk, &list[i], true);
		if (app && !app->introduced)
			introduce(desk, app, deadline_ms);
	}
	free(calls);
	free(list);
}

static size_t of_pid(const struct desk *desk, int pid, struct app *list[LIMIT_ACCESS_APPS])
{
	size_t n = 0;

	for (struct app *app = desk->apps; app && n < LIMIT_ACCESS_APPS; app = app->next)
		if (!app->gone && (pid == 0 || app->pid == pid))
			list[n++] = app;
	return n;
}

void desk_comer(struct desk *desk)
{
	desk->n_comers++;
	desk->comer_ms = util_now_ms();
}

/* The registry, asked again, would say the same: nobody has come since, and all are known that it told of. */
static bool is_listed(const struct desk *desk)
{
	for (const struct app *app = desk->apps; app; app = app->next)
		if (!app->introduced && !app->gone)
			return false;
	return desk->listed && desk->n_listed == desk->n_comers && util_now_ms() < desk->listed_ms + LISTED_MS;
}

/* That the registry is about to be asked; who is not on the bus is looked for again after somebody has come. */
static void note_listing(struct desk *desk)
{
	if (!is_listed(desk))
		memset(&desk->absent, 0, sizeof(desk->absent));
	desk->listed_ms = util_now_ms();
	desk->listed = desk->listed_ms >= desk->comer_ms + COMER_MS;
	desk->n_listed = desk->n_comers;
}

static bool is_absent(const struct desk *desk, int pid)
{
	for (size_t i = 0; i < ABSENT; i++)
		if (desk->absent.pids[i] == pid)
			return is_listed(desk);
	return false;
}

static void note_absent(struct desk *desk, int pid)
{
	desk->absent.pids[desk->absent.next] = pid;
	desk->absent.next = (desk->absent.next + 1) % ABSENT;
}

/* All that is on the bus, by the registry's word or the bus's own. */
static size_t ask_for_apps(struct desk *desk, int pid, int64_t deadline_ms, struct app *list[LIMIT_ACCESS_APPS])
{
	unsigned int n_comers = desk->n_comers;
	size_t n;

	note_listing(desk);
	refresh(desk, deadline_ms);
	n = of_pid(desk, pid, list);
	if (n > 0 || pid == 0)
		return n;
	find_by_pid(desk, pid, deadline_ms);
	n = of_pid(desk, pid, list);
	if (n == 0 && desk->n_comers == n_comers)
		note_absent(desk, pid);
	return n;
}

size_t desk_apps(struct desk *desk, int pid, int64_t deadline_ms, struct app *list[LIMIT_ACCESS_APPS])
{
	size_t n = pid != 0 ? of_pid(desk, pid, list) : 0;
	bool sure = n > 0;

	for (size_t i = 0; i < n; i++)
		sure &= !list[i]->guessed;
	if (sure || (n > 0 && is_listed(desk)) || (n == 0 && pid != 0 && is_absent(desk, pid)))
		return n;
	return ask_for_apps(desk, pid, MIN(deadline_ms, util_now_ms() + APPS_MS), list);
}

bool desk_is_password(const struct seen *seen)
{
	return seen->role == ROLE_PASSWORD;
}

bool desk_is_document(uint32_t role)
{
	return role == ROLE_DOCUMENT_FRAME || (role >= ROLE_DOCUMENT_SPREADSHEET && role <= ROLE_DOCUMENT_EMAIL);
}

bool desk_may_hide(const struct seen *seen)
{
	return seen->app->gtk4 && (seen->role == ROLE_TEXT || seen->role == ROLE_ENTRY) && seen_is(seen, STATE_EDITABLE) &&
	       !seen_is(seen, STATE_MULTI_LINE);
}

static bool is_near(int a, int b)
{
	return a - b <= PLACE_SLACK_PX && b - a <= PLACE_SLACK_PX;
}

static int points(const struct seen *frame, const struct access_target *target)
{
	bool placed = frame->width > 0 && is_near(frame->width, target->width) && is_near(frame->height, target->height) &&
	              (frame->app->gtk4 || (is_near(frame->x, target->x) && is_near(frame->y, target->y)));

	return (target->title[0] && strcmp(frame->name, target->title) == 0 ? TITLE_POINTS : 0) + (placed ? PLACE_POINTS : 0) +
	       (seen_is(frame, STATE_SHOWING) ? SHOWING_POINTS : 0) + (seen_is(frame, STATE_ACTIVE) ? ACTIVE_POINTS : 0);
}

/* Title and place say so: no other one can fit better. */
static bool is_sure(int points)
{
	return points >= TITLE_POINTS + PLACE_POINTS + SHOWING_POINTS;
}

static bool is_same_frame(struct desk *desk, struct app *app, const struct access_target *target, int64_t deadline_ms, struct seen *out)
{
	struct seen seen;

	if (app->window == 0 || app->window != target->window || !atspi_see(&desk->a11y, app, &app->frame, deadline_ms, &seen) || !is_sure(points(&seen, target)))
		return false;
	*out = seen;
	return true;
}

/* The top nodes of the app: at most LIMIT_TREE_CHILDREN into list; returns how many. */
static uint32_t look_at_tops(struct desk *desk, struct app *app, int64_t deadline_ms, struct seen *list)
{
	auto_free struct ref *refs = util_alloc(LIMIT_TREE_CHILDREN * sizeof(*refs));
	auto_free struct looking *looking = NULL;
	struct seen root = {.app = app, .ref = app->root};
	struct children_call calls = {.n = 0};
	uint32_t n, n_seen = 0;
	int32_t count = 0;

	(void)atspi_take_int(atspi_get(&desk->a11y, app, &app->root, ATSPI_ACCESSIBLE, "ChildCount"), deadline_ms, &count);
	root.n_children = (uint32_t)MAX(count, 0);
	atspi_children(&desk->a11y, &root, LIMIT_TREE_CHILDREN, &calls);
	n = atspi_children_take(&calls, app, deadline_ms, refs);
	looking = util_alloc((n + 1) * sizeof(*looking));
	for (uint32_t i = 0; i < n; i++)
		atspi_look(&desk->a11y, app, &refs[i], &looking[i]);
	for (uint32_t i = 0; i < n; i++)
		n_seen += atspi_look_take(&looking[i], app, &refs[i], deadline_ms, &list[n_seen]);
	return n_seen;
}

/* A menu or a tooltip: those of Chromium are frames without a name. */
static bool is_popup(const struct seen *top)
{
	return seen_is(top, STATE_SHOWING) && top->width > 0 && (top->role == ROLE_WINDOW || top->name[0] == '\0');
}

static bool search_frame(struct desk *desk, struct app *app, const struct access_target *target, int64_t deadline_ms, struct seen *out, struct tops *others)
{
	auto_free struct seen *list = util_alloc(LIMIT_TREE_CHILDREN * sizeof(*list));
	uint32_t n = look_at_tops(desk, app, deadline_ms, list), best = n;
	int most = -1;

	for (uint32_t i = 0; i < n; i++)
		if (points(&list[i], target) > most) {
			most = points(&list[i], target);
			best = i;
		}
	/* GTK 4 has no places on the screen: what is no window of it by title or size, such as a menu's, cannot be told from others. */
	if (most < (app->gtk4 ? PLACE_POINTS : 0))
		return false;
	*out = list[best];
	if (is_sure(most)) {
		app->window = target->window;
		app->frame = out->ref;
	}
	for (uint32_t i = 0; others && i < n && others->n < TOPS; i++)
		if (i != best && (target->popup ? seen_is(&list[i], STATE_SHOWING) : is_popup(&list[i])))
			others->list[others->n++] = list[i];
	return true;
}

bool desk_frame(struct desk *desk, struct app *app, const struct access_target *target, int64_t deadline_ms, struct seen *out, struct tops *others)
{
	return (!others && is_same_frame(desk, app, target, deadline_ms, out)) || search_frame(desk, app, target, deadline_ms, out, others);
}

void desk_item(struct desk *desk, const struct seen *seen, const struct access_target *target, struct access_item *out)
{
	bool relative = seen->app->gtk4 && target;

	*out = (struct access_item){
		.id = nodes_id(desk->nodes, &seen->ref, seen->role),
		.pid = MAX(seen->app->pid, 0),
		.states = seen->states,
		.n_children = seen->n_children,
		.x = seen->x,
		.y = seen->y,
		.width = seen->width,
		.height = seen->height,
		.password = desk_is_password(seen),
		.editable = seen_is(seen, STATE_EDITABLE) || seen->role == ROLE_PASSWORD,
	};
	if (relative && seen->width > 0) {
		out->x += target->x;
		out->y += target->y;
	}
	(void)atspi_copy(out->role, LIMIT_NODE_ROLE_BYTES, atspi_role_name(seen->role));
	(void)strcpy(out->name, seen->name);
	atspi_trim(out->name);
}
