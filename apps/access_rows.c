/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actions tree, press_node and set_node: what the apps say of themselves, in the caller's space. */
#include <string.h>
#include <sys/param.h>

#include "apps/state.h"
#include "session/base/space.h"
#include "session/base/util.h"

#define DEFAULT_NODES 500
#define DEFAULT_MS 2000
#define CHANGE_MS 3000

/* States that are told, by their names; most of what AT-SPI has says nothing to who acts. */
static const struct {
	enum access_state state;
	const char *name;
} STATES[] = {
	{STATE_FOCUSED, "focused"},       {STATE_ACTIVE, "active"},           {STATE_CHECKED, "checked"},
	{STATE_INDETERMINATE, "mixed"},   {STATE_PRESSED, "pressed"},         {STATE_SELECTED, "selected"},
	{STATE_EXPANDED, "expanded"},     {STATE_EDITABLE, "editable"},       {STATE_MULTI_LINE, "multi_line"},
	{STATE_REQUIRED, "required"},     {STATE_INVALID_ENTRY, "invalid"},   {STATE_READ_ONLY, "read_only"},
	{STATE_MODAL, "modal"},           {STATE_BUSY, "busy"},               {STATE_HAS_POPUP, "has_popup"},
	{STATE_IS_DEFAULT, "default"},    {STATE_VISITED, "visited"},
};

static bool has(const struct access_item *item, enum access_state state)
{
	return ((item->states >> state) & 1) != 0;
}

static void add_word(json_t *list, bool condition, const char *word)
{
	if (condition)
		json_array_append_new(list, json_string(word));
}

/* Roles of what is pressed, also where it cannot have the focus: browsers' own buttons, menu items. */
static const char *const CONTROLS[] = {
	"push button", "toggle button", "check box", "radio button", "menu", "menu item", "check menu item", "radio menu item", "link", "page tab",
};

static bool is_control(const struct access_item *item)
{
	for (size_t i = 0; i < ARRAY_LEN(CONTROLS); i++)
		if (strcmp(item->role, CONTROLS[i]) == 0)
			return true;
	return has(item, STATE_FOCUSABLE);
}

static json_t *states_of(const struct access_item *item, struct space native)
{
	bool takes = item->actions[0] || item->editable || is_control(item);
	bool outside = item->width > 0 && (item->x + item->width <= 0 || item->y + item->height <= 0 || item->x >= native.width_px ||
	                                   item->y >= native.height_px);
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(STATES); i++)
		add_word(list, has(item, STATES[i].state), STATES[i].name);
	add_word(list, has(item, STATE_EXPANDABLE) && !has(item, STATE_EXPANDED), "collapsed");
	add_word(list, takes && !has(item, STATE_SENSITIVE) && !has(item, STATE_ENABLED), "disabled");
	add_word(list, item->password, "password");
	add_word(list, !has(item, STATE_SHOWING) || outside, "off_screen");
	return list;
}

static json_t *lines_of(const char *text)
{
	json_t *list = json_array();

	for (const char *at = text; *at;) {
		size_t len = strcspn(at, "\n");

		if (len > 0)
			json_array_append_new(list, json_stringn(at, len));
		at += len + (at[len] != '\0');
	}
	return list;
}

static void put_text(json_t *object, const char *name, const char *text)
{
	if (text[0])
		json_object_set_new(object, name, json_string(text));
}

/* What has an action without a name but is no control is a frame or the like: nobody wants that. */
static json_t *actions_of(const struct access_item *item)
{
	json_t *list = lines_of(item->actions);

	for (size_t i = json_array_size(list); i-- > 0;) {
		const char *name = json_string_value(json_array_get(list, i));

		/* With a dot: what GTK 4 has for all of a window. */
		if (strcmp(name, ACCESS_UNTOLD_ACTION) == 0 || strchr(name, '.') || (strcmp(name, ACCESS_DEFAULT_ACTION) == 0 && !is_control(item)))
			json_array_remove(list, i);
	}
	return list;
}

static void put_list(json_t *object, const char *name, json_t *list)
{
	if (json_array_size(list) > 0)
		json_object_set(object, name, list);
	json_decref(list);
}

