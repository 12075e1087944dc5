/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actions clipboard_set and clipboard_get. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "input/clipboard.h"
#include "input/content.h"
#include "session/base/base64.h"
#include "session/base/util.h"

static const char *const kinds[CLIPBOARD_KINDS] = {"text", "html", "png"};
#define KIND_NAMES "text html png"

#define SELECTION_FIELD                                                                                                                  \
	{"selection", FIELD_ENUM, false, 0, 0, "clipboard primary", NULL, NULL, "\"clipboard\"",                                                \
	 "clipboard: what copy and paste use; primary: what is marked, and a click of the middle button pastes"}

const struct field clipboard_set_fields[4] = {
	{"text", FIELD_STRING, false, 0, LIMIT_CLIPBOARD_BYTES, NULL, NULL, NULL, NULL, "any Unicode text"},
	{"html", FIELD_STRING, false, 1, LIMIT_CLIPBOARD_BYTES, NULL, NULL, NULL, NULL,
	 "HTML; programs that take none get text, or else its text without tags, a line for each block"},
	{"png", FIELD_STRING, false, 1, LIMIT_CLIPBOARD_BASE64_BYTES, NULL, NULL, NULL, NULL, "a PNG in Base64, at most 5 MiB and 32 Mi pixels"},
	SELECTION_FIELD,
};

const struct field clipboard_get_fields[2] = {
	{"format", FIELD_ENUM, false, 0, 0, KIND_NAMES, NULL, NULL, "\"text\"", "what of it"},
	SELECTION_FIELD,
};

const struct member clipboard_get_told[5] = {
	{"owner", "=none agent app", "who holds it: nobody, the session for its agent, a program"},
	{"offered", "string[]", "the formats that can be got: text, html, png"},
	{"text?", "string|null", "for that format: the text; null: it is not offered"},
	{"html?", "string|null", "the same of html"},
	{"png?", "base64|null", "the same of png"},
};

static enum clipboard_name name_of(const json_t *args)
{
	return strcmp(form_string(args, "selection", "clipboard"), "primary") == 0 ? CLIPBOARD_PRIMARY : CLIPBOARD_MAIN;
}

static enum clipboard_kind kind_of(const json_t *args)
{
	const char *format = form_string(args, "format", kinds[0]);
	enum clipboard_kind kind = 0;

	while (strcmp(kinds[kind], format) != 0)
		kind++;
	return kind;
}

static int check_png(const json_t *png, struct err *e)
{
	size_t len = 0;
	auto_free void *data = base64_decode(json_string_value(png), json_string_length(png), &len);
	const char *fault = data ? content_png_fault(data, len) : NULL;

	if (!data)
		return err_set(e, ERR_BAD_FIELD, "/png", "png is not Base64");
	return fault ? err_set(e, ERR_BAD_FIELD, "/png", "png is no PNG that is taken: %s", fault) : 0;
}

int clipboard_check_set(void *home, const json_t *args, struct err *e)
{
	const json_t *text = json_object_get(args, "text"), *html = json_object_get(args, "html"), *png = json_object_get(args, "png");

	(void)home;
	if (!text && !html && !png)
		return err_set(e, ERR_MISSING_FIELD, "/text", CLIPBOARD_SET_RULE);
	if (png && (text || html))
		return err_set(e, ERR_BAD_FIELD, "/png", "png stands alone: " CLIPBOARD_SET_RULE);
	return png ? check_png(png, e) : 0;
}

static struct selection_content *make_content(const struct clipboard *clipboard, const json_t *args)
{
	const json_t *text = json_object_get(args, "text"), *html = json_object_get(args, "html"), *png = json_object_get(args, "png");
	struct selection_content *content = selection_nothing();
	auto_free char *derived = NULL;
	auto_free void *pixels = NULL;
	size_t len = 0;

	if (text)
		clipboard_add(clipboard, content, CLIPBOARD_TEXT, json_string_value(text), json_string_length(text));
	if (html)
		clipboard_add(clipboard, content, CLIPBOARD_HTML, json_string_value(html), json_string_length(html));
	if (html && !text) {
		derived = content_html_text(json_string_value(html), json_string_length(html), &len);
		clipboard_add(clipboard, content, CLIPBOARD_TEXT, derived, len);
	}
	if (png) {
		pixels = base64_decode(json_string_value(png), json_string_length(png), &len);
		clipboard_add(clipboard, content, CLIPBOARD_PNG, pixels, len);
	}
	return content;
}

