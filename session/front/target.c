/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding of request targets: everything that has two readings is refused. */
#include "session/front/target.h"

#include <stdbool.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define SHOWN_MAX 80

static int bad(struct err *e, const char *raw, const char *rule)
{
	char shown[SHOWN_MAX];

	return err_set(e, ERR_BAD_REQUEST, NULL, "the target %s is refused: %s", err_quote(shown, sizeof(shown), raw, strlen(raw)),
	               rule);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes text[0..len) into out (len + 1 bytes are enough). Returns NULL, or the rule that is broken. */
static const char *decode(const char *text, size_t len, bool is_query, char *out, size_t *out_len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c <= ' ' || c >= 0x7f || strchr("\"#<>\\^`{|}", (int)c))
			return "it has a character that must be percent-encoded";
		if (c == '%') {
			int high = i + 2 < len ? hex_value(text[i + 1]) : -1;
			int low = high >= 0 ? hex_value(text[i + 2]) : -1;

			if (low < 0)
				return "after % there must be two hexadecimal digits";
			c = (unsigned char)(high * 16 + low);
			i += 2;
			if (c == '\0' || (c == '/' && !is_query))
				return "%00 and %2F are not allowed";
		} else if (c == '+' && is_query) {
			c = ' ';
		}
		out[n++] = (char)c;
	}
	out[n] = '\0';
	*out_len = n;
	return util_utf8_valid(out, n) ? NULL : "it is not UTF-8 after decoding";
}

/* Splits raw[0..len), which begins with "/", into segments whose text is appended at target->text. */
static const char *read_path(const char *raw, size_t len, struct target *target)
{
	char *out = target->text;

	if (len == 1)
		return NULL;
	for (size_t at = 0; at < len;) {
		const char *start = raw + at + 1;
		const char *slash = memchr(start, '/', len - at - 1);
		size_t n = slash ? (size_t)(slash - start) : len - at - 1;
		size_t decoded;
		const char *rule = decode(start, n, false, out, &decoded);

		if (rule)
			return rule;
		if (decoded == 0 || strcmp(out, ".") == 0 || strcmp(out, "..") == 0)
			return "empty, \".\" and \"..\" segments are not allowed";
		if (target->n_segments < TARGET_SEGMENTS)
			target->segment[target->n_segments] = out;
		target->n_segments++;
		out += decoded + 1;
		at += n + 1;
	}
	return NULL;
}

static const char *read_parameter(const char *text, size_t len, json_t *query)
{
	const char *equals = memchr(text, '=', len);
	size_t name_raw = equals ? (size_t)(equals - text) : len;
	size_t value_raw = equals ? len - name_raw - 1 : 0;
	auto_free char *name = util_alloc(name_raw + 1);
	auto_free char *value = util_alloc(value_raw + 1);
	size_t name_len, value_len;
	const char *rule = decode(text, name_raw, true, name, &name_len);

	if (!rule)
		rule = decode(equals ? equals + 1 : "", value_raw, true, value, &value_len);
	if (rule)
		return rule;
	if (json_object_get(query, name))
		return "a query parameter is given twice";
	if (json_object_size(query) >= LIMIT_QUERY_PARAMETERS)
		return "it has too many query parameters";
	return json_object_set_new(query, name, json_stringn(value, value_len)) < 0 ? "a query parameter is malformed" : NULL;
}

static const char *read_query(const char *text, json_t *query)
{
	while (*text) {
		size_t len = strcspn(text, "&");
		const char *rule = len > 0 ? read_parameter(text, len, query) : "it has an empty query parameter";

		if (rule)
			return rule;
		text += len + (text[len] == '&');
	}
	return NULL;
}

int target_check_size(const char *raw, struct err *e)
{
	size_t n = 1;

	for (const char *at = raw; *at; at++)
		n += *at == '&';
	return n <= LIMIT_QUERY_SPLIT ? 0 : bad(e, raw, "it has too many query parameters");
}

int target_parse(const char *raw, struct target *out, struct err *e)
{
	const char *mark = strchr(raw, '?');
	size_t path_len = mark ? (size_t)(mark - raw) : strlen(raw);
	struct target target = {.n_segments = 0};
	const char *rule;

	if (raw[0] != '/')
		return bad(e, raw, "it must begin with /");
	/* Each segment loses its slash and gains a NUL. */
	target.text = util_alloc(path_len + 1);
	target.query = json_object();
	rule = read_path(raw, path_len, &target);
	if (!rule && mark)
		rule = read_query(mark + 1, target.query);
	if (rule) {
		target_finish(&target);
		return bad(e, raw, rule);
	}
	*out = target;
	return 0;
}

char *target_path(const struct target *target)
{
	return target_path_from(target, 0);
}

char *target_path_from(const struct target *target, size_t first)
{
	char *path = util_printf("/");

	for (size_t i = first; i < target->n_segments && i < TARGET_SEGMENTS; i++) {
		char *longer = util_printf("%s%s%s", path, i > first ? "/" : "", target->segment[i]);

		free(path);
		path = longer;
	}
	return path;
}

void target_finish(struct target *target)
{
	free(target->text);
	json_decref(target->query);
	*target = (struct target){.n_segments = 0};
}
