/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The node at a point. The app is asked; what it says is checked, since GTK 3 names nodes of hidden tabs. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "apps/access/desk.h"
#include "session/base/util.h"

#define AT_MS 2000
#define STEPS 32      /* down, by asking each for the one below it */
#define CLIMB 4       /* up, from a node without a name to one that has one */
#define SHORT_CLIMB 2 /* from a text to its field */
#define LOOKS 500     /* nodes of one level that are looked at when the app does not say */
#define PLACE_SCREEN 0
#define PLACE_WINDOW 1

static bool holds(const struct seen *seen, int x, int y)
{
	return seen->width > 0 && x >= seen->x && x < seen->x + seen->width && y >= seen->y && y < seen->y + seen->height;
}

static bool leads_to_point(const struct find *find, const struct seen *seen)
{
	return seen_is(seen, STATE_SHOWING) && (holds(seen, find->x, find->y) || seen->width == 0);
}

/* What menus and tooltips are made of: they hang on nodes of the window below, which hold the point as well. */
static bool is_of_popup(const struct seen *seen)
{
	static const uint32_t ROLES[] = {ROLE_CHECK_MENU_ITEM, ROLE_LIST_ITEM, ROLE_MENU, ROLE_MENU_ITEM, ROLE_POPUP_MENU, ROLE_RADIO_MENU_ITEM,
	                                 ROLE_TEAROFF_MENU_ITEM, ROLE_TOOL_TIP};

	for (size_t i = 0; i < ARRAY_LEN(ROLES); i++)
		if (ROLES[i] == seen->role)
			return true;
	return false;
}

static bool leads_to_popup(const struct find *find, const struct seen *seen)
{
	(void)find;
	return seen_is(seen, STATE_SHOWING);
}

static bool is_popup_at_point(const struct find *find, const struct seen *seen)
{
	return is_of_popup(seen) && seen_is(seen, STATE_SHOWING) && holds(seen, find->x, find->y);
}

static bool is_at_point(const struct find *find, const struct seen *seen)
{
	return seen_is(seen, STATE_SHOWING) && holds(seen, find->x, find->y);
}

/* One level of a search: the nodes that lead on, and what is asked about those below them. */
struct level {
	struct seen *nodes, *next; /* LOOKS each */
	struct children_call *calls; /* LOOKS */
	struct ref *below;         /* LOOKS + LIMIT_TREE_CHILDREN */
	struct looking *looking;   /* as many */
	size_t n, n_next, n_below;
};

/* The children of all nodes of the level, as far as there is room: the calls for them are under way together. */
static void list_below(struct desk *desk, struct level *level, int64_t deadline_ms)
{
	for (size_t i = 0; i < level->n; i++) {
		level->calls[i].n = 0;
		if (level->nodes[i].n_children <= LIMIT_TREE_CHILDREN)
			atspi_children(&desk->a11y, &level->nodes[i], LIMIT_TREE_CHILDREN, &level->calls[i]);
	}
	level->n_below = 0;
	for (size_t i = 0; i < level->n; i++) {
		struct ref *at = level->below + MIN(level->n_below, LOOKS);

		level->n_below = (size_t)(at - level->below) + atspi_children_take(&level->calls[i], level->nodes[i].app, deadline_ms, at);
	}
	level->n_below = MIN(level->n_below, LOOKS);
}

static bool look_below(struct desk *desk, const struct find *find, struct level *level, struct app *app, int64_t deadline_ms, struct seen *out)
{
	bool found = false;

	level->n_next = 0;
	for (size_t i = 0; i < level->n_below; i++)
		atspi_look(&desk->a11y, app, &level->below[i], &level->looking[i]);
	for (size_t i = 0; i < level->n_below; i++) {
		struct seen seen;

		if (!atspi_look_take(&level->looking[i], app, &level->below[i], deadline_ms, &seen))
			continue;
		if (find->fits(find, &seen)) {
			*out = seen;
			found = true;
		}
		if (find->leads(find, &seen))
			level->next[level->n_next++] = seen;
	}
	return found;
}