void access_put_node(const struct action_run *run, const struct access_item *item, json_t *object)
{
	json_object_set_new(object, "role", json_string(item->role));
	put_text(object, "name", item->name);
	if (strcmp(item->description, item->name) != 0)
		put_text(object, "description", item->description);
	if (strcmp(item->text, item->name) != 0)
		put_text(object, "value", item->text);
	if (item->text_cut)
		json_object_set_new(object, "value_cut", json_true());
	put_list(object, "states", states_of(item, run->native));
	put_list(object, "actions", actions_of(item));
	if (item->width > 0) {
		int x = item->x, y = item->y, width = item->width, height = item->height;

		space_map_rect(run->native, run->space, &x, &y, &width, &height);
		json_object_update_new(object, json_pack("{s:i, s:i, s:i, s:i}", "x", x, "y", y, "width", width, "height", height));
	}
	if (item->n_children > LIMIT_TREE_CHILDREN)
		json_object_set_new(object, "children", json_integer(item->n_children));
}

/* Where the children of each node begin, as the items came: each behind its parent. */
struct order {
	const struct access_item *items;
	size_t n;
	int32_t *first, *next, *last; /* of the children of i; the sibling behind i; -1 is none */
};

static int compare_ids(const void *a, const void *b)
{
	const uint32_t *one = a, *other = b;

	return (one[0] > other[0]) - (one[0] < other[0]);
}

/* (id, index) pairs, sorted by id. */
static int32_t index_of(const void *pairs, size_t n, uint32_t id)
{
	const uint32_t key[2] = {id, 0};
	const uint32_t *found = bsearch(key, pairs, n, sizeof(key), compare_ids);

	return found ? (int32_t)found[1] : -1;
}

static void link_children(struct order *order)
{
	uint32_t(*pairs)[2] = util_alloc((order->n + 1) * sizeof(*pairs));

	for (size_t i = 0; i < order->n; i++) {
		pairs[i][0] = order->items[i].id;
		pairs[i][1] = (uint32_t)i;
		order->first[i] = order->next[i] = order->last[i] = -1;
	}
	qsort(pairs, order->n, sizeof(*pairs), compare_ids);
	for (size_t i = 0; i < order->n; i++) {
		int32_t parent = index_of(pairs, order->n, order->items[i].parent);

		if (parent < 0 || parent >= (int32_t)i)
			continue; /* a top node; a helper that says otherwise lies */
		if (order->last[parent] < 0)
			order->first[parent] = (int32_t)i;
		else
			order->next[order->last[parent]] = (int32_t)i;
		order->last[parent] = (int32_t)i;
	}
	free(pairs);
}

static void put_branch(const struct action_run *run, const struct order *order, int32_t at, int depth, json_t *list)
{
	json_t *object = json_pack("{s:I, s:i}", "id", (json_int_t)order->items[at].id, "depth", depth);

	access_put_node(run, &order->items[at], object);
	json_array_append_new(list, object);
	if (depth < LIMIT_TREE_DEPTH)
		for (int32_t child = order->first[at]; child >= 0; child = order->next[child])
			put_branch(run, order, child, depth + 1, list);
}

static json_t *nodes_in_order(const struct action_run *run, const struct access_question *question)
{
	struct order order = {.items = question->items, .n = question->n_items};
	json_t *list = json_array();

	order.first = util_alloc((order.n + 1) * sizeof(*order.first));
	order.next = util_alloc((order.n + 1) * sizeof(*order.next));
	order.last = util_alloc((order.n + 1) * sizeof(*order.last));
	link_children(&order);
	for (size_t i = 0; i < order.n; i++)
		if (order.items[i].parent == 0)
			put_branch(run, &order, (int32_t)i, 0, list);
	free(order.first);
	free(order.next);
	free(order.last);
	return list;
}

static int refuse(const struct access *access, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, NULL, "%s", access_unavailable(access));
}

