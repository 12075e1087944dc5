/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which field gets the keys. The stage says which process has them; what other apps say of focus does not count. An app's own word of its
 * focus is asked for again before it is told; an app that said none (Chromium keeps quiet about the first click) is searched.
 */
#include <string.h>
#include <sys/param.h>

#include "apps/access/desk.h"
#include "session/base/util.h"

#define FOCUS_MS 2000
#define TICK_MS 100       /* terminals tell nobody that they stop to echo */
#define RETRY_MIN_MS 250  /* what is not known is looked for again, twice as long after each time */
#define RETRY_MAX_MS 8000
#define DEAF_MS 1000      /* an app that is not listened to */
#define KEPT_MS 1000      /* then the address of its page, and whether it is in this window, are looked at again */
#define TO_FRAME 200      /* steps up from a field to its window */
#define TO_DOCUMENT 40    /* steps up from a field to its page */

static bool leads_to_focus(const struct find *find, const struct seen *seen)
{
	(void)find;
	return seen_is(seen, STATE_SHOWING);
}

static bool is_focused(const struct find *find, const struct seen *seen)
{
	(void)find;
	return seen_is(seen, STATE_FOCUSED);
}

/* Text fields of Qt have the focus together with a filler in them. */
static void prefer_field(struct desk *desk, int64_t deadline_ms, struct seen *node)
{
	struct ref parent;
	struct seen up;

	if (node->role == ROLE_FILLER &&
	    atspi_take_ref(atspi_get(&desk->a11y, node->app, &node->ref, ATSPI_ACCESSIBLE, "Parent"), node->app, deadline_ms, &parent) &&
	    atspi_see(&desk->a11y, node->app, &parent, deadline_ms, &up) && seen_is(&up, STATE_FOCUSED) && seen_is(&up, STATE_EDITABLE))
		*node = up;
}

/* Is it in another window of the app? Each of Qt has a node that says it has the focus. */
static bool is_elsewhere(struct desk *desk, const struct seen *node, const struct seen *frame, int64_t deadline_ms)
{
	struct ref at = node->ref, up;

	for (int i = 0; i < TO_FRAME && strcmp(at.path, frame->ref.path) != 0; i++) {
		if (!atspi_take_ref(atspi_get(&desk->a11y, node->app, &at, ATSPI_ACCESSIBLE, "Parent"), node->app, deadline_ms, &up))
			return false;
		if (strcmp(up.path, node->app->root.path) == 0)
			return true;
		at = up;
	}
	return false;
}

/* The node of the app that has its focus. */
static bool find_focus(struct desk *desk, struct app *app, const struct access_target *target, int64_t deadline_ms, struct seen *out)
{
	const struct find find = {.leads = leads_to_focus, .fits = is_focused};
	struct ref said = app->focused;
	struct seen frame;

	if (!desk_frame(desk, app, target, deadline_ms, &frame, NULL))
		return false;
	if (said.path[0] && atspi_see(&desk->a11y, app, &said, deadline_ms, out) && seen_is(out, STATE_FOCUSED) &&
	    !is_elsewhere(desk, out, &frame, deadline_ms))
		return true;
	if (!find_below(desk, &find, &frame, deadline_ms, out))
		return false;
	app->focused = out->ref;
	return true;
}

/*
 * Listening to events has Qt take each key to the registry and back, and post it to itself: a key is then not read when a ping is answered, and an app
 * that waits for events while it handles a Return has the letters behind it first. Nothing listens while such an app has the keys; its focus is
 * looked at from time to time.
 */
static bool lends_keys(struct app *const *apps, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any |= apps[i]->lends_keys;
	return any;
}