bool find_below(struct desk *desk, const struct find *find, const struct seen *from, int64_t deadline_ms, struct seen *out)
{
	struct level level = {
		.nodes = util_alloc(LOOKS * sizeof(*level.nodes)),
		.next = util_alloc(LOOKS * sizeof(*level.next)),
		.calls = util_alloc(LOOKS * sizeof(*level.calls)),
		.below = util_alloc((LOOKS + LIMIT_TREE_CHILDREN) * sizeof(*level.below)),
		.looking = util_alloc((LOOKS + LIMIT_TREE_CHILDREN) * sizeof(*level.looking)),
		.n = 1,
	};
	bool found = false;

	level.nodes[0] = *from;
	for (int depth = 0; level.n > 0 && depth < LIMIT_TREE_DEPTH && !from->app->peer.hung && util_now_ms() < deadline_ms; depth++) {
		struct seen *swap = level.nodes;

		list_below(desk, &level, deadline_ms);
		found |= look_below(desk, find, &level, from->app, deadline_ms, out);
		level.nodes = level.next;
		level.next = swap;
		level.n = level.n_next;
	}
	free(level.nodes);
	free(level.next);
	free(level.calls);
	free(level.below);
	free(level.looking);
	return found;
}

static struct call *ask_below(struct desk *desk, struct app *app, const struct ref *ref, int x, int y)
{
	DBusMessage *message = bus_message(ref->name, ref->path, ATSPI_COMPONENT, "GetAccessibleAtPoint");
	const int32_t at[2] = {x, y};
	uint32_t type = app->gtk4 ? PLACE_WINDOW : PLACE_SCREEN;

	if (!dbus_message_append_args(message, DBUS_TYPE_INT32, &at[0], DBUS_TYPE_INT32, &at[1], DBUS_TYPE_UINT32, &type, DBUS_TYPE_INVALID))
		DIE("no memory");
	return bus_send(&desk->a11y, &app->peer, message);
}

/* Down from the frame, about which `below` was asked, each step one round of calls. True: `out` is a node that is there to be seen. */
static bool descend(struct desk *desk, const struct seen *frame, struct call *below, int x, int y, int64_t deadline_ms, struct seen *out)
{
	struct ref at;

	*out = *frame;
	for (int i = 0; atspi_take_ref(below, frame->app, deadline_ms, &at) && strcmp(at.path, out->ref.path) != 0 && i < STEPS; i++) {
		struct looking looking;
		struct seen seen;

		atspi_look(&desk->a11y, frame->app, &at, &looking);
		below = ask_below(desk, frame->app, &at, x, y);
		if (!atspi_look_take(&looking, frame->app, &at, deadline_ms, &seen) || !holds(&seen, x, y) || !seen_is(&seen, STATE_SHOWING)) {
			bus_drop(below);
			return false;
		}
		*out = seen;
	}
	return strcmp(out->ref.path, frame->ref.path) != 0;
}

static bool is_leaf(const struct seen *seen)
{
	return seen->role == ROLE_STATIC || seen->role == ROLE_LABEL || seen->role == ROLE_PARAGRAPH || seen->role == ROLE_SECTION;
}

static struct call *ask_parent(struct desk *desk, struct app *app, const struct ref *ref)
{
	return atspi_get(&desk->a11y, app, ref, ATSPI_ACCESSIBLE, "Parent");
}

/*
 * A leaf without a name is told by the one above it that has one: the picture in a button. And a piece of text in a field by the field, since
 * its name is what was typed.
 */
static void climb(struct desk *desk, const struct seen *frame, int64_t deadline_ms, struct seen *node)
{
	struct seen up = *node;
	bool leaf = is_leaf(node);
	struct call *above = NULL;

	for (int i = 0; i < (node->name[0] ? SHORT_CLIMB : CLIMB) && (leaf || up.name[0] == '\0') && !(up.interfaces & HAS_VALUE); i++) {
		struct looking looking;
		struct ref parent;
		bool there;

		if (!is_leaf(&up) && (seen_is(&up, STATE_EDITABLE) || desk_is_password(&up)))
			break;
		if (!above)
			above = ask_parent(desk, up.app, &up.ref);
		there = atspi_take_ref(above, up.app, deadline_ms, &parent) && strcmp(parent.path, frame->ref.path) != 0;
		above = NULL;
		if (!there)
			break;
		atspi_look(&desk->a11y, node->app, &parent, &looking);
		above = ask_parent(desk, node->app, &parent);
		if (!atspi_look_take(&looking, node->app, &parent, deadline_ms, &up))
			break;
		if (up.role == ROLE_FRAME || up.role == ROLE_WINDOW || up.role == ROLE_DIALOG || desk_is_document(up.role))
			break;
		if (seen_is(&up, STATE_EDITABLE) || desk_is_password(&up) || (up.name[0] && !node->name[0]))
			*node = up;
	}
	bus_drop(above);
	if (is_leaf(node) && seen_is(node, STATE_EDITABLE))
		node->name[0] = '\0';
}

