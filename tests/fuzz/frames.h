/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How inputs of the targets fuzz_link_*.c become what goes over a link. Of a stream of frames (session/base/ipc.h) each line of the input is one: its first letter is
 * the kind, "A" is 1, and a small one says by its flag that more follows. Of records each has its length before it, two bytes of the machine's order.
 * An input that shall break the frames themselves is sent as it is.
 */
#ifndef FUZZ_FRAMES_H
#define FUZZ_FRAMES_H

#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/base/ipc.h"
#include "session/base/util.h"

#define FRAMES_MORE 1 /* LINK_MORE and EGRESS_MORE */

/* In one go: each small one by itself would take the room of a larger one in the socket, and there would be none for many. */
static inline void frames_stream(int fd, const uint8_t *data, size_t size)
{
	auto_free char *out = util_alloc((size + 1) * (sizeof(struct ipc_frame_head) + 1));
	size_t len = 0;

	for (size_t at = 0; at < size;) {
		const uint8_t *line = data + at, *end = memchr(line, '\n', size - at);
		const size_t n = end ? (size_t)(end - line) : size - at;
		const struct ipc_frame_head head = {.length = (uint32_t)(n > 0 ? n - 1 : 0), .kind = (uint16_t)(n > 0 ? (line[0] & 0x5FU) - 'A' + 1 : 0),
		                                    .flags = n > 0 && line[0] & 0x20 ? FRAMES_MORE : 0};

		memcpy(out + len, &head, sizeof(head));
		memcpy(out + len + sizeof(head), line + 1, head.length);
		len += sizeof(head) + head.length;
		at += n + 1;
	}
	(void)util_write_all(fd, out, len);
}

/* The next record of an input; NULL: there is none. */
static inline const uint8_t *frames_next(const uint8_t *data, size_t size, size_t *at, size_t *len)
{
	uint16_t said;
	const uint8_t *record;

	if (size - *at < sizeof(said))
		return NULL;
	memcpy(&said, data + *at, sizeof(said));
	record = data + *at + sizeof(said);
	*len = MIN((size_t)said, size - *at - sizeof(said));
	*at += sizeof(said) + *len;
	return record;
}

static inline void frames_records(int fd, const uint8_t *data, size_t size)
{
	const uint8_t *record;
	size_t at = 0, len;

	while ((record = frames_next(data, size, &at, &len)) && ipc_send(fd, record, len, NULL, 0, NULL) == 0)
		;
}

/* Labels of the warden, which begin with their kind: each but that of kind `start` comes with a descriptor. */
static inline void frames_labels(int fd, const uint8_t *data, size_t size, int extra, uint32_t start)
{
	const uint8_t *record;
	size_t at = 0, len;
	uint32_t kind;

	while ((record = frames_next(data, size, &at, &len))) {
		kind = 0;
		memcpy(&kind, record, MIN(len, sizeof(kind)));
		if (ipc_send(fd, record, len, &extra, kind == start ? 0 : 1, NULL) < 0)
			return;
	}
}

#endif