/* The page's address: an attribute of the document, that browsers name in two ways. */
static bool read_url(struct call *call, int64_t deadline_ms, char out[LIMIT_NODE_URL_BYTES + 1])
{
	DBusMessage *reply = bus_take(call, deadline_ms);
	DBusMessageIter iter, item, pair;

	if (!reply)
		return false;
	if (dbus_message_iter_init(reply, &iter) && dbus_message_iter_get_arg_type(&iter) == DBUS_TYPE_ARRAY) {
		dbus_message_iter_recurse(&iter, &item);
		for (; dbus_message_iter_get_arg_type(&item) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&item)) {
			const char *key, *value;

			dbus_message_iter_recurse(&item, &pair);
			if (dbus_message_iter_get_arg_type(&pair) != DBUS_TYPE_STRING)
				break;
			dbus_message_iter_get_basic(&pair, &key);
			if (!dbus_message_iter_next(&pair) || dbus_message_iter_get_arg_type(&pair) != DBUS_TYPE_STRING)
				break;
			dbus_message_iter_get_basic(&pair, &value);
			if ((strcmp(key, "DocURL") == 0 || strcmp(key, "URI") == 0) && value[0])
				(void)atspi_copy(out, LIMIT_NODE_URL_BYTES, value);
		}
	}
	dbus_message_unref(reply);
	return out[0] != '\0';
}

static void find_url(struct desk *desk, const struct seen *node, int64_t deadline_ms, char out[LIMIT_NODE_URL_BYTES + 1])
{
	struct ref at = node->ref;
	uint32_t role = node->role;

	for (int i = 0; i < TO_DOCUMENT; i++) {
		struct call *parent;
		int32_t next;

		if (desk_is_document(role) && read_url(atspi_call(&desk->a11y, node->app, &at, ATSPI_DOCUMENT, "GetAttributes"), deadline_ms, out))
			return;
		parent = atspi_get(&desk->a11y, node->app, &at, ATSPI_ACCESSIBLE, "Parent");
		if (!atspi_take_ref(parent, node->app, deadline_ms, &at) ||
		    !atspi_take_int(atspi_call(&desk->a11y, node->app, &at, ATSPI_ACCESSIBLE, "GetRole"), deadline_ms, &next))
			return;
		role = (uint32_t)MAX(next, 0);
	}
}

static void keep(struct desk *desk, const struct access_target *target, const struct seen *node, const struct access_told *told)
{
	desk->kept.target = *target;
	desk->kept.node = node->ref;
	memcpy(desk->kept.url, told->url, sizeof(told->url));
	desk->kept.until_ms = util_now_ms() + KEPT_MS;
}

/* The app that is kept a node of, if that had the focus of this window a moment ago and the app has not said otherwise. */
static struct app *kept_app(struct desk *desk, const struct access_target *target)
{
	bool fits = util_now_ms() < desk->kept.until_ms && memcmp(&desk->kept.target, target, sizeof(*target)) == 0;
	struct app *app = fits ? desk_app(desk, desk->kept.node.name) : NULL;

	return app && strcmp(app->focused.path, desk->kept.node.path) == 0 ? app : NULL;
}

/* False: it is to be looked for. */
static bool look_at_kept(struct desk *desk, const struct access_target *target, int64_t deadline_ms, struct access_told *told)
{
	struct app *app = kept_app(desk, target);
	struct ref ref = desk->kept.node;
	struct seen node;

	if (!app)
		return false;
	memcpy(told->url, desk->kept.url, sizeof(told->url)); /* another question may keep another node meanwhile */
	told->has_node = atspi_see(&desk->a11y, app, &ref, deadline_ms, &node) && seen_is(&node, STATE_FOCUSED) && !desk_may_hide(&node);
	if (told->has_node)
		desk_item(desk, &node, target, &told->node);
	else
		told->url[0] = '\0';
	return told->has_node;
}

static void look_for_node(struct desk *desk, const struct access_target *target, int64_t deadline_ms, struct access_told *told)
{
	struct app *apps[LIMIT_ACCESS_APPS];
	size_t n = desk_apps(desk, target->pid, deadline_ms, apps);

	service_listen(desk, !lends_keys(apps, n), deadline_ms);
	for (size_t i = 0; i < n && !told->has_node; i++) {
		struct seen node;

		if (!find_focus(desk, apps[i], target, deadline_ms, &node)) {
			told->late |= apps[i]->peer.hung;
			continue;
		}
		prefer_field(desk, deadline_ms, &node);
		if (desk_may_hide(&node))
			return;
		told->has_node = true;
		desk_item(desk, &node, target, &told->node);
		find_url(desk, &node, deadline_ms, told->url);
		keep(desk, target, &node, told);
	}
}

