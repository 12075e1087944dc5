/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done to a node by its number. The node is looked at first, so that no other one is taken for it, and afterwards, for the answer. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "apps/access/desk.h"
#include "session/base/util.h"

#define CHANGE_MS 2000
#define SETTLE_MS 300 /* from the last change until what was set is taken for all that comes of it */
#define AGAIN_MS 10

/* The node of the question. False: it was answered that there is none. */
static bool find_node(struct desk *desk, const struct access_record *ask, int64_t deadline_ms, struct seen *out)
{
	struct app *app;
	struct ref ref;
	uint32_t role;

	if (!nodes_find(desk->nodes, ask->id, &ref, &role) || !(app = desk_app(desk, ref.name)) || app->gone) {
		desk_fail(ask->question, ACCESS_NOT_FOUND, "there is no node %u (any more); ask for the tree again", ask->id);
		return false;
	}
	if (atspi_see(&desk->a11y, app, &ref, deadline_ms, out) && out->role == role)
		return true;
	if (app->peer.hung)
		desk_fail(ask->question, ACCESS_SILENT, "the app of node %u does not answer", ask->id);
	else
		desk_fail(ask->question, ACCESS_NOT_FOUND, "there is no node %u any more; ask for the tree again", ask->id);
	return false;
}

/* What is written in the node, or the number that it stands at. */
static void read_value(struct desk *desk, const struct seen *seen, int64_t deadline_ms, struct access_item *item)
{
	int32_t count = 0;
	double value;

	item->text[0] = '\0';
	item->has_text = false;
	if (item->password || desk_may_hide(seen))
		return;
	if ((seen->interfaces & HAS_TEXT) && atspi_take_int(atspi_text_count(&desk->a11y, seen), deadline_ms, &count) && count > 0)
		item->has_text = atspi_text_take(atspi_text(&desk->a11y, seen, count), count, deadline_ms, item->text, &item->text_cut);
	else if ((seen->interfaces & HAS_VALUE) &&
	         atspi_take_double(atspi_get(&desk->a11y, seen->app, &seen->ref, ATSPI_VALUE, "CurrentValue"), deadline_ms, &value)) {
		(void)snprintf(item->text, sizeof(item->text), "%.10g", value);
		item->has_text = true;
	}
}

/* The start of a text, as read_value would give it. */
static void as_read(const char *text, char out[LIMIT_NODE_TEXT_BYTES + 1])
{
	(void)atspi_copy(out, LIMIT_NODE_TEXT_BYTES, text);
	atspi_strip(out);
}

/* The node as it is now. With `wanted`: when it holds that, or no longer changes; browsers set it a little after they have said so. */
static void look_again(struct desk *desk, const struct seen *before, const char *wanted, int64_t deadline_ms, struct access_item *item)
{
	int64_t until_ms = util_now_ms() + SETTLE_MS;
	char last[LIMIT_NODE_TEXT_BYTES + 1];
	struct seen now;

	if (!atspi_see(&desk->a11y, before->app, &before->ref, deadline_ms, &now))
		now = *before; /* it is gone by what was done */
	desk_item(desk, &now, NULL, item);
	item->x = item->y = item->width = item->height = 0; /* without its window, GTK 4's are not known */
	read_value(desk, &now, deadline_ms, item);
	while (wanted && strcmp(item->text, wanted) != 0 && util_now_ms() < MIN(until_ms, deadline_ms)) {
		(void)strcpy(last, item->text);
		(void)co_wait_until(util_now_ms() + AGAIN_MS, NULL);
		read_value(desk, &now, deadline_ms, item);
		if (strcmp(item->text, last) != 0)
			until_ms = util_now_ms() + SETTLE_MS;
	}
}

static void tell_item(const struct access_record *ask, const struct access_item *item)
{
	struct access_record record = {.op = ACCESS_NODE, .question = ask->question, .item = *item};

	desk_tell(&record);
	record = (struct access_record){.op = ACCESS_DONE, .question = ask->question};
	desk_tell(&record);
}

static void tell_node(struct desk *desk, const struct access_record *ask, const struct seen *before, const char *wanted, int64_t deadline_ms)
{
	struct access_item item;

	look_again(desk, before, wanted, deadline_ms, &item);
	tell_item(ask, &item);
}

/* The index of the action with this name, or of the first one; -1: there is none. */
static int32_t index_of(const char *list, const char *wanted)
{
	int32_t index = 0;

	if (wanted[0] == '\0')
		return 0;
	for (const char *at = list; *at; index++) {
		size_t len = strcspn(at, "\n");

		if (strlen(wanted) == len && strncmp(at, wanted, len) == 0)
			return index;
		at += len + (at[len] != '\0');
	}
	return -1;
}

