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

/* A message cut in the middle of a character would not be UTF-8 any more. */
static void trim_partial_character(char *text)
{
	size_t len = strlen(text);
	size_t start = len;

	while (start > 0 && start + 4 > len && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
		start--;
	if (start > 0 && ((unsigned char)text[start - 1] & 0x80) && !util_utf8_valid(text + start - 1, len - start + 1))
		text[start - 1] = '\0';
}

__attribute__((format(printf, 4, 0))) static void fill(struct err *e, enum err_code code, const char *path, const char *fmt, va_list args)
{
	*e = (struct err){.code = code, .offset = -1};
	if (path)
		(void)snprintf(e->path, sizeof(e->path), "%s", path);
	(void)vsnprintf(e->msg, sizeof(e->msg), fmt, args);
	trim_partial_character(e->path);
	trim_partial_character(e->msg);
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
	memcpy(e->path, joined, sizeof(e->path));
	trim_partial_character(e->path);
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

/* Writes one character (or one bad byte) of text in its shown form into piece; returns how many bytes of text it took. */
static size_t show_character(const char *text, size_t len, char piece[8])
{
	uint32_t code_point;
	size_t n = util_utf8_decode(text, len, &code_point);
	bool plain = n > 0 && code_point >= 0x20 && code_point != 0x7F && !(code_point >= 0x80 && code_point < 0xA0) &&
	             !(code_point >= 0x202A && code_point <= 0x202E) && !(code_point >= 0x2066 && code_point <= 0x2069);

	if (!plain) {
		(void)snprintf(piece, 8, "\\x%02x", (unsigned char)text[0]);
		return 1;
	}
	if (code_point == '"' || code_point == '\\') {
		(void)snprintf(piece, 8, "\\%c", (char)code_point);
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
	size_t at = 0;

	if (out_size < sizeof(ELLIPSIS) + 2)
		DIE("a quote needs more room than %zu bytes", out_size);
	out[used++] = '"';
	while (at < len) {
		char piece[8];
		size_t taken = show_character(text + at, len - at, piece);
		size_t n = strlen(piece);

		if (used + n + sizeof(ELLIPSIS) > out_size) {
			memcpy(out + used, ELLIPSIS, sizeof(ELLIPSIS));
			return out;
		}
		memcpy(out + used, piece, n);
		used += n;
		at += taken;
	}
	out[used++] = '"';
	out[used] = '\0';
	return out;
}