static int tree_run(struct action_run *run, struct err *e)
{
	struct apps *apps = run->home;
	struct access *access = &apps->access;
	int64_t began_ms = util_now_ms();
	long timeout_ms = MIN(form_int(run->args, "timeout_ms", DEFAULT_MS), MAX(run->deadline_ms - began_ms, 1));
	struct access_record record = {
		.op = ACCESS_TREE,
		.tree = {.max_nodes = (uint32_t)form_int(run->args, "max_nodes", DEFAULT_NODES),
	                 .max_depth = (uint32_t)form_int(run->args, "max_depth", LIMIT_TREE_DEPTH),
	                 .timeout_ms = (uint32_t)timeout_ms,
	                 .all = form_bool(run->args, "all", false)},
	};
	struct access_question *question;
	int rc;

	if (access_unavailable(access))
		return refuse(access, e);
	if (access_aim(apps, (xcb_window_t)form_int(run->args, "window", XCB_NONE), &record.target, e) < 0)
		return -1;
	if (record.target.pid == 0)
		return err_set(e, ERR_NOT_FOUND, NULL, "window %u is of no app of this session", record.target.window);
	question = access_question(access, record.tree.max_nodes, run->deadline_ms);
	access_send(question, &record);
	rc = access_wait(question, MIN(began_ms + timeout_ms + LIMIT_ACCESS_SILENT_MS, run->deadline_ms), e);
	if (rc == 0) {
		json_object_set_new(run->result, "window", json_integer(record.target.window));
		json_object_set_new(run->result, "nodes", nodes_in_order(run, question));
		json_object_set_new(run->result, "truncated", json_boolean(question->done.truncated));
		json_object_set_new(run->result, "hung", lines_of(question->done.hung));
		json_object_set_new(run->result, "took_ms", json_integer(util_now_ms() - began_ms));
	}
	access_drop(question);
	return rc;
}

int access_ask_node(struct action_run *run, const struct access_record *record, struct access_item *out, bool *unset, struct err *e)
{
	struct apps *apps = run->home;
	struct access *access = &apps->access;
	struct access_question *question;
	int rc;

	if (unset)
		*unset = false;
	if (access_unavailable(access))
		return refuse(access, e);
	question = access_question(access, 1, run->deadline_ms);
	access_send(question, record);
	rc = access_wait(question, MIN(util_now_ms() + CHANGE_MS, run->deadline_ms), e);
	if (rc == 0 && question->n_items == 0)
		rc = err_set(e, ERR_NOT_FOUND, NULL, "there is no node %u (any more)", record->id);
	if (rc < 0 && e->code == ERR_NOT_FOUND)
		(void)err_set(e, ERR_NOT_FOUND, "/node", "%s", e->msg);
	if (rc == 0)
		*out = question->items[0];
	if (unset)
		*unset = question->unset;
	access_drop(question);
	return rc;
}

static int press_node_run(struct action_run *run, struct err *e)
{
	struct access_record record = {.op = ACCESS_PRESS, .id = (uint32_t)form_int(run->args, "node", 0)};
	struct access_item item;

	(void)strcpy(record.text, form_string(run->args, "name", ""));
	if (access_ask_node(run, &record, &item, NULL, e) < 0)
		return -1;
	json_object_set_new(run->result, "node", json_integer(item.id));
	access_put_node(run, &item, run->result);
	return 0;
}

static const struct field tree_fields[] = {
	{"window", FIELD_INT, false, 1, UINT32_MAX, NULL, NULL, NULL, NULL, "id of the window, as the action windows gives it; absent: the one that has the keys"},
	{"max_nodes", FIELD_INT, false, 1, LIMIT_TREE_NODES, NULL, NULL, NULL, "500", "the most nodes that are told; what lies deepest is left off first"},
	{"max_depth", FIELD_INT, false, 1, LIMIT_TREE_DEPTH, NULL, NULL, NULL, "100", "how deep they lie at most"},
	{"all", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "also panels without a name, labels that repeat, and what is hidden"},
	{"timeout_ms", FIELD_INT, false, 1, LIMIT_TREE_MS, NULL, NULL, "ms", "2000", "after which what is known by then is told"},
};

#define NODE_FIELD(doc) {"node", FIELD_INT, true, 1, UINT32_MAX, NULL, NULL, NULL, NULL, doc}

