/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the input of Anthropic's computer tools. */
#include "session/dialects/anthropic_field.h"

#include "session/base/util.h"

#define MAX_SECONDS 100
#define MAX_WHOLE 1000000000 /* beyond any coordinate or count */

/* A member; one that is null is absent, as the vendor's types have it. */
const json_t *anthropic_field_of(const struct anthropic_reading *r, const char *name)
{
	return form_given(r->input, name);
}

int anthropic_field_missing(const struct anthropic_reading *r, const char *name)
{
	return err_set(r->e, ERR_MISSING_FIELD, NULL, "%s is required for %s", name, r->action->name);
}

/* 100.0 is the whole number 100: nothing else can be meant. */
bool anthropic_field_whole(const json_t *value, int *out)
{
	double number = json_number_value(value);

	if (!json_is_number(value) || !(number >= -MAX_WHOLE && number <= MAX_WHOLE))
		return false;
	*out = (int)number;
	return !(number < *out || number > *out);
}

bool anthropic_field_wholes(const json_t *list, int *out, size_t n)
{
	if (!json_is_array(list) || json_array_size(list) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!anthropic_field_whole(json_array_get(list, i), &out[i]))
			return false;
	return true;
}

/* A place on the screen. 1 when it is there, 0 when it is absent, -1. */
int anthropic_field_point(const struct anthropic_reading *r, const char *name, int at[2])
{
	const json_t *value = anthropic_field_of(r, name);

	if (!value)
		return 0;
	if (!anthropic_field_wholes(value, at, 2))
		return err_set(r->e, ERR_BAD_FIELD, NULL, "%s must be a list of two whole numbers, [x, y]", name);
	if (at[0] < 0 || at[1] < 0 || at[0] >= r->space.width_px || at[1] >= r->space.height_px)
		return err_set(r->e, ERR_BAD_FIELD, NULL, "%s [%d, %d] is out of bounds: the screenshot is %dx%d, so x is 0 to %d and y is 0 to %d", name, at[0],
		               at[1], r->space.width_px, r->space.height_px, r->space.width_px - 1, r->space.height_px - 1);
	return 1;
}

int anthropic_field_need_point(const struct anthropic_reading *r, const char *name, int at[2])
{
	int rc = anthropic_field_point(r, name, at);

	return rc == 0 ? anthropic_field_missing(r, name) : rc;
}

/* Models write keys as "text", and as "key" too. NULL when there are none. */
static int field_keys(const struct anthropic_reading *r, const json_t **keys)
{
	const json_t *text = anthropic_field_of(r, "text"), *key = anthropic_field_of(r, "key");

	if (text && key)
		return err_set(r->e, ERR_BAD_FIELD, NULL, "text and key are the same: only one of them is allowed");
	*keys = text ? text : key;
	if (*keys && !json_is_string(*keys))
		return err_set(r->e, ERR_BAD_FIELD, NULL, "%s must be a string", text ? "text" : "key");
	return 0;
}

int anthropic_field_need_keys(const struct anthropic_reading *r, const json_t **keys)
{
	if (field_keys(r, keys) < 0)
		return -1;
	return *keys ? 0 : anthropic_field_missing(r, "text");
}

/* In a list it is the key. */
json_t *anthropic_field_chord(const json_t *keys)
{
	return form_is(keys, "+") ? json_pack("[s]", "+") : json_incref((json_t *)(uintptr_t)keys);
}

/* Keys that are held meanwhile: into `act`, if there are any. */
int anthropic_field_add_hold(const struct anthropic_reading *r, json_t *act)
{
	const json_t *keys;

	if (field_keys(r, &keys) < 0)
		return -1;
	if (keys && json_string_length(keys) > 0)
		(void)json_object_set_new(act, "hold", anthropic_field_chord(keys));
	return 0;
}

int anthropic_field_add_place(const struct anthropic_reading *r, json_t *act)
{
	int at[2];
	int rc = anthropic_field_point(r, "coordinate", at);

	if (rc > 0) {
		(void)json_object_set_new(act, "x", json_integer(at[0]));
		(void)json_object_set_new(act, "y", json_integer(at[1]));
	}
	return rc < 0 ? -1 : 0;
}

int anthropic_field_need_ms(const struct anthropic_reading *r, int64_t *ms)
{
	const json_t *value = anthropic_field_of(r, "duration");
	double seconds = json_number_value(value);

	if (!value)
		return anthropic_field_missing(r, "duration");
	if (!json_is_number(value) || !(seconds >= 0 && seconds <= MAX_SECONDS))
		return err_set(r->e, ERR_BAD_FIELD, NULL, "duration must be a number of seconds from 0 to %d", MAX_SECONDS);
	*ms = (int64_t)(seconds * 1000 + 0.5);
	r->step->takes_ms = (long)*ms;
	return 0;
}
