/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of one program: lines on standard error, "TIME LEVEL PROGRAM[ID] text". Never tokens, typed text, secrets.
 * Owner: session/base. The only mutable file-scope state of the library is the program's name here.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "session/base/err.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Names the program ("gloveboxd") and, for a stage, its session (else NULL). Strings are copied. Level of the environment
 * variable GLOVEBOX_LOG (error, warn, info, debug), default info. */
void log_init(const char *program, const char *session);
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line with the error's wire name, message and errno text. */
void log_err(enum log_level level, const struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

#endif
