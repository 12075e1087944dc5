/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures by query. */
#include "session/stage/looks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/base/util.h"

/* Exactly n whole numbers of at most nine digits with one separator between them. */
static bool read_numbers(const char *text, char separator, int *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int digits = 0;

		for (numbers[i] = 0; *text >= '0' && *text <= '9' && digits < 9; text++, digits++)
			numbers[i] = numbers[i] * 10 + (*text - '0');
		if (digits == 0 || *text != (i + 1 < n ? separator : '\0'))
			return false;
		text++;
	}
	return true;
}

static json_t *read_region(const char *text)
{
	int n[4];

	return read_numbers(text, ',', n, 4) ? json_pack("{s:i,s:i,s:i,s:i}", "x", n[0], "y", n[1], "width", n[2], "height", n[3]) : NULL;
}

static json_t *read_space(const char *text)
{
	int n[2];

	return read_numbers(text, 'x', n, 2) ? json_pack("{s:i,s:i}", "width", n[0], "height", n[1]) : NULL;
}

static json_t *read_number(const char *text)
{
	int n;

	return read_numbers(text, '\0', &n, 1) ? json_integer(n) : NULL;
}

/* Ids are larger than numbers of pixels. */
static json_t *read_id(const char *text)
{
	const size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits <= 10 && text[digits] == '\0' ? json_integer(strtoll(text, NULL, 10)) : NULL;
}

static json_t *read_truth(const char *text)
{
	return strcmp(text, "true") == 0 ? json_true() : strcmp(text, "false") == 0 ? json_false() : NULL;
}

/* What cannot be read stays a string, which the form or this refuses. */
static const struct parameter {
	const char *name, *rule;
	json_t *(*read)(const char *text);
} parameters[] = {
	{"region", "x,y,width,height in whole numbers", read_region},
	{"window", "a whole number", read_id},
	{"space", "native or WIDTHxHEIGHT", read_space},
	{"size", "WIDTHxHEIGHT", read_space},
	{"cursor", "true or false", read_truth},
	{"quality", "a whole number", read_number},
	{"max_bytes", "a whole number", read_number},
};

static int read_parameter(const struct parameter *parameter, json_t *fields, struct err *e)
{
	const char *text = json_string_value(json_object_get(fields, parameter->name));
	char path[32], quoted[80];
	json_t *value;

	if (!text || (strcmp(parameter->name, "space") == 0 && strcmp(text, "native") == 0))
		return 0;
	value = parameter->read(text);
	if (value)
		return json_object_set_new(fields, parameter->name, value);
	(void)snprintf(path, sizeof(path), "/%s", parameter->name);
	return err_set(e, ERR_BAD_FIELD, path, "%s is not allowed here: it must be %s", err_quote(quoted, sizeof(quoted), text, strlen(text)),
	               parameter->rule);
}

int looks_read(const json_t *query, const struct bounds *bounds, json_t **out, struct err *e)
{
	const struct action_row *row = &display_rows[0];
	json_auto_t *fields = query ? json_copy((json_t *)(uintptr_t)query) : json_object();

	json_object_del(fields, "if_none_match"); /* not of the picture */
	for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
		if (read_parameter(&parameters[i], fields, e) < 0)
			return -1;
	if (form_check(&row->form, fields, "", bounds, e) < 0 || row->check(NULL, fields, e) < 0)
		return -1;
	*out = json_incref(fields);
	return 0;
}

/* Made of the same frame by the same request it has the same bytes, and so the same tag. */
static char *tag_of(const struct stage *stage, const struct display_picture *picture)
{
	const struct display_request *r = &picture->asked;

	return util_printf("\"%llu.%ld.%ld-%u.%d.%d.%d.%d.%d.%d.%d-%d.%d.%ld.%d\"", (unsigned long long)picture->made, stage->epoch, stage->episode,
	                   r->window,
	                   r->x, r->y, r->width, r->height, r->out_width, r->out_height, r->no_cursor, r->format, r->quality, r->max_bytes,
	                   r->any_format);
}

/* The list of If-None-Match has this tag, weak or strong; the tag's quotes make it whole. */
static bool has_tag(const json_t *query, const char *tag)
{
	const char *known = form_string(query, "if_none_match", "");

	return strcmp(known, "*") == 0 || strstr(known, tag);
}