int clipboard_run_set(struct clipboard *clipboard, struct action_run *run, struct err *e)
{
	struct clipboard_one *one = &clipboard->one[name_of(run->args)];
	struct selection_content *content;
	int rc;

	if (ping_clock(clipboard->ping, e) < 0)
		return -1;
	content = make_content(clipboard, run->args);
	rc = selection_set(&one->ours, clipboard->ping->time, content, e);
	selection_drop(content);
	return rc;
}

static int say_fault(int answer, enum clipboard_kind kind, struct err *e)
{
	if (answer == SELECTION_LATE)
		return err_set(e, ERR_TIMEOUT, NULL, "the program that owns this selection does not answer, or stopped in the middle");
	if (answer == SELECTION_LARGE)
		return err_set(e, ERR_TOO_LARGE, "/format", "what the selection holds as %s is more than %d bytes", kinds[kind], LIMIT_CLIPBOARD_BYTES);
	return err_set(e, ERR_CONFLICT, "/format", "the program that owns this selection offers it as %s and gives nothing of the kind", kinds[kind]);
}

static json_t *value_of(enum clipboard_kind kind, const char *data, size_t len)
{
	if (kind != CLIPBOARD_PNG)
		return json_stringn(data, len);
	size_t base64_len;
	auto_free char *base64 = base64_encode(data, len, &base64_len);

	return json_stringn(base64, base64_len);
}

static void tell(json_t *result, const char *owner, const struct clipboard_offer *offer, enum clipboard_kind kind, json_t *value)
{
	json_t *offered = json_array();

	for (enum clipboard_kind i = 0; i < CLIPBOARD_KINDS; i++)
		if (offer->target[i])
			json_array_append_new(offered, json_string(kinds[i]));
	json_object_set_new(result, "owner", json_string(owner));
	json_object_set_new(result, "offered", offered);
	json_object_set_new(result, kinds[kind], value ? value : json_null());
}

/* One try: enum selection_answer, or -1. Only on SELECTION_CAME the result is told. */
static int try_get(struct clipboard *clipboard, struct clipboard_one *one, struct action_run *run, struct err *e)
{
	enum clipboard_kind kind = kind_of(run->args);
	int64_t deadline_ms = MIN(run->deadline_ms, util_now_ms() + LIMIT_CLIPBOARD_MS);
	struct clipboard_offer offer = {0};
	struct selection *reader;
	json_t *value = NULL;
	auto_free char *data = NULL;
	size_t len;
	int rc;

	if (ping_clock(clipboard->ping, e) < 0 || clipboard_reader(clipboard, one, &reader, e) < 0)
		return -1;
	if (!reader) {
		tell(run->result, "none", &offer, kind, NULL);
		return SELECTION_CAME;
	}
	rc = clipboard_ask(clipboard, reader, clipboard->ping->time, &offer, e);
	if (rc == SELECTION_CAME && offer.target[kind]) {
		rc = clipboard_fetch(clipboard, reader, kind, offer.target[kind], clipboard->ping->time, deadline_ms, &data, &len, e);
		if (rc == SELECTION_CAME)
			value = value_of(kind, data, len);
	}
	if (rc == SELECTION_REFUSED && offer.guessed) {
		offer.target[kind] = XCB_NONE;
		rc = SELECTION_CAME;
	}
	if (rc == SELECTION_CAME)
		tell(run->result, reader->owned && !reader->content->carried ? "agent" : "app", &offer, kind, value);
	return rc;
}

int clipboard_run_get(struct clipboard *clipboard, struct action_run *run, struct err *e)
{
	struct clipboard_one *one = &clipboard->one[name_of(run->args)];
	unsigned int before;
	int rc;

	if (clipboard_take(one, run->deadline_ms, e) < 0)
		return -1;
	before = one->n_changes;
	rc = try_get(clipboard, one, run, e);
	/* Its owner went, or another took it, in the middle. */
	if (rc == SELECTION_REFUSED && one->n_changes != before)
		rc = try_get(clipboard, one, run, e);
	clipboard_give(one);
	return rc > 0 ? say_fault(rc, kind_of(run->args), e) : rc;
}
