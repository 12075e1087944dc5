/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON from outside, read strictly. The rows of forms are in form.c.
 *
 * jansson builds the value, but says only roughly where a fault is, and its limit on nesting is fixed. So a scan of the grammar
 * (RFC 8259) goes first: it finds the first fault of form, its exact byte and what would be right there.
 */
#include "session/base/json.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define TEXT_OF(number) #number
#define NUMBER_TEXT(number) TEXT_OF(number)

/* What the grammar allows next. */
enum expect { EXPECT_VALUE, EXPECT_VALUE_OR_END, EXPECT_KEY, EXPECT_KEY_OR_END, EXPECT_COLON, EXPECT_COMMA_OR_END, EXPECT_NOTHING };

struct scan {
	const char *text;
	size_t len;
	size_t at;                    /* the next byte; after a failure the byte at fault */
	const char *why;              /* after a failure */
	char closers[LIMIT_JSON_DEPTH]; /* of the arrays and objects that are open */
	int depth;
	size_t values_left;           /* that may still come */
	size_t probe, token;          /* where the string or number that holds byte `probe` begins */
};

/* A fault of form at this byte: counts its line and its column (in characters). */
static int bad_form(struct err *e, const char *text, size_t offset, const char *why)
{
	int line = 1;
	int column = 1;

	for (size_t i = 0; i < offset; i++) {
		bool continues = ((unsigned char)text[i] & 0xC0) == 0x80;

		column = text[i] == '\n' ? 1 : column + !continues;
		line += text[i] == '\n';
	}
	(void)err_set(e, ERR_BAD_JSON, NULL, "%s, at byte %zu (line %d, column %d)", why, offset, line, column);
	if (e) {
		e->offset = (long)offset;
		e->line = line;
		e->column = column;
	}
	return -1;
}

static bool fail(struct scan *s, size_t at, const char *why)
{
	s->at = at < s->len ? at : s->len;
	s->why = at < s->len ? why : "the JSON ends too early";
	return false;
}

static void note_token(struct scan *s, size_t start)
{
	if (start <= s->probe && s->probe < s->at)
		s->token = start;
}

/* The four hex digits at s->at into *unit. */
static bool scan_hex(struct scan *s, unsigned *unit)
{
	*unit = 0;
	for (int i = 0; i < 4; i++, s->at++) {
		static const char DIGITS[] = "0123456789abcdef";
		const char *digit = s->at < s->len && s->text[s->at] ? strchr(DIGITS, s->text[s->at] | 0x20) : NULL;

		if (!digit)
			return fail(s, s->at, "\\u needs four hex digits");
		*unit = *unit << 4 | (unsigned)(digit - DIGITS);
	}
	return true;
}

static bool scan_escape(struct scan *s, bool is_key)
{
	static const char LONE[] = "half of a surrogate pair stands alone";
	size_t start = s->at++;
	unsigned unit, low;

	if (s->at >= s->len)
		return fail(s, s->len, NULL);
	if (s->text[s->at] != 'u') {
		if (!memchr("\"\\/bfnrt", s->text[s->at], 8))
			return fail(s, start, "no such escape in a string");
		s->at++;
		return true;
	}
	s->at++;
	if (!scan_hex(s, &unit))
		return false;
	if (unit == 0 && is_key)
		return fail(s, start, "a key must not contain a NUL character");
	if (unit < 0xD800 || unit > 0xDFFF)
		return true;
	if (unit > 0xDBFF || (s->at < s->len && s->text[s->at] != '\\') || (s->at + 1 < s->len && s->text[s->at + 1] != 'u'))
		return fail(s, start, LONE);
	s->at += 2;
	if (!scan_hex(s, &low))
		return false;
	return (low >= 0xDC00 && low <= 0xDFFF) || fail(s, start, LONE);
}

static bool scan_string(struct scan *s, bool is_key)
{
	size_t start = s->at++;

	while (s->at < s->len && s->text[s->at] != '"') {
		uint32_t code_point;
		size_t n = util_utf8_decode(s->text + s->at, s->len - s->at, &code_point);

		if (n == 0)
			return fail(s, s->at, "a byte is not UTF-8");
		if (code_point < 0x20)
			return fail(s, s->at, "a control character in a string must be escaped");
		if (code_point != '\\')
			s->at += n;
		else if (!scan_escape(s, is_key))
			return false;
	}
	if (s->at == s->len)
		return fail(s, s->len, NULL);
	s->at++;
	note_token(s, start);
	return true;
}

static bool scan_digits(struct scan *s)
{
	size_t start = s->at;

	while (s->at < s->len && s->text[s->at] >= '0' && s->text[s->at] <= '9')
		s->at++;
	return s->at > start || fail(s, s->at, "a digit is needed here");
}

static bool next_is(const struct scan *s, const char *any_of)
{
	return s->at < s->len && s->text[s->at] && strchr(any_of, s->text[s->at]);
}

static bool scan_number(struct scan *s)
{
	size_t start = s->at;
	size_t digits;

	s->at += s->text[s->at] == '-';
	digits = s->at;
	if (!scan_digits(s))
		return false;
	if (s->text[digits] == '0' && s->at > digits + 1)
		return fail(s, start, "a number must not begin with 0");
	if (next_is(s, ".")) {
		s->at++;
		if (!scan_digits(s))
			return false;
	}
	if (next_is(s, "eE")) {
		s->at++;
		s->at += next_is(s, "+-");
		if (!scan_digits(s))
			return false;
	}
	note_token(s, start);
	return true;
}