/* The frame of the window, and what is asked below it: at once, when it is the one that it was the last time. */
static bool find_frame(struct desk *desk, struct app *app, const struct access_record *ask, int x, int y, int64_t deadline_ms, struct seen *frame,
                       struct call **below)
{
	const struct ref guess = app->frame;

	*below = app->window != 0 && app->window == ask->target.window ? ask_below(desk, app, &guess, x, y) : NULL;
	if (!desk_frame(desk, app, &ask->target, deadline_ms, frame, NULL)) {
		bus_drop(*below);
		return false;
	}
	if (*below && strcmp(guess.path, frame->ref.path) == 0)
		return true;
	bus_drop(*below);
	*below = ask_below(desk, app, &frame->ref, x, y);
	return true;
}

/* A popup is told by another top node: the drop-downs of Chromium. */
static bool find_elsewhere(struct desk *desk, struct app *app, const struct access_record *ask, const struct find *popups, int64_t deadline_ms,
                           struct seen *out)
{
	auto_free struct tops *others = util_zalloc(sizeof(*others));
	struct seen frame;
	bool found = false;

	if (!desk_frame(desk, app, &ask->target, deadline_ms, &frame, others))
		return false;
	for (size_t i = 0; i < others->n && !found; i++)
		found = find_below(desk, popups, &others->list[i], deadline_ms, out);
	return found;
}

static bool find_at(struct desk *desk, struct app *app, const struct access_record *ask, int64_t deadline_ms, struct seen *out)
{
	int x = ask->x - (app->gtk4 ? ask->target.x : 0), y = ask->y - (app->gtk4 ? ask->target.y : 0);
	const struct find find = {.leads = leads_to_point, .fits = is_at_point, .x = x, .y = y};
	const struct find popups = {.leads = leads_to_popup, .fits = is_popup_at_point, .x = x, .y = y};
	struct call *below;
	struct seen frame;
	bool found;

	if (!find_frame(desk, app, ask, x, y, deadline_ms, &frame, &below))
		return false;
	found = descend(desk, &frame, below, x, y, deadline_ms, out);
	if (ask->target.popup)
		return (found && is_of_popup(out)) || find_below(desk, &popups, &frame, deadline_ms, out) || find_elsewhere(desk, app, ask, &popups, deadline_ms, out);
	if (!found && !find_below(desk, &find, &frame, deadline_ms, out))
		return false;
	if (out->role == ROLE_PAGE_TAB_LIST) { /* pages of GTK 3 have no place, and it finds nothing in them */
		struct seen list = *out;

		(void)find_below(desk, &find, &list, deadline_ms, out);
	}
	climb(desk, &frame, deadline_ms, out);
	return true;
}

void find_warm(struct desk *desk, const struct access_target *target)
{
	int64_t deadline_ms = util_now_ms() + AT_MS;
	struct app *apps[LIMIT_ACCESS_APPS];
	size_t n = target->pid != 0 ? desk_apps(desk, target->pid, deadline_ms, apps) : 0;
	struct ref node;
	struct seen frame;

	for (size_t i = 0; i < n; i++)
		if (!apps[i]->gtk4 && desk_frame(desk, apps[i], target, deadline_ms, &frame, NULL))
			(void)atspi_take_ref(ask_below(desk, apps[i], &frame.ref, target->x + target->width / 2, target->y + target->height / 2), apps[i],
			                     deadline_ms, &node);
}

void find_run(struct desk *desk, const struct access_record *ask)
{
	int64_t deadline_ms = util_now_ms() + AT_MS;
	struct access_record done = {.op = ACCESS_DONE, .question = ask->question};
	struct access_record told = {.op = ACCESS_NODE, .question = ask->question};
	struct app *apps[LIMIT_ACCESS_APPS];
	size_t n = desk_apps(desk, ask->target.pid, deadline_ms, apps);
	bool hung = false;

	for (size_t i = 0; i < n; i++) {
		struct seen seen;

		if (find_at(desk, apps[i], ask, deadline_ms, &seen)) {
			desk_item(desk, &seen, &ask->target, &told.item);
			desk_tell(&told);
			desk_tell(&done);
			return;
		}
		hung |= apps[i]->peer.hung;
	}
	if (hung)
		desk_fail(ask->question, ACCESS_SILENT, "the app does not answer");
	else
		desk_fail(ask->question, ACCESS_NOT_FOUND, "there is no accessible node at this point");
}
