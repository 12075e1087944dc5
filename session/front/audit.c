/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit log: its file, its chain over restarts, its rotation. */
#include "session/front/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/chain.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define SYNC_MS 1000
#define OLD_FILES 4
#define TAIL_BYTES (64 * 1024) /* longer than any line */

struct audit {
	struct loop *loop;
	char stem[200]; /* of the path, without ".jsonl" */
	int fd;
	off_t size, max_size;
	struct chain chain;
	struct loop_timer *sync, *tick;
	unsigned long counts[N_AUDIT_COUNTS];
	int n_refusals; /* noted since the last tick */
};

static const char *const count_events[N_AUDIT_COUNTS] = {
	[AUDIT_UNAUTHORIZED] = "unauthorized", [AUDIT_WRONG_CODES] = "wrong_codes", [AUDIT_REFUSALS_LEFT_OUT] = "refusals_left_out"};

/* "STEM.jsonl", or "STEM.N.jsonl" of an old file. */
static const char *path_of(const struct audit *audit, int number, char *out, size_t size)
{
	if (number == 0)
		(void)snprintf(out, size, "%s.jsonl", audit->stem);
	else
		(void)snprintf(out, size, "%s.%d.jsonl", audit->stem, number);
	return out;
}

static int open_file(struct audit *audit, const char *path, struct err *e)
{
	struct stat st;

	audit->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (audit->fd < 0 || fstat(audit->fd, &st) < 0)
		return err_sys(e, "the audit log cannot be opened");
	audit->size = st.st_size;
	return 0;
}

/* The end of a file of `size` bytes; *len of it in the buffer, which is the caller's. */
static char *read_tail(int fd, off_t size, size_t *len)
{
	off_t from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
	char *text = util_zalloc(TAIL_BYTES + 1);
	ssize_t n = pread(fd, text, (size_t)(size - from), from);

	*len = n > 0 ? (size_t)n : 0;
	return text;
}

/* A piece after the last newline was being written when the front or the power ended: it is no line and goes. */
static int cut_torn_line(struct audit *audit, const char *text, size_t len, struct err *e)
{
	const char *end = len > 0 ? memrchr(text, '\n', len) : NULL;
	size_t torn = end ? len - (size_t)(end + 1 - text) : len;

	if (torn > 0 && ftruncate(audit->fd, audit->size - (off_t)torn) < 0)
		return err_sys(e, "the audit log cannot be mended");
	audit->size -= (off_t)torn;
	return 0;
}

