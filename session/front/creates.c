/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The creates that run, in memory; those that are done, in the store. */
#include "session/front/creates.h"

#include <string.h>

#include "session/base/hash.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

struct create_job {
	struct front *front;
	struct create_job *next; /* among those that run */
	int refs;                /* its waiters, and itself while it runs */
	char *owner, *key, *request_id;
	uint8_t body[STORE_HASH_BYTES];
	int64_t created_ms;
	json_t *spec;
	size_t n;
	struct birth *births;
	bool has_ended;
	struct err failure;
	struct co_event ended;
};

static void hash_body(const struct create_call *call, uint8_t out[STORE_HASH_BYTES])
{
	hash_sha256(call->body, call->body_len, out);
}

void births_free(struct birth *births, size_t n)
{
	for (size_t i = 0; births && i < n; i++) {
		session_unref(births[i].session);
		json_decref(births[i].state);
	}
	free(births);
}

static void job_unref(struct create_job *job)
{
	if (--job->refs > 0)
		return;
	births_free(job->births, job->n);
	json_decref(job->spec);
	free(job->owner);
	free(job->key);
	free(job->request_id);
	free(job);
}

static struct create_job *find_job(const struct front *front, const struct create_call *call)
{
	struct create_job *job = front->creates;

	while (job && (strcmp(job->owner, call->owner) != 0 || strcmp(job->key, call->key) != 0))
		job = job->next;
	return job;
}

static int check_same(const uint8_t before[STORE_HASH_BYTES], const struct create_call *call, struct err *e)
{
	uint8_t body[STORE_HASH_BYTES];

	hash_body(call, body);
	if (memcmp(before, body, sizeof(body)) == 0)
		return 0;
	return err_set(e, ERR_KEY_REUSED, NULL, "this Idempotency-Key came with another body before; a new create needs a new key");
}

int creates_find(struct front *front, const struct create_call *call, enum create_found *found, struct create_job **job, char **ids,
                 struct err *e)
{
	struct create_job *running = find_job(front, call);
	uint8_t body[STORE_HASH_BYTES];
	auto_free char *sessions = NULL;

	if (running) {
		if (check_same(running->body, call, e) < 0)
			return -1;
		running->refs++;
		*job = running;
		*found = CREATE_RUNS;
		return 0;
	}
	if (store_find_create(front->store, call->owner, call->key, body, &sessions, e) < 0 ||
	    (sessions && check_same(body, call, e) < 0))
		return -1;
	*found = sessions ? CREATE_MADE : CREATE_NEW;
	*ids = steal_ptr(&sessions);
	return 0;
}

/* Its row, with the sessions that it made; "" while it runs. */
static int put_row(const struct create_job *job, const char *ids, struct err *e)
{
	struct store_create row = {.owner = job->owner, .key = job->key, .request_id = job->request_id, .sessions = ids,
	                           .created_ms = job->created_ms};

	memcpy(row.body, job->body, sizeof(row.body));
	return store_put_create(job->front->store, &row, e);
}

static int keep(const struct create_job *job, struct err *e)
{
	auto_free char *ids = util_alloc(job->n * SESSION_ID_SIZE);

	for (size_t i = 0; i < job->n; i++) {
		memcpy(ids + i * SESSION_ID_SIZE, job->births[i].session->id, SESSION_ID_LEN);
		ids[i * SESSION_ID_SIZE + SESSION_ID_LEN] = i + 1 < job->n ? ' ' : '\0';
	}
	return put_row(job, ids, e);
}

static void run_job(void *arg)
{
	struct create_job *job = arg, **place = &job->front->creates;
	struct err ignored;

	if (birth_create_all(job->front, job->spec, job->owner, job->request_id, job->n, job->births, &job->failure) == 0) {
		job->failure.code = ERR_NONE;
		if (keep(job, &job->failure) < 0)
			birth_undo_all(job->births, job->n);
	}
	if (job->failure.code != ERR_NONE && store_drop_create(job->front->store, job->owner, job->key, &ignored) < 0)
		log_err(LOG_ERROR, &ignored, "forgetting a key");
	while (*place != job)
		place = &(*place)->next;
	*place = job->next;
	job->has_ended = true;
	co_signal(&job->ended);
	job_unref(job);
}

static int check_room(struct front *front, int64_t now_ms, struct err *e)
{
	int64_t n = 0;

	if (store_count_creates(front->store, now_ms - LIMIT_CREATE_KEY_MS, &n, e) < 0)
		return -1;
	if (n < LIMIT_CREATE_KEYS)
		return 0;
	return err_set(e, ERR_LIMIT, NULL, "the server keeps %d Idempotency-Keys of creates and takes no new one now", LIMIT_CREATE_KEYS);
}

int creates_begin(struct front *front, const struct create_call *call, json_t *spec, size_t n, struct create_job **out, struct err *e)
{
	struct create_job *job;
	int64_t now_ms = store_now_ms();

	if (check_room(front, now_ms, e) < 0)
		return -1;
	job = util_zalloc(sizeof(*job));
	*job = (struct create_job){.front = front, .refs = 1, .owner = util_strdup(call->owner), .key = util_strdup(call->key),
	                           .request_id = util_strdup(call->request_id), .created_ms = now_ms, .spec = json_incref(spec), .n = n,
	                           .births = util_zalloc(n * sizeof(*job->births))};
	hash_body(call, job->body);
	if (put_row(job, "", e) < 0) {
		job_unref(job);
		return -1;
	}
	job->next = front->creates;
	front->creates = job;
	job->refs++;
	(void)co_start(front->loop, run_job, job);
	*out = job;
	return 0;
}

int creates_wait(struct create_job *job, struct birth **births, size_t *n, struct err *e)
{
	int rc = 0;

	while (rc == 0 && !job->has_ended)
		rc = co_wait_event(&job->ended, CO_FOREVER, e);
	if (rc == 0 && job->failure.code != ERR_NONE) {
		*e = job->failure;
		rc = -1;
	}
	if (rc == 0) {
		*n = job->n;
		*births = util_zalloc(job->n * sizeof(**births));
		for (size_t i = 0; i < job->n; i++)
			(*births)[i] = (struct birth){.session = session_ref(job->births[i].session), .state = json_incref(job->births[i].state)};
	}
	job_unref(job);
	return rc;
}
