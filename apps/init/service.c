/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests become jobs, jobs end in reports.
 *
 * Nothing here waits: exec's outcome is an event of the fault pipe, an end is an event of SIGCHLD. While reports queue up because the
 * stage does not read, no request is read either, so that the queue is bounded by the children.
 */
#include "apps/init/service.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/init/door.h"
#include "apps/init/stray.h"
#include "apps/relay/proto.h"
#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"

/* A child from its fork to the report of its end. */
struct job {
	struct job *next;
	struct service *service;
	uint32_t tag;
	pid_t pid;
	int fault; /* until its program runs, else -1 */
	struct loop_source *source;
};

struct queued {
	struct queued *next;
	size_t len;
	union {
		struct init_report report;
		struct init_launch launch;
	} record;
};

struct service {
	struct loop *loop;
	int stage;
	struct loop_source *source;
	const struct child_groups *groups;
	const struct domains *domains;
	struct door *door;
	struct job *jobs;
	size_t n_jobs;
	struct queued *queue;
	int listener; /* at RELAY_PORT; -1 until the first program that is to have it */
	char record[REQUEST_MAX];
};

#define BACKLOG 128

static void send_record(struct service *service, const void *record, size_t len)
{
	struct queued **end = &service->queue;

	if (!service->queue && ipc_send(service->stage, record, len, NULL, 0, NULL) == 0)
		return;
	if (!service->queue && errno != EAGAIN) {
		loop_stop(service->loop); /* the stage is gone */
		return;
	}
	while (*end)
		end = &(*end)->next;
	*end = util_zalloc(sizeof(**end));
	(*end)->len = len;
	memcpy(&(*end)->record, record, len);
	loop_modify(service->source, EPOLLOUT);
}

static void flush_queue(struct service *service)
{
	while (service->queue) {
		struct queued *first = service->queue;

		if (ipc_send(service->stage, &first->record, first->len, NULL, 0, NULL) < 0) {
			if (errno != EAGAIN)
				loop_stop(service->loop);
			return;
		}
		service->queue = first->next;
		free(first);
	}
	loop_modify(service->source, EPOLLIN);
}

static void report(struct service *service, const struct init_report *what)
{
	send_record(service, what, sizeof(*what));
}

static void refuse(struct service *service, uint32_t tag, int error)
{
	report(service, &(struct init_report){.op = INIT_REFUSED, .tag = tag, .error = error});
}

static void report_failed(struct service *service, uint32_t tag, int step, int error)
{
	report(service, &(struct init_report){.op = INIT_SPAWNED, .tag = tag, .error = error, .status = step});
}

static struct job *find_job(const struct service *service, uint32_t tag)
{
	struct job *job = service->jobs;

	while (job && job->tag != tag)
		job = job->next;
	return job;
}

static void forget_fault(struct job *job)
{
	loop_remove(job->source);
	job->source = NULL;
	util_close_fd(&job->fault);
}

static void remove_job(struct job *job)
{
	struct job **place = &job->service->jobs;

	while (*place != job)
		place = &(*place)->next;
	*place = job->next;
	job->service->n_jobs--;
	forget_fault(job);
	free(job);
}

/* Reads what became of the exec. True if the child runs its program; false if it is not known yet (never so once the child has ended:
 * nobody else holds the pipe), or if it failed: then the job is gone, and the child is reaped like a stranger. */
static bool settle(struct job *job)
{
	struct child_fault fault;
	ssize_t n = read(job->fault, &fault, sizeof(fault));

	if (n < 0)
		return false;
	if (n == (ssize_t)sizeof(fault)) {
		report_failed(job->service, job->tag, fault.step, fault.error);
		remove_job(job);
		return false;
	}
	forget_fault(job);
	report(job->service, &(struct init_report){.op = INIT_SPAWNED, .tag = job->tag, .pid = job->pid});
	return true;
}

static void on_fault(void *arg, uint32_t events)
{
	(void)events;
	(void)settle(arg);
}

static int open_listener(int *listener, struct err *e)
{
	const struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(RELAY_PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	auto_fd fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&place, sizeof(place)) < 0 || listen(fd, BACKLOG) < 0)
		return err_sys(e, "listening at %d", RELAY_PORT);
	*listener = steal_fd(&fd);
	return 0;
}

