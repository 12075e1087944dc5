/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON from outside, read strictly. The rows of forms are in form.c.
 *
 * The values are jansson's, but not its reader: that says only roughly where a fault is, has a limit of its own on nesting, and takes a string byte
 * by byte. One pass by the grammar (RFC 8259) finds the first fault of form, its exact byte and what would be right there, and makes the values
 * as it goes.
 */
#include "session/base/json.h"

#include <stdlib.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define FIRST_BYTES 32 /* of a string that is unescaped, beyond what it has */
#define TEXT_OF(number) #number
#define NUMBER_TEXT(number) TEXT_OF(number)

/* What the grammar allows next. */
enum expect { EXPECT_VALUE, EXPECT_VALUE_OR_END, EXPECT_KEY, EXPECT_KEY_OR_END, EXPECT_COLON, EXPECT_COMMA_OR_END, EXPECT_NOTHING };

/* The bytes of a string. */
struct piece {
	const char *bytes;
	size_t len;
	char *unescaped; /* where they are, unless the text has them as they are; of `size` bytes, owned */
	size_t size;
};

struct scan {
	const char *text;
	size_t len;
	size_t at;                    /* the next byte; after a failure the byte at fault */
	const char *why;              /* after a failure */
	json_t *root;                 /* owned; holds all that has been read */
	json_t *open[LIMIT_JSON_DEPTH]; /* the arrays and objects that are open; in root */
	int depth;
	size_t values_left;           /* that may still come */
	struct piece key;             /* of the value that is to come, in an object */
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

/* Where the value belongs that begins at `start`; takes it over. */
static bool put(struct scan *s, json_t *value, size_t start)
{
	json_t *in = s->depth > 0 ? s->open[s->depth - 1] : NULL;

	if (!value)
		return fail(s, start, "this JSON cannot be read");
	if (!in)
		s->root = value;
	else if (json_is_array(in) ? json_array_append_new(in, value) < 0
	                           : json_object_setn_new_nocheck(in, s->key.bytes, s->key.len, value) < 0)
		return fail(s, start, "this JSON cannot be read");
	return true;
}

/* What the hex digit counts; 16 if it is none. */
static unsigned hex_digit(char c)
{
	static const char DIGITS[] = "0123456789abcdef";
	const char *digit = c >= '0' ? strchr(DIGITS, c | 0x20) : NULL;

	return digit ? (unsigned)(digit - DIGITS) : 16;
}

/* The four hex digits at s->at into *unit. */
static bool scan_hex(struct scan *s, unsigned *unit)
{
	*unit = 0;
	for (int i = 0; i < 4; i++, s->at++) {
		unsigned digit = s->at < s->len ? hex_digit(s->text[s->at]) : 16;

		if (digit == 16)
			return fail(s, s->at, "\\u needs four hex digits");
		*unit = *unit << 4 | digit;
	}
	return true;
}

/* The \u at `start`, whose digits are at s->at, and of a pair the other half. */
static bool scan_unicode(struct scan *s, size_t start, bool is_key, uint32_t *code_point)
{
	static const char LONE[] = "half of a surrogate pair stands alone";
	unsigned unit, low;

	if (!scan_hex(s, &unit))
		return false;
	if (unit == 0 && is_key)
		return fail(s, start, "a key must not contain a NUL character");
	*code_point = unit;
	if (unit < 0xD800 || unit > 0xDFFF)
		return true;
	if (unit > 0xDBFF || (s->at < s->len && s->text[s->at] != '\\') || (s->at + 1 < s->len && s->text[s->at + 1] != 'u'))
		return fail(s, start, LONE);
	s->at += 2;
	if (!scan_hex(s, &low))
		return false;
	*code_point = 0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF));
	return (low >= 0xDC00 && low <= 0xDFFF) || fail(s, start, LONE);
}