static void look(struct desk *desk, const struct access_target *target, struct access_told *told)
{
	int64_t deadline_ms = util_now_ms() + FOCUS_MS;

	*told = (struct access_told){.window = target->window, .pid = target->pid};
	if (target->window == 0 || target->pid == 0)
		return;
	tty_look(target->pid, &told->terminal, &told->prompt);
	if (!look_at_kept(desk, target, deadline_ms, told))
		look_for_node(desk, target, deadline_ms, told);
	told->known = told->has_node || told->terminal;
	told->late = !told->known && (told->late || !desk->ready || util_now_ms() >= deadline_ms);
}

static bool is_active(const struct desk *desk, const struct access_target *target)
{
	return desk->active.window == target->window && desk->active.pid == target->pid;
}

static void on_tick(void *arg);

/* Keeps what was found, and tells it as an answer or as news. */
static void tell(struct desk *desk, const struct access_target *target, const struct access_told *told, uint32_t question)
{
	struct access_record record = {.op = ACCESS_FOCUSED, .question = question, .focus = *told};
	bool active = is_active(desk, target);
	bool news = active && memcmp(&desk->told, told, sizeof(*told)) != 0;

	if (active)
		desk->told = *told;
	if (question != 0 || news)
		desk_tell(&record);
	if (!active || desk->tick)
		return;
	if (told->terminal)
		desk->tick = loop_at(desk->loop, util_now_ms() + TICK_MS, on_tick, desk);
	else if (!told->known && target->pid != 0) {
		desk->retry_ms = MIN(2 * desk->retry_ms, RETRY_MAX_MS);
		desk->tick = loop_at(desk->loop, util_now_ms() + desk->retry_ms, on_tick, desk);
	} else if (!desk->listens) {
		desk->tick = loop_at(desk->loop, util_now_ms() + DEAF_MS, on_tick, desk);
	}
}

static void on_tick(void *arg)
{
	struct desk *desk = arg;
	struct access_target target = desk->active;
	struct access_told told = desk->told;

	desk->tick = NULL;
	if (target.pid == 0 || told.pid != target.pid)
		return;
	if (!told.terminal) {
		if (!told.known || !desk->listens)
			focus_again(desk);
		return;
	}
	tty_look(target.pid, &told.terminal, &told.prompt);
	told.known = told.has_node || told.terminal;
	tell(desk, &target, &told, 0);
}

static void warm_up(void *arg)
{
	struct desk *desk = arg;
	const struct access_target target = desk->active;

	find_warm(desk, &target);
	desk->n_asks--;
}

/* Once for each window that becomes active, as soon as its app is known: a browser comes to the bus after its window. */
static void warm(struct desk *desk)
{
	const struct app *app = desk->apps;

	while (app && (app->gone || app->pid != desk->active.pid))
		app = app->next;
	if (!desk->cold || desk->active.pid == 0 || !app)
		return;
	desk->cold = false;
	desk->n_asks++;
	(void)co_start(desk->loop, warm_up, desk);
}

static void look_on(void *arg)
{
	struct desk *desk = arg;

	desk->n_asks++;
	do {
		struct access_target target = desk->active;
		struct access_told told;

		desk->look_again = false;
		look(desk, &target, &told);
		tell(desk, &target, &told, 0);
		warm(desk);
	} while (desk->look_again);
	desk->looks = false;
	desk->n_asks--;
}

void focus_again(struct desk *desk)
{
	desk->look_again = true;
	if (desk->looks)
		return;
	desk->looks = true;
	(void)co_start(desk->loop, look_on, desk);
}

void focus_event(struct desk *desk, struct app *app, const char *path, bool gained)
{
	if (strlen(path) > LIMIT_NODE_PATH_BYTES)
		return;
	if (gained) {
		(void)strcpy(app->focused.name, app->peer.name);
		(void)strcpy(app->focused.path, path);
	} else if (strcmp(app->focused.path, path) == 0) {
		app->focused.path[0] = '\0';
	}
	if (app->pid != 0 && app->pid == desk->active.pid)
		focus_again(desk);
}

void focus_run(struct desk *desk, const struct access_record *ask)
{
	struct access_told told;

	if (!is_active(desk, &ask->target)) {
		desk->retry_ms = RETRY_MIN_MS;
		desk->cold = true;
	}
	desk->active = ask->target;
	look(desk, &ask->target, &told);
	tell(desk, &ask->target, &told, ask->question);
	warm(desk);
}
