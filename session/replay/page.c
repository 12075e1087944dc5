/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Putting pages together. */
#include "session/replay/page.h"

#include <stdbool.h>
#include <string.h>

#include "session/base/base64.h"
#include "session/base/hash.h"
#include "session/base/util.h"

/* 'sha256-…' of an element's text. */
static char *source_hash(const char *text, const char *end)
{
	uint8_t hash[HASH_BYTES];
	auto_free char *encoded = NULL;

	hash_sha256(text, (size_t)(end - text), hash);
	encoded = base64_encode(hash, sizeof(hash), NULL);
	return util_printf("'sha256-%s'", encoded);
}

static void put_policy(const struct page *page, FILE *to)
{
	auto_free char *script = source_hash(page->script, page->script_end), *style = source_hash(page->style, page->style_end);

	fprintf(to, "default-src 'none'; img-src %s; script-src %s; style-src %s; base-uri 'none'; form-action 'none'", page->pictures, script, style);
}

static void put_style(const struct page *page, FILE *to)
{
	fwrite(page->style, 1, (size_t)(page->style_end - page->style), to);
}

static void put_script(const struct page *page, FILE *to)
{
	fwrite(page->script, 1, (size_t)(page->script_end - page->script), to);
}

static const struct {
	const char *mark;
	void (*put)(const struct page *page, FILE *to);
} own_marks[] = {{"{{POLICY}}", put_policy}, {"{{STYLE}}", put_style}, {"{{SCRIPT}}", put_script}};

static bool begins(const char *at, const char *mark)
{
	return strncmp(at, mark, strlen(mark)) == 0;
}

/* What stands for the mark at this place; its length, 0 if there is none. */
static size_t put_mark(const struct page *page, const struct page_mark *marks, size_t n_marks, const void *arg, const char *at, FILE *to)
{
	for (size_t i = 0; i < ARRAY_LEN(own_marks); i++)
		if (begins(at, own_marks[i].mark)) {
			own_marks[i].put(page, to);
			return strlen(own_marks[i].mark);
		}
	for (size_t i = 0; i < n_marks; i++)
		if (begins(at, marks[i].mark)) {
			marks[i].put(arg, to);
			return strlen(marks[i].mark);
		}
	return 0;
}

void page_write(const struct page *page, const struct page_mark *marks, size_t n_marks, const void *arg, FILE *to)
{
	for (const char *at = page->html; at < page->html_end;) {
		size_t len = *at == '{' ? put_mark(page, marks, n_marks, arg, at, to) : 0;

		if (len == 0)
			fputc(*at, to);
		at += len > 0 ? len : 1;
	}
}

/* Where this byte begins what a page could take for its own, how it is written; *len bytes of the text it stands for. */
static const char *escape(const char *at, size_t *len)
{
	static const struct {
		const char *text, *escaped;
	} rows[] = {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		*len = strlen(rows[i].text);
		if (strncmp(at, rows[i].text, *len) == 0)
			return rows[i].escaped;
	}
	*len = 1;
	return NULL;
}

void page_put_json(const json_t *value, FILE *to)
{
	auto_free char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	size_t len;

	if (!text)
		DIE("no memory for a page");
	for (const char *at = text; *at; at += len) {
		const char *escaped = escape(at, &len);

		if (escaped)
			fputs(escaped, to);
		else
			fputc(*at, to);
	}
}