/* With the socket that listens as its standard input, if it asks for that. */
static pid_t start(struct service *service, struct request *request, const int *fds, int *fault, struct err *e)
{
	int all[3] = {-1, fds[0], fds[1]};

	if (!(request->flags & INIT_LISTENER))
		return child_start(request, fds, service->groups, service->domains, fault, e);
	if (service->listener < 0 && open_listener(&service->listener, e) < 0)
		return -1;
	all[0] = service->listener;
	request->flags |= INIT_PIPE_STDIN;
	return child_start(request, all, service->groups, service->domains, fault, e);
}

static void on_spawn(struct service *service, char *record, size_t len, const int *fds, size_t n_fds)
{
	struct init_report head;
	struct request request;
	struct err e;
	struct job *job;
	int fault = -1;
	pid_t pid;

	memcpy(&head, record, 2 * sizeof(uint32_t)); /* op and tag lead every record */
	if (request_parse(record, len, n_fds, &request, &e) < 0) {
		report_failed(service, head.tag, INIT_STEP_REQUEST, EINVAL);
		return;
	}
	if (find_job(service, request.tag) || service->n_jobs == LIMIT_CHILDREN) {
		report_failed(service, request.tag, INIT_STEP_PROCESS, find_job(service, request.tag) ? EEXIST : EAGAIN);
		request_finish(&request);
		return;
	}
	pid = start(service, &request, fds, &fault, &e);
	request_finish(&request);
	if (pid < 0) {
		report_failed(service, head.tag, INIT_STEP_PROCESS, e.sys_errno);
		return;
	}
	job = util_zalloc(sizeof(*job));
	*job = (struct job){.next = service->jobs, .service = service, .tag = head.tag, .pid = pid, .fault = fault};
	job->source = loop_add(service->loop, fault, EPOLLIN, on_fault, job);
	service->jobs = job;
	service->n_jobs++;
}

static void on_signal_request(struct service *service, char *record, size_t len, const int *fds, size_t n_fds)
{
	static const int ALLOWED[] = {SIGTERM, SIGKILL, SIGSTOP, SIGCONT, SIGINT, SIGHUP};
	struct init_signal signal;
	const struct job *job;

	(void)fds;
	if (len != sizeof(signal) || n_fds > 0) {
		refuse(service, 0, EINVAL);
		return;
	}
	memcpy(&signal, record, sizeof(signal));
	job = find_job(service, signal.tag);
	if (!job) {
		refuse(service, signal.tag, ESRCH);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(ALLOWED); i++)
		if (signal.signo == ALLOWED[i]) {
			/* The child may not lead its group yet. */
			if (kill(-job->pid, signal.signo) < 0)
				(void)kill(job->pid, signal.signo);
			return;
		}
	refuse(service, signal.tag, EINVAL);
}

static void on_launched(struct service *service, char *record, size_t len, const int *fds, size_t n_fds)
{
	struct init_launched answer;

	(void)fds;
	if (len != sizeof(answer) || n_fds > 0) {
		refuse(service, 0, EINVAL);
		return;
	}
	memcpy(&answer, record, sizeof(answer));
	answer.why[sizeof(answer.why) - 1] = '\0';
	if (service->door)
		door_answer(service->door, &answer);
}

