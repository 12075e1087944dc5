/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records to and from init. */
#include "apps/spawner_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "session/base/ipc.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

struct spawner {
	struct loop *loop;
	int fd; /* -1 once the link broke */
	struct loop_source *source;
	struct spawner_ops ops;
	uint32_t last_tag;
	bool ready;
	struct co_event readied, writable;
	size_t n_sorts, n_sorted; /* asked for, and done */
	struct co_event sorted;
	struct process *processes;
};

static int gone(struct err *e)
{
	return err_set(e, ERR_GONE, NULL, "the session's programs are gone");
}

static void free_process(struct process *process)
{
	struct process **place = &process->spawner->processes;

	while (*place != process)
		place = &(*place)->next;
	*place = process->next;
	util_close_fd(&process->in);
	util_close_fd(&process->out);
	util_close_fd(&process->err);
	free(process);
}

/* The program is gone, or never came to be. */
static void end_process(struct process *process, int exit_code, int signo)
{
	process->ended = true;
	process->exit_code = exit_code;
	process->signo = signo;
	if (process->released) {
		free_process(process);
		return;
	}
	co_signal(&process->started);
	if (process->changed)
		co_signal(process->changed);
}

static void break_link(struct spawner *spawner, const char *why)
{
	struct process *next;

	if (spawner->fd < 0)
		return;
	if (why)
		log_info("the link to init ended: %s", why);
	loop_remove(spawner->source);
	spawner->source = NULL;
	util_close_fd(&spawner->fd);
	co_signal(&spawner->sorted);
	for (struct process *process = spawner->processes; process; process = next) {
		next = process->next;
		if (!process->ended)
			end_process(process, -1, 0);
	}
	co_signal(&spawner->readied);
	co_signal(&spawner->writable);
	if (spawner->ops.gone)
		spawner->ops.gone(spawner->ops.arg);
}

/* 1 sent, 0 the link is full for now, -1 it is broken. */
static int try_send(struct spawner *spawner, const void *record, size_t len, const int *fds, size_t n_fds)
{
	if (spawner->fd < 0)
		return -1;
	if (ipc_send(spawner->fd, record, len, fds, n_fds, NULL) == 0)
		return 1;
	if (errno != EAGAIN)
		return -1; /* the loop hears of it too */
	loop_modify(spawner->source, EPOLLIN | EPOLLOUT);
	return 0;
}

static int send_record(struct spawner *spawner, const void *record, size_t len, const int *fds, size_t n_fds, int64_t deadline_ms,
                       struct err *e)
{
	int sent;

	while ((sent = try_send(spawner, record, len, fds, n_fds)) == 0)
		if (co_wait_event(&spawner->writable, deadline_ms, e) < 0)
			return -1;
	return sent > 0 ? 0 : gone(e);
}

static void send_signal(struct process *process)
{
	struct init_signal record = {.op = INIT_SIGNAL, .tag = process->tag, .signo = process->kill_signo};

	if (process->kill_signo != 0 && try_send(process->spawner, &record, sizeof(record), NULL, 0) != 0)
		process->kill_signo = 0;
}

void spawner_signal(struct process *process, int signo)
{
	if (process->ended)
		return;
	process->kill_signo = signo;
	if (process->pid > 0)
		send_signal(process);
}

static void on_writable(struct spawner *spawner)
{
	loop_modify(spawner->source, EPOLLIN);
	for (struct process *process = spawner->processes; process; process = process->next)
		if (process->pid > 0)
			send_signal(process);
	co_signal(&spawner->writable);
}

static struct process *find_process(const struct spawner *spawner, uint32_t tag)
{
	struct process *process = spawner->processes;

	while (process && process->tag != tag)
		process = process->next;
	return process;
}

/* The on_ functions say if the record is what it should be at this point. */
static bool on_ready(struct spawner *spawner, const struct init_report *report)
{
	(void)report;
	if (spawner->ready)
		return false;
	spawner->ready = true;
	co_signal(&spawner->readied);
	return true;
}

static bool on_spawned(struct spawner *spawner, const struct init_report *report)
{
	struct process *process = find_process(spawner, report->tag);

	if (!process || process->reported || process->ended || (report->error == 0 && report->pid <= 0))
		return false;
	process->reported = true;
	process->start = *report;
	if (report->error != 0) {
		end_process(process, -1, 0);
		return true;
	}
	process->pid = report->pid;
	co_signal(&process->started);
	send_signal(process); /* one that came too early */
	return true;
}

