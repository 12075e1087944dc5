/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of a window, breadth first: what is cut off at a limit is what lies deepest. Nodes are told as they are found, each after the one
 * that it hangs on.
 *
 * Of the queue BATCH nodes at a time are asked about, each round of calls of all of them under way at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "apps/access/desk.h"
#include "session/base/util.h"

#define BATCH 128
#define ONE_BY_ONE 1000   /* children of a batch that have a call each */
#define MET_PLACES 65536 /* more than LIMIT_TREE_WALK */

/* A node that is to be looked at. */
struct waiting {
	struct ref ref;
	uint32_t parent;    /* id of the node that was told above it */
	uint32_t depth;     /* of what was told */
	bool in_document;   /* what is scrolled out of sight is of use there */
	bool nowhere;       /* it is in a list that has no place: a closed combo box of Qt, whose items say wrong ones */
	const char *above;  /* name and text of that node: what repeats them says nothing new */
};

/* A node that is being looked at. */
struct looked {
	struct waiting *waiting;
	struct looking looking;
	struct seen seen;
	struct children_call children;
	struct call *count, *text, *actions, *value, *description;
	int32_t n_chars;
	bool there, kept;
	struct access_item item;
};

struct walk {
	struct desk *desk;
	const struct access_record *ask;
	struct app *app;
	int64_t deadline_ms;
	struct waiting *queue;
	size_t n, at, size;
	uint64_t *met;      /* hashes of the nodes that are or were in the queue: trees may have cycles */
	char **above;       /* malloced, for waiting.above */
	size_t n_above, size_above;
	struct looked *batch;
	uint32_t n_told;
	size_t bytes;
	bool truncated;
};

static uint64_t hash_of(const char *path)
{
	uint64_t hash = 14695981039346656037ULL;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 1099511628211ULL;
	return hash | 1;
}

/* True for a node that was not met before. */
static bool is_new(struct walk *walk, const struct ref *ref)
{
	uint64_t hash = hash_of(ref->path);
	size_t at = hash % MET_PLACES;

	while (walk->met[at] != 0 && walk->met[at] != hash)
		at = (at + 1) % MET_PLACES;
	if (walk->met[at] == hash)
		return false;
	walk->met[at] = hash;
	return true;
}

static void enqueue(struct walk *walk, const struct ref *ref, const struct waiting *like)
{
	/* In this order: what is not looked at is not among those that were met either, of which there is an end. */
	if (walk->n >= LIMIT_TREE_WALK) {
		walk->truncated = true;
		return;
	}
	if (!is_new(walk, ref))
		return;
	if (walk->n == walk->size) {
		walk->size = walk->size ? walk->size * 2 : 256;
		walk->queue = util_realloc(walk->queue, walk->size * sizeof(*walk->queue));
	}
	walk->queue[walk->n] = *like;
	walk->queue[walk->n++].ref = *ref;
}

/* Roles of nodes that only hold others. */
static bool only_holds(uint32_t role)
{
	static const uint32_t HOLDERS[] = {ROLE_FILLER, ROLE_PANEL, ROLE_SCROLL_PANE, ROLE_SEPARATOR, ROLE_SPLIT_PANE, ROLE_UNKNOWN, ROLE_VIEWPORT,
	                                   ROLE_SECTION, ROLE_REDUNDANT, ROLE_GROUPING, ROLE_STATIC, ROLE_LABEL};

	for (size_t i = 0; i < ARRAY_LEN(HOLDERS); i++)
		if (HOLDERS[i] == role)
			return true;
	return false;
}

/* Is it, with all below it, out of sight: a closed menu, a hidden tab? */
static bool is_hidden(const struct walk *walk, const struct looked *looked)
{
	const struct seen *seen = &looked->seen;

	if (walk->ask->tree.all || seen_is(seen, STATE_SHOWING) || looked->waiting->depth == 0)
		return false;
	return !looked->waiting->in_document || !seen_is(seen, STATE_VISIBLE);
}

/* Before its text is known. */
static bool may_be_kept(const struct walk *walk, const struct looked *looked)
{
	return looked->there && !is_hidden(walk, looked);
}

/* A node that has no name and no text and takes nothing says nothing; nor does a label that repeats what is told above it. */
static bool says_something(const struct walk *walk, const struct looked *looked)
{
	const struct access_item *item = &looked->item;
	const char *own = item->name[0] ? item->name : item->text;

	if (walk->ask->tree.all || looked->waiting->depth == 0)
		return true;
	if (!only_holds(looked->seen.role))
		return true;
	if (own[0] == '\0')
		return seen_is(&looked->seen, STATE_FOCUSED);
	if (looked->seen.role == ROLE_STATIC || looked->seen.role == ROLE_LABEL || looked->seen.role == ROLE_SECTION)
		return !(looked->waiting->above && strstr(looked->waiting->above, own));
	return true;
}

