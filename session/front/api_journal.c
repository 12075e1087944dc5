/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of a session's journal: its whole lines and pictures so far, read from its files; and its end. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/audit.h"
#include "session/front/request.h"
#include "session/journal/scan.h"

#define BLOCK_BYTES (64 * 1024)
#define RECORDS_AT_ONCE 256 /* then others have their turn */

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

/* Whoever reads it reads on when the journal is deleted. */
static int open_file(const struct request *request, const char *name, int *out, off_t *size, struct err *e)
{
	auto_free char *path = util_printf("%s/%s/%s", request->front->journals, request->session->id, name);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND, NULL, "this session has no journal");
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_sys(e, "opening %s of %s", name, request->session->id);
	*size = st.st_size;
	*out = steal_fd(&fd);
	return 0;
}

int api_journal(struct request *request, struct err *e)
{
	auto_fd fd = -1;
	off_t size, len;

	if (open_file(request, "journal.jsonl", &fd, &size, e) < 0)
		return -1;
	len = whole_lines(fd, size);
	if (len < 0)
		return err_sys(e, "reading the journal of %s", request->session->id);
	reply_file(&request->reply, "application/x-ndjson", steal_fd(&fd), (size_t)len);
	return 0;
}

/* Up to behind the last whole record. */
static int whole_records(int fd, off_t size, off_t *len, struct err *e)
{
	off_t at = 0;

	for (int n = 1; scan_record(fd, at, size, &at); n++)
		if (n % RECORDS_AT_ONCE == 0 && co_wait_until(util_now_ms(), e) < 0)
			return -1;
	*len = at;
	return 0;
}

int api_recording(struct request *request, struct err *e)
{
	auto_fd fd = -1;
	off_t size, len;

	if (open_file(request, "pictures", &fd, &size, e) < 0 || whole_records(fd, size, &len, e) < 0)
		return -1;
	if (len == 0)
		return err_set(e, ERR_NOT_FOUND, NULL, "the journal of this session has no pictures (record.pictures of its spec)");
	reply_file(&request->reply, "application/octet-stream", steal_fd(&fd), (size_t)len);
	reply_header(&request->reply, "Content-Disposition", "attachment");
	return 0;
}

int api_drop_journal(struct request *request, struct err *e)
{
	const struct session *session = request->session;
	json_t *fields;
	int rc;

	if (session->ended_ms == 0)
		return err_set(e, ERR_CONFLICT, NULL, "the session has not ended: its journal is still being written");
	fields = audit_who(&request->who, request->id);
	(void)json_object_set_new(fields, "session", json_string(session->id));
	/* It is told before it is done: what is gone tells nothing any more. */
	if (audit_add(request->front->audit, "journal_deleted", fields, e) < 0)
		return -1;
	co_shield();
	rc = warden_drop_journal(request->front->warden, session->id, util_now_ms() + LIMIT_STATE_MS, e);
	co_unshield();
	if (rc < 0)
		return -1;
	log_info("the journal of %s was deleted", session->id);
	reply_empty(&request->reply, 204);
	return 0;
}