static bool scan_word(struct scan *s)
{
	static const char *const WORDS[] = {"true", "false", "null"};
	uint32_t code_point;

	for (size_t i = 0; i < ARRAY_LEN(WORDS); i++) {
		size_t n = strlen(WORDS[i]);

		if (s->len - s->at >= n && memcmp(s->text + s->at, WORDS[i], n) == 0) {
			s->at += n;
			return true;
		}
	}
	if (util_utf8_decode(s->text + s->at, s->len - s->at, &code_point) == 0)
		return fail(s, s->at, "a byte is not UTF-8");
	return fail(s, s->at, code_point == 0xFEFF ? "a byte order mark is not allowed" : "a JSON value is needed here");
}

static enum expect after_value(const struct scan *s)
{
	return s->depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
}

static bool scan_value(struct scan *s, enum expect *next)
{
	char c = s->text[s->at];

	if (s->values_left-- == 0)
		return fail(s, s->at, "the body has more values than are allowed");
	if (c == '{' || c == '[') {
		if (s->depth == LIMIT_JSON_DEPTH)
			return fail(s, s->at, "at most " NUMBER_TEXT(LIMIT_JSON_DEPTH) " arrays and objects may be nested");
		s->closers[s->depth++] = c == '{' ? '}' : ']';
		s->at++;
		*next = c == '{' ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
		return true;
	}
	if (!(c == '"' ? scan_string(s, false) : c == '-' || (c >= '0' && c <= '9') ? scan_number(s) : scan_word(s)))
		return false;
	*next = after_value(s);
	return true;
}

static bool scan_comma_or_end(struct scan *s, enum expect *next)
{
	char closer = s->closers[s->depth - 1];
	char c = s->text[s->at];

	if (c == closer)
		s->depth--;
	else if (c != ',')
		return fail(s, s->at, closer == '}' ? "a comma or } is needed here" : "a comma or ] is needed here");
	s->at++;
	*next = c == closer ? after_value(s) : closer == '}' ? EXPECT_KEY : EXPECT_VALUE;
	return true;
}

/* One step of the grammar at a byte that is no white space. */
static bool scan_step(struct scan *s, enum expect *next)
{
	char c = s->text[s->at];

	switch (*next) {
	case EXPECT_VALUE_OR_END:
	case EXPECT_KEY_OR_END:
		if (c == s->closers[s->depth - 1])
			return scan_comma_or_end(s, next);
		*next = *next == EXPECT_KEY_OR_END ? EXPECT_KEY : EXPECT_VALUE;
		return true;
	case EXPECT_VALUE:
		return scan_value(s, next);
	case EXPECT_KEY:
		if (c != '"')
			return fail(s, s->at, "a key in double quotes is needed here");
		*next = EXPECT_COLON;
		return scan_string(s, true);
	case EXPECT_COLON:
		if (c != ':')
			return fail(s, s->at, "a colon is needed here");
		s->at++;
		*next = EXPECT_VALUE;
		return true;
	case EXPECT_COMMA_OR_END:
		return scan_comma_or_end(s, next);
	case EXPECT_NOTHING:
		break;
	}
	return fail(s, s->at, "something follows the JSON value");
}

static bool scan(struct scan *s)
{
	enum expect next = EXPECT_VALUE;

	for (;;) {
		while (next_is(s, " \t\r\n"))
			s->at++;
		if (s->at == s->len && next == EXPECT_NOTHING)
			return true;
		if (s->at == s->len) {
			(void)fail(s, s->len, NULL);
			if (next == EXPECT_VALUE && s->depth == 0)
				s->why = "the body is empty, a JSON value is needed";
			return false;
		}
		if (!scan_step(s, &next))
			return false;
	}
}

/* Where the string or number begins that jansson had read last when it gave up. */
static size_t fault_offset(const char *text, size_t len, const json_error_t *fault)
{
	size_t last = fault->position > 0 ? (size_t)fault->position - 1 : 0;
	struct scan s = {.text = text, .len = len, .probe = last, .token = last, .values_left = SIZE_MAX};

	(void)scan(&s);
	return s.token < len ? s.token : len;
}

static const char *plain_reason(const json_error_t *fault)
{
	enum json_error_code code = json_error_code(fault);

	return code == json_error_duplicate_key       ? "a key stands twice in an object"
	       : code == json_error_numeric_overflow ? "a number is too large"
	                                             : "this JSON cannot be read";
}

int json_parse(const char *text, size_t len, json_t **out, struct err *e)
{
	return json_parse_few(text, len, SIZE_MAX, out, e);
}

int json_parse_few(const char *text, size_t len, size_t max_values, json_t **out, struct err *e)
{
	struct scan s = {.text = text, .len = len, .probe = len, .values_left = max_values};
	json_error_t fault;
	json_t *value;

	if (!scan(&s))
		return bad_form(e, text, s.at, s.why);
	value = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &fault);
	if (!value)
		return bad_form(e, text, fault_offset(text, len, &fault), plain_reason(&fault));
	*out = value;
	return 0;
}