/* Right after it was put aside the new file has no line yet: then the chain is at the end of the old one. */
static bool resume_from_old(struct audit *audit)
{
	char path[256];
	auto_fd fd = open(path_of(audit, 1, path, sizeof(path)), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	auto_free char *text = NULL;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
		return true; /* there is none: this is the beginning */
	text = read_tail(fd, st.st_size, &len);
	return chain_resume(&audit->chain, text, len);
}

static int take_up(struct audit *audit, struct err *e)
{
	size_t len;
	auto_free char *text = read_tail(audit->fd, audit->size, &len);
	bool resumed;

	if (cut_torn_line(audit, text, len, e) < 0)
		return -1;
	resumed = audit->size > 0 ? chain_resume(&audit->chain, text, len) : resume_from_old(audit);
	if (!resumed)
		log_error("the end of the audit log is damaged: a new chain begins");
	return 0;
}

struct audit *audit_open(struct loop *loop, const char *path, size_t max_bytes, struct err *e)
{
	struct audit *audit = util_zalloc(sizeof(*audit));
	char own[256];

	*audit = (struct audit){.loop = loop, .fd = -1, .max_size = (off_t)max_bytes};
	(void)snprintf(audit->stem, sizeof(audit->stem), "%.*s", (int)(strlen(path) - strlen(".jsonl")), path);
	if (open_file(audit, path_of(audit, 0, own, sizeof(own)), e) == 0 && take_up(audit, e) == 0)
		return audit;
	util_close_fd(&audit->fd);
	free(audit);
	return NULL;
}

/* The files one number further, the oldest first, which is gone; and the new one in their place. */
static int move_files(const struct audit *audit, const char *fresh)
{
	char from[256], to[256];

	for (int i = OLD_FILES - 1; i >= 0; i--)
		if (rename(path_of(audit, i, from, sizeof(from)), path_of(audit, i + 1, to, sizeof(to))) < 0 && errno != ENOENT)
			return -1;
	return rename(fresh, path_of(audit, 0, to, sizeof(to)));
}

/*
 * The new file is there before any other is moved: where none can be made (no descriptors, no room), the old one goes on and grows too
 * long, and is tried again at the next line, without an older one being lost each time.
 */
static void rotate(struct audit *audit)
{
	auto_free char *fresh = util_printf("%s.new.jsonl", audit->stem);
	auto_fd old = audit->fd;
	off_t size = audit->size;
	struct err e;

	(void)fdatasync(old);
	if (open_file(audit, fresh, &e) == 0 && move_files(audit, fresh) == 0)
		return;
	log_warn("the audit log cannot be put aside: %s", strerror(errno));
	util_close_fd(&audit->fd);
	audit->fd = steal_fd(&old);
	audit->size = size;
}

static int write_line(struct audit *audit, const char *event, const json_t *fields, bool sync, struct err *e)
{
	json_auto_t *content = chain_line(&audit->chain, event, fields);
	struct chain next;
	auto_free char *line = chain_text(&audit->chain, content, &next);
	size_t len = strlen(line);

	if (audit->size > 0 && audit->size + (off_t)len > audit->max_size)
		rotate(audit);
	if (util_write_all(audit->fd, line, len) < 0 || (sync && fdatasync(audit->fd) < 0)) {
		(void)err_sys(e, "the audit log cannot be written");
		/* Nothing may follow half a line. */
		if (ftruncate(audit->fd, audit->size) < 0)
			log_error("the audit log cannot be mended: %s", strerror(errno));
		return -1;
	}
	audit->size += (off_t)len;
	audit->chain = next;
	return 0;
}

int audit_add(struct audit *audit, const char *event, json_t *fields, struct err *e)
{
	int rc = audit ? write_line(audit, event, fields, true, e) : 0;

	json_decref(fields);
	return rc;
}

static void on_sync(void *arg)
{
	struct audit *audit = arg;

	audit->sync = NULL;
	if (fdatasync(audit->fd) < 0)
		log_warn("the audit log could not be handed to the disk");
}

void audit_note(struct audit *audit, const char *event, json_t *fields)
{
	struct err e;

	if (audit && write_line(audit, event, fields, false, &e) < 0)
		log_err(LOG_ERROR, &e, "%s", event);
	else if (audit && !audit->sync)
		audit->sync = loop_at(audit->loop, util_now_ms() + SYNC_MS, on_sync, audit);
	json_decref(fields);
}

static void write_counts(struct audit *audit)
{
	for (int i = 0; i < N_AUDIT_COUNTS; i++) {
		unsigned long count = audit->counts[i];

		audit->counts[i] = 0;
		if (count > 0)
			audit_note(audit, count_events[i], json_pack("{s:I}", "count", (json_int_t)count));
	}
	audit->n_refusals = 0;
}

static void on_tick(void *arg)
{
	struct audit *audit = arg;

	audit->tick = NULL;
	write_counts(audit);
}

static void arm_tick(struct audit *audit)
{
	if (!audit->tick)
		audit->tick = loop_at(audit->loop, util_now_ms() + LIMIT_AUDIT_TICK_MS, on_tick, audit);
}

void audit_count(struct audit *audit, enum audit_count what)
{
	if (!audit)
		return;
	audit->counts[what]++;
	arm_tick(audit);
}

void audit_refusal(struct audit *audit, const struct identity *who, const char *request_id, const struct err *why)
{
	json_t *fields;

	if (!audit)
		return;
	if (audit->n_refusals++ >= LIMIT_AUDIT_REFUSALS) {
		audit_count(audit, AUDIT_REFUSALS_LEFT_OUT);
		return;
	}
	arm_tick(audit);
	fields = audit_who(who, request_id);
	(void)json_object_set_new(fields, "code", json_string(err_info(why->code)->wire));
	(void)json_object_set_new(fields, "pointer", json_string(why->path));
	audit_note(audit, "create_refused", fields);
}

void audit_close(struct audit *audit)
{
	if (!audit)
		return;
	write_counts(audit);
	loop_cancel(audit->tick);
	loop_cancel(audit->sync);
	(void)fdatasync(audit->fd);
	util_close_fd(&audit->fd);
	free(audit);
}

json_t *audit_who(const struct identity *who, const char *request_id)
{
	return json_pack("{s:s,s:s,s:s,s:s}", "owner", who->owner, "role", role_name(who->role), "token", who->name, "request", request_id);
}
