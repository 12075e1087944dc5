/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of one program: each line is one write, so that lines of several processes never mix. */
#include "session/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/base/util.h"

static const char *const LEVEL_NAMES[] = {"error", "warn", "info", "debug"};

static char log_name[64] = "glovebox";
static enum log_level log_limit = LOG_INFO;

void log_init(const char *program, const char *session)
{
	const char *wanted = getenv("GLOVEBOX_LOG");

	if (session)
		(void)snprintf(log_name, sizeof(log_name), "%s[%s]", program, session);
	else
		(void)snprintf(log_name, sizeof(log_name), "%s", program);
	for (size_t i = 0; wanted && i < ARRAY_LEN(LEVEL_NAMES); i++)
		if (strcmp(wanted, LEVEL_NAMES[i]) == 0)
			log_limit = (enum log_level)i;
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

void log_line(enum log_level level, const char *fmt, ...)
{
	char text[900];
	char line[1024];
	char now[32];
	va_list args;
	int len;

	if (level > log_limit)
		return;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	blank_controls(text);
	len = snprintf(line, sizeof(line), "%s %s %s %s\n", util_wall_time(now, sizeof(now)), LEVEL_NAMES[level], log_name, text);
	if (len > 0)
		(void)util_write_all(STDERR_FILENO, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
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
