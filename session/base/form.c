/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forms: objects checked by rows. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define SHOWN_MAX 80
#define RULE_MAX 200

/* The pointer of the value that is looked at is built here, once, and copied into its fault. */
struct checker {
	const struct bounds *bounds;
	char path[ERR_PATH_MAX];
	struct faults *faults;
};

static void check_form(struct checker *c, const struct form *form, const json_t *value);

size_t form_pointer_add(char path[ERR_PATH_MAX], const char *key)
{
	size_t old = strlen(path);
	size_t len = old;

	if (len + 1 < ERR_PATH_MAX)
		path[len++] = '/';
	for (; *key && len + 3 < ERR_PATH_MAX; key++) {
		bool escape = *key == '~' || *key == '/';

		if (escape)
			path[len++] = '~';
		path[len++] = *key == '~' ? '0' : *key == '/' ? '1' : *key;
	}
	path[len] = '\0';
	return old;
}

static size_t push(struct checker *c, const char *key)
{
	return form_pointer_add(c->path, key);
}

static size_t push_index(struct checker *c, size_t index)
{
	char key[24];

	(void)snprintf(key, sizeof(key), "%zu", index);
	return push(c, key);
}

static void pop(struct checker *c, size_t old)
{
	c->path[old] = '\0';
}

/* A region or a size: what is wrong in one as a whole are its numbers. */
static bool is_numbers(const json_t *value)
{
	const char *name;
	const json_t *member;

	json_object_foreach((json_t *)(uintptr_t)value, name, member)
		if (!json_is_number(member))
			return false;
	return json_object_size(value) > 0;
}

/* The value as it is shown in an error: JSON text, bounded. */
static const char *shown(const json_t *value, char out[SHOWN_MAX])
{
	auto_free char *text = NULL;

	if (json_is_string(value))
		return err_quote(out, SHOWN_MAX, json_string_value(value), json_string_length(value));
	if (!json_is_array(value) && (!json_is_object(value) || is_numbers(value)))
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
	if (text && strlen(text) < SHOWN_MAX)
		(void)snprintf(out, SHOWN_MAX, "%s", text);
	else if (json_is_object(value) || json_is_array(value))
		(void)snprintf(out, SHOWN_MAX, "%s of %zu", json_is_object(value) ? "an object" : "a list",
		               json_is_object(value) ? json_object_size(value) : json_array_size(value));
	else
		(void)snprintf(out, SHOWN_MAX, "a value");
	return out;
}

/* Says the rule, which is put into words only here: most values are right. */
static void refuse(struct checker *c, const json_t *value, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void refuse(struct checker *c, const json_t *value, const char *fmt, ...)
{
	char text[SHOWN_MAX], rule[RULE_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(rule, sizeof(rule), fmt, args);
	va_end(args);
	if (!faults_full(c->faults))
		(void)err_set(faults_next(c->faults), ERR_BAD_FIELD, c->path, "%s is not allowed here: %s", shown(value, text), rule);
}

static bool is_list(const json_t *value, double min, double max)
{
	return json_is_array(value) && (double)json_array_size(value) >= min && (double)json_array_size(value) <= max;
}

static bool is_int(const json_t *value, double min, double max)
{
	return json_is_integer(value) && (double)json_integer_value(value) >= min && (double)json_integer_value(value) <= max;
}

static void check_int(struct checker *c, const json_t *value, double min, double max)
{
	if (!is_int(value, min, max))
		refuse(c, value, "it must be a whole number from %.0f to %.0f", min, max);
}

/* One coordinate. Most wrong ones are of another space: the text says which this is. */
static void check_coordinate(struct checker *c, const json_t *value, size_t axis)
{
	const struct space *space = &c->bounds->space, *native = &c->bounds->native;
	int max = (axis == 0 ? space->width_px : space->height_px) - 1;

	if (!is_int(value, 0, max))
		refuse(c, value, "in the space of %dx%d, which shows a display of %dx%d, %s must be a whole number from 0 to %d",
		       space->width_px, space->height_px, native->width_px, native->height_px, axis == 0 ? "x" : "y", max);
}

static void check_number(struct checker *c, const json_t *value, double min, double max)
{
	if (!json_is_number(value) || json_number_value(value) < min || json_number_value(value) > max)
		refuse(c, value, "it must be a number from %g to %g", min, max);
}

static void check_bool(struct checker *c, const json_t *value)
{
	if (!json_is_boolean(value))
		refuse(c, value, "it must be true or false");
}

static void check_string(struct checker *c, const json_t *value, double min, double max)
{
	size_t len = json_string_length(value);

	if (!json_is_string(value))
		refuse(c, value, "it must be a string");
	else if (strlen(json_string_value(value)) != len)
		refuse(c, value, "a string must not contain a NUL character");
	else if ((double)len >= min && (double)len <= max)
		return;
	else if (max > min)
		refuse(c, value, "it must have %.0f to %.0f bytes and has %zu", min, max, len);
	else
		refuse(c, value, "it must have %.0f bytes and has %zu", min, len);
}

static void check_choice(struct checker *c, const json_t *value, const char *choices)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);

	for (const char *at = choices; text && len > 0 && *at;) {
		size_t n = strcspn(at, " ");

		if (n == len && memcmp(at, text, n) == 0)
			return;
		at += n + (at[n] == ' ');
	}
	refuse(c, value, "it must be one of: %s", choices);
}

