/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Problem objects.
 */
#include "session/base/problem.h"

#include <string.h>

#include "session/base/json_text.h"
#include "session/base/util.h"

#define RETRY_AFTER_MS 1000

static void set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) < 0)
		DIE("no memory for a problem object");
}

/* Where the fault is: in a field, or at a byte of a body that could not be read. */
static void set_place(json_t *object, const struct err *e)
{
	if (e->path[0]) {
		set(object, "pointer", json_string(e->path));
	} else if (e->line > 0) {
		set(object, "offset", json_integer(e->offset));
		set(object, "line", json_integer(e->line));
		set(object, "column", json_integer(e->column));
	}
}

json_t *problem_create(const struct err *e, const char *request_id)
{
	const struct err_info *info = err_info(e->code);
	json_t *problem = json_object();

	set(problem, "type", json_sprintf("urn:glovebox:error:%s", info->wire));
	set(problem, "title", json_string(info->title));
	set(problem, "status", json_integer(info->status));
	set(problem, "detail", json_string(e->msg));
	set(problem, "code", json_string(info->wire));
	set_place(problem, e);
	set(problem, "fix", json_string(info->fix));
	if (strcmp(info->fix, "later") == 0)
		set(problem, "retry_after_ms", json_integer(RETRY_AFTER_MS));
	if (request_id)
		set(problem, "request_id", json_string(request_id));
	return problem;
}

json_t *problem_of_faults(const struct faults *faults, const char *request_id)
{
	json_t *problem = problem_create(&faults->list[0], request_id);
	json_t *errors = json_array();

	for (size_t i = 0; i < faults->n; i++) {
		const struct err *e = &faults->list[i];
		json_t *fault = json_object();

		if (e->path[0])
			set(fault, "pointer", json_string(e->path));
		set(fault, "code", json_string(err_info(e->code)->wire));
		set(fault, "detail", json_string(e->msg));
		if (json_array_append_new(errors, fault) < 0)
			DIE("no memory for a problem object");
	}
	if (faults->n > 1)
		set(problem, "errors", errors);
	else
		json_decref(errors);
	return problem;
}

char *problem_text(const struct err *e, const char *request_id)
{
	json_auto_t *problem = problem_create(e, request_id);

	return json_text(problem, NULL);
}
