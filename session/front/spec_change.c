/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a spec can be changed while the session lives. */
#include <stdio.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/spec.h"

static const struct field size_fields[] = {
	{"width", FIELD_INT, true, LIMIT_SIDE_MIN_PX, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "at most its max_width"},
	{"height", FIELD_INT, true, LIMIT_SIDE_MIN_PX, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "at most its max_height"},
};
static const struct form size_form = {size_fields, ARRAY_LEN(size_fields), NULL};

static const struct field change_fields[] = {
	{"display", FIELD_OBJECT, false, 0, 0, NULL, &size_form, NULL, NULL, "the size that the display gets, as by resize_display"},
	{"labels", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, NULL, "labels to set; null takes one, or all of them, away"},
	{"ttl_s", FIELD_INT, false, 1, LIMIT_TTL_S, NULL, NULL, "s", NULL, "the session ends after this time, counted from now"},
	{"idle_s", FIELD_INT, false, 0, LIMIT_TTL_S, NULL, NULL, "s", NULL, "and when no agent called for this time, from now; 0: it does not"},
};
const struct form spec_change_form = {change_fields, ARRAY_LEN(change_fields), NULL};

static const struct field labels_fields[] = {
	{"labels", FIELD_MAP, true, 0, LIMIT_LABELS, NULL, NULL, NULL, NULL, "labels, shown in lists"},
};
static const struct form labels_form = {labels_fields, ARRAY_LEN(labels_fields), NULL};

static bool has_field(const struct form *form, const char *name)
{
	for (size_t i = 0; i < form->n_fields; i++)
		if (strcmp(form->fields[i].name, name) == 0)
			return true;
	return false;
}

/* A field that a spec has is not unknown: the refusal says that it stays as it is, and it is taken out of `change`. */
static void refuse_fixed(json_t *change, struct faults *faults)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(change, next, name, value) {
		char path[64];

		if (has_field(&spec_change_form, name) || !has_field(&spec_form, name))
			continue;
		(void)snprintf(path, sizeof(path), "/%s", name);
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%s cannot be changed while the session lives; display, labels, ttl_s and idle_s can",
		              name);
		(void)json_object_del(change, name);
	}
}

static json_t *merge_labels(const json_t *labels, json_t *change)
{
	json_t *merged = json_is_null(change) ? json_object() : json_deep_copy(labels);
	const char *name;
	json_t *value;

	json_object_foreach(change, name, value)
		if (json_is_null(value))
			(void)json_object_del(merged, name);
		else
			(void)json_object_set(merged, name, value);
	return merged;
}

static void change_labels(json_t *spec, json_t *change, struct faults *faults)
{
	json_auto_t *merged = NULL;

	if (!change)
		return;
	if (!json_is_object(change) && !json_is_null(change)) {
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, "/labels", "labels must be an object of strings and nulls, or null");
		return;
	}
	merged = json_pack("{s:o}", "labels", merge_labels(json_object_get(spec, "labels"), change));
	if (form_check_all(&labels_form, merged, "", NULL, faults) < 0)
		return;
	spec_check_labels(json_object_get(merged, "labels"), faults);
	(void)json_object_update(spec, merged);
}

/* What the stage would refuse, before anything of the change is done. */
static void check_size(const json_t *spec, const json_t *size, struct faults *faults)
{
	static const char *const sides[][3] = {{"width", "max_width", "/display/width"}, {"height", "max_height", "/display/height"}};
	const json_t *display = json_object_get(spec, "display");

	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		long asked = form_int(size, sides[i][0], 0), most = form_int(display, sides[i][1], 0);

		if (asked > most)
			(void)err_set(faults_next(faults), ERR_DISPLAY_MAX, sides[i][2],
			              "%ld is more than this display can have, which is %ld: %s is given when the session is made", asked, most, sides[i][1]);
	}
}

int spec_change(const json_t *spec, json_t *change, json_t **changed, struct faults *faults)
{
	static const char *const numbers[] = {"ttl_s", "idle_s"};
	json_auto_t *made = NULL;
	size_t before = faults->n;

	refuse_fixed(change, faults);
	if (form_check_all(&spec_change_form, change, "", NULL, faults) == 0)
		check_size(spec, json_object_get(change, "display"), faults);
	made = json_deep_copy(spec);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (json_object_get(change, numbers[i]))
			(void)json_object_set(made, numbers[i], json_object_get(change, numbers[i]));
	change_labels(made, json_object_get(change, "labels"), faults);
	if (faults->n > before)
		return -1;
	*changed = json_incref(made);
	return 0;
}
