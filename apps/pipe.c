/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and writing pipes from the loop. */
#include "apps/pipe.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <unistd.h>

#include "session/base/util.h"

#define PIECE_BYTES (16 * 1024)
/* A pipe holds 64 KiB, and at most 1 MiB if the program asked for more: what a drain reads beyond that came while it ran. */
#define DRAIN_BYTES (1024 * 1024)

static void keep(struct pipe_reader *reader, const char *piece, size_t n)
{
	size_t room = reader->max - reader->len;

	if (n > room)
		reader->cut = true;
	if (reader->keep == PIPE_KEEP_TAIL && n > room) {
		size_t dropped = MIN(n - room, reader->len);

		reader->len -= dropped;
		memmove(reader->data, reader->data + dropped, reader->len);
		room = reader->max - reader->len;
		piece += n > room ? n - room : 0;
	}
	n = MIN(n, room);
	if (n == 0)
		return;
	if (reader->len + n > reader->size) {
		reader->size = MIN(2 * (reader->len + n), reader->max);
		reader->data = util_realloc(reader->data, reader->size);
	}
	memcpy(reader->data + reader->len, piece, n);
	reader->len += n;
}

static void end_reader(struct pipe_reader *reader)
{
	loop_remove(reader->source);
	reader->source = NULL;
	util_close_fd(&reader->fd);
}

/* Reads once. Returns the number of bytes, 0 if there is nothing now or any more. */
static size_t read_piece(struct pipe_reader *reader)
{
	char piece[PIECE_BYTES];
	ssize_t n = read(reader->fd, piece, sizeof(piece));

	if (n > 0)
		keep(reader, piece, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		end_reader(reader);
	if (reader->changed)
		co_signal(reader->changed);
	return n > 0 ? (size_t)n : 0;
}

static void on_readable(void *arg, uint32_t events)
{
	(void)events;
	(void)read_piece(arg);
}

void pipe_reader_start(struct pipe_reader *reader, struct loop *loop, int fd, enum pipe_keep what, size_t max, struct co_event *changed)
{
	*reader = (struct pipe_reader){.fd = fd, .keep = what, .max = max, .changed = changed};
	reader->source = loop_add(loop, fd, EPOLLIN, on_readable, reader);
}

void pipe_reader_drain(struct pipe_reader *reader)
{
	size_t read = 0;
	size_t n = 1;

	while (n > 0 && read < DRAIN_BYTES && reader->source) {
		n = read_piece(reader);
		read += n;
	}
}

void pipe_reader_finish(struct pipe_reader *reader)
{
	if (reader->source)
		end_reader(reader);
	free(reader->data);
	*reader = (struct pipe_reader){.fd = -1};
}

static void end_writer(struct pipe_writer *writer)
{
	loop_remove(writer->source);
	writer->source = NULL;
	util_close_fd(&writer->fd);
}

static void on_writable(void *arg, uint32_t events)
{
	struct pipe_writer *writer = arg;
	ssize_t n = write(writer->fd, writer->text, writer->len);

	(void)events;
	if (n > 0) {
		writer->text += n;
		writer->len -= (size_t)n;
	}
	if (writer->len == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		end_writer(writer);
}

void pipe_writer_start(struct pipe_writer *writer, struct loop *loop, int fd, const char *text, size_t len)
{
	*writer = (struct pipe_writer){.fd = fd, .text = text, .len = len};
	writer->source = loop_add(loop, fd, EPOLLOUT, on_writable, writer);
}

void pipe_writer_finish(struct pipe_writer *writer)
{
	if (writer->source)
		end_writer(writer);
}
