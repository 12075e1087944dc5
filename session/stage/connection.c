/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who connects, and the frames that become calls. */
#include "session/stage/connection_inner.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/link.h"

#define SEND_BUFFER_BYTES (1024 * 1024) /* of one connection, in the kernel */

struct connections {
	struct loop *loop;
	int listen_fd;
	struct loop_source *source; /* NULL while there are as many connections as are allowed */
	struct connection *list;
	size_t n;
	size_t body_bytes; /* of all calls */
	struct connections_ops ops;
};

static void on_acceptable(void *arg, uint32_t events);

void connection_close(struct connection *connection)
{
	struct connections *all = connection->all;
	struct call *call = connection->call;

	for (struct connection **c = &all->list; *c; c = &(*c)->next)
		if (*c == connection) {
			*c = connection->next;
			break;
		}
	all->n--;
	if (!all->source)
		all->source = loop_add(all->loop, all->listen_fd, EPOLLIN, on_acceptable, all);
	if (call && connection->receiving && !call->comes) {
		call_free(call);
	} else if (call) {
		call->connection = NULL;
		if (call->co && !call->runs_on)
			co_cancel(call->co);
		co_signal(&call->body_changed);
	}
	ipc_stream_destroy(connection->stream);
	free(connection);
}

static void on_closed(void *arg, const char *why)
{
	if (why)
		log_warn("the front broke the form of the link: %s", why);
	connection_close(arg);
}

/* In the order of the bits of enum role. */
static const char *const role_names[] = {"agent", "viewer", "controller", "operator", "owner", "server"};

static const struct field call_fields[] = {
	{"call", FIELD_STRING, true, 1, 32, NULL, NULL, NULL, NULL, "name of the call"},
	{"role", FIELD_ENUM, true, 0, 0, "agent viewer controller operator owner server", NULL, NULL, NULL, "who calls"},
	{"token", FIELD_STRING, false, 0, 128, NULL, NULL, NULL, "\"\"", "id of the caller's token"},
	{"request_id", FIELD_STRING, false, 0, 128, NULL, NULL, NULL, "\"\"", "id of the request"},
	{"key", FIELD_STRING, false, 1, LIMIT_KEY_CHARS, NULL, NULL, NULL, NULL, "the caller's Idempotency-Key"},
	{"query", FIELD_MAP, false, 0, LIMIT_QUERY_PARAMETERS, NULL, NULL, NULL, "{}", "the request's query"},
	{"progress", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "the front wants to know how far it is"},
};
static const struct form call_form = {call_fields, ARRAY_LEN(call_fields), NULL};

static enum role read_role(const char *name)
{
	unsigned int i = 0;

	while (strcmp(role_names[i], name) != 0)
		i++;
	return (enum role)(1U << i);
}

/* The envelope of a call; NULL when it breaks the form. */
static struct call *read_call(const void *text, size_t len)
{
	struct call *call = util_zalloc(sizeof(*call));
	struct err e;

	if (json_parse(text, len, &call->envelope, &e) < 0 || form_check(&call_form, call->envelope, "", NULL, &e) < 0) {
		log_err(LOG_WARN, &e, "the front's call");
		call_free(call);
		return NULL;
	}
	call->started_ms = util_now_ms();
	call->name = form_string(call->envelope, "call", NULL);
	call->token = form_string(call->envelope, "token", "");
	call->request_id = form_string(call->envelope, "request_id", "");
	call->key = form_string(call->envelope, "key", NULL);
	call->runs_on = call->key;
	call->role_name = form_string(call->envelope, "role", NULL);
	call->role = read_role(call->role_name);
	call->query = json_object_get(call->envelope, "query");
	call->tells = form_bool(call->envelope, "progress", false);
	return call;
}

/* Drops the body when all of them together are too much. */
static int take_data(struct call *call, const void *data, size_t len)
{
	if (call->body_len + len > LIMIT_ACT_BODY_BYTES)
		return -1;
	call->too_much |= *call->in_all + len > LIMIT_ACT_BODIES_BYTES;
	if (call->too_much)
		return 0;
	call->body = util_realloc(call->body, call->body_len + len + 1);
	memcpy(call->body + call->body_len, data, len);
	call->body_len += len;
	*call->in_all += len;
	return 0;
}

/* Of a call that is being answered; a late one of another is none of its business. */
static int take_taken(struct call *call, const void *data, size_t len)
{
	uint64_t n;

	if (len != sizeof(n))
		return -1;
	memcpy(&n, data, sizeof(n));
	if (call && n <= call->streamed) {
		call->taken = n;
		co_signal(&call->drained);
	}
	return 0;
}