static void in_one_line(char *list)
{
	for (; *list; list++)
		if (*list == '\n')
			*list = ',';
}

void change_press(struct desk *desk, const struct access_record *ask)
{
	int64_t deadline_ms = util_now_ms() + CHANGE_MS;
	char list[LIMIT_NODE_ACTIONS_BYTES + 1] = "";
	struct seen seen;
	int32_t index;
	int n = 0;
	bool done = false;

	if (!find_node(desk, ask, deadline_ms, &seen))
		return;
	if (seen.interfaces & HAS_ACTION)
		n = atspi_actions_take(atspi_call(&desk->a11y, seen.app, &seen.ref, ATSPI_ACTION, "GetActions"), deadline_ms, list);
	if (n == 0) {
		desk_fail(ask->question, ACCESS_REFUSED, "node %u (%s) has no actions; click on it", ask->id, atspi_role_name(seen.role));
		return;
	}
	index = index_of(list, ask->text);
	if (index < 0) {
		in_one_line(list);
		desk_fail(ask->question, ACCESS_REFUSED, "node %u (%s) has no such action; it has: %s", ask->id, atspi_role_name(seen.role), list);
		return;
	}
	if (!atspi_take_bool(atspi_call_ints(&desk->a11y, seen.app, &seen.ref, ATSPI_ACTION, "DoAction", 1, &index), deadline_ms, &done) || !done) {
		/* Apps that show a dialog by it may answer only once that is closed. */
		if (seen.app->peer.hung)
			desk_fail(ask->question, ACCESS_SILENT, "the app has not answered; it may do it yet");
		else
			desk_fail(ask->question, ACCESS_REFUSED, "the app did not do it");
		return;
	}
	tell_node(desk, ask, &seen, NULL, deadline_ms);
}

static bool set_text(struct desk *desk, const struct seen *seen, const char *value, int64_t deadline_ms)
{
	DBusMessage *message = bus_message(seen->ref.name, seen->ref.path, ATSPI_EDITABLE, "SetTextContents");
	bool done = false;

	if (!dbus_message_append_args(message, DBUS_TYPE_STRING, &value, DBUS_TYPE_INVALID))
		DIE("no memory");
	return atspi_take_bool(bus_send(&desk->a11y, &seen->app->peer, message), deadline_ms, &done) && done;
}

static bool set_number(struct desk *desk, const struct seen *seen, const char *text, int64_t deadline_ms)
{
	DBusMessage *message = bus_message(seen->ref.name, seen->ref.path, DBUS_INTERFACE_PROPERTIES, "Set"), *reply;
	const char *interface = ATSPI_VALUE, *property = "CurrentValue";
	DBusMessageIter iter, variant;
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(value)) {
		dbus_message_unref(message);
		return false;
	}
	dbus_message_iter_init_append(message, &iter);
	if (!dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &interface) || !dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &property) ||
	    !dbus_message_iter_open_container(&iter, DBUS_TYPE_VARIANT, "d", &variant) ||
	    !dbus_message_iter_append_basic(&variant, DBUS_TYPE_DOUBLE, &value) || !dbus_message_iter_close_container(&iter, &variant))
		DIE("no memory");
	reply = bus_ask(&desk->a11y, &seen->app->peer, message, deadline_ms);
	if (reply)
		dbus_message_unref(reply);
	return reply != NULL;
}

/* The child of this name is selected; of a box with a menu in it, that menu's. */
static bool select_child(struct desk *desk, const struct seen *seen, const char *value, int64_t deadline_ms)
{
	auto_free struct ref *list = util_alloc(LIMIT_TREE_CHILDREN * sizeof(*list));
	struct children_call calls = {.n = 0};
	struct seen holder = *seen, child;
	bool done = false;
	uint32_t n;

	for (int depth = 0; depth < 2; depth++) {
		atspi_children(&desk->a11y, &holder, LIMIT_TREE_CHILDREN, &calls);
		n = atspi_children_take(&calls, seen->app, deadline_ms, list);
		if (n != 1 || !atspi_see(&desk->a11y, seen->app, &list[0], deadline_ms, &child) || child.n_children == 0)
			break;
		holder = child;
	}
	for (int32_t i = 0; i < (int32_t)n; i++) {
		if (!atspi_see(&desk->a11y, seen->app, &list[i], deadline_ms, &child))
			continue;
		atspi_trim(child.name); /* as the tree tells it */
		if (strcmp(child.name, value) == 0)
			return atspi_take_bool(atspi_call_ints(&desk->a11y, seen->app, &seen->ref, ATSPI_SELECTION, "SelectChild", 1, &i), deadline_ms,
			                       &done) && done;
	}
	return false;
}