/* First round: what it is. */
static void round_look(struct walk *walk, size_t n)
{
	for (size_t i = 0; i < n; i++)
		atspi_look(&walk->desk->a11y, walk->app, &walk->batch[i].waiting->ref, &walk->batch[i].looking);
	for (size_t i = 0; i < n; i++) {
		struct looked *looked = &walk->batch[i];

		looked->there = atspi_look_take(&looked->looking, walk->app, &looked->waiting->ref, walk->deadline_ms, &looked->seen);
	}
}

static bool wants_text(const struct seen *seen)
{
	return (seen->interfaces & HAS_TEXT) && !desk_is_password(seen) && !desk_may_hide(seen);
}

/* Second round: what is below it, how long its text is, what can be done with it. */
static void round_more(struct walk *walk, size_t n)
{
	struct bus *bus = &walk->desk->a11y;
	uint32_t one_by_one = ONE_BY_ONE;

	for (size_t i = 0; i < n; i++) {
		struct looked *looked = &walk->batch[i];
		const struct seen *seen = &looked->seen;

		if (!may_be_kept(walk, looked))
			continue;
		/* A sheet makes its cells when they are asked for. */
		if (seen->n_children > 0 && !(seen_is(seen, STATE_MANAGES_DESCENDANTS) && seen->n_children > LIMIT_TREE_CHILDREN))
			atspi_children(bus, seen, one_by_one, &looked->children);
		one_by_one -= looked->children.all ? 0 : looked->children.n;
		if (wants_text(seen))
			looked->count = atspi_text_count(bus, seen);
		if (seen->interfaces & HAS_ACTION)
			looked->actions = atspi_call(bus, walk->app, &seen->ref, ATSPI_ACTION, "GetActions");
		if ((seen->interfaces & HAS_VALUE) && !desk_is_password(seen))
			looked->value = atspi_get(bus, walk->app, &seen->ref, ATSPI_VALUE, "CurrentValue");
		looked->description = atspi_get(bus, walk->app, &seen->ref, ATSPI_ACCESSIBLE, "Description");
	}
}

/* Third round: the texts. */
static void round_text(struct walk *walk, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct looked *looked = &walk->batch[i];

		if (looked->count && atspi_take_int(looked->count, walk->deadline_ms, &looked->n_chars) && looked->n_chars > 0)
			looked->text = atspi_text(&walk->desk->a11y, &looked->seen, looked->n_chars);
	}
}

static void finish_item(struct walk *walk, struct looked *looked)
{
	struct access_item *item = &looked->item;
	double value;

	desk_item(walk->desk, &looked->seen, &walk->ask->target, item);
	item->parent = looked->waiting->parent;
	if (looked->waiting->nowhere)
		item->x = item->y = item->width = item->height = 0;
	if (looked->actions)
		(void)atspi_actions_take(looked->actions, walk->deadline_ms, item->actions);
	if (looked->description)
		(void)atspi_take_text(looked->description, walk->deadline_ms, item->description, LIMIT_NODE_NAME_BYTES, NULL);
	if (looked->text)
		item->has_text = atspi_text_take(looked->text, looked->n_chars, walk->deadline_ms, item->text, &item->text_cut);
	if (looked->value && atspi_take_double(looked->value, walk->deadline_ms, &value) && !item->has_text) {
		(void)snprintf(item->text, sizeof(item->text), "%.10g", value);
		item->has_text = true;
	}
}