/* Each item of a list, whose number of items is right, by a check of its own. */
static void check_items(struct checker *c, const json_t *list, void (*check)(struct checker *c, const void *arg, const json_t *item),
                        const void *arg)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		size_t old = push_index(c, i);

		check(c, arg, item);
		pop(c, old);
		if (faults_full(c->faults))
			break;
	}
}

static void check_any_string(struct checker *c, const void *arg, const json_t *item)
{
	(void)arg;
	check_string(c, item, 0, LIMIT_BODY_BYTES);
}

/* `doc` is shown to who sends a single string: it says what the list is made of. */
static void check_strings(struct checker *c, const json_t *value, double min, double max, const char *doc)
{
	if (is_list(value, min, max))
		check_items(c, value, check_any_string, NULL);
	else
		refuse(c, value, "it must be a list of %.0f to %.0f strings%s%s", min, max, json_is_string(value) ? ": " : "",
		       json_is_string(value) ? doc : "");
}

static void check_map(struct checker *c, const json_t *value, double max)
{
	const char *key;
	json_t *item;

	if (!json_is_object(value) || (double)json_object_size(value) > max) {
		refuse(c, value, "it must be an object of at most %.0f strings", max);
		return;
	}
	/* The macro wants a json_t that may change; nothing is changed. */
	json_object_foreach((json_t *)(uintptr_t)value, key, item) {
		size_t old = push(c, key);

		check_string(c, item, 0, 64.0 * 1024);
		pop(c, old);
	}
}

static void check_point(struct checker *c, const void *arg, const json_t *value)
{
	(void)arg;
	if (!is_list(value, 2, 2)) {
		refuse(c, value, "a point must be a list of two whole numbers, [x, y]");
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		size_t old = push_index(c, i);

		check_coordinate(c, json_array_get(value, i), i);
		pop(c, old);
	}
}

static void check_path(struct checker *c, const json_t *value, double min, double max)
{
	if (is_list(value, min, max))
		check_items(c, value, check_point, NULL);
	else
		refuse(c, value, "it must be a list of %.0f to %.0f points [x, y]", min, max);
}

static void check_keys(struct checker *c, const json_t *value)
{
	if (json_is_string(value))
		check_string(c, value, 1, LIMIT_CHORD_BYTES);
	else if (json_is_array(value))
		check_strings(c, value, 1, LIMIT_CHORD_KEYS, "");
	else
		refuse(c, value, "it must be a string such as \"ctrl+shift+t\" or a list of key names");
}

/* An object by its form, or any object when there is none. */
static void check_object(struct checker *c, const void *form, const json_t *value)
{
	if (form)
		check_form(c, form, value);
	else if (!json_is_object(value))
		refuse(c, value, "it must be an object");
}

static const struct field rect_fields[] = {
	{"x", FIELD_INT, true, 0, 65535, NULL, NULL, "px", NULL, "left column"},
	{"y", FIELD_INT, true, 0, 65535, NULL, NULL, "px", NULL, "top row"},
	{"width", FIELD_INT, true, 1, 65535, NULL, NULL, "px", NULL, "width"},
	{"height", FIELD_INT, true, 1, 65535, NULL, NULL, "px", NULL, "height"},
};
const struct form form_rect = {rect_fields, ARRAY_LEN(rect_fields), NULL};

static const struct field space_fields[] = {
	{"width", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "width of pictures and coordinates"},
	{"height", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "height of pictures and coordinates"},
};
const struct form form_space = {space_fields, ARRAY_LEN(space_fields), NULL};

static void check_rect(struct checker *c, const json_t *value)
{
	const struct space *space = &c->bounds->space, *native = &c->bounds->native;
	size_t before = c->faults->n;

	check_form(c, &form_rect, value);
	if (c->faults->n > before)
		return;
	if (form_int(value, "x", 0) + form_int(value, "width", 0) > space->width_px ||
	    form_int(value, "y", 0) + form_int(value, "height", 0) > space->height_px)
		refuse(c, value, "it must lie inside the space of %dx%d, which shows a display of %dx%d", space->width_px, space->height_px,
		       native->width_px, native->height_px);
}

/* A rectangle lies inside the space also when it is one of a list. */
static void check_item(struct checker *c, const void *form, const json_t *value)
{
	if (form == &form_rect)
		check_rect(c, value);
	else
		check_object(c, form, value);
}

static void check_list(struct checker *c, const struct field *field, const json_t *value)
{
	if (is_list(value, field->min, field->max))
		check_items(c, value, check_item, field->form);
	else
		refuse(c, value, "it must be a list of %.0f to %.0f objects", field->min, field->max);
}

