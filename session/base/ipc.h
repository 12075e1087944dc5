/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two kinds of links: records with descriptors on SOCK_SEQPACKET, and framed byte streams (session/stage/link.h).
 * Owner: session/base. One thread.
 */
#ifndef BASE_IPC_H
#define BASE_IPC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/base/err.h"
#include "session/base/loop.h"

#define IPC_MAX_FDS 16

/* Sends one record with n_fds descriptors (they stay the caller's). Does not block: EAGAIN is an error. 0 or -1. */
int ipc_send(int sock, const void *data, size_t len, const int *fds, size_t n_fds, struct err *e);

/*
 * Receives one record into data[max]. Descriptors are close-on-exec and become the caller's: at most max_fds are stored and
 * *n_fds is their count. Returns the length, 0 at end of file, -1 with errno EAGAIN when there is none, or -1 with an error when
 * the record is longer than max or brings more descriptors (those are closed).
 */
ssize_t ipc_recv(int sock, void *data, size_t max, int *fds, size_t max_fds, size_t *n_fds, struct err *e);

/* A frame of the stream: this header in the machine's byte order, then `length` bytes. */
struct ipc_frame_head {
	uint32_t length; /* bytes after the header, at most LIMIT_FRAME_BYTES */
	uint16_t kind;
	uint16_t flags;
};

/*
 * One non-blocking stream socket with its queues. Reading stops while `paused`; what is written beyond the kernel's buffer waits
 * in memory: ipc_stream_queued tells how much, so that a producer can stop.
 */
struct ipc_stream;

struct ipc_stream_ops {
	/* A whole frame; `data` is valid during the call. A non-zero return closes the stream (closed is then called). */
	int (*frame)(void *arg, uint16_t kind, uint16_t flags, const void *data, size_t len);
	/* The peer closed, or broke the form (why is not NULL then), or frame refused. Not called by ipc_stream_destroy. The
	 * callee may destroy the stream. */
	void (*closed)(void *arg, const char *why);
	/* The out queue became empty; may be NULL. */
	void (*drained)(void *arg);
};

/* Takes the descriptor (also on failure is it closed by ipc_stream_destroy only). */
struct ipc_stream *ipc_stream_create(struct loop *loop, int fd, const struct ipc_stream_ops *ops, void *arg);
void ipc_stream_destroy(struct ipc_stream *stream);
/* Sends one frame; what the kernel does not take now is copied. len at most LIMIT_FRAME_BYTES. */
void ipc_stream_send(struct ipc_stream *stream, uint16_t kind, uint16_t flags, const void *data, size_t len);

/* A frame and the body that belongs to it, in as many frames as it needs. All borrowed. */
struct ipc_message {
	uint16_t kind, body_kind;
	uint16_t more;    /* the flag of each frame but the last */
	const void *head; /* of the first one */
	size_t head_len;  /* at most LIMIT_FRAME_BYTES */
	const void *body; /* NULL: the first frame is all; of no length: one empty frame */
	size_t body_len;
};

/* Sends them in one go, so that the peer wakes once: as ipc_stream_send. */
void ipc_stream_send_message(struct ipc_stream *stream, const struct ipc_message *message);
/* It will be used less for a while: what room large frames took here is given back. Not kept is what the queue took, once it is empty. */
void ipc_stream_trim(struct ipc_stream *stream);
size_t ipc_stream_queued(const struct ipc_stream *stream);
void ipc_stream_pause(struct ipc_stream *stream, bool paused);

#endif