static const struct field press_fields[] = {
	NODE_FIELD("id of the node, as the action tree gives it"),
	{"name", FIELD_STRING, false, 1, LIMIT_NODE_ACTIONS_BYTES, NULL, NULL, NULL, NULL, "one of the node's actions; absent: the first"},
};

static const struct field set_fields[] = {
	NODE_FIELD("id of the node, as the action tree gives it"),
	{"value", FIELD_STRING, true, 0, LIMIT_NODE_VALUE_BYTES, NULL, NULL, NULL, NULL, "the text of a field, the number of a slider, the name of a list's item"},
};

static const struct member tree_told[] = {
	{"window", "count", "its id"},
	{"nodes", "Node[]", "its nodes, each before those below it"},
	{"truncated", "boolean", "is there more than the limits let be told?"},
	{"hung", "string[]", "apps that did not answer"},
	{"took_ms", "count", "how long it took (ms)"},
};
#define OF_NODE \
	{"role", "string", "what it is, in the words of AT-SPI: push button, entry, password text, link"}, \
		{"name?", "string", "its label"}, {"description?", "string", "more about it"}, \
		{"value?", "string", "what is written in it, or the number that it stands at; never of a password field"}, \
		{"value_cut?", "boolean", "there is more of it"}, {"states?", "string[]", "focused, checked, disabled, off_screen, password and others"}, \
		{"actions?", "string[]", "what press_node can do with it"}, {"x?", "integer", "left edge (px)"}, {"y?", "integer", "upper edge (px)"}, \
		{"width?", "integer", "width (px)"}, {"height?", "integer", "height (px)"}, \
		{"children?", "count", "how many it has below it, where that is more than is told"}
const struct member access_node_members[ACCESS_NODE_MEMBERS] = {{"id", "count", "what press_node and set_node call it"}, {"depth", "count", "how deep it lies"}, OF_NODE};
static const struct member press_told[] = {{"node", "count", "its id"}, OF_NODE};
static const struct member set_told[] = {{"node", "count", "its id"}, {"by", "string", "accessibility: the app set it; typing: it got the focus, and keys"}, OF_NODE};

const struct action_row access_rows[] = {
	{"tree",
	 "says what is in a window, as the app itself tells it: fields, buttons and texts with their places",
	 {tree_fields, ARRAY_LEN(tree_fields), NULL},
	 NULL,
	 tree_run,
	 ACTION_ACTS, ACTION_WAITS,
	 MEMBERS(tree_told),
	 "{\"action\":\"tree\",\"max_nodes\":200}",
	 "{\"window\":4194311,\"nodes\":[{\"id\":17,\"depth\":0,\"role\":\"frame\",\"name\":\"Untitled 1\",\"states\":[\"active\"],\"x\":0,\"y\":23,"
	 "\"width\":640,\"height\":480},{\"id\":18,\"depth\":1,\"role\":\"push button\",\"name\":\"Save\",\"actions\":[\"click\"],\"x\":8,\"y\":30,"
	 "\"width\":80,\"height\":30}],\"truncated\":false,\"hung\":[],\"took_ms\":12}"},
	{"press_node",
	 "does what a node offers (a button's click), without the pointer; its window is neither raised nor focused",
	 {press_fields, ARRAY_LEN(press_fields), NULL},
	 NULL,
	 press_node_run,
	 ACTION_ACTS, 0,
	 MEMBERS(press_told),
	 "{\"action\":\"press_node\",\"node\":18}",
	 "{\"node\":18,\"role\":\"push button\",\"name\":\"Save\"}"},
	{"set_node",
	 "sets the text or number of a node and tells what it holds then; a field whose app does not set it gets the focus and is typed over; password fields are refused",
	 {set_fields, ARRAY_LEN(set_fields), NULL},
	 NULL,
	 access_set_run,
	 ACTION_ACTS, 0,
	 MEMBERS(set_told),
	 "{\"action\":\"set_node\",\"node\":19,\"value\":\"Ada\"}",
	 "{\"node\":19,\"by\":\"accessibility\",\"role\":\"entry\",\"name\":\"First name\",\"value\":\"Ada\"}"},
};
const size_t access_n_rows = ARRAY_LEN(access_rows);