static void check_field(struct checker *c, const struct field *field, const json_t *value)
{
	bool needs_space = field->type == FIELD_X || field->type == FIELD_Y || field->type == FIELD_PATH || field->type == FIELD_RECT ||
	                   field->form == &form_rect;

	if (needs_space && !c->bounds)
		DIE("field %s needs a space", field->name);
	switch (field->type) {
	case FIELD_INT:
		check_int(c, value, field->min, field->max);
		break;
	case FIELD_NUMBER:
		check_number(c, value, field->min, field->max);
		break;
	case FIELD_BOOL:
		check_bool(c, value);
		break;
	case FIELD_STRING:
		check_string(c, value, field->min, field->max);
		break;
	case FIELD_ENUM:
		check_choice(c, value, field->choices);
		break;
	case FIELD_KEYS:
		check_keys(c, value);
		break;
	case FIELD_X:
		check_coordinate(c, value, 0);
		break;
	case FIELD_Y:
		check_coordinate(c, value, 1);
		break;
	case FIELD_PATH:
		check_path(c, value, field->min, field->max);
		break;
	case FIELD_STRINGS:
		check_strings(c, value, field->min, field->max, field->doc);
		break;
	case FIELD_MAP:
		check_map(c, value, field->max);
		break;
	case FIELD_OBJECT:
		check_object(c, field->form, value);
		break;
	case FIELD_LIST:
		check_list(c, field, value);
		break;
	case FIELD_RECT:
		check_rect(c, value);
		break;
	case FIELD_ANY:
		break;
	}
}

static const struct field *find_field(const struct form *form, const char *name)
{
	for (size_t i = 0; i < form->n_fields; i++)
		if (strcmp(form->fields[i].name, name) == 0)
			return &form->fields[i];
	return NULL;
}

/* The names of a form's fields, as many as fit, then "…". */
static const char *field_names(const struct form *form, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; i < form->n_fields; i++)
		err_list(out, size, ", ", form->fields[i].name);
	if (form->n_fields == 0)
		(void)snprintf(out, size, "none");
	return out;
}

static void unknown_field(struct checker *c, const struct form *form, const char *name)
{
	char quoted[SHOWN_MAX];
	char names[200];

	(void)err_set(faults_next(c->faults), ERR_UNKNOWN_FIELD, c->path, "%s is not a field of this object; its fields: %s",
	              err_quote(quoted, sizeof(quoted), name, strlen(name)), field_names(form, names, sizeof(names)));
}

static void missing_field(struct checker *c, const struct field *field)
{
	size_t old = push(c, field->name);

	(void)err_set(faults_next(c->faults), ERR_MISSING_FIELD, c->path, "\"%s\" is required: %s", field->name, field->doc);
	pop(c, old);
}

static void check_form(struct checker *c, const struct form *form, const json_t *value)
{
	const char *key;
	json_t *item;

	if (!json_is_object(value)) {
		refuse(c, value, "it must be an object");
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, item) {
		const struct field *field = find_field(form, key);
		size_t old = push(c, key);

		if (field)
			check_field(c, field, item);
		else
			unknown_field(c, form, key);
		pop(c, old);
		if (faults_full(c->faults))
			return;
	}
	for (size_t i = 0; i < form->n_fields; i++)
		if (form->fields[i].required && !json_object_get(value, form->fields[i].name))
			missing_field(c, &form->fields[i]);
}

int form_check_all(const struct form *form, const json_t *value, const char *path, const struct bounds *bounds, struct faults *faults)
{
	struct checker c = {.bounds = bounds, .faults = faults};
	size_t before = faults->n;

	(void)snprintf(c.path, sizeof(c.path), "%s", path);
	if (faults_full(faults))
		return -1;
	check_form(&c, form, value);
	return faults->n > before ? -1 : 0;
}

int form_check(const struct form *form, const json_t *value, const char *path, const struct bounds *bounds, struct err *e)
{
	struct faults one = {.list = e, .max = 1};

	return form_check_all(form, value, path, bounds, &one);
}

long form_int(const json_t *object, const char *name, long fallback)
{
	const json_t *value = json_object_get(object, name);

	return json_is_integer(value) ? (long)json_integer_value(value) : fallback;
}

double form_number(const json_t *object, const char *name, double fallback)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

bool form_bool(const json_t *object, const char *name, bool fallback)
{
	const json_t *value = json_object_get(object, name);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

const char *form_string(const json_t *object, const char *name, const char *fallback)
{
	const json_t *value = json_object_get(object, name);

	return json_is_string(value) ? json_string_value(value) : fallback;
}

const json_t *form_given(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_null(value) ? NULL : value;
}

bool form_is(const json_t *value, const char *text)
{
	return json_is_string(value) && json_string_length(value) == strlen(text) && memcmp(json_string_value(value), text, strlen(text)) == 0;
}
