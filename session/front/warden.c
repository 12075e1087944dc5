/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to the warden and its answers, matched by tag. */
#include "session/front/warden.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "session/base/co.h"
#include "session/base/ipc.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

/* One request that waits for its answer; on its coroutine's stack. */
struct ask {
	struct ask *next;
	uint32_t tag;
	bool answered;
	struct warden_event answer;
	int fd; /* that came with it, or -1 */
	struct co_event changed;
};

struct warden {
	struct loop *loop;
	int fd;
	struct loop_source *source;
	const struct warden_ops *ops;
	uint32_t last_tag;
	struct ask *asks;
};

union record {
	struct warden_event event;
	struct warden_hello hello;
	struct front_label label;
};

static int receive(int fd, union record *record, int *extra, size_t *len, struct err *e)
{
	size_t n_fds;
	ssize_t n = ipc_recv(fd, record, sizeof(*record), extra, 1, &n_fds, e);

	if (n < 0)
		return -1;
	if (n_fds == 0)
		*extra = -1;
	*len = (size_t)n;
	return 0;
}

static bool is_label(const union record *record, size_t len)
{
	return len == sizeof(record->label) && record->label.op == WARDEN_LABEL;
}

static int take_label(const struct warden_ops *ops, struct front_label *label, int fd, struct err *e)
{
	label->text[sizeof(label->text) - 1] = '\0';
	return ops->label(ops->arg, label, fd, e);
}

int warden_hello(int fd, const struct warden_ops *ops, struct warden_hello *hello, struct err *e)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	union record record;
	int extra = -1;
	size_t len = 0;

	do {
		while (poll(&ready, 1, -1) < 0 && errno == EINTR)
			;
		if (receive(fd, &record, &extra, &len, e) < 0)
			return -1;
		if (is_label(&record, len) && take_label(ops, &record.label, extra, e) < 0)
			return -1;
	} while (is_label(&record, len));
	if (len != sizeof(record.hello) || record.hello.op != WARDEN_HELLO)
		return err_set(e, ERR_INTERNAL, NULL, "the warden did not say hello");
	*hello = record.hello;
	return 0;
}

/* What a request has beside its kind and its session. */
struct more {
	const struct warden_create *create;
	const struct warden_viewer *viewer;
};

static int send_request(struct warden *warden, uint32_t op, uint32_t tag, const char *id, const struct more *more, struct err *e)
{
	struct warden_request request;
	int rc;

	memset(&request, 0, sizeof(request));
	request.op = op;
	request.tag = tag;
	memcpy(request.session, id, strnlen(id, SESSION_ID_LEN));
	if (more && more->create)
		request.create = *more->create;
	if (more && more->viewer)
		request.viewer = *more->viewer;
	rc = ipc_send(warden->fd, &request, sizeof(request), NULL, 0, e);
	explicit_bzero(&request.viewer, sizeof(request.viewer));
	return rc;
}

/* True if somebody waited for this event, and took what came with it. */
static bool answer(struct warden *warden, const struct warden_event *event, int *fd)
{
	for (struct ask *ask = warden->asks; ask; ask = ask->next)
		if (ask->tag == event->tag && !ask->answered) {
			ask->answer = *event;
			ask->fd = steal_fd(fd);
			ask->answered = true;
			co_signal(&ask->changed);
			return true;
		}
	return false;
}

static void take_event(struct warden *warden, struct warden_event *event, int *fd)
{
	struct err e;

	event->session[SESSION_ID_LEN] = '\0';
	event->path[sizeof(event->path) - 1] = '\0';
	event->detail[sizeof(event->detail) - 1] = '\0';
	switch (event->op) {
	case WARDEN_CREATED:
		if (!answer(warden, event, fd) && warden_end(warden, event->session, &e) < 0)
			log_err(LOG_ERROR, &e, "ending %s, which nobody waits for", event->session);
		break;
	case WARDEN_FAILED:
		/* Nobody waits for it any more: it is the end of a session that had not begun. */
		event->reason = WARDEN_ASKED;
		if (!answer(warden, event, fd))
			warden->ops->ended(warden->ops->arg, event);
		break;
	case WARDEN_DONE:
	case WARDEN_VIEWER_ADDED:
	case WARDEN_REFUSED:
		if (!answer(warden, event, fd) && event->op == WARDEN_REFUSED)
			log_warn("the warden refuses a request for %s: %s", event->session, event->detail);
		break;
	case WARDEN_USED:
		warden->ops->used(warden->ops->arg, event);
		if (!*event->session)
			(void)answer(warden, event, fd);
		break;
	case WARDEN_ENDED:
		warden->ops->ended(warden->ops->arg, event);
		break;
	default:
		log_warn("an unknown record %u of the warden", event->op);
		break;
	}
}

static void on_ready(void *arg, uint32_t events)
{
	struct warden *warden = arg;
	union record record;
	struct err e;
	int extra = -1, rc;
	size_t len = 0;

	(void)events;
	while ((rc = receive(warden->fd, &record, &extra, &len, &e)) == 0) {
		if (is_label(&record, len)) {
			if (take_label(warden->ops, &record.label, extra, &e) < 0)
				log_err(LOG_ERROR, &e, "the new certificate is refused, and the one before stays in force");
			continue;
		}
		if (len == sizeof(record.event))
			take_event(warden, &record.event, &extra);
		util_close_fd(&extra);
		if (len != sizeof(record.event))
			break;
	}
	if (rc < 0 && errno == EAGAIN)
		return;
	loop_remove(warden->source);
	warden->source = NULL;
	warden->ops->gone(warden->ops->arg);
}