/* The character that the escape at s->at stands for. */
static bool scan_escape(struct scan *s, bool is_key, uint32_t *code_point)
{
	static const char names[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";
	size_t start = s->at++;
	const char *name;

	if (s->at >= s->len)
		return fail(s, s->len, NULL);
	if (s->text[s->at] == 'u') {
		s->at++;
		return scan_unicode(s, start, is_key, code_point);
	}
	name = memchr(names, s->text[s->at], sizeof(names) - 1);
	if (!name)
		return fail(s, start, "no such escape in a string");
	*code_point = (unsigned char)characters[name - names];
	s->at++;
	return true;
}

/* A character of ASCII that stands for itself. */
static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/* Up to the next quote or escape. */
static bool scan_plain(struct scan *s)
{
	for (;;) {
		uint32_t code_point;
		size_t n;

		while (s->at < s->len && is_plain(s->text[s->at]))
			s->at++;
		if (s->at == s->len)
			return fail(s, s->len, NULL);
		if (s->text[s->at] == '"' || s->text[s->at] == '\\')
			return true;
		n = util_utf8_decode(s->text + s->at, s->len - s->at, &code_point);
		if (n == 0)
			return fail(s, s->at, "a byte is not UTF-8");
		if (code_point < 0x20)
			return fail(s, s->at, "a control character in a string must be escaped");
		s->at += n;
	}
}

static void add(struct piece *piece, const char *bytes, size_t len)
{
	if (piece->len + len >= piece->size) {
		piece->size = 2 * (piece->len + len) + FIRST_BYTES;
		piece->unescaped = util_realloc(piece->unescaped, piece->size);
	}
	memcpy(piece->unescaped + piece->len, bytes, len);
	piece->len += len;
}

/* The string at s->at. What it has unescaped is the caller's to free, also after a failure. */
static bool scan_string(struct scan *s, bool is_key, struct piece *out)
{
	size_t from = ++s->at;
	bool goes_on;

	*out = (struct piece){.len = 0};
	while ((goes_on = scan_plain(s)) && s->text[s->at] == '\\') {
		size_t end = s->at;
		uint32_t code_point;
		char character[4];

		if (!scan_escape(s, is_key, &code_point))
			return false;
		add(out, s->text + from, end - from);
		add(out, character, util_utf8_encode(code_point, character));
		from = s->at;
	}
	if (!goes_on)
		return false;
	if (out->unescaped)
		add(out, s->text + from, s->at - from);
	else
		out->len = s->at - from;
	out->bytes = out->unescaped ? out->unescaped : s->text + from;
	s->at++;
	return true;
}

static bool scan_text(struct scan *s)
{
	size_t start = s->at;
	struct piece piece;
	bool is_good = scan_string(s, false, &piece) && put(s, json_stringn_nocheck(piece.bytes, piece.len), start);

	free(piece.unescaped);
	return is_good;
}

static bool scan_key(struct scan *s)
{
	size_t start = s->at;

	free(s->key.unescaped);
	if (!scan_string(s, true, &s->key))
		return false;
	return !json_object_getn(s->open[s->depth - 1], s->key.bytes, s->key.len) || fail(s, start, "a key stands twice in an object");
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

/* NULL: it is too large. */
static json_t *make_integer(const char *digits, size_t len)
{
	bool is_negative = *digits == '-';
	json_int_t value = 0;

	for (size_t i = is_negative; i < len; i++) {
		json_int_t digit = digits[i] - '0';

		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, is_negative ? -digit : digit, &value))
			return NULL;
	}
	return json_integer(value);
}

/* NULL: it is too large; jansson takes no infinity. */
static json_t *make_real(const char *digits, size_t len)
{
	auto_free char *copy = util_alloc(len + 1);

	memcpy(copy, digits, len);
	copy[len] = '\0';
	return json_real(strtod(copy, NULL));
}

static bool scan_number(struct scan *s)
{
	size_t start = s->at, whole;
	json_t *value;

	s->at += s->text[s->at] == '-';
	whole = s->at;
	if (!scan_digits(s))
		return false;
	if (s->text[whole] == '0' && s->at > whole + 1)
		return fail(s, start, "a number must not begin with 0");
	whole = s->at;
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
	value = s->at == whole ? make_integer(s->text + start, s->at - start) : make_real(s->text + start, s->at - start);
	return value ? put(s, value, start) : fail(s, start, "a number is too large");
}

static bool scan_word(struct scan *s)
{
	static const char *const WORDS[] = {"true", "false", "null"};
	uint32_t code_point;

	for (size_t i = 0; i < ARRAY_LEN(WORDS); i++) {
		size_t n = strlen(WORDS[i]), start = s->at;

		if (s->len - s->at >= n && memcmp(s->text + s->at, WORDS[i], n) == 0) {
			s->at += n;
			return put(s, i == 2 ? json_null() : json_boolean(i == 0), start);
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

static bool scan_open(struct scan *s, enum expect *next)
{
	bool is_object = s->text[s->at] == '{';
	json_t *value;

	if (s->depth == LIMIT_JSON_DEPTH)
		return fail(s, s->at, "at most " NUMBER_TEXT(LIMIT_JSON_DEPTH) " arrays and objects may be nested");
	value = is_object ? json_object() : json_array();
	if (!put(s, value, s->at))
		return false;
	s->open[s->depth++] = value;
	s->at++;
	*next = is_object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
	return true;
}

static bool scan_value(struct scan *s, enum expect *next)
{
	char c = s->text[s->at];

	if (s->values_left-- == 0)
		return fail(s, s->at, "the body has more values than are allowed");
	if (c == '{' || c == '[')
		return scan_open(s, next);
	*next = after_value(s);
	return c == '"' ? scan_text(s) : c == '-' || (c >= '0' && c <= '9') ? scan_number(s) : scan_word(s);
}

/* Of the array or object that was opened last. */
static char closer_of(const struct scan *s)
{
	return json_is_object(s->open[s->depth - 1]) ? '}' : ']';
}

static bool scan_comma_or_end(struct scan *s, enum expect *next)
{
	char closer = closer_of(s), c = s->text[s->at];

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
		if (c == closer_of(s))
			return scan_comma_or_end(s, next);
		*next = *next == EXPECT_KEY_OR_END ? EXPECT_KEY : EXPECT_VALUE;
		return true;
	case EXPECT_VALUE:
		return scan_value(s, next);
	case EXPECT_KEY:
		if (c != '"')
			return fail(s, s->at, "a key in double quotes is needed here");
		*next = EXPECT_COLON;
		return scan_key(s);
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

int json_parse(const char *text, size_t len, json_t **out, struct err *e)
{
	return json_parse_few(text, len, SIZE_MAX, out, e);
}

int json_parse_few(const char *text, size_t len, size_t max_values, json_t **out, struct err *e)
{
	struct scan s = {.text = text, .len = len, .values_left = max_values};
	bool is_good = scan(&s);

	free(s.key.unescaped);
	if (is_good) {
		*out = s.root;
		return 0;
	}
	json_decref(s.root);
	return bad_form(e, text, s.at, s.why);
}
