/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames with JSON. */
#include "sandbox/egress/talk.h"

#include <string.h>

#include "sandbox/egress/link.h"
#include "session/base/co.h"
#include "session/base/ipc.h"
#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define MAX_TEXT_BYTES 300 /* as link.h has it */
#define MAX_ID 9007199254740991.0

static const struct field verdict_fields[] = {
	{"id", FIELD_INT, true, 1, MAX_ID, NULL, NULL, NULL, NULL, "of the question"},
	{"allow", FIELD_BOOL, true, 0, 0, NULL, NULL, NULL, NULL, "the answer"},
	{"session", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "it holds for the rest of the session"},
};
static const struct form verdict_form = {verdict_fields, ARRAY_LEN(verdict_fields), NULL};

struct talk {
	struct ipc_stream *stream;
	const struct talk_ops *ops;
	void *arg;
	char *policy;          /* what came of one so far */
	size_t policy_len;
	struct co_event room;
};

static int take_policy(struct talk *talk, bool more, const void *data, size_t len, struct err *e)
{
	json_auto_t *json = NULL;

	if (talk->policy_len + len > LIMIT_EGRESS_POLICY_BYTES)
		return err_set(e, ERR_TOO_LARGE, NULL, "the policy is too long");
	talk->policy = util_realloc(talk->policy, talk->policy_len + len + 1);
	memcpy(talk->policy + talk->policy_len, data, len);
	talk->policy_len += len;
	if (more)
		return 0;
	if (json_parse(talk->policy, talk->policy_len, &json, e) < 0)
		return -1;
	free(steal_ptr(&talk->policy));
	talk->policy_len = 0;
	return talk->ops->policy(talk->arg, json, e);
}

static int take_verdict(struct talk *talk, const void *data, size_t len, struct err *e)
{
	json_auto_t *json = NULL;

	if (json_parse(data, len, &json, e) < 0 || form_check(&verdict_form, json, "", NULL, e) < 0)
		return -1;
	talk->ops->verdict(talk->arg, (uint64_t)form_int(json, "id", 0), form_bool(json, "allow", false), form_bool(json, "session", false));
	return 0;
}

static int on_frame(void *arg, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct talk *talk = arg;
	struct err e = {0};
	int rc = -1;

	/* A policy that goes on does so at once. */
	if (kind == EGRESS_POLICY && (flags & ~EGRESS_MORE) == 0)
		rc = take_policy(talk, flags & EGRESS_MORE, data, len, &e);
	else if (kind == EGRESS_VERDICT && flags == 0 && !talk->policy)
		rc = take_verdict(talk, data, len, &e);
	else
		(void)err_set(&e, ERR_INTERNAL, NULL, "a frame of kind %u with flags %u", kind, flags);
	if (rc < 0)
		log_err(LOG_ERROR, &e, "the stage breaks the form");
	return rc;
}

static void on_closed(void *arg, const char *why)
{
	struct talk *talk = arg;

	(void)why;
	co_signal(&talk->room);
	talk->ops->closed(talk->arg);
}

static void on_drained(void *arg)
{
	struct talk *talk = arg;

	co_signal(&talk->room);
}

static const struct ipc_stream_ops STREAM_OPS = {.frame = on_frame, .closed = on_closed, .drained = on_drained};

struct talk *talk_create(struct loop *loop, int fd, const struct talk_ops *ops, void *arg)
{
	struct talk *talk = util_zalloc(sizeof(*talk));

	*talk = (struct talk){.ops = ops, .arg = arg};
	talk->stream = ipc_stream_create(loop, fd, &STREAM_OPS, talk);
	return talk;
}

void talk_destroy(struct talk *talk)
{
	if (!talk)
		return;
	ipc_stream_destroy(talk->stream);
	free(talk->policy);
	free(talk);
}

int talk_wait(struct talk *talk, int64_t deadline_ms, struct err *e)
{
	while (ipc_stream_queued(talk->stream) > LIMIT_EGRESS_QUEUED_BYTES)
		if (co_wait_event(&talk->room, deadline_ms, e) < 0)
			return -1;
	return 0;
}

/* Takes the reference. */
static void say(struct talk *talk, enum egress_link_kind kind, json_t *json)
{
	size_t len;
	auto_free char *text = json_text(json, &len);

	ipc_stream_send(talk->stream, (uint16_t)kind, 0, text, len);
	json_decref(json);
}

/* What is longer is cut at a character. */
static void add_text(json_t *json, const char *name, const char *text)
{
	size_t len = text ? strnlen(text, MAX_TEXT_BYTES) : 0;

	if (len > 0)
		(void)json_object_set_new(json, name, json_stringn(text, util_utf8_prefix(text, len)));
}

void talk_decision(struct talk *talk, const struct talk_decision *decision)
{
	json_t *json = json_pack("{s:s,s:s,s:i}", "verdict", decision->verdict, "host", decision->host->text, "port", (int)decision->port);

	add_text(json, "method", decision->method);
	add_text(json, "rule", decision->rule);
	add_text(json, "address", decision->address);
	add_text(json, "reason", decision->reason);
	add_text(json, "secret", decision->secret);
	say(talk, EGRESS_DECISION, json);
}

void talk_closed(struct talk *talk, const struct egress_host *host, uint16_t port, uint64_t up, uint64_t down, int64_t ms)
{
	say(talk, EGRESS_CLOSED,
	    json_pack("{s:s,s:i,s:I,s:I,s:I}", "host", host->text, "port", (int)port, "up", (json_int_t)up, "down", (json_int_t)down, "ms", (json_int_t)ms));
}

void talk_ask(struct talk *talk, uint64_t id, const char *host, uint16_t port, const char *method)
{
	say(talk, EGRESS_ASK, json_pack("{s:I,s:s,s:i,s:s}", "id", (json_int_t)id, "host", host, "port", (int)port, "method", method));
}

void talk_left(struct talk *talk, uint64_t id)
{
	say(talk, EGRESS_LEFT, json_pack("{s:I}", "id", (json_int_t)id));
}

void talk_ready(struct talk *talk, bool ca)
{
	say(talk, EGRESS_READY, json_pack("{s:b,s:b}", "ready", 1, "ca", ca));
}

void talk_usage(struct talk *talk, const struct talk_usage *usage)
{
	say(talk, EGRESS_USAGE,
	    json_pack("{s:I,s:I,s:I,s:I,s:I}", "connections", (json_int_t)usage->connections, "up", (json_int_t)usage->up, "down", (json_int_t)usage->down,
	              "allowed", (json_int_t)usage->allowed, "denied", (json_int_t)usage->denied));
}