struct warden *warden_create(struct loop *loop, int fd, const struct warden_ops *ops)
{
	struct warden *warden = util_zalloc(sizeof(*warden));

	*warden = (struct warden){.loop = loop, .fd = fd, .ops = ops};
	warden->source = loop_add(loop, fd, EPOLLIN, on_ready, warden);
	return warden;
}

int warden_serving(struct warden *warden, struct err *e)
{
	return send_request(warden, WARDEN_HELLO, 0, "", NULL, e);
}

static void forget_ask(struct warden *warden, const struct ask *ask)
{
	struct ask **place = &warden->asks;

	while (*place != ask)
		place = &(*place)->next;
	*place = ask->next;
}

/* Waits for the answer to a request that was sent with the last tag; it may be a refusal. */
static int wait_answer(struct warden *warden, int64_t deadline_ms, struct warden_event *answer, int *fd, struct err *e)
{
	struct ask ask = {.tag = warden->last_tag, .next = warden->asks, .fd = -1};
	int rc = 0;

	warden->asks = &ask;
	while (rc == 0 && !ask.answered)
		rc = co_wait_event(&ask.changed, deadline_ms, e);
	forget_ask(warden, &ask);
	*fd = ask.fd;
	if (rc < 0)
		return -1;
	if (ask.answer.op == WARDEN_FAILED || ask.answer.op == WARDEN_REFUSED) {
		enum err_code code = ask.answer.code > ERR_NONE && ask.answer.code < ERR_N_CODES ? ask.answer.code : ERR_INTERNAL;

		return err_set(e, code, ask.answer.path, "%s", ask.answer.detail);
	}
	*answer = ask.answer;
	return 0;
}

/* Sends a request and waits for its answer. */
static int ask_for_fd(struct warden *warden, uint32_t op, const char *id, const struct more *more, int64_t deadline_ms,
                      struct warden_event *answer, int *fd, struct err *e)
{
	if (send_request(warden, op, ++warden->last_tag, id, more, e) < 0)
		return -1;
	return wait_answer(warden, deadline_ms, answer, fd, e);
}

static int ask_warden(struct warden *warden, uint32_t op, const char *id, const struct more *more, int64_t deadline_ms,
                      struct warden_event *answer, struct err *e)
{
	auto_fd fd = -1; /* none comes */

	return ask_for_fd(warden, op, id, more, deadline_ms, answer, &fd, e);
}

int warden_put_secret(struct warden *warden, struct warden_secret *secret, int64_t deadline_ms, struct err *e)
{
	struct warden_event answer;
	auto_fd fd = -1; /* none comes */

	secret->op = WARDEN_PUT_SECRET;
	secret->tag = ++warden->last_tag;
	if (ipc_send(warden->fd, secret, sizeof(*secret), NULL, 0, e) < 0)
		return -1;
	return wait_answer(warden, deadline_ms, &answer, &fd, e);
}

int warden_drop_secret(struct warden *warden, const char *name, int64_t deadline_ms, struct err *e)
{
	struct warden_secret secret;
	struct warden_event answer;
	auto_fd fd = -1; /* none comes */

	memset(&secret, 0, sizeof(secret));
	secret.op = WARDEN_DROP_SECRET;
	secret.tag = ++warden->last_tag;
	(void)snprintf(secret.name, sizeof(secret.name), "%s", name);
	if (ipc_send(warden->fd, &secret, sizeof(secret), NULL, 0, e) < 0)
		return -1;
	return wait_answer(warden, deadline_ms, &answer, &fd, e);
}

int warden_start(struct warden *warden, const char *id, const struct warden_create *create, int64_t deadline_ms,
                 uint32_t *isolation, struct err *e)
{
	struct warden_event answer;

	if (ask_warden(warden, WARDEN_CREATE, id, &(struct more){.create = create}, deadline_ms, &answer, e) < 0)
		return -1;
	*isolation = answer.isolation;
	return 0;
}

int warden_set_ttl(struct warden *warden, const char *id, uint32_t ttl_s, int64_t deadline_ms, struct err *e)
{
	struct warden_create life;
	struct warden_event answer;

	memset(&life, 0, sizeof(life));
	life.ttl_s = ttl_s;
	return ask_warden(warden, WARDEN_SET_TTL, id, &(struct more){.create = &life}, deadline_ms, &answer, e);
}

int warden_drop_journal(struct warden *warden, const char *id, int64_t deadline_ms, struct err *e)
{
	struct warden_event answer;

	return ask_warden(warden, WARDEN_DROP_JOURNAL, id, NULL, deadline_ms, &answer, e);
}

int warden_add_viewer(struct warden *warden, const char *id, const struct warden_viewer *viewer, int64_t deadline_ms, int *fd, struct err *e)
{
	struct warden_event answer;
	auto_fd stream = -1;

	if (ask_for_fd(warden, WARDEN_ADD_VIEWER, id, &(struct more){.viewer = viewer}, deadline_ms, &answer, &stream, e) < 0)
		return -1;
	if (stream < 0)
		return err_set(e, ERR_INTERNAL, NULL, "the warden added a viewer without its stream");
	*fd = steal_fd(&stream);
	return 0;
}

int warden_ask_usage(struct warden *warden, int64_t deadline_ms, struct err *e)
{
	struct warden_event last;

	return ask_warden(warden, WARDEN_USAGE, "", NULL, deadline_ms, &last, e);
}

int warden_seal(struct warden *warden, const char *id, struct err *e)
{
	return send_request(warden, WARDEN_SEAL, 0, id, NULL, e);
}

int warden_end(struct warden *warden, const char *id, struct err *e)
{
	return send_request(warden, WARDEN_END, 0, id, NULL, e);
}
