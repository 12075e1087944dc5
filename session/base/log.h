/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of one program: lines on standard error, "TIME LEVEL PROGRAM[ID] text NAME=VALUE…", or JSON objects with the same in time, level,
 * program, session, message and members of their own. Never tokens, typed text, secrets.
 * Owner: session/base. The only mutable file-scope state of the library is the program's name here, and its lines that wait.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "session/base/err.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Names the program ("gloveboxd") and, for a stage, its session (else NULL). Strings are copied. Level of the environment
 * variable GLOVEBOX_LOG (error, warn, info, debug), default info; JSON when GLOVEBOX_LOG_FORMAT is json. */
void log_init(const char *program, const char *session);
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line with the error's wire name, message and errno text. */
void log_err(enum log_level level, const struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What is wrong in these two variables, for people; NULL if nothing is. */
const char *log_env_fault(void);

/* What a line says beside its text: a text, or a number when that is NULL. */
struct log_field {
	const char *name; /* a-z and "_" */
	const char *text;
	int64_t number;
};

/* A line with fields; `message` is a constant of the program. What does not fit into a line is cut off. */
void log_event(enum log_level level, const char *message, const struct log_field *fields, size_t n);

/*
 * While the log gathers, lines of info and debug wait for log_flush, for want of room or for a line that is worse: a loop that flushes at
 * the end of each turn lets no caller wait for the log. Not gathering any more flushes, too.
 */
void log_gather(bool gathers);
void log_flush(void);

/* Would a line of this level be written? */
bool log_wants(enum log_level level);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

#endif
