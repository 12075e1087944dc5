/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records with descriptors, and framed streams. */
#include "session/base/ipc.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define FIRST_IN_BYTES (16 * 1024) /* most frames are small: an envelope, or what is asked for */
#define BURST_FRAMES 8 /* that are handed to the kernel at a time */

union fd_control {
	char bytes[CMSG_SPACE(sizeof(int) * IPC_MAX_FDS)];
	struct cmsghdr align;
};

int ipc_send(int sock, const void *data, size_t len, const int *fds, size_t n_fds, struct err *e)
{
	union fd_control control = {.bytes = {0}};
	/* sendmsg does not write through iov_base, but its type cannot say so. */
	struct iovec iov = {.iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	memcpy(&iov.iov_base, &data, sizeof(data));
	if (n_fds > IPC_MAX_FDS)
		DIE("%zu descriptors in one record", n_fds);
	if (n_fds > 0) {
		struct cmsghdr *cmsg;

		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * n_fds);
	}
	do
		n = sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? err_sys(e, "sending a record of %zu bytes", len) : 0;
}

/* Moves the descriptors of a message to fds[max]; those that do not fit are closed and counted too. */
static size_t take_fds(struct msghdr *msg, int *fds, size_t max)
{
	size_t count = 0;

	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		size_t n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++, count++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(fd));
			if (count < max)
				fds[count] = fd;
			else
				util_close_fd(&fd);
		}
	}
	return count;
}

ssize_t ipc_recv(int sock, void *data, size_t max, int *fds, size_t max_fds, size_t *n_fds, struct err *e)
{
	union fd_control control;
	struct iovec iov = {.iov_base = data, .iov_len = max};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
	size_t count;
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(e, "receiving a record");
	count = take_fds(&msg, fds, max_fds);
	/* An empty record looks like the end of file; one with descriptors can only be meant to leak them. */
	if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || count > max_fds || (n == 0 && count > 0)) {
		for (size_t i = 0; i < count && i < max_fds; i++)
			util_close_fd(&fds[i]);
		errno = EMSGSIZE;
		return err_sys(e, "a record is empty, longer than %zu bytes or brings more than %zu descriptors", max, max_fds);
	}
	*n_fds = count;
	return n;
}

struct ipc_stream {
	struct loop *loop;
	int fd;
	const struct ipc_stream_ops *ops;
	void *arg;
	struct loop_source *source;
	bool paused, broken, want_write;
	bool deaf;      /* the peer takes no more */
	int busy;       /* callbacks of ours on the stack: free later */
	bool destroyed;
	char *in;       /* a header and one frame; as large as the largest so far needed */
	size_t in_len, in_size;
	char *out;
	size_t out_start, out_len, out_size;
};

static void stream_free(struct ipc_stream *stream)
{
	loop_remove(stream->source);
	util_close_fd(&stream->fd);
	free(stream->in);
	free(stream->out);
	free(stream);
}

static void enter(struct ipc_stream *stream)
{
	stream->busy++;
}

static void leave(struct ipc_stream *stream)
{
	if (--stream->busy == 0 && stream->destroyed)
		stream_free(stream);
}

static void watch(struct ipc_stream *stream)
{
	loop_modify(stream->source, (stream->paused ? 0 : EPOLLIN) | (stream->want_write ? EPOLLOUT : 0) | EPOLLRDHUP);
}

static void break_off(struct ipc_stream *stream, const char *why)
{
	if (stream->broken || stream->destroyed)
		return;
	stream->broken = true;
	loop_remove(stream->source);
	stream->source = NULL;
	stream->ops->closed(stream->arg, why);
}

/* The peer takes no more. It may have last words, and no sender may be called back from inside its own call: so the socket is shut
 * down, and the loop reads what there is up to the end of file. */
static void give_up(struct ipc_stream *stream)
{
	stream->deaf = true;
	stream->out_len = 0;
	stream->want_write = false;
	watch(stream);
	(void)shutdown(stream->fd, SHUT_RDWR);
}

/* The queue is empty: what a large answer took is not kept for as long as its connection is. */
static void drop_out(struct ipc_stream *stream)
{
	stream->out_start = 0;
	stream->out_size = 0;
	free(steal_ptr(&stream->out));
}

