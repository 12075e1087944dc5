/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking for a node. */
#include "session/replay/find.h"

#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/title.h"

#define LABEL_MIN_BYTES 197 /* a recorded label of so many may have been cut off */

/* A label of the journal, which may be the beginning of a longer one. */
static bool same_name(const char *recorded, const char *now)
{
	size_t len = strlen(recorded);

	return strcmp(recorded, now) == 0 || (len >= LABEL_MIN_BYTES && strncmp(recorded, now, len) == 0);
}

bool find_same(const json_t *recorded, const json_t *now)
{
	const char *then = form_string(recorded, "name", ""), *name = form_string(now, "name", "");

	if (strcmp(form_string(recorded, "role", ""), form_string(now, "role", "")) != 0)
		return false;
	return !*then || !*name || same_name(then, name);
}

struct search {
	const json_t *node;
	int x, y;
	struct find found;
};

static bool holds(struct rect rect, int x, int y)
{
	return x >= rect.x && x - rect.x < rect.width && y >= rect.y && y - rect.y < rect.height;
}

/* The role and the very name; one without a name, such as a password field, is as good as its role. */
static bool is_alike(const json_t *recorded, const json_t *candidate)
{
	const char *then = form_string(recorded, "name", "");

	return strcmp(form_string(recorded, "role", ""), form_string(candidate, "role", "")) == 0 &&
	       (!*then || same_name(then, form_string(candidate, "name", "")));
}

/* Of whoever wrote the tree or the journal: 0 by 0 is none. */
static struct rect rect_of(const json_t *bounds)
{
	struct rect rect = space_rect(bounds);
	int far = 4 * LIMIT_SIDE_MAX_PX;
	bool is_near = rect.x > -far && rect.x < far && rect.y > -far && rect.y < far && rect.width > 0 && rect.height > 0;

	return is_near ? rect : (struct rect){0};
}

static void look_at(struct search *search, const json_t *candidate)
{
	struct rect rect = rect_of(candidate);
	struct find *found = &search->found;

	if (rect.width == 0 || !is_alike(search->node, candidate))
		return;
	found->n++;
	if (holds(rect, search->x, search->y))
		found->state = FIND_THERE;
	else if (found->state != FIND_THERE)
		found->state = found->n == 1 ? FIND_MOVED : FIND_ALIKE;
	if (found->n == 1 || holds(rect, search->x, search->y))
		found->rect = rect;
}

struct find find_node(const json_t *tree, const json_t *node, int x, int y)
{
	const json_t *nodes = json_object_get(tree, "nodes"), *candidate;
	struct search search = {.node = node, .x = x, .y = y, .found = {.state = FIND_GONE}};
	bool is_whole = json_is_array(nodes) && !json_is_true(json_object_get(tree, "truncated")) && json_array_size(json_object_get(tree, "hung")) == 0;
	size_t i;

	json_array_foreach(nodes, i, candidate)
		look_at(&search, candidate);
	if (search.found.n == 0 && !is_whole)
		search.found.state = FIND_UNKNOWN;
	return search.found;
}

const char *find_name(enum find_state state)
{
	static const char *const names[] = {"unknown", "there", "moved", "alike", "gone"};

	return names[state];
}

/* As far from its corner as it was, if it is as large as it was; else its middle. */
static void place_of(const struct find *find, const json_t *node, int x, int y, int *now_x, int *now_y)
{
	struct rect then = rect_of(json_object_get(node, "bounds"));
	bool is_whole = then.width == find->rect.width && then.height == find->rect.height && holds(then, x, y);

	*now_x = find->rect.x + (is_whole ? x - then.x : find->rect.width / 2);
	*now_y = find->rect.y + (is_whole ? y - then.y : find->rect.height / 2);
}

char *find_words(const struct find *find, const json_t *node, int x, int y, int *now_x, int *now_y)
{
	auto_free char *title = title_node(node);

	place_of(find, node, x, y, now_x, now_y);
	switch (find->state) {
	case FIND_THERE:
		return util_printf("%s is still there", title);
	case FIND_MOVED:
		return util_printf("%s has moved: it is at %d, %d now", title, *now_x, *now_y);
	case FIND_ALIKE:
		return util_printf("%s is not where it was; %zu like it are elsewhere, the first at %d, %d", title, find->n, *now_x, *now_y);
	case FIND_GONE:
		return util_printf("%s is gone", title);
	case FIND_UNKNOWN:
		break;
	}
	return NULL;
}