static void on_authority(struct service *service, char *record, size_t len, const int *fds, size_t n_fds)
{
	struct init_authority authority;
	auto_fd file = -1;

	(void)fds;
	if (len != sizeof(authority) || n_fds > 0) {
		refuse(service, 0, EINVAL);
		return;
	}
	memcpy(&authority, record, sizeof(authority));
	file = open(INIT_AUTHORITY_FILE, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
	if (file < 0 || util_write_all(file, authority.content, sizeof(authority.content)) < 0)
		refuse(service, 0, errno);
}

static bool is_job(void *arg, pid_t pid)
{
	const struct job *job = ((struct service *)arg)->jobs;

	while (job && job->pid != pid)
		job = job->next;
	return job;
}

static bool is_no_job(void *arg, pid_t pid)
{
	(void)arg;
	(void)pid;
	return false;
}

static void on_sort(struct service *service, char *record, size_t len, const int *fds, size_t n_fds)
{
	struct init_sort sort;

	(void)fds;
	if (len != sizeof(sort) || n_fds > 0) {
		refuse(service, 0, EINVAL);
		return;
	}
	memcpy(&sort, record, sizeof(sort));
	strays_move(service->groups, sort.all ? is_no_job : is_job, service);
	report(service, &(struct init_report){.op = INIT_SORTED});
}

static void on_end(struct service *service, char *record, size_t len, const int *fds, size_t n_fds)
{
	struct init_end end;

	(void)fds;
	if (len != sizeof(end) || n_fds > 0) {
		refuse(service, 0, EINVAL);
		return;
	}
	memcpy(&end, record, sizeof(end));
	stray_end(end.pid);
}

static void handle(struct service *service, size_t len, const int *fds, size_t n_fds)
{
	static const struct {
		uint32_t op;
		void (*fn)(struct service *service, char *record, size_t len, const int *fds, size_t n_fds);
	} HANDLERS[] = {{INIT_SPAWN, on_spawn}, {INIT_SIGNAL, on_signal_request}, {INIT_LAUNCHED, on_launched}, {INIT_AUTHORITY, on_authority}, {INIT_SORT, on_sort}, {INIT_END, on_end}};
	uint32_t op = 0;

	if (len >= 2 * sizeof(op))
		memcpy(&op, service->record, sizeof(op));
	for (size_t i = 0; i < ARRAY_LEN(HANDLERS); i++)
		if (HANDLERS[i].op == op) {
			HANDLERS[i].fn(service, service->record, len, fds, n_fds);
			return;
		}
	refuse(service, 0, EINVAL);
}

static void on_stage(void *arg, uint32_t events)
{
	struct service *service = arg;
	int fds[3] = {-1, -1, -1};
	size_t n_fds = 0;
	ssize_t n;

	if (events & EPOLLOUT)
		flush_queue(service);
	if (service->queue)
		return;
	n = ipc_recv(service->stage, service->record, sizeof(service->record), fds, ARRAY_LEN(fds), &n_fds, NULL);
	if (n > 0)
		handle(service, (size_t)n, fds, n_fds);
	else if (n < 0 && errno == EMSGSIZE)
		refuse(service, 0, EMSGSIZE);
	else if (n == 0 || errno != EAGAIN)
		loop_stop(service->loop);
	for (size_t i = 0; n > 0 && i < n_fds; i++)
		util_close_fd(&fds[i]);
}

/* Pid 1 inherits orphans: it reaps everything, and reports its own. */
static void on_child_ended(void *arg, int signo)
{
	struct service *service = arg;

	(void)signo;
	for (;;) {
		siginfo_t info = {.si_pid = 0};
		struct job *job = service->jobs;
		bool exited;

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0)
			return;
		while (job && job->pid != info.si_pid)
			job = job->next;
		if (!job || (job->fault >= 0 && !settle(job)))
			continue;
		exited = info.si_code == CLD_EXITED;
		report(service, &(struct init_report){.op = INIT_EXITED,
		                                      .tag = job->tag,
		                                      .pid = job->pid,
		                                      .status = exited ? info.si_status : -1,
		                                      .signo = exited ? 0 : info.si_status});
		remove_job(job);
	}
}

static void on_ask(void *arg, const struct init_launch *launch)
{
	send_record(arg, launch, sizeof(*launch));
}

struct service *service_create(struct loop *loop, int stage, const struct child_groups *groups, const struct domains *domains,
                               const char *door_path, struct err *e)
{
	static const int SIGNALS[] = {SIGCHLD, 0};
	struct service *service = util_zalloc(sizeof(*service));
	struct err door_err;

	*service = (struct service){.loop = loop, .stage = stage, .groups = groups, .domains = domains, .listener = -1};
	if (loop_signals(loop, SIGNALS, on_child_ended, service, e) < 0) {
		free(service);
		return NULL;
	}
	service->source = loop_add(loop, stage, EPOLLIN, on_stage, service);
	service->door = door_create(loop, door_path, on_ask, service, &door_err);
	if (!service->door)
		log_err(LOG_WARN, &door_err, "no launch socket");
	report(service, &(struct init_report){.op = INIT_READY, .pid = getpid()});
	return service;
}

void service_destroy(struct service *service)
{
	while (service->jobs) {
		(void)kill(-service->jobs->pid, SIGKILL);
		remove_job(service->jobs);
	}
	while (service->queue) {
		struct queued *first = service->queue;

		service->queue = first->next;
		free(first);
	}
	door_destroy(service->door);
	util_close_fd(&service->listener);
	loop_remove(service->source);
	free(service);
}
