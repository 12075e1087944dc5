/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage's ends of a program's pipes, read and written by the loop while a coroutine waits for something else. The descriptors are
 * non-blocking and become the reader's or writer's.
 */
#ifndef APPS_PIPE_H
#define APPS_PIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "session/base/co.h"

enum pipe_keep {
	PIPE_KEEP_HEAD, /* the first max bytes */
	PIPE_KEEP_TAIL, /* the last max bytes */
};

/* Reads all that comes, so that the program never waits, and keeps a part. Zeroed memory is one that has ended. */
struct pipe_reader {
	int fd;
	struct loop_source *source; /* NULL: end of file */
	enum pipe_keep keep;
	size_t max, len, size;
	char *data;
	bool cut;                 /* something was not kept */
	struct co_event *changed; /* signalled whenever something came, and at the end; may be NULL */
};

void pipe_reader_start(struct pipe_reader *reader, struct loop *loop, int fd, enum pipe_keep keep, size_t max, struct co_event *changed);
/* Reads what is in the pipe now. */
void pipe_reader_drain(struct pipe_reader *reader);
/* Closes the pipe and frees what was kept. */
void pipe_reader_finish(struct pipe_reader *reader);

/* Writes `text` and closes the pipe, or closes it when the program reads no more. SIGPIPE must be ignored. */
struct pipe_writer {
	int fd;
	struct loop_source *source; /* NULL: done */
	const char *text;
	size_t len;
};

/* `text` must live until pipe_writer_finish. */
void pipe_writer_start(struct pipe_writer *writer, struct loop *loop, int fd, const char *text, size_t len);
void pipe_writer_finish(struct pipe_writer *writer);

#endif
