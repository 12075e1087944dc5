/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines by what they say. */
#include "session/stage/egress_folds.h"

#include <stdlib.h>
#include <string.h>

#include "session/base/util.h"

/* What makes two lines the same. */
static char *key_of(const char *event, const json_t *fields)
{
	static const char *const differs[] = {"up", "down", "ms", "address"};
	json_auto_t *same = json_copy((json_t *)(uintptr_t)fields);
	auto_free char *text = NULL;

	for (size_t i = 0; i < ARRAY_LEN(differs); i++)
		(void)json_object_del(same, differs[i]);
	text = json_dumps(same, JSON_COMPACT | JSON_SORT_KEYS);
	return util_printf("%s %s", event, text);
}

static struct egress_fold *find(struct egress_folds *folds, const char *key)
{
	for (size_t i = 0; i < folds->n; i++)
		if (strcmp(folds->list[i].key, key) == 0)
			return &folds->list[i];
	return NULL;
}

static json_int_t number(const json_t *fields, const char *name)
{
	return json_integer_value(json_object_get(fields, name));
}

/* What is said may be anything: at the end of numbers it stays there. */
static void add_bytes(json_int_t *sum, const json_t *fields, const char *name)
{
	if (__builtin_add_overflow(*sum, number(fields, name), sum))
		*sum = INT64_MAX;
}

static void write_line(struct egress_folds *folds, const char *event, json_t *fields, egress_line_fn *line, void *arg)
{
	folds->n_lines++;
	line(arg, event, fields);
}

static void add_new(struct egress_folds *folds, char *key, const char *event, json_t *fields, egress_line_fn *line, void *arg)
{
	struct egress_fold *fold = &folds->list[folds->n++];

	*fold = (struct egress_fold){.key = key, .fields = json_incref(fields)};
	write_line(folds, event, json_copy(fields), line, arg);
}

int64_t egress_folds_add(struct egress_folds *folds, const char *event, json_t *taken, int64_t now_ms, egress_line_fn *line, void *arg)
{
	json_auto_t *fields = taken;
	auto_free char *key = key_of(event, fields);
	struct egress_fold *fold = find(folds, key);

	if (!folds->since_ms)
		folds->since_ms = now_ms;
	if (fold) {
		fold->again++;
		add_bytes(&fold->up, fields, "up");
		add_bytes(&fold->down, fields, "down");
	} else if (folds->n < EGRESS_FOLDS) {
		add_new(folds, steal_ptr(&key), event, fields, line, arg);
	} else {
		folds->n_rest++;
		add_bytes(&folds->up, fields, "up");
		add_bytes(&folds->down, fields, "down");
	}
	return folds->since_ms + (folds->n_lines < EGRESS_FOLD_LINES ? EGRESS_FOLD_MS : EGRESS_FOLD_LONG_MS);
}

static void set_bytes(json_t *fields, json_int_t up, json_int_t down)
{
	if (!json_object_get(fields, "up"))
		return;
	json_object_set_new(fields, "up", json_integer(up));
	json_object_set_new(fields, "down", json_integer(down));
	(void)json_object_del(fields, "ms");
}

static void flush_one(struct egress_folds *folds, struct egress_fold *fold, egress_line_fn *line, void *arg)
{
	bool is_close = strncmp(fold->key, "egress_closed ", 14) == 0;

	if (fold->again > 0) {
		(void)json_object_del(fold->fields, "address");
		set_bytes(fold->fields, fold->up, fold->down);
		json_object_set_new(fold->fields, "again", json_integer((json_int_t)fold->again));
		write_line(folds, is_close ? "egress_closed" : "egress", json_incref(fold->fields), line, arg);
	}
	json_decref(fold->fields);
	free(fold->key);
}

void egress_folds_flush(struct egress_folds *folds, egress_line_fn *line, void *arg)
{
	for (size_t i = 0; i < folds->n; i++)
		flush_one(folds, &folds->list[i], line, arg);
	if (folds->n_rest > 0)
		write_line(folds, "egress_rest", json_pack("{s:I,s:I,s:I}", "lines", (json_int_t)folds->n_rest, "up", folds->up, "down", folds->down), line, arg);
	*folds = (struct egress_folds){.n_lines = folds->n_lines};
}