static void flush_out(struct ipc_stream *stream)
{
	while (stream->out_len > 0) {
		ssize_t n = send(stream->fd, stream->out + stream->out_start, stream->out_len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			give_up(stream);
			return;
		}
		stream->out_start += (size_t)n;
		stream->out_len -= (size_t)n;
	}
	if (stream->out_len == 0)
		drop_out(stream);
	if (stream->want_write != (stream->out_len > 0)) {
		stream->want_write = stream->out_len > 0;
		watch(stream);
		if (!stream->want_write && stream->ops->drained)
			stream->ops->drained(stream->arg);
	}
}

/* Room for a frame of which the head is there. */
static void grow_in(struct ipc_stream *stream, size_t size)
{
	if (size <= stream->in_size)
		return;
	stream->in = util_realloc(stream->in, size);
	stream->in_size = size;
}

/* Hands over every whole frame of the in buffer. */
static void deliver(struct ipc_stream *stream)
{
	size_t at = 0, needed = 0;

	while (!stream->broken && !stream->destroyed && !stream->paused && stream->in_len - at >= sizeof(struct ipc_frame_head)) {
		struct ipc_frame_head head;

		memcpy(&head, stream->in + at, sizeof(head));
		if (head.length > LIMIT_FRAME_BYTES) {
			break_off(stream, "a frame is longer than allowed");
			return;
		}
		if (stream->in_len - at < sizeof(head) + head.length) {
			needed = sizeof(head) + head.length;
			break;
		}
		at += sizeof(head) + head.length;
		if (stream->ops->frame(stream->arg, head.kind, head.flags, stream->in + at - head.length, head.length) != 0) {
			break_off(stream, "a frame was refused");
			return;
		}
	}
	memmove(stream->in, stream->in + at, stream->in_len - at);
	stream->in_len -= at;
	grow_in(stream, needed);
}

/* Reads once: if more is there, the loop comes back after others had their turn. */
static void read_in(struct ipc_stream *stream)
{
	ssize_t n;

	deliver(stream); /* what a pause has left in the buffer */
	if (stream->broken || stream->destroyed || stream->paused)
		return;
	n = recv(stream->fd, stream->in + stream->in_len, stream->in_size - stream->in_len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		break_off(stream, NULL);
		return;
	}
	stream->in_len += (size_t)n;
	deliver(stream);
}

static void on_ready(void *arg, uint32_t events)
{
	struct ipc_stream *stream = arg;

	enter(stream);
	if (events & EPOLLOUT)
		flush_out(stream);
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) {
		/* A peer that left is told at once, also to one that has paused reading. */
		if (stream->paused && (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)))
			break_off(stream, NULL);
		else
			read_in(stream);
	}
	leave(stream);
}

struct ipc_stream *ipc_stream_create(struct loop *loop, int fd, const struct ipc_stream_ops *ops, void *arg)
{
	struct ipc_stream *stream = util_zalloc(sizeof(*stream));

	*stream = (struct ipc_stream){.loop = loop, .fd = fd, .ops = ops, .arg = arg};
	grow_in(stream, FIRST_IN_BYTES);
	stream->source = loop_add(loop, fd, EPOLLIN | EPOLLRDHUP, on_ready, stream);
	return stream;
}

void ipc_stream_destroy(struct ipc_stream *stream)
{
	if (!stream)
		return;
	stream->destroyed = true;
	loop_remove(stream->source);
	stream->source = NULL;
	if (stream->busy == 0)
		stream_free(stream);
}

static void append(struct ipc_stream *stream, const void *data, size_t len)
{
	if (stream->out_start > 0 && stream->out_start + stream->out_len + len > stream->out_size) {
		memmove(stream->out, stream->out + stream->out_start, stream->out_len);
		stream->out_start = 0;
	}
	if (stream->out_len + len > stream->out_size) {
		stream->out_size = (stream->out_len + len) * 2;
		stream->out = util_realloc(stream->out, stream->out_size);
	}
	memcpy(stream->out + stream->out_start + stream->out_len, data, len);
	stream->out_len += len;
}