/* The next bytes of a body that is taken as it comes; of a call that is over they are dropped. */
static void take_coming(struct connection *connection, const void *data, size_t len)
{
	struct call *call = connection->call;

	if (!call)
		return;
	if (call->n_coming == 0)
		call->coming_at = 0;
	if (call->coming_at + call->n_coming + len > call->coming_size) {
		memmove(call->coming, call->coming + call->coming_at, call->n_coming);
		call->coming_at = 0;
	}
	if (call->n_coming + len > call->coming_size) {
		call->coming_size = call->n_coming + len;
		call->coming = util_realloc(call->coming, call->coming_size);
	}
	if (len > 0)
		memcpy(call->coming + call->coming_at + call->n_coming, data, len);
	call->n_coming += len;
	call->came = !connection->receiving;
	if (call->n_coming >= LIMIT_COMING_BYTES)
		ipc_stream_pause(connection->stream, true);
	co_signal(&call->body_changed);
}

static void refuse_body(struct call *call)
{
	struct err e;

	(void)err_set(&e, ERR_BUSY, NULL, "the calls of this session that run or wait have %d MiB of bodies already", LIMIT_ACT_BODIES_BYTES / (1024 * 1024));
	call_refuse(call, &e);
	call_finish(call);
}

static bool body_comes(const struct connection *connection)
{
	const struct connections_ops *ops = &connection->all->ops;

	return ops->comes && ops->comes(ops->arg, connection->call);
}

/* A refusal of a frame closes the connection: the front knows the form. */
static int on_frame(void *arg, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct connection *connection = arg;

	if (kind == LINK_TAKEN && !connection->receiving)
		return take_taken(connection->call, data, len);
	if (kind == LINK_DATA && connection->receiving && connection->coming) {
		connection->receiving = flags & LINK_MORE;
		take_coming(connection, data, len);
		return 0;
	}
	if (kind == LINK_CALL && !connection->call && !connection->receiving) {
		connection->call = read_call(data, len);
		if (!connection->call)
			return -1;
		connection->call->connection = connection;
		connection->call->in_all = &connection->all->body_bytes;
		connection->call->ops = &connection->all->ops;
		connection->coming = connection->call->comes = body_comes(connection);
	} else if (kind != LINK_DATA || !connection->receiving || take_data(connection->call, data, len) < 0) {
		return -1;
	}
	connection->receiving = flags & LINK_MORE;
	connection->call->came = !connection->receiving;
	if (connection->receiving && !connection->coming)
		return 0;
	if (connection->call->too_much)
		refuse_body(connection->call);
	else
		connection->all->ops.call(connection->all->ops.arg, connection->call);
	return 0;
}

static void on_drained(void *arg)
{
	const struct connection *connection = arg;

	if (connection->call)
		co_signal(&connection->call->drained);
}

static const struct ipc_stream_ops stream_ops = {.frame = on_frame, .closed = on_closed, .drained = on_drained};

void connection_send(struct connection *connection, uint16_t kind, uint16_t flags, const json_t *envelope)
{
	size_t len;
	auto_free char *text = json_text(envelope, &len);

	ipc_stream_send(connection->stream, kind, flags, text, len);
}

static void on_acceptable(void *arg, uint32_t events)
{
	struct connections *all = arg;
	int fd = accept4(all->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection;

	(void)events;
	if (fd < 0)
		return;
	/* As far as the kernel grants it: a picture goes out in one piece. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){SEND_BUFFER_BYTES}, sizeof(int));
	connection = util_zalloc(sizeof(*connection));
	*connection = (struct connection){.all = all, .next = all->list};
	connection->stream = ipc_stream_create(all->loop, fd, &stream_ops, connection);
	all->list = connection;
	if (++all->n >= LIMIT_STAGE_CONNECTIONS) {
		loop_remove(all->source);
		all->source = NULL;
	}
	json_auto_t *hello = all->ops.hello(all->ops.arg);

	connection_send(connection, LINK_HELLO, 0, hello);
}

struct connections *connections_create(struct loop *loop, int listen_fd, const struct connections_ops *ops)
{
	struct connections *all = util_zalloc(sizeof(*all));

	*all = (struct connections){.loop = loop, .listen_fd = listen_fd, .ops = *ops};
	all->source = loop_add(loop, listen_fd, EPOLLIN, on_acceptable, all);
	return all;
}

void connections_destroy(struct connections *all)
{
	if (!all)
		return;
	while (all->list)
		connection_close(all->list);
	loop_remove(all->source);
	util_close_fd(&all->listen_fd);
	free(all);
}

size_t connections_queued(const struct connections *all)
{
	size_t bytes = 0;

	for (const struct connection *c = all->list; c; c = c->next)
		bytes += ipc_stream_queued(c->stream);
	return bytes;
}
