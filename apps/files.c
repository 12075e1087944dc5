/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames to and from glovebox-files. */
#include "apps/files.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "apps/state.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define PROGRAM "/run/glovebox/bin/glovebox-files"
#define MOST_ARGUMENTS 8

static const struct {
	enum err_code code;
	const char *words;
} faults[FILES_N_FAULTS] = {
#define FAULT_ROW(symbol, code, words) [FILES_FAULT_##symbol] = {ERR_##code, words},
	FILES_FAULT_ROWS(FAULT_ROW)
#undef FAULT_ROW
};

int files_start(struct files_helper *helper, struct apps *apps, const char *const *argv, int64_t deadline_ms, struct err *e)
{
	char *all[MOST_ARGUMENTS + 2] = {(char *)(uintptr_t)PROGRAM}, *env[1] = {NULL};
	const struct spawn spawn = {.group = INIT_GROUP_BASE, .folder = "/", .argv = all, .env = env, .pipes = INIT_PIPE_STDIN | INIT_PIPE_STDOUT,
	                            .changed = &helper->changed};

	*helper = (struct files_helper){.process = NULL};
	for (size_t i = 0; argv[i]; i++) {
		if (i == MOST_ARGUMENTS)
			DIE("too many arguments for the helper of files");
		all[i + 1] = (char *)(uintptr_t)argv[i]; /* init gets a copy */
	}
	return spawner_start(apps->spawner, &spawn, deadline_ms, &helper->process, e);
}

static int broken(struct err *e)
{
	return err_set(e, ERR_SESSION_FAILED, NULL, "the session's helper for files has ended, or is not understood");
}

static int read_all(struct files_helper *helper, void *out, size_t len, int64_t deadline_ms, struct err *e)
{
	char *at = out;

	while (len > 0) {
		ssize_t n = read(helper->process->out, at, len);

		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			return broken(e);
		} else if (co_wait_fd(helper->process->out, EPOLLIN, deadline_ms, e) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Of a fault the helper's own words are the archive's reader's alone, and they are those of a text that came from outside anyway. */
static int tell_fault(const struct files_helper *helper, struct err *e)
{
	const char *words = helper->data + sizeof(struct files_refusal);
	size_t len = helper->head.len - sizeof(struct files_refusal);
	struct files_refusal refusal;

	memcpy(&refusal, helper->data, sizeof(refusal));
	if (refusal.fault == FILES_NO_FAULT || refusal.fault >= FILES_N_FAULTS)
		return broken(e);
	if (refusal.fault == FILES_FAULT_ARCHIVE && len > 0 && strlen(words) == len && util_utf8_valid(words, len))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s", words);
	return err_set(e, faults[refusal.fault].code, NULL, "%s", faults[refusal.fault].words);
}

int files_receive(struct files_helper *helper, int64_t deadline_ms, struct err *e)
{
	if (read_all(helper, &helper->head, sizeof(helper->head), deadline_ms, e) < 0)
		return -1;
	if (helper->head.len > FILES_DATA_BYTES)
		return broken(e);
	if (read_all(helper, helper->data, helper->head.len, deadline_ms, e) < 0)
		return -1;
	helper->data[helper->head.len] = '\0';
	if (helper->head.op == FILES_FAULT)
		return helper->head.len < sizeof(struct files_refusal) ? broken(e) : tell_fault(helper, e);
	return 0;
}

int files_expect(struct files_helper *helper, enum files_op op, void *head, size_t head_len, int64_t deadline_ms, struct err *e)
{
	if (files_receive(helper, deadline_ms, e) < 0)
		return -1;
	if (helper->head.op != op || helper->head.len < head_len)
		return broken(e);
	if (head)
		memcpy(head, helper->data, head_len);
	return 0;
}

static int write_all(struct files_helper *helper, const void *data, size_t len, int64_t deadline_ms, struct err *e)
{
	const char *at = data;

	while (len > 0) {
		ssize_t n = write(helper->process->in, at, len);

		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EPIPE) {
			/* It has said why. */
			return files_receive(helper, deadline_ms, e) < 0 ? -1 : broken(e);
		} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			return broken(e);
		} else if (co_wait_fd(helper->process->in, EPOLLOUT, deadline_ms, e) < 0) {
			return -1;
		}
	}
	return 0;
}

int files_send(struct files_helper *helper, enum files_op op, const void *data, size_t len, int64_t deadline_ms, struct err *e)
{
	const struct files_head head = {(uint32_t)op, (uint32_t)len};

	return write_all(helper, &head, sizeof(head), deadline_ms, e) < 0 ? -1 : write_all(helper, data, len, deadline_ms, e);
}

void files_finish(struct files_helper *helper)
{
	struct process *process = helper->process;

	if (!process)
		return;
	util_close_fd(&process->in);
	util_close_fd(&process->out);
	co_shield();
	if (spawner_wait_end(process, util_now_ms() + LIMIT_KILL_MS, NULL) < 0)
		spawner_signal(process, SIGKILL);
	co_unshield();
	spawner_release(process);
	helper->process = NULL;
}
