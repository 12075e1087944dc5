/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ring of events, along which readers go, each at its own pace. */
#include "session/stage/events.h"

#include <string.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/journal/journal.h"

struct events {
	struct readers *readers;
	char *ring[LIMIT_EVENTS]; /* as they are sent; that of number n at n % LIMIT_EVENTS; NULL: it is none */
	bool is_private[LIMIT_EVENTS]; /* it was made in a hold: no agent gets it */
	json_int_t last;          /* its number; 0: there is none yet */
};

struct events *events_create(struct readers *readers)
{
	struct events *events = util_zalloc(sizeof(*events));

	events->readers = readers;
	return events;
}

void events_destroy(struct events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < LIMIT_EVENTS; i++)
		free(events->ring[i]);
	free(events);
}

/* A line is as long as its action; of a very long one the name and the length are told. */
static char *text_of(json_t *line)
{
	size_t len;
	char *text = json_text(line, &len);
	const json_t *action = json_object_get(line, "action");

	if (len <= LIMIT_EVENT_BYTES)
		return text;
	free(text);
	json_object_set_new(line, "action", json_pack("{s:O*,s:I}", "action", json_object_get(action, "action"), "bytes",
	                                              (json_int_t)json_text_len(action)));
	return json_text(line, NULL);
}

void events_add(void *arg, const json_t *written)
{
	struct events *events = arg;
	json_auto_t *line = json_copy((json_t *)(uintptr_t)written);
	const json_t *action = json_object_get(line, "action");
	char **place;
	auto_free char *data = NULL;

	events->last = json_integer_value(json_object_get(line, "seq"));
	place = &events->ring[events->last % LIMIT_EVENTS];
	free(*place);
	*place = NULL;
	events->is_private[events->last % LIMIT_EVENTS] = json_is_true(json_object_get(line, "private"));
	if (strcmp(json_string_value(json_object_get(line, "event")), "picture") == 0)
		return; /* it is for who reads the pictures */
	json_object_del(line, "spec");
	if (json_is_object(action))
		json_object_set_new(line, "action", journal_action(action, JOURNAL_TEXT_HIDDEN));
	data = text_of(line);
	*place = util_printf("id: %lld\nevent: %s\ndata: %s\n\n", (long long)events->last, json_string_value(json_object_get(line, "event")),
	                     data);
	co_signal(&events->readers->news);
}

static json_int_t oldest(const struct events *events)
{
	return events->last <= LIMIT_EVENTS ? 1 : events->last - LIMIT_EVENTS + 1;
}

/* The number of the first event to send. */
static int read_start(const struct events *events, const struct call *call, json_int_t *next, struct err *e)
{
	const char *text = json_string_value(json_object_get(call->query, "last_event_id"));
	size_t len = text ? strlen(text) : 0;
	json_int_t id = 0;
	char shown[40];

	if (!text) {
		*next = events->last + 1;
		return 0;
	}
	for (size_t i = 0; i < len && len <= 18; i++)
		id = text[i] >= '0' && text[i] <= '9' && id >= 0 ? id * 10 + (text[i] - '0') : -1;
	if (len == 0 || len > 18 || id < 0 || id > events->last)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the Last-Event-ID %s is refused: no event has it; the last one is %lld, and 0 is before the first",
		               err_quote(shown, sizeof(shown), text, len), (long long)events->last);
	*next = id + 1;
	return 0;
}

/* In place of those before `end`: they are not kept any more, or not for this reader. */
static int send_gap(struct reader *reader, json_int_t *next, json_int_t end, const char *reason, struct err *e)
{
	long long first = *next, last = end - 1;
	auto_free char *text = util_printf("id: %lld\nevent: gap\ndata: {\"event\":\"gap\",\"first\":%lld,\"last\":%lld,\"reason\":\"%s\"}\n\n",
	                                   last, first, last, reason);

	*next = end;
	return reader_send(reader, text, strlen(text), e);
}

/* The first one from `next` on that an agent gets. */
static json_int_t after_private(const struct events *events, json_int_t next)
{
	while (next <= events->last && events->is_private[next % LIMIT_EVENTS])
		next++;
	return next;
}

static int send_next(struct events *events, struct reader *reader, json_int_t *next, struct err *e)
{
	const char *text;

	if (*next < oldest(events))
		return send_gap(reader, next, oldest(events), "late", e);
	/* The ring goes on while this one waits. */
	if (reader_wait_room(reader, e) < 0)
		return -1;
	if (*next < oldest(events))
		return 0;
	if (reader->call->role == ROLE_AGENT && after_private(events, *next) > *next)
		return send_gap(reader, next, after_private(events, *next), "private", e);
	text = events->ring[*next % LIMIT_EVENTS];
	++*next;
	return !text ? 0 : reader_send(reader, text, strlen(text), e); /* there is room: it does not wait */
}

static int send_all(struct events *events, struct reader *reader, json_int_t next, struct err *e)
{
	/* The number so far is told at once: whoever loses the connection before the first event can come back with it. */
	auto_free char *hello = util_printf("retry: 1000\nid: %lld\n\n", (long long)next - 1);
	int rc = reader_send(reader, hello, strlen(hello), e);

	while (rc == 0 && (next <= events->last || !events->readers->finished))
		rc = next <= events->last ? send_next(events, reader, &next, e) : reader_wait_news(reader, CO_FOREVER, e);
	return rc;
}

void events_call(struct events *events, struct call *call)
{
	struct reader reader;
	json_int_t next = 0;
	struct err e;

	if (read_start(events, call, &next, &e) < 0 || reader_begin(events->readers, call, &reader, &e) < 0) {
		call_refuse(call, &e);
		return;
	}
	reader_end(&reader, send_all(events, &reader, next, &e) == 0);
}
