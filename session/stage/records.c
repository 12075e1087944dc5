/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records by the hash of their key; those with results in the order in which they were finished. */
#include "session/stage/records.h"

#include <stdio.h>
#include <string.h>

#include "session/base/hash.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define BUCKETS 4096
#define TOKEN_SIZE 32   /* of a token's id */

/* Of a record that runs or was finished not long ago. */
struct results {
	struct record *record;
	struct results *next; /* finished later; or another one that runs */
	char *request_id, *token;
	struct co *co;        /* runs it; not valid after that */
	char *reply;          /* NULL while it runs */
	size_t bytes;
	int64_t done_ms;
	struct co_event changed;
};

/* There may be LIMIT_KEYS of them. */
struct record {
	struct record *next; /* in its bucket */
	struct results *results; /* NULL once they are gone */
	uint8_t key[HASH_BYTES], body[HASH_BYTES];
};

struct records {
	struct record *buckets[BUCKETS];
	size_t n_keys;
	struct results *running;
	struct results *oldest, **newest; /* finished */
	size_t n_results, bytes;
	char revoked[LIMIT_TOKENS][TOKEN_SIZE]; /* the last ones, a ring */
	size_t next_revoked;
};

/* No token has a space. */
static void hash_key(const struct records_key *key, uint8_t out[HASH_BYTES])
{
	auto_free char *text = util_printf("%ld %s %s", key->episode, key->token, key->key);

	hash_sha256(text, strlen(text), out);
}

static void hash_body(const struct records_key *key, uint8_t out[HASH_BYTES])
{
	uint8_t both[2][HASH_BYTES];

	hash_sha256(key->body, key->body_len, out);
	if (!key->dialect)
		return;
	memcpy(both[0], out, HASH_BYTES);
	hash_sha256(key->dialect, strlen(key->dialect), both[1]);
	hash_sha256(both, sizeof(both), out);
}

static struct record **bucket_of(struct records *records, const uint8_t key[HASH_BYTES])
{
	return &records->buckets[(key[0] | key[1] << 8) % BUCKETS];
}

static struct record *find(struct records *records, const uint8_t key[HASH_BYTES])
{
	struct record *record = *bucket_of(records, key);

	while (record && memcmp(record->key, key, HASH_BYTES) != 0)
		record = record->next;
	return record;
}

static void free_results(struct results *results)
{
	if (!results)
		return;
	if (results->record)
		results->record->results = NULL;
	free(results->request_id);
	free(results->token);
	free(results->reply);
	free(results);
}

/* Forgets results that are too old or too many; their keys stay. */
static void trim(struct records *records, int64_t now_ms)
{
	struct results *oldest;

	while ((oldest = records->oldest) && (records->n_results > LIMIT_RESULTS || records->bytes > LIMIT_RESULTS_BYTES ||
	                                      now_ms - oldest->done_ms >= LIMIT_RESULTS_MS)) {
		records->oldest = oldest->next;
		if (!records->oldest)
			records->newest = &records->oldest;
		records->n_results--;
		records->bytes -= oldest->bytes;
		free_results(oldest);
	}
}

struct records *records_create(void)
{
	struct records *records = util_zalloc(sizeof(*records));

	records->newest = &records->oldest;
	return records;
}

static void free_list(struct results *results)
{
	while (results) {
		struct results *next = results->next;

		free_results(results);
		results = next;
	}
}

void records_destroy(struct records *records)
{
	if (!records)
		return;
	free_list(records->running);
	free_list(records->oldest);
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct record *record = records->buckets[i], *next; record; record = next) {
			next = record->next;
			free(record);
		}
	free(records);
}

static struct record *add(struct records *records, const struct records_key *key, const uint8_t hashed[HASH_BYTES],
                          const uint8_t body[HASH_BYTES])
{
	struct record *record = util_zalloc(sizeof(*record)), **bucket = bucket_of(records, hashed);
	struct results *results = util_zalloc(sizeof(*results));

	*results = (struct results){.record = record, .next = records->running, .request_id = util_strdup(key->request_id),
	                             .token = util_strdup(key->token), .co = co_self()};
	records->running = results;
	record->results = results;
	memcpy(record->key, hashed, HASH_BYTES);
	memcpy(record->body, body, HASH_BYTES);
	record->next = *bucket;
	*bucket = record;
	records->n_keys++;
	return record;
}

static bool is_revoked(const struct records *records, const char *token)
{
	for (size_t i = 0; i < LIMIT_TOKENS; i++)
		if (strcmp(records->revoked[i], token) == 0)
			return true;
	return false;
}

void records_revoke(struct records *records, const char *token)
{
	/* One that was sent before it was revoked may still be on its way here, on another connection. */
	(void)snprintf(records->revoked[records->next_revoked++ % LIMIT_TOKENS], TOKEN_SIZE, "%s", token);
	for (const struct results *results = records->running; results; results = results->next)
		if (strcmp(results->token, token) == 0)
			co_cancel(results->co);
}

int records_take(struct records *records, const struct records_key *key, int64_t now_ms, struct record **out, bool *is_new,
                 struct err *e)
{
	uint8_t hashed[HASH_BYTES], body[HASH_BYTES];
	struct record *record;

	if (is_revoked(records, key->token))
		return err_set(e, ERR_UNAUTHORIZED, NULL, "this token was revoked");
	trim(records, now_ms);
	hash_key(key, hashed);
	hash_body(key, body);
	record = find(records, hashed);
	if (record && memcmp(record->body, body, HASH_BYTES) != 0)
		return err_set(e, ERR_KEY_REUSED, NULL, "this Idempotency-Key came with another body before; a new call needs a new key");
	if (record && !record->results)
		return err_set(e, ERR_ALREADY_DONE, NULL, "this call was made before, and its results are not kept any more");
	if (!record && records->n_keys >= LIMIT_KEYS)
		return err_set(e, ERR_LIMIT, NULL, "this session has seen %d Idempotency-Keys and takes no new one", LIMIT_KEYS);
	*is_new = !record;
	*out = record ? record : add(records, key, hashed, body);
	return 0;
}

const char *record_reply(const struct record *record)
{
	return record->results->reply;
}

int record_wait(struct record *record, int64_t deadline_ms, struct err *e)
{
	return co_wait_event(&record->results->changed, deadline_ms, e);
}

static struct results *stop_running(struct records *records, struct record *record)
{
	struct results *results = record->results, **place = &records->running;

	while (*place != results)
		place = &(*place)->next;
	*place = results->next;
	results->next = NULL;
	co_signal(&results->changed);
	return results;
}

void records_finish(struct records *records, struct record *record, char *reply, int64_t now_ms)
{
	struct results *results = stop_running(records, record);

	results->reply = reply;
	results->bytes = strlen(reply);
	results->done_ms = now_ms;
	*records->newest = results;
	records->newest = &results->next;
	records->n_results++;
	records->bytes += results->bytes;
	trim(records, now_ms);
}

void records_release(struct records *records, struct record *record)
{
	struct record **place = bucket_of(records, record->key);

	free_results(stop_running(records, record));
	while (*place != record)
		place = &(*place)->next;
	*place = record->next;
	records->n_keys--;
	free(record);
}

json_t *records_running(const struct records *records)
{
	json_t *list = json_array();

	for (const struct results *results = records->running; results; results = results->next)
		(void)json_array_append_new(list, json_string(results->request_id));
	return list;
}
