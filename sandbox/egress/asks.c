/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A question lives as long as somebody waits for it. */
#include "sandbox/egress/asks.h"

#include <string.h>
#include <sys/param.h>

#include "sandbox/egress/link.h"
#include "session/base/co.h"
#include "session/base/egress/egress_host.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define AT_ONCE_MS 2000 /* rules answer by themselves, a person later */

struct place {
	char host[EGRESS_HOST_SIZE];
	uint16_t port;
};

struct question {
	struct question *next;
	struct place place;
	uint64_t id;
	size_t n_waiters;
	int64_t until_ms;
	bool answered, allows;
	struct co_event changed;
};

struct asks {
	const struct asks_ops *ops;
	void *arg;
	uint64_t last_id;
	struct question *first;
	size_t n;
	struct grant {
		struct place place;
		bool allows;
	} *grants; /* the newest is the last */
	size_t n_grants;
};

struct asks *asks_create(const struct asks_ops *ops, void *arg)
{
	struct asks *asks = util_zalloc(sizeof(*asks));

	*asks = (struct asks){.ops = ops, .arg = arg};
	asks->grants = util_zalloc(LIMIT_EGRESS_GRANTS * sizeof(*asks->grants));
	return asks;
}

static struct place place_of(const char *host, uint16_t port)
{
	struct place place;

	memset(&place, 0, sizeof(place));
	memcpy(place.host, host, strnlen(host, sizeof(place.host) - 1));
	place.port = port;
	return place;
}

static bool is_same(const struct place *a, const struct place *b)
{
	return a->port == b->port && strcmp(a->host, b->host) == 0;
}

static const struct grant *find_grant(const struct asks *asks, const struct place *place)
{
	for (size_t i = 0; i < asks->n_grants; i++)
		if (is_same(&asks->grants[i].place, place))
			return &asks->grants[i];
	return NULL;
}

static struct question *find(struct asks *asks, const struct place *place)
{
	struct question *question = asks->first;

	while (question && (question->answered || !is_same(&question->place, place)))
		question = question->next;
	return question;
}

static struct question *open_question(struct asks *asks, const struct place *place, const char *method)
{
	struct question *question = util_zalloc(sizeof(*question));

	*question = (struct question){.next = asks->first, .place = *place, .id = ++asks->last_id, .until_ms = util_now_ms() + EGRESS_ASK_MS};
	asks->first = question;
	asks->n++;
	asks->ops->send(asks->arg, question->id, place->host, place->port, method);
	return question;
}

static void leave(struct asks *asks, struct question *question)
{
	struct question **at = &asks->first;

	if (--question->n_waiters > 0)
		return;
	if (!question->answered)
		asks->ops->leave(asks->arg, question->id);
	while (*at != question)
		at = &(*at)->next;
	*at = question->next;
	asks->n--;
	free(question);
}

/* A program that half-closes has not given up where its answer comes at once. */
static int wait_for_answer(struct question *question, struct wire *client, struct err *e)
{
	int64_t at_once_ms = MIN(util_now_ms() + AT_ONCE_MS, question->until_ms);
	int rc = 0;

	while (rc == 0 && !question->answered)
		rc = co_wait_event(&question->changed, at_once_ms, e);
	if (rc == 0 || e->code != ERR_TIMEOUT)
		return rc;
	wire_watch_end(client, &question->changed);
	for (rc = 0; rc == 0 && !question->answered;) {
		rc = co_wait_event(&question->changed, question->until_ms, e);
		if (rc == 0 && !question->answered && wire_has_ended(client))
			rc = err_set(e, ERR_GONE, NULL, "the program has given up");
	}
	wire_watch_end(client, NULL);
	return rc;
}

int asks_ask(struct asks *asks, const struct asks_want *want, bool *allows, struct err *e)
{
	struct place place = place_of(want->host, want->port);
	const struct grant *grant = find_grant(asks, &place);
	struct question *question = find(asks, &place);
	int rc;

	if (grant) {
		*allows = grant->allows;
		return 0;
	}
	if (!question && asks->n == LIMIT_EGRESS_ASKS)
		return err_set(e, ERR_LIMIT, NULL, "a person is asked about too many hosts already");
	if (!question)
		question = open_question(asks, &place, want->method);
	question->n_waiters++;
	rc = wait_for_answer(question, want->client, e);
	if (rc == 0)
		*allows = question->allows;
	leave(asks, question);
	return rc;
}

static void keep(struct asks *asks, const struct place *place, bool allows)
{
	if (asks->n_grants == LIMIT_EGRESS_GRANTS) {
		asks->n_grants--;
		memmove(&asks->grants[0], &asks->grants[1], asks->n_grants * sizeof(asks->grants[0]));
	}
	asks->grants[asks->n_grants++] = (struct grant){.place = *place, .allows = allows};
}

void asks_answer(struct asks *asks, uint64_t id, bool allows, bool session)
{
	struct question *question = asks->first;

	while (question && question->id != id)
		question = question->next;
	if (!question || question->answered)
		return;
	question->answered = true;
	question->allows = allows;
	if (session)
		keep(asks, &question->place, allows);
	co_signal(&question->changed);
}

void asks_forget(struct asks *asks)
{
	asks->n_grants = 0;
}