static bool on_exited(struct spawner *spawner, const struct init_report *report)
{
	struct process *process = find_process(spawner, report->tag);

	if (!process || process->pid == 0 || process->ended || report->status < -1 || report->status > 255 || report->signo < 0 ||
	    report->signo >= NSIG)
		return false;
	end_process(process, report->status, report->signo);
	return true;
}

static bool on_refused(struct spawner *spawner, const struct init_report *report)
{
	(void)spawner;
	log_debug("init refused a record of tag %u: %s", report->tag, strerror(report->error));
	return true;
}

/* In the order in which that was asked for. */
static bool on_sorted(struct spawner *spawner, const struct init_report *report)
{
	(void)report;
	if (spawner->n_sorted == spawner->n_sorts)
		return false;
	spawner->n_sorted++;
	co_signal(&spawner->sorted);
	return true;
}

static bool on_launch(struct spawner *spawner, const struct init_launch *launch)
{
	size_t len = strnlen(launch->name, sizeof(launch->name));

	if (len == 0 || len == sizeof(launch->name) || strspn(launch->name, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
		return false;
	if (spawner->ops.launch)
		spawner->ops.launch(spawner->ops.arg, launch);
	return true;
}

static bool handle(struct spawner *spawner, const void *record, size_t len)
{
	static const struct {
		uint32_t op;
		bool (*fn)(struct spawner *spawner, const struct init_report *report);
	} HANDLERS[] = {{INIT_READY, on_ready}, {INIT_SPAWNED, on_spawned}, {INIT_EXITED, on_exited}, {INIT_REFUSED, on_refused}, {INIT_SORTED, on_sorted}};
	struct init_report report;
	struct init_launch launch;

	if (len == sizeof(launch)) {
		memcpy(&launch, record, sizeof(launch));
		return launch.op == INIT_LAUNCH && on_launch(spawner, &launch);
	}
	if (len != sizeof(report))
		return false;
	memcpy(&report, record, sizeof(report));
	for (size_t i = 0; i < ARRAY_LEN(HANDLERS); i++)
		if (HANDLERS[i].op == report.op)
			return HANDLERS[i].fn(spawner, &report);
	return false;
}

static void on_link(void *arg, uint32_t events)
{
	struct spawner *spawner = arg;
	char record[sizeof(struct init_launch) + 1];
	size_t n_fds;
	ssize_t n;

	if (events & EPOLLOUT)
		on_writable(spawner);
	n = ipc_recv(spawner->fd, record, sizeof(record), NULL, 0, &n_fds, NULL);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n == 0 || (n < 0 && errno != EMSGSIZE))
		break_link(spawner, "it closed");
	else if (n < 0 || !handle(spawner, record, (size_t)n))
		break_link(spawner, "init broke the protocol");
}

struct spawner *spawner_create(struct loop *loop, int fd, const struct spawner_ops *ops)
{
	struct spawner *spawner = util_zalloc(sizeof(*spawner));

	*spawner = (struct spawner){.loop = loop, .fd = fd, .ops = *ops};
	spawner->source = loop_add(loop, fd, EPOLLIN, on_link, spawner);
	return spawner;
}

void spawner_destroy(struct spawner *spawner)
{
	if (!spawner)
		return;
	spawner->ops = (struct spawner_ops){0};
	break_link(spawner, NULL);
	while (spawner->processes)
		free_process(spawner->processes);
	free(spawner);
}

int spawner_wait_ready(struct spawner *spawner, int64_t deadline_ms, struct err *e)
{
	while (!spawner->ready) {
		if (spawner->fd < 0)
			return gone(e);
		if (co_wait_event(&spawner->readied, deadline_ms, e) < 0)
			return -1;
	}
	return 0;
}

int spawner_authority(struct spawner *spawner, const uint8_t *content, size_t len, int64_t deadline_ms, struct err *e)
{
	struct init_authority record = {.op = INIT_AUTHORITY};

	if (len != sizeof(record.content))
		return err_set(e, ERR_INTERNAL, NULL, "an X authority has %zu bytes, not %zu", sizeof(record.content), len);
	memcpy(record.content, content, len);
	return send_record(spawner, &record, sizeof(record), NULL, 0, deadline_ms, e);
}

/* Makes the pipes that were asked for: our ends into the process, the child's into fds. Also on failure all are the caller's. */
static int make_pipes(struct process *process, unsigned int pipes, int fds[3], struct err *e)
{
	int *const ours[3] = {&process->in, &process->out, &process->err};

	for (int i = 0; i < 3; i++) {
		int ends[2];

		if (!(pipes & (1U << i)))
			continue;
		if (pipe2(ends, O_CLOEXEC) < 0)
			return err_sys(e, "a pipe");
		/* The child writes into 1 and 2, and we into 0. */
		fds[i] = i == 0 ? ends[0] : ends[1];
		*ours[i] = i == 0 ? ends[1] : ends[0];
		if (fcntl(*ours[i], F_SETFL, O_NONBLOCK | (i == 0 ? O_WRONLY : O_RDONLY)) < 0)
			return err_sys(e, "a pipe");
	}
	return 0;
}

static int send_spawn(struct process *process, const struct spawn *spawn, int64_t deadline_ms, struct err *e)
{
	int fds[3] = {-1, -1, -1};
	int sent[3];
	size_t n_fds = 0;
	size_t len;
	auto_free char *record = spawner_record(process, spawn, &len);
	int rc = make_pipes(process, spawn->pipes, fds, e);

	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			sent[n_fds++] = fds[i];
	if (rc == 0)
		rc = send_record(process->spawner, record, len, sent, n_fds, deadline_ms, e);
	for (int i = 0; i < 3; i++)
		util_close_fd(&fds[i]);
	return rc;
}

/* One that nobody will have: also for a call that was cancelled, whoever stopped it finds it ended. */
static void end_early(struct process *process)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_KILL_MS;

	spawner_signal(process, SIGKILL);
	co_shield();
	while (!process->ended && co_wait_event(&process->started, deadline_ms, NULL) == 0)
		;
	co_unshield();
	spawner_release(process);
}

