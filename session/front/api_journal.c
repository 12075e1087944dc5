/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The route of a session's journal: its whole lines so far, read from its file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/request.h"

#define BLOCK_BYTES (64 * 1024)

/* Up to behind the last newline: what follows is no line yet. -1 when it cannot be read. */
static off_t whole_lines(int fd, off_t size)
{
	auto_free char *block = util_alloc(BLOCK_BYTES);

	while (size > 0) {
		size_t n = (size_t)MIN(size, (off_t)BLOCK_BYTES);
		const char *newline;

		if (pread(fd, block, n, size - (off_t)n) != (ssize_t)n)
			return -1;
		newline = memrchr(block, '\n', n);
		if (newline)
			return size - (off_t)n + (newline - block) + 1;
		size -= (off_t)n;
	}
	return 0;
}

int api_journal(struct request *request, struct err *e)
{
	auto_free char *path = util_printf("%s/%s/journal.jsonl", request->front->journals, request->session->id);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	off_t len;

	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND, NULL, "this session has no journal");
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (len = whole_lines(fd, st.st_size)) < 0)
		return err_sys(e, "reading the journal of %s", request->session->id);
	reply_file(&request->reply, "application/x-ndjson", steal_fd(&fd), (size_t)len);
	return 0;
}