/* What hangs on it is looked at next, below it or, if it is not told, below what it hangs on. */
static void add_children(struct walk *walk, struct looked *looked, struct ref *list)
{
	struct waiting like = *looked->waiting;
	uint32_t n = atspi_children_take(&looked->children, walk->app, walk->deadline_ms, list);

	like.in_document |= desk_is_document(looked->seen.role);
	like.nowhere |= looked->seen.width == 0 && (looked->seen.role == ROLE_LIST || looked->seen.role == ROLE_LIST_BOX);
	if (looked->kept) {
		like.parent = looked->item.id;
		like.depth++;
		if (walk->n_above == walk->size_above) {
			walk->size_above = walk->size_above ? walk->size_above * 2 : 64;
			walk->above = util_realloc(walk->above, walk->size_above * sizeof(*walk->above));
		}
		like.above = walk->above[walk->n_above++] = util_printf("%s\n%s", looked->item.name, looked->item.text);
	}
	walk->truncated |= looked->seen.n_children > LIMIT_TREE_CHILDREN;
	if (n > 0 && like.depth >= walk->ask->tree.max_depth) {
		walk->truncated = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		enqueue(walk, &list[i], &like);
}

static void tell(struct walk *walk, const struct access_item *item)
{
	struct access_record record = {.op = ACCESS_NODE, .question = walk->ask->question, .item = *item};

	walk->bytes += strlen(item->name) + strlen(item->description) + strlen(item->text) + strlen(item->actions);
	walk->n_told++;
	desk_tell(&record);
}

static bool is_full(struct walk *walk)
{
	if (walk->n_told < walk->ask->tree.max_nodes && walk->bytes < LIMIT_TREE_BYTES)
		return false;
	walk->truncated = true;
	return true;
}

/* The next nodes of the queue, all the way. */
static void do_batch(struct walk *walk, struct ref *list)
{
	size_t n = MIN(walk->n - walk->at, BATCH);

	memset(walk->batch, 0, n * sizeof(*walk->batch));
	for (size_t i = 0; i < n; i++)
		walk->batch[i].waiting = util_alloc(sizeof(*walk->batch[i].waiting));
	for (size_t i = 0; i < n; i++)
		*walk->batch[i].waiting = walk->queue[walk->at + i]; /* the queue may move */
	walk->at += n;
	round_look(walk, n);
	round_more(walk, n);
	round_text(walk, n);
	for (size_t i = 0; i < n; i++) {
		struct looked *looked = &walk->batch[i];

		if (may_be_kept(walk, looked)) {
			finish_item(walk, looked);
			looked->kept = says_something(walk, looked) && !is_full(walk);
			if (looked->kept)
				tell(walk, &looked->item);
			add_children(walk, looked, list);
		}
		free(looked->waiting);
	}
}

static void walk_app(struct walk *walk)
{
	struct seen top;
	struct waiting first = {.depth = 0};
	auto_free struct tops *popups = util_zalloc(sizeof(*popups));
	struct ref *list;

	if (!desk_frame(walk->desk, walk->app, &walk->ask->target, walk->deadline_ms, &top, walk->ask->target.popup ? NULL : popups)) {
		walk->truncated = util_now_ms() >= walk->deadline_ms;
		return;
	}
	list = util_alloc(LIMIT_TREE_CHILDREN * sizeof(*list));
	walk->met = util_zalloc(MET_PLACES * sizeof(*walk->met));
	walk->batch = util_alloc(BATCH * sizeof(*walk->batch));
	enqueue(walk, &top.ref, &first);
	for (size_t i = 0; i < popups->n; i++)
		enqueue(walk, &popups->list[i].ref, &first);
	while (walk->at < walk->n && !walk->app->peer.hung && !is_full(walk) && util_now_ms() < walk->deadline_ms)
		do_batch(walk, list);
	/* Of the last batch some may not have answered in time, too. */
	walk->truncated |= walk->app->peer.hung || util_now_ms() >= walk->deadline_ms;
	for (size_t i = 0; i < walk->n_above; i++)
		free(walk->above[i]);
	free(walk->above);
	free(walk->queue);
	free(walk->batch);
	free(walk->met);
	free(list);
}

void walk_run(struct desk *desk, const struct access_record *ask)
{
	int64_t deadline_ms = util_now_ms() + ask->tree.timeout_ms;
	struct access_record done = {.op = ACCESS_DONE, .question = ask->question};
	struct app *apps[LIMIT_ACCESS_APPS];
	size_t n = desk_apps(desk, ask->target.pid, deadline_ms, apps);

	for (size_t i = 0; i < n; i++) {
		struct walk walk = {.desk = desk, .ask = ask, .app = apps[i], .deadline_ms = deadline_ms};

		walk_app(&walk);
		done.done.truncated |= walk.truncated;
		if (apps[i]->peer.hung)
			(void)atspi_copy(done.done.hung, LIMIT_NODE_NAME_BYTES, apps[i]->title[0] ? apps[i]->title : "?");
		if (walk.n_told > 0)
			break; /* it is this one's window */
	}
	if (n == 0)
		desk_fail(ask->question, ACCESS_NOT_FOUND, "the app of this window is not accessible");
	else
		desk_tell(&done);
}
