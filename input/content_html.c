/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of HTML. */
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>

#include "input/content.h"
#include "session/base/util.h"

#define NAME_MAX_BYTES 16 /* of an element that is known */

/* Elements that begin and end a line. */
static const char *const blocks[] = {
	"address", "article", "aside", "blockquote", "body", "dd", "div", "dl", "dt", "fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
	"h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul",
};
/* Elements of which nothing is shown. */
static const char *const unseen[] = {"head", "script", "style", "template", "title"};

struct reading {
	const char *html;
	size_t len, at;
	char *out;
	size_t used;
	bool space; /* white space since the last character */
};

static bool is_space(char c)
{
	return c && strchr(" \t\r\n\f", c);
}

static bool is_letter(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
}

static bool is_among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(name, list[i]) == 0)
			return true;
	return false;
}

/* What is put out is never longer than what it was made from. */
static void put(struct reading *reading, const char *text, size_t n)
{
	if (reading->space && reading->used > 0 && reading->out[reading->used - 1] != '\n')
		reading->out[reading->used++] = ' ';
	reading->space = false;
	memcpy(reading->out + reading->used, text, n);
	reading->used += n;
}

static void end_line(struct reading *reading, bool always)
{
	reading->space = false;
	if (always || (reading->used > 0 && reading->out[reading->used - 1] != '\n'))
		reading->out[reading->used++] = '\n';
}

/* Behind the next `c`, or at the end. */
static void skip_to(struct reading *reading, char c)
{
	const char *found = memchr(reading->html + reading->at, c, reading->len - reading->at);

	reading->at = found ? (size_t)(found - reading->html) + 1 : reading->len;
}

/* Behind the tag, whose attributes may have a > in quotes. */
static void skip_tag(struct reading *reading)
{
	while (reading->at < reading->len && reading->html[reading->at] != '>') {
		char c = reading->html[reading->at++];

		if (c == '"' || c == '\'')
			skip_to(reading, c);
	}
	reading->at += reading->at < reading->len;
}

static void skip_comment(struct reading *reading)
{
	const char *end = memmem(reading->html + reading->at, reading->len - reading->at, "-->", 3);

	reading->at = end ? (size_t)(end - reading->html) + 3 : reading->len;
}

/* To the tag that ends the element. */
static void skip_unseen(struct reading *reading, const char *name)
{
	size_t n = strlen(name);

	while (reading->at < reading->len) {
		const char *text = reading->html + reading->at;

		if (text[0] == '<' && reading->len - reading->at >= n + 2 && text[1] == '/' && strncasecmp(text + 2, name, n) == 0)
			return;
		reading->at++;
	}
}

static void take_tag(struct reading *reading)
{
	bool ends = reading->html[reading->at + 1] == '/';
	char name[NAME_MAX_BYTES] = "";

	reading->at += 1 + ends;
	for (size_t n = 0; reading->at < reading->len && is_letter(reading->html[reading->at]); reading->at++)
		if (n + 1 < sizeof(name))
			name[n++] = reading->html[reading->at];
	skip_tag(reading);
	if (strcasecmp(name, "br") == 0)
		end_line(reading, true);
	else if (is_among(name, blocks, ARRAY_LEN(blocks)))
		end_line(reading, false);
	else if (!ends && is_among(name, unseen, ARRAY_LEN(unseen)))
		skip_unseen(reading, name);
}

/* The character that a reference of `n` bytes, without & and ;, stands for; 0 when it is none. */
static uint32_t referred(const char *name, size_t n)
{
	static const struct {
		const char *name;
		uint32_t code_point;
	} named[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}, {"nbsp", ' '}};
	bool is_hex = n > 1 && name[0] == '#' && (name[1] | 0x20) == 'x';
	uint32_t value = 0;

	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (strlen(named[i].name) == n && memcmp(name, named[i].name, n) == 0)
			return named[i].code_point;
	if (n < 2 || name[0] != '#')
		return 0;
	for (size_t i = 1 + is_hex; i < n; i++) {
		const char *digit = memchr("0123456789abcdef", name[i] | (name[i] > '9' ? 0x20 : 0), is_hex ? 16 : 10);

		if (!digit || value > 0x10FFFF)
			return 0;
		value = value * (is_hex ? 16 : 10) + (uint32_t)(name[i] <= '9' ? name[i] - '0' : (name[i] | 0x20) - 'a' + 10);
	}
	return value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF) ? 0 : value;
}

static void take_reference(struct reading *reading)
{
	const char *text = reading->html + reading->at;
	const char *end = memchr(text, ';', MIN(reading->len - reading->at, (size_t)12));
	uint32_t code_point = end ? referred(text + 1, (size_t)(end - text) - 1) : 0;
	char out[5];
	size_t n;

	reading->at += code_point ? (size_t)(end - text) + 1 : 1;
	n = util_utf8_encode(code_point ? code_point : '&', out);
	put(reading, out, n);
}

char *content_html_text(const char *html, size_t len, size_t *out_len)
{
	struct reading reading = {.html = html, .len = len, .out = util_alloc(len + 1)};

	while (reading.at < len) {
		const char *text = html + reading.at;
		size_t left = len - reading.at;

		if (left >= 4 && memcmp(text, "<!--", 4) == 0) {
			skip_comment(&reading);
		} else if (left >= 2 && text[0] == '<' && (text[1] == '/' || text[1] == '!' || text[1] == '?' || is_letter(text[1]))) {
			take_tag(&reading);
		} else if (text[0] == '&') {
			take_reference(&reading);
		} else if (is_space(text[0])) {
			reading.space = true;
			reading.at++;
		} else {
			put(&reading, text, 1);
			reading.at++;
		}
	}
	while (reading.used > 0 && reading.out[reading.used - 1] == '\n')
		reading.used--;
	reading.out[reading.used] = '\0';
	*out_len = reading.used;
	return reading.out;
}