/* What was asked for; what came in its stead is what the other headers say. */
static json_t *fallback_of(const struct display_picture *picture)
{
	const struct display_request *asked = &picture->asked;

	return json_sprintf("reason=max_bytes, max_bytes=%ld, format=%s, width=%d, height=%d", asked->max_bytes, display_format_name(asked->format),
	                    asked->out_width, asked->out_height);
}

/* In the caller's space; of a window it is what the picture came to. */
static struct rect region_in_space(const struct stage *stage, const json_t *fields, const struct display_picture *picture)
{
	struct rect rect;

	if (!picture->part)
		return space_rect(json_object_get(fields, "region"));
	rect = picture->part->region;
	space_map_rect(stage->native, stage->space, &rect.x, &rect.y, &rect.width, &rect.height);
	return rect;
}

static json_t *headers_of(const struct stage *stage, const json_t *fields, const char *tag, const struct display_picture *picture)
{
	const struct rect region = region_in_space(stage, fields, picture);
	json_t *headers = json_pack("{s:s}", "ETag", tag);

	json_object_set_new(headers, "Glovebox-At", json_sprintf("frame=%llu, epoch=%ld, episode=%ld", (unsigned long long)picture->frame,
	                                                         stage->epoch, stage->episode));
	json_object_set_new(headers, "Glovebox-Space", json_sprintf("%dx%d", stage->space.width_px, stage->space.height_px));
	json_object_set_new(headers, "Glovebox-Native", json_sprintf("%dx%d", stage->native.width_px, stage->native.height_px));
	json_object_set_new(headers, "Glovebox-Size", json_sprintf("%dx%d", picture->width, picture->height));
	if (picture->fell_back)
		json_object_set_new(headers, "Glovebox-Fallback", fallback_of(picture));
	if (region.width > 0)
		json_object_set_new(headers, "Glovebox-Region", json_sprintf("%d,%d,%d,%d", region.x, region.y, region.width, region.height));
	if (picture->part)
		json_object_set_new(headers, "Glovebox-Covered", json_string(picture->part->n_covered > 0 ? "true" : "false"));
	return headers;
}

/* In native pixels; width 0: all of it. */
static struct rect region_of(const struct stage *stage, const json_t *fields)
{
	const struct display_request request = display_request_read(fields, stage->space, stage->native);

	return display_request_region(&request);
}

#define RESIZE_TRIES 4

/* What the query asks for of the screen as large as it is now, and its picture. */
static int take(struct stage *stage, const json_t *query, json_t **fields, struct display_picture *picture, struct err *e)
{
	const struct bounds bounds = {stage->space, stage->native};
	struct display_request request;

	if (looks_read(query, &bounds, fields, e) < 0)
		return -1;
	request = display_request_read(*fields, stage->space, stage->native);
	return display_picture(stage->display, &request, picture, e);
}

/* Of one that waited while the screen got another size the headers would not be true. */
static int take_current(struct stage *stage, const json_t *query, json_t **fields, struct display_picture *picture, struct err *e)
{
	for (int tries = 0; tries < RESIZE_TRIES; tries++) {
		uint64_t resized = display_resized(stage->display);
		json_auto_t *read = NULL;
		int rc = take(stage, query, &read, picture, e);

		if (resized == display_resized(stage->display)) {
			*fields = json_incref(read);
			return rc;
		}
		if (rc == 0)
			display_picture_drop(picture);
	}
	return err_set(e, ERR_BUSY, NULL, "the display is being resized again and again");
}

void looks_call(struct stage *stage, struct call *call)
{
	json_auto_t *fields = NULL;
	struct display_picture picture;
	struct err e;

	if (take_current(stage, call->query, &fields, &picture, &e) < 0) {
		call_refuse(call, &e);
		return;
	}
	/* It may have waited for others' pictures: is there still room for its own? */
	if (stage_check_ready(stage, &e) < 0) {
		display_picture_drop(&picture);
		call_refuse(call, &e);
		return;
	}
	if (!picture.part)
		lease_looked(stage, call, region_of(stage, fields), picture.width, picture.height);
	guard_note(stage, call, picture.frame, picture.part ? picture.part->region : region_of(stage, fields));
	auto_free char *tag = tag_of(stage, &picture);
	json_auto_t *headers = headers_of(stage, fields, tag, &picture);
	bool is_known = has_tag(call->query, tag);

	call_reply(call, is_known ? 304 : 200, encode_of(picture.format)->media_type, headers, picture.bytes->data,
	           is_known ? 0 : picture.bytes->len);
	display_picture_drop(&picture);
}