int spawner_start(struct spawner *spawner, const struct spawn *spawn, int64_t deadline_ms, struct process **out, struct err *e)
{
	struct process *process;
	int rc;

	if (spawner_check(spawn, e) < 0)
		return -1;
	process = util_zalloc(sizeof(*process));
	*process = (struct process){.next = spawner->processes, .spawner = spawner, .tag = ++spawner->last_tag, .group = spawn->group, .in = -1, .out = -1, .err = -1};
	process->changed = spawn->changed;
	spawner->processes = process;
	rc = send_spawn(process, spawn, deadline_ms, e);
	if (rc < 0) {
		free_process(process);
		return -1;
	}
	while (rc == 0 && !process->reported && !process->ended)
		rc = co_wait_event(&process->started, deadline_ms, e);
	if (rc == 0 && process->pid == 0)
		rc = spawner_explain(process, spawn, e);
	if (rc < 0) {
		end_early(process);
		return -1;
	}
	*out = process;
	return 0;
}

int spawner_wait_end(struct process *process, int64_t deadline_ms, struct err *e)
{
	while (!process->ended)
		if (co_wait_event(process->changed, deadline_ms, e) < 0)
			return -1;
	return process->spawner->fd < 0 ? gone(e) : 0;
}

int spawner_sort(struct spawner *spawner, bool all, int64_t deadline_ms, struct err *e)
{
	const struct init_sort record = {.op = INIT_SORT, .all = all};
	size_t number;

	if (send_record(spawner, &record, sizeof(record), NULL, 0, deadline_ms, e) < 0)
		return -1;
	number = ++spawner->n_sorts; /* its answer is not read before this coroutine waits */
	while (spawner->n_sorted < number) {
		if (spawner->fd < 0)
			return gone(e);
		if (co_wait_event(&spawner->sorted, deadline_ms, e) < 0)
			return -1;
	}
	return 0;
}

int spawner_end(struct spawner *spawner, int pid, int64_t deadline_ms, struct err *e)
{
	const struct init_end record = {.op = INIT_END, .pid = pid};

	return send_record(spawner, &record, sizeof(record), NULL, 0, deadline_ms, e);
}

void spawner_signal_group(struct spawner *spawner, enum init_group group, int signo)
{
	for (struct process *process = spawner->processes; process; process = process->next)
		if (process->group == group)
			spawner_signal(process, signo);
}

void spawner_release(struct process *process)
{
	if (!process)
		return;
	process->changed = NULL;
	process->released = true;
	util_close_fd(&process->in);
	util_close_fd(&process->out);
	util_close_fd(&process->err);
	if (process->ended)
		free_process(process);
}

void spawner_answer(struct spawner *spawner, uint32_t ticket, bool ok, const char *why)
{
	struct init_launched record = {.op = INIT_LAUNCHED, .ticket = ticket, .ok = ok};

	(void)snprintf(record.why, sizeof(record.why), "%s", why);
	(void)send_record(spawner, &record, sizeof(record), NULL, 0, CO_FOREVER, NULL);
}
