/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames to and from the stage. */
#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "apps/files/files.h"
#include "session/base/util.h"

int talk_send(enum files_op op, const void *head, size_t head_len, const void *rest, size_t rest_len)
{
	const struct files_head frame = {(uint32_t)op, (uint32_t)(head_len + rest_len)};

	if (util_write_all(STDOUT_FILENO, &frame, sizeof(frame)) < 0 || (head_len > 0 && util_write_all(STDOUT_FILENO, head, head_len) < 0))
		return -1;
	return rest_len > 0 ? util_write_all(STDOUT_FILENO, rest, rest_len) : 0;
}

static int read_all(void *data, size_t len)
{
	char *at = data;

	while (len > 0) {
		ssize_t n = read(STDIN_FILENO, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int talk_receive(struct files_head *head, void *data, size_t max)
{
	if (read_all(head, sizeof(*head)) < 0 || head->len > max)
		return -1;
	return read_all(data, head->len);
}

enum files_fault talk_fault(int error)
{
	static const struct {
		int error;
		enum files_fault fault;
	} rows[] = {
		{ENOENT, FILES_FAULT_MISSING}, {ELOOP, FILES_FAULT_LINK}, {EXDEV, FILES_FAULT_RIGHTS}, {ENOTDIR, FILES_FAULT_NOT_FOLDER}, {EISDIR, FILES_FAULT_IS_FOLDER},
		{ENXIO, FILES_FAULT_NOT_PLAIN}, {EACCES, FILES_FAULT_RIGHTS}, {EPERM, FILES_FAULT_RIGHTS}, {EROFS, FILES_FAULT_RIGHTS}, {ENOTEMPTY, FILES_FAULT_NOT_EMPTY},
		{ENOSPC, FILES_FAULT_FULL}, {EDQUOT, FILES_FAULT_FULL}, {ENOMEM, FILES_FAULT_FULL}, {ERANGE, FILES_FAULT_TOO_MANY}, {EBUSY, FILES_FAULT_ROOT}, {EEXIST, FILES_FAULT_CHANGED},
		{ESTALE, FILES_FAULT_CHANGED}, {EAGAIN, FILES_FAULT_CHANGED}, {ENAMETOOLONG, FILES_FAULT_MISSING},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].error == error)
			return rows[i].fault;
	return FILES_FAULT_FAILED;
}

int talk_pass(int fd, const struct files_range *range)
{
	static char data[FILES_DATA_BYTES];
	uint64_t at = range->from, left = range->len;

	while (left > 0) {
		ssize_t n = pread(fd, data, (size_t)MIN(left, sizeof(data)), (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (talk_send(FILES_DATA, data, (size_t)n, NULL, 0) < 0)
			return -1;
		at += (uint64_t)n;
		left -= (uint64_t)n;
	}
	return talk_send(FILES_PASS, NULL, 0, NULL, 0);
}

enum files_op talk_ranges(int fd)
{
	struct files_range range = {0};
	struct files_head head;

	for (;;) {
		if (talk_receive(&head, &range, sizeof(range)) < 0)
			return FILES_QUIT;
		if (head.op != FILES_RANGE || head.len != sizeof(range))
			return (enum files_op)head.op;
		if (talk_pass(fd, &range) < 0)
			return FILES_QUIT;
	}
}