/* Frames that go out together. */
struct burst {
	struct ipc_frame_head heads[BURST_FRAMES];
	struct iovec parts[2 * BURST_FRAMES];
	size_t n_frames;
};

/* How much of it the kernel takes at once; what may be wrong shows when the queue is flushed. */
static size_t send_now(const struct ipc_stream *stream, struct burst *burst)
{
	struct msghdr msg = {.msg_iov = burst->parts, .msg_iovlen = 2 * burst->n_frames};
	ssize_t n = sendmsg(stream->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n > 0 ? (size_t)n : 0;
}

/* The queue has what the kernel does not take. */
static void send_burst(struct ipc_stream *stream, struct burst *burst)
{
	size_t sent = stream->out_len == 0 ? send_now(stream, burst) : 0;

	for (size_t i = 0; i < 2 * burst->n_frames; i++) {
		size_t gone = sent < burst->parts[i].iov_len ? sent : burst->parts[i].iov_len;

		if (gone < burst->parts[i].iov_len)
			append(stream, (const char *)burst->parts[i].iov_base + gone, burst->parts[i].iov_len - gone);
		sent -= gone;
	}
	burst->n_frames = 0;
	if (stream->out_len > 0 && !stream->want_write)
		flush_out(stream);
}

static void add_frame(struct ipc_stream *stream, struct burst *burst, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct ipc_frame_head *head = &burst->heads[burst->n_frames];
	struct iovec *parts = &burst->parts[2 * burst->n_frames];

	if (len > LIMIT_FRAME_BYTES)
		DIE("a frame of %zu bytes", len);
	*head = (struct ipc_frame_head){.length = (uint32_t)len, .kind = kind, .flags = flags};
	parts[0] = (struct iovec){.iov_base = head, .iov_len = sizeof(*head)};
	parts[1] = (struct iovec){.iov_len = len};
	/* sendmsg does not write through iov_base, but its type cannot say so. */
	memcpy(&parts[1].iov_base, &data, sizeof(data));
	if (++burst->n_frames == BURST_FRAMES)
		send_burst(stream, burst);
}

static bool is_over(const struct ipc_stream *stream)
{
	return stream->broken || stream->destroyed || stream->deaf;
}

void ipc_stream_send(struct ipc_stream *stream, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct burst burst = {.n_frames = 0};

	if (is_over(stream))
		return;
	add_frame(stream, &burst, kind, flags, data, len);
	send_burst(stream, &burst);
}

void ipc_stream_send_message(struct ipc_stream *stream, const struct ipc_message *message)
{
	struct burst burst = {.n_frames = 0};
	const char *body = message->body;
	size_t left = message->body_len;

	if (is_over(stream))
		return;
	add_frame(stream, &burst, message->kind, body ? message->more : 0, message->head, message->head_len);
	while (body && !is_over(stream)) {
		size_t n = left < LIMIT_FRAME_BYTES ? left : LIMIT_FRAME_BYTES;

		left -= n;
		add_frame(stream, &burst, message->body_kind, left > 0 ? message->more : 0, body, n);
		body = left > 0 ? body + n : NULL;
	}
	if (burst.n_frames > 0 && !is_over(stream))
		send_burst(stream, &burst);
}

void ipc_stream_trim(struct ipc_stream *stream)
{
	if (stream->busy > 0 || stream->in_len > FIRST_IN_BYTES || stream->in_size == FIRST_IN_BYTES)
		return;
	stream->in = util_realloc(stream->in, FIRST_IN_BYTES);
	stream->in_size = FIRST_IN_BYTES;
}

size_t ipc_stream_queued(const struct ipc_stream *stream)
{
	return stream->out_len;
}

static void resume_reading(void *arg)
{
	struct ipc_stream *stream = arg;

	read_in(stream);
	leave(stream);
}

void ipc_stream_pause(struct ipc_stream *stream, bool paused)
{
	if (stream->broken || stream->destroyed || stream->paused == paused)
		return;
	stream->paused = paused;
	watch(stream);
	if (!paused) {
		enter(stream); /* what is already in the buffer is handed over from the loop, not from inside this call */
		loop_defer(stream->loop, resume_reading, stream);
	}
}
