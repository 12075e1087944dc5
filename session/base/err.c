/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One error type through every layer: filling it and naming its codes. */
#include "session/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"

static const struct err_info infos[ERR_N_CODES] = {
#define ERR_INFO(symbol, wire_name, http_status, who, text) [symbol] = {wire_name, http_status, who, text},
	ERR_ROWS(ERR_INFO)
#undef ERR_INFO
};

/* A text that was cut to fit may end inside a character, or a pointer inside an escape ("~0"): that end goes too. Other bytes that are no UTF-8, as names of
 * files may have them, become "?". */
static void trim(char *text, size_t size, bool is_pointer)
{
	size_t len = strlen(text), good;

	while ((good = util_utf8_prefix(text, len)) < len) {
		if (len == size - 1 && len - good < 4)
			len = good;
		else
			text[good] = '?';
	}
	if (is_pointer && len > 0 && text[len - 1] == '~')
		len--;
	text[len] = '\0';
}

/* The arguments may be texts of *e itself, which is therefore written last. */
__attribute__((format(printf, 4, 0))) static void fill(struct err *e, enum err_code code, const char *path, const char *fmt, va_list args)
{
	struct err made = {.code = code, .offset = -1};

	(void)snprintf(made.path, sizeof(made.path), "%s", path ? path : "");
	(void)vsnprintf(made.msg, sizeof(made.msg), fmt, args);
	trim(made.path, sizeof(made.path), true);
	trim(made.msg, sizeof(made.msg), false);
	*e = made;
}

int err_set(struct err *e, enum err_code code, const char *path, const char *fmt, ...)
{
	int saved = errno;
	va_list args;

	if (e) {
		va_start(args, fmt);
		fill(e, code, path, fmt, args);
		va_end(args);
	}
	errno = saved;
	return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	va_list args;

	if (e) {
		va_start(args, fmt);
		fill(e, ERR_INTERNAL, NULL, fmt, args);
		va_end(args);
		e->sys_errno = saved;
	}
	errno = saved;
	return -1;
}

void err_prefix(struct err *e, const char *prefix)
{
	char joined[ERR_PATH_MAX * 2];

	if (!e)
		return;
	(void)snprintf(joined, sizeof(joined), "%s%s", prefix, e->path);
	joined[sizeof(e->path) - 1] = '\0';
	trim(joined, sizeof(e->path), true);
	memcpy(e->path, joined, sizeof(e->path));
}

const struct err_info *err_info(enum err_code code)
{
	if (code <= ERR_NONE || code >= ERR_N_CODES)
		DIE("no error has the code %d", (int)code);
	return &infos[code];
}

enum err_code err_from_wire(const char *wire)
{
	for (int i = 1; i < ERR_N_CODES; i++)
		if (strcmp(infos[i].wire, wire) == 0)
			return (enum err_code)i;
	return ERR_NONE;
}

/* Characters that a reader does not see, or that move others (bidi): controls, separators, marks, tags. */
static bool is_hidden(uint32_t code_point)
{
	static const uint32_t RANGES[][2] = {
		{0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},     {0x200B, 0x200F},
		{0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
	};

	for (size_t i = 0; i < ARRAY_LEN(RANGES); i++)
		if (code_point >= RANGES[i][0] && code_point <= RANGES[i][1])
			return true;
	return false;
}

/* Writes one character (or one bad byte) of text in its shown form into piece; returns how many bytes of text it took. */
static size_t show_character(const char *text, size_t len, char piece[8])
{
	static const char ESCAPED[][2] = {{'"', '"'}, {'\\', '\\'}, {'\n', 'n'}, {'\t', 't'}, {'\r', 'r'}};
	uint32_t code_point;
	size_t n = util_utf8_decode(text, len, &code_point);

	for (size_t i = 0; n == 1 && i < ARRAY_LEN(ESCAPED); i++) {
		if (text[0] == ESCAPED[i][0]) {
			(void)snprintf(piece, 8, "\\%c", ESCAPED[i][1]);
			return 1;
		}
	}
	if (n == 0 || is_hidden(code_point)) {
		(void)snprintf(piece, 8, "\\x%02x", (unsigned char)text[0]);
		return 1;
	}
	memcpy(piece, text, n);
	piece[n] = '\0';
	return n;
}

const char *err_quote(char *out, size_t out_size, const char *text, size_t len)
{
	static const char ELLIPSIS[] = "…\"";
	size_t used = 0;
	size_t cut = 1; /* the last place where the ellipsis still fits */
	size_t at = 0;

	if (out_size < sizeof(ELLIPSIS) + 1)
		DIE("a quote needs more room than %zu bytes", out_size);
	out[used++] = '"';
	while (at < len) {
		char piece[8];
		size_t taken = show_character(text + at, len - at, piece);
		size_t n = strlen(piece);

		if (used + n + sizeof("\"") > out_size) {
			memcpy(out + cut, ELLIPSIS, sizeof(ELLIPSIS));
			return out;
		}
		memcpy(out + used, piece, n);
		used += n;
		at += taken;
		if (used + sizeof(ELLIPSIS) <= out_size)
			cut = used;
	}
	out[used++] = '"';
	out[used] = '\0';
	return out;
}

void err_list(char *out, size_t out_size, const char *separator, const char *name)
{
	static const char MORE[] = "…";
	size_t used = strlen(out), more = strlen(MORE);
	const char *before = used > 0 ? separator : "";
	bool is_full = used >= more && strcmp(out + used - more, MORE) == 0;

	if (is_full)
		return;
	is_full = used + strlen(before) + strlen(name) + strlen(separator) + sizeof(MORE) > out_size;
	(void)snprintf(out + used, out_size - used, "%s%s", before, is_full ? MORE : name);
}
