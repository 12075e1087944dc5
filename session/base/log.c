/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of one program: each write is of whole lines, so that lines of several processes never mix. */
#include "session/base/log.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/base/util.h"

static const char *const LEVEL_NAMES[] = {"error", "warn", "info", "debug"};

static char log_program[32] = "glovebox";
static char log_session[32];
static bool log_json;
static enum log_level log_limit = LOG_INFO;
static bool log_gathers;
static char log_waiting[PIPE_BUF]; /* what a pipe takes in one piece */
static size_t log_waiting_len;

void log_init(const char *program, const char *session)
{
	const char *wanted = getenv("GLOVEBOX_LOG");
	const char *format = getenv("GLOVEBOX_LOG_FORMAT");

	(void)snprintf(log_program, sizeof(log_program), "%s", program);
	(void)snprintf(log_session, sizeof(log_session), "%s", session ? session : "");
	log_json = format && strcmp(format, "json") == 0;
	for (size_t i = 0; wanted && i < ARRAY_LEN(LEVEL_NAMES); i++)
		if (strcmp(wanted, LEVEL_NAMES[i]) == 0)
			log_limit = (enum log_level)i;
}

const char *log_env_fault(void)
{
	const char *wanted = getenv("GLOVEBOX_LOG");
	const char *format = getenv("GLOVEBOX_LOG_FORMAT");

	if (wanted && *wanted && strcmp(wanted, LEVEL_NAMES[log_limit]) != 0)
		return "GLOVEBOX_LOG is none of error, warn, info, debug: info is taken";
	if (format && *format && !log_json && strcmp(format, "text") != 0)
		return "GLOVEBOX_LOG_FORMAT is neither text nor json: text is taken";
	return NULL;
}

bool log_wants(enum log_level level)
{
	return level <= log_limit;
}

/* Text of outsiders must not forge lines or steer a terminal: controls and bytes that are not UTF-8 become '?'. */
static void blank_controls(char *text)
{
	size_t len = strlen(text);

	for (size_t at = 0; at < len;) {
		uint32_t code_point;
		size_t n = util_utf8_decode(text + at, len - at, &code_point);
		bool plain = n > 0 && code_point >= 0x20 && !(code_point >= 0x7F && code_point <= 0x9F);

		if (!plain)
			text[at] = '?';
		at += plain ? n : 1;
	}
}

/* One line while it is made: there is always room for the end of it. */
struct line {
	char text[2048];
	size_t len;
};

#define LINE_ROOM (sizeof(((struct line *)NULL)->text) - sizeof("\"}\n"))

/* Adds a text whole, or nothing of it. */
static bool add(struct line *line, const char *text, size_t len)
{
	if (line->len + len > LINE_ROOM)
		return false;
	memcpy(line->text + line->len, text, len);
	line->len += len;
	return true;
}

/* Adds as much of a text as fits, without controls; in JSON quotes and backslashes are escaped. */
static void add_shown(struct line *line, const char *text)
{
	char shown[900];

	(void)snprintf(shown, sizeof(shown), "%s", text);
	blank_controls(shown);
	for (size_t at = 0; shown[at]; at++) {
		bool escape = log_json && (shown[at] == '"' || shown[at] == '\\');
		const char pair[] = {'\\', shown[at]};

		if (!add(line, escape ? pair : &shown[at], escape ? 2 : 1))
			break;
	}
}

static void add_member(struct line *line, const char *name, const char *text)
{
	char head[48];
	int n = snprintf(head, sizeof(head), "%s\"%s\":\"", line->len > 0 ? "," : "{", name);

	if (!add(line, head, (size_t)n))
		return;
	add_shown(line, text);
	line->text[line->len++] = '"'; /* kept free by LINE_ROOM */
}

static void add_field(struct line *line, const struct log_field *field)
{
	char text[80];
	int n;

	if (field->text && log_json) {
		add_member(line, field->name, field->text);
	} else if (field->text) {
		n = snprintf(text, sizeof(text), " %s=", field->name);
		if (add(line, text, (size_t)n))
			add_shown(line, *field->text ? field->text : "-");
	} else {
		n = snprintf(text, sizeof(text), log_json ? ",\"%s\":%" PRId64 : " %s=%" PRId64, field->name, field->number);
		(void)add(line, text, (size_t)n);
	}
}

static void add_head(struct line *line, enum log_level level, const char *now)
{
	char text[160];
	int n;

	if (log_json) {
		add_member(line, "time", now);
		add_member(line, "level", LEVEL_NAMES[level]);
		add_member(line, "program", log_program);
		if (*log_session)
			add_member(line, "session", log_session);
		return;
	}
	n = snprintf(text, sizeof(text), *log_session ? "%s %s %s[%s] " : "%s %s %s%s ", now, LEVEL_NAMES[level], log_program, log_session);
	(void)add(line, text, (size_t)n);
}

void log_flush(void)
{
	if (log_waiting_len > 0)
		(void)util_write_all(STDERR_FILENO, log_waiting, log_waiting_len);
	log_waiting_len = 0;
}

void log_gather(bool gathers)
{
	log_flush();
	log_gathers = gathers;
}

static void write_line(enum log_level level, const struct line *line)
{
	if (log_waiting_len + line->len > sizeof(log_waiting) || !log_gathers || level <= LOG_WARN)
		log_flush();
	if (!log_gathers || level <= LOG_WARN) {
		(void)util_write_all(STDERR_FILENO, line->text, line->len);
		return;
	}
	memcpy(log_waiting + log_waiting_len, line->text, line->len);
	log_waiting_len += line->len;
}

void log_event(enum log_level level, const char *message, const struct log_field *fields, size_t n)
{
	struct line line = {.len = 0};
	char now[32];

	if (!log_wants(level))
		return;
	add_head(&line, level, util_wall_time(now, sizeof(now)));
	if (log_json)
		add_member(&line, "message", message);
	else
		add_shown(&line, message);
	for (size_t i = 0; i < n; i++)
		add_field(&line, &fields[i]);
	if (log_json)
		line.text[line.len++] = '}';
	line.text[line.len++] = '\n';
	write_line(level, &line);
}

void log_line(enum log_level level, const char *fmt, ...)
{
	char text[900];
	va_list args;

	if (!log_wants(level))
		return;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log_event(level, text, NULL, 0);
}

void log_err(enum log_level level, const struct err *e, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log_line(level, "%s: %s %s%s%s%s%s", text, e->code ? err_info(e->code)->wire : "no_error", e->path, e->path[0] ? " " : "", e->msg,
	         e->sys_errno ? ": " : "", e->sys_errno ? strerror(e->sys_errno) : "");
}