/* The start of the value as read_value gives it when it was set. */
static void as_set(const struct seen *seen, const char *value, char out[LIMIT_NODE_TEXT_BYTES + 1])
{
	if (seen->interfaces & HAS_EDITABLE)
		as_read(value, out);
	else
		(void)snprintf(out, LIMIT_NODE_TEXT_BYTES, "%.10g", strtod(value, NULL));
}

/* Sets a text or a number. True: the node holds that, or at least something else than before; Firefox says of every field that it has set it. */
static bool set_held(struct desk *desk, const struct seen *seen, const char *value, int64_t deadline_ms, struct access_item *item)
{
	char held[LIMIT_NODE_TEXT_BYTES + 1], wanted[LIMIT_NODE_TEXT_BYTES + 1];

	desk_item(desk, seen, NULL, item);
	read_value(desk, seen, deadline_ms, item);
	(void)strcpy(held, item->text);
	as_set(seen, value, wanted);
	if (!(seen->interfaces & HAS_EDITABLE ? set_text : set_number)(desk, seen, value, deadline_ms))
		return false;
	look_again(desk, seen, desk_may_hide(seen) ? NULL : wanted, deadline_ms, item);
	return strcmp(item->text, wanted) == 0 || strcmp(item->text, held) != 0 || desk_may_hide(seen);
}

/* True: it was set, and *item is how the node is then. */
static bool set_value(struct desk *desk, const struct seen *seen, const char *value, int64_t deadline_ms, struct access_item *item)
{
	if (seen->interfaces & (HAS_EDITABLE | HAS_VALUE))
		return set_held(desk, seen, value, deadline_ms, item);
	if (!(seen->interfaces & HAS_SELECTION) || !select_child(desk, seen, value, deadline_ms))
		return false;
	look_again(desk, seen, NULL, deadline_ms, item);
	return true;
}

void change_set(struct desk *desk, const struct access_record *ask)
{
	int64_t deadline_ms = util_now_ms() + CHANGE_MS;
	struct access_item item;
	struct seen seen;

	if (!find_node(desk, ask, deadline_ms, &seen))
		return;
	if (desk_is_password(&seen))
		desk_fail(ask->question, ACCESS_SECRET, "node %u is a password field, of which nothing is set here: ask for a person with request_human, or have a stored secret typed with type_secret", ask->id);
	else if (set_value(desk, &seen, ask->text, deadline_ms, &item))
		tell_item(ask, &item);
	else if (seen.app->peer.hung)
		desk_fail(ask->question, ACCESS_SILENT, "the app has not answered; it may do it yet");
	else if (seen_is(&seen, STATE_EDITABLE))
		desk_fail(ask->question, ACCESS_UNSET, "the app sets nothing in node %u (%s); click on it and type", ask->id, atspi_role_name(seen.role));
	else if (seen.interfaces & (HAS_EDITABLE | HAS_VALUE | HAS_SELECTION))
		desk_fail(ask->question, ACCESS_REFUSED, "the app did not take this value for node %u (%s)", ask->id, atspi_role_name(seen.role));
	else
		desk_fail(ask->question, ACCESS_REFUSED, "node %u (%s) takes no value", ask->id, atspi_role_name(seen.role));
}

void change_grab(struct desk *desk, const struct access_record *ask)
{
	int64_t deadline_ms = util_now_ms() + CHANGE_MS;
	struct seen seen;
	bool done;

	if (!find_node(desk, ask, deadline_ms, &seen))
		return;
	/* What it says of it does not count. */
	(void)atspi_take_bool(atspi_call(&desk->a11y, seen.app, &seen.ref, ATSPI_COMPONENT, "GrabFocus"), deadline_ms, &done);
	tell_node(desk, ask, &seen, NULL, deadline_ms);
}

void change_read(struct desk *desk, const struct access_record *ask)
{
	int64_t deadline_ms = util_now_ms() + CHANGE_MS;
	char wanted[LIMIT_NODE_TEXT_BYTES + 1];
	struct seen seen;

	if (!find_node(desk, ask, deadline_ms, &seen))
		return;
	as_read(ask->text, wanted);
	tell_node(desk, ask, &seen, wanted, deadline_ms);
}

/* Of GTK 4, whose places are those in its window, it is not told. */
void change_place(struct desk *desk, const struct access_record *ask)
{
	struct access_item item;
	struct seen seen;

	if (!find_node(desk, ask, util_now_ms() + CHANGE_MS, &seen))
		return;
	if (seen_is(&seen, STATE_DEFUNCT)) {
		desk_fail(ask->question, ACCESS_NOT_FOUND, "node %u is gone", ask->id);
		return;
	}
	desk_item(desk, &seen, NULL, &item);
	if (seen.app->gtk4)
		item.x = item.y = item.width = item.height = 0;
	tell_item(ask, &item);
}
