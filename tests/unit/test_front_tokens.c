/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* Tokens, the one-use code, and what of them outlives the front. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <gnutls/crypto.h>
#include <sqlite3.h>

#include "session/base/limits.h"
#include "session/base/secret.h"
#include "session/base/util.h"
#include "session/front/tokens.h"

#define SESSION "sabcdefghijklmno"
#define CODE "ABCD2345"

struct place {
	char folder[64], path[80];
	struct store *store;
	struct tokens *tokens;
};

static const char operator_token[] = "gbo_operator";

static void hash(const char *text, uint8_t out[STORE_HASH_BYTES])
{
	assert_int_equal(gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), out), 0);
}

/* The front starts: for the first time, or again on what is there. */
static void start(struct place *place)
{
	uint8_t operator_hash[STORE_HASH_BYTES], code_hash[STORE_HASH_BYTES];
	struct err e;

	hash(operator_token, operator_hash);
	hash(CODE, code_hash);
	place->store = store_open(place->path, &e);
	if (!place->store)
		fail_msg("%s", e.msg);
	place->tokens = tokens_create(place->store, operator_hash, &e);
	assert_non_null(place->tokens);
	assert_int_equal(tokens_note_code(place->tokens, code_hash, &e), 0);
}

static void stop(struct place *place)
{
	tokens_destroy(place->tokens);
	store_close(place->store);
}

static int setup(void **state)
{
	struct place *place = util_zalloc(sizeof(*place));

	(void)snprintf(place->folder, sizeof(place->folder), "/tmp/front_tokens.XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	(void)snprintf(place->path, sizeof(place->path), "%s/front.db", place->folder);
	start(place);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	auto_free char *journal = util_printf("%s-journal", place->path);

	stop(place);
	(void)unlink(place->path);
	(void)unlink(journal);
	(void)rmdir(place->folder);
	free(place);
	return 0;
}

static char *make(struct place *place, enum role role, const char *session, int64_t expires_ms)
{
	struct token_info info = {.role = role, .session = session, .expires_ms = expires_ms};
	char *token;
	struct err e;

	assert_int_equal(tokens_make(place->tokens, &info, &token, &e), 0);
	return token;
}

static void test_a_token_is_found_as_what_it_is(void **state)
{
	struct place *place = *state;
	struct identity who;
	char *token = make(place, ROLE_VIEWER, SESSION, 0);

	assert_int_equal(strlen(token), 4 + 43); /* 32 bytes in base64url */
	assert_memory_equal(token, "gbv_", 4);
	assert_true(tokens_find(place->tokens, token, &who));
	assert_int_equal(who.role, ROLE_VIEWER);
	assert_string_equal(who.session, SESSION);
	assert_int_equal(strlen(who.name), 16);
	assert_null(strstr(token, who.name));
	assert_true(tokens_find(place->tokens, operator_token, &who));
	assert_int_equal(who.role, ROLE_OPERATOR);
	assert_string_equal(who.session, "");

	token[10] = token[10] == 'A' ? 'B' : 'A';
	assert_false(tokens_find(place->tokens, token, &who));
	assert_false(tokens_find(place->tokens, "", &who));
	assert_false(tokens_find(place->tokens, "gbv_", &who));
	secret_wipe(token);
}

static void test_a_key_is_found_with_its_name(void **state)
{
	struct place *place = *state;
	uint8_t key_hash[STORE_HASH_BYTES];
	struct identity who;

	hash("gbk_team", key_hash);
	assert_false(tokens_find(place->tokens, "gbk_team", &who));
	tokens_add_key(place->tokens, key_hash, ROLE_OWNER, "team");
	assert_true(tokens_find(place->tokens, "gbk_team", &who));
	assert_int_equal(who.role, ROLE_OWNER);
	assert_string_equal(who.owner, "team");
	assert_string_equal(who.session, "");
	assert_true(tokens_find(place->tokens, operator_token, &who));
	assert_string_equal(who.owner, OWNER_OPERATOR);
	/* It is of the configuration: a later start knows it only if that still says so. */
	stop(place);
	start(place);
	assert_false(tokens_find(place->tokens, "gbk_team", &who));
}

static void test_tokens_differ(void **state)
{
	struct place *place = *state;
	char *a = make(place, ROLE_AGENT, SESSION, 0), *b = make(place, ROLE_AGENT, SESSION, 0);

	assert_string_not_equal(a, b);
	secret_wipe(a);
	secret_wipe(b);
}

static void test_a_restart_knows_the_tokens(void **state)
{
	struct place *place = *state;
	struct identity who;
	char *token = make(place, ROLE_CONTROLLER, SESSION, 0);

	stop(place);
	start(place);
	assert_true(tokens_find(place->tokens, token, &who));
	assert_int_equal(who.role, ROLE_CONTROLLER);
	secret_wipe(token);
}

static void add_id(void *arg, const struct token_info *info)
{
	strcat(arg, info->id);
}

static void test_a_restart_keeps_their_order(void **state)
{
	struct place *place = *state;
	char before[16 * TOKEN_ID_SIZE] = "", after[sizeof(before)] = "";

	for (int i = 0; i < 16; i++)
		secret_wipe(make(place, ROLE_VIEWER, SESSION, 0));
	tokens_each(place->tokens, SESSION, add_id, before);
	stop(place);
	start(place);
	tokens_each(place->tokens, SESSION, add_id, after);
	assert_string_equal(after, before);
}

static void test_a_token_ends_with_its_session(void **state)
{
	struct place *place = *state;
	struct identity who;
	char *mine = make(place, ROLE_AGENT, SESSION, 0), *other = make(place, ROLE_AGENT, "szzzzzzzzzzzzzzz", 0);
	struct err e;

	tokens_forget(place->tokens, SESSION);
	assert_int_equal(store_drop_session(place->store, SESSION, &e), 0);
	assert_false(tokens_find(place->tokens, mine, &who));
	assert_true(tokens_find(place->tokens, other, &who));
	assert_true(tokens_find(place->tokens, operator_token, &who));
	stop(place);
	start(place);
	assert_false(tokens_find(place->tokens, mine, &who));
	assert_true(tokens_find(place->tokens, other, &who));
	secret_wipe(mine);
	secret_wipe(other);
}

static void test_an_expired_token_is_none(void **state)
{
	struct place *place = *state;
	struct identity who;
	char *old = make(place, ROLE_OPERATOR, "", store_now_ms() - 1), *new = make(place, ROLE_OPERATOR, "", store_now_ms() + 60000);

	assert_false(tokens_find(place->tokens, old, &who));
	assert_true(tokens_find(place->tokens, new, &who));
	secret_wipe(old);
	secret_wipe(new);
}

struct list {
	size_t n;
	struct token_info rows[LIMIT_TOKENS];
	char names[LIMIT_TOKENS][LIMIT_TOKEN_NAME_BYTES + 1];
};

static void list_one(void *arg, const struct token_info *info)
{
	struct list *list = arg;

	(void)snprintf(list->names[list->n], sizeof(list->names[0]), "%s", info->name);
	list->rows[list->n++] = *info;
}

static struct list list(struct place *place, const char *session)
{
	struct list list = {.n = 0};

	tokens_each(place->tokens, session, list_one, &list);
	return list;
}

static void test_a_list_has_all_but_the_text(void **state)
{
	struct place *place = *state;
	struct token_info info = {.role = ROLE_VIEWER, .session = SESSION, .name = "for \"Ada\"", .expires_ms = store_now_ms() + 60000};
	char *first = make(place, ROLE_AGENT, SESSION, 0), *other = make(place, ROLE_AGENT, "szzzzzzzzzzzzzzz", 0), *named;
	struct identity who;
	struct err e;

	assert_int_equal(tokens_make(place->tokens, &info, &named, &e), 0);
	for (int round = 0; round < 2; round++) {
		struct list found = list(place, SESSION);

		assert_int_equal(found.n, 2);
		for (size_t i = 0; i < 2; i++) {
			assert_true(tokens_find(place->tokens, found.rows[i].role == ROLE_AGENT ? first : named, &who));
			assert_string_equal(found.rows[i].id, who.name);
			assert_in_range(found.rows[i].created_ms, 1700000000000, store_now_ms());
			assert_string_equal(found.names[i], found.rows[i].role == ROLE_AGENT ? "" : info.name);
			assert_true(found.rows[i].expires_ms == (found.rows[i].role == ROLE_AGENT ? 0 : info.expires_ms));
		}
		stop(place);
		start(place);
	}
	assert_int_equal(list(place, "").n, 0);
	secret_wipe(first);
	secret_wipe(other);
	secret_wipe(named);
}

static void test_a_revoked_token_stays_revoked(void **state)
{
	struct place *place = *state;
	char *token = make(place, ROLE_AGENT, SESSION, 0), *kept = make(place, ROLE_AGENT, SESSION, 0);
	struct identity who, other;
	struct err e;

	assert_true(tokens_find(place->tokens, token, &who));
	assert_int_equal(tokens_revoke(place->tokens, "szzzzzzzzzzzzzzz", who.name, &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_int_equal(tokens_revoke(place->tokens, SESSION, "0123456789abcdef", &e), -1);
	assert_int_equal(tokens_revoke(place->tokens, SESSION, "", &e), -1);
	assert_true(tokens_find(place->tokens, operator_token, &other));
	assert_int_equal(tokens_revoke(place->tokens, "", other.name, &e), -1);
	assert_int_equal(tokens_revoke(place->tokens, SESSION, who.name, &e), 0);
	for (int round = 0; round < 2; round++) {
		assert_false(tokens_find(place->tokens, token, &other));
		assert_true(tokens_find(place->tokens, kept, &other));
		assert_int_equal(list(place, SESSION).n, 1);
		stop(place);
		start(place);
	}
	assert_int_equal(tokens_revoke(place->tokens, SESSION, who.name, &e), -1);
	secret_wipe(token);
	secret_wipe(kept);
}

/* What has expired takes no room, and another session's tokens none of this one's. */
static void test_a_session_has_so_many_tokens(void **state)
{
	struct place *place = *state;
	struct token_info info = {.role = ROLE_VIEWER, .session = SESSION};
	char *token;
	struct err e;

	secret_wipe(make(place, ROLE_VIEWER, SESSION, store_now_ms() - 1));
	for (int i = 0; i < LIMIT_TOKENS; i++)
		secret_wipe(make(place, ROLE_VIEWER, SESSION, 0));
	assert_int_equal(tokens_make(place->tokens, &info, &token, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	secret_wipe(make(place, ROLE_VIEWER, "szzzzzzzzzzzzzzz", 0));
	assert_int_equal(tokens_revoke(place->tokens, SESSION, list(place, SESSION).rows[5].id, &e), 0);
	secret_wipe(make(place, ROLE_VIEWER, SESSION, 0));
}

/* The store of version 1, as the first landing wrote it. */
static void test_a_store_of_before_is_brought_up(void **state)
{
	static const char v1[] =
		"CREATE TABLE sessions(id TEXT PRIMARY KEY, image TEXT NOT NULL, owner TEXT NOT NULL, spec TEXT NOT NULL,"
		" state TEXT NOT NULL, reason TEXT NOT NULL, isolation INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
		" expires_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL) WITHOUT ROWID;"
		"CREATE TABLE tokens(hash BLOB PRIMARY KEY, role INTEGER NOT NULL, session TEXT NOT NULL,"
		" expires_ms INTEGER NOT NULL) WITHOUT ROWID;"
		"CREATE TABLE codes(hash BLOB PRIMARY KEY, expires_ms INTEGER NOT NULL) WITHOUT ROWID;"
		"INSERT INTO tokens VALUES(x'%s', 1, '" SESSION "', 0); PRAGMA user_version=%d;";
	struct place *place = *state;
	uint8_t bytes[STORE_HASH_BYTES];
	char hex[STORE_HASH_BYTES * 2 + 1];
	struct identity who;

	hash("gbv_of_before", bytes);
	util_hex(hex, bytes, sizeof(bytes));
	for (int version = 1; version <= 99; version += 98) {
		auto_free char *sql = util_printf(v1, hex, version);
		sqlite3 *db;
		struct err e;

		stop(place);
		assert_int_equal(unlink(place->path), 0);
		assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
		assert_int_equal(sqlite3_close(db), SQLITE_OK);
		if (version == 1) {
			start(place);
			assert_true(tokens_find(place->tokens, "gbv_of_before", &who));
			assert_int_equal(who.role, ROLE_VIEWER);
			assert_int_equal(list(place, SESSION).n, 1);
		} else {
			assert_null(store_open(place->path, &e));
			assert_non_null(strstr(e.msg, "later version"));
			assert_int_equal(unlink(place->path), 0);
			start(place);
		}
	}
}

static void test_no_token_is_in_the_file(void **state)
{
	struct place *place = *state;
	auto_fd fd = -1;
	auto_free char *bytes = NULL;
	char *token = make(place, ROLE_AGENT, SESSION, 0);
	ssize_t len;

	fd = open(place->path, O_RDONLY | O_CLOEXEC);
	len = util_read_file(fd, 1 << 20, &bytes);
	assert_true(len > 0);
	assert_non_null(memmem(bytes, (size_t)len, SESSION, strlen(SESSION)));
	assert_null(memmem(bytes, (size_t)len, token + 4, 16));
	assert_null(memmem(bytes, (size_t)len, CODE, strlen(CODE)));
	secret_wipe(token);
}

static void test_a_code_is_good_once(void **state)
{
	struct place *place = *state;
	struct identity who;
	int64_t expires_ms = 0;
	char *token, *second;
	struct err e;

	assert_int_equal(tokens_trade(place->tokens, "ABCD-2346", &token, &expires_ms, &e), -1);
	assert_int_equal(e.code, ERR_UNAUTHORIZED);
	assert_int_equal(tokens_trade(place->tokens, "abcd-2345", &token, &expires_ms, &e), 0);
	assert_true(tokens_find(place->tokens, token, &who));
	assert_int_equal(who.role, ROLE_OPERATOR);
	assert_true(expires_ms > store_now_ms() && expires_ms <= store_now_ms() + LIMIT_CONSOLE_TOKEN_MS);
	assert_int_equal(tokens_trade(place->tokens, CODE, &second, &expires_ms, &e), -1);
	assert_int_equal(e.code, ERR_UNAUTHORIZED);
	/* A front that starts again is told the same code by the warden. */
	stop(place);
	start(place);
	assert_int_equal(tokens_trade(place->tokens, CODE, &second, &expires_ms, &e), -1);
	assert_int_equal(e.code, ERR_UNAUTHORIZED);
	assert_true(tokens_find(place->tokens, token, &who));
	secret_wipe(token);
}

static void test_wrong_codes_are_slowed_down(void **state)
{
	struct place *place = *state;
	int64_t expires_ms;
	char *token;
	struct err e;
	int wrong = 0;

	while (tokens_trade(place->tokens, "AAAA-AAAA", &token, &expires_ms, &e) < 0 && e.code == ERR_UNAUTHORIZED && wrong < 100)
		wrong++;
	assert_in_range(wrong, LIMIT_CODE_TRIES, LIMIT_CODE_TRIES + 1);
	assert_int_equal(e.code, ERR_LIMIT);
	/* Nor does the right one help then: a guess would be told by its answer. */
	assert_int_equal(tokens_trade(place->tokens, CODE, &token, &expires_ms, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
}

static void test_no_code_is_no_empty_code(void **state)
{
	struct place *place = *state;
	uint8_t none[STORE_HASH_BYTES] = {0}, operator_hash[STORE_HASH_BYTES];
	int64_t expires_ms;
	char *token;
	struct err e;

	tokens_destroy(place->tokens);
	hash(operator_token, operator_hash);
	place->tokens = tokens_create(place->store, operator_hash, &e);
	assert_non_null(place->tokens);
	assert_int_equal(tokens_note_code(place->tokens, none, &e), 0);
	assert_int_equal(tokens_trade(place->tokens, "", &token, &expires_ms, &e), -1);
	assert_int_equal(tokens_trade(place->tokens, CODE, &token, &expires_ms, &e), -1);
}

static int n_rows;

static void count(void *arg, const struct store_session *session)
{
	const struct store_session *expected = arg;

	n_rows++;
	assert_string_equal(session->id, expected->id);
	assert_string_equal(session->spec, expected->spec);
	assert_string_equal(session->state, expected->state);
	assert_string_equal(session->reason, expected->reason);
	assert_true(session->isolation == expected->isolation && session->created_ms == expected->created_ms &&
	            session->expires_ms == expected->expires_ms && session->ended_ms == expected->ended_ms);
}

static void test_sessions_are_stored(void **state)
{
	struct place *place = *state;
	struct store_session row = {.id = SESSION, .image = "minimal", .owner = "operator", .spec = "{\"a\":\"'\"}", .state = "starting", .made_by = "r1",
	                            .reason = "", .isolation = 5, .created_ms = 1700000000000, .expires_ms = 1700000000001};
	struct err e;

	assert_int_equal(store_put_session(place->store, &row, &e), 0);
	row.state = "ready";
	assert_int_equal(store_put_session(place->store, &row, &e), 0);
	stop(place);
	start(place);
	n_rows = 0;
	assert_int_equal(store_each_session(place->store, count, &row, &e), 0);
	assert_int_equal(n_rows, 1);
	assert_int_equal(store_drop_session(place->store, SESSION, &e), 0);
	assert_int_equal(store_each_session(place->store, count, &row, &e), 0);
	assert_int_equal(n_rows, 1);
}

/* A front that died in the middle of a create under a key: the key is free, and what it made counts as not made. */
static void test_creates_are_stored(void **state)
{
	struct place *place = *state;
	struct store_session row = {.id = SESSION, .image = "minimal", .owner = "operator", .spec = "{}", .state = "ready", .made_by = "r1",
	                            .reason = ""};
	struct store_create create = {.owner = "o", .key = "k", .request_id = "r1", .body = {7}, .sessions = SESSION, .created_ms = 1000};
	uint8_t body[STORE_HASH_BYTES];
	char *sessions;
	int64_t n;
	struct err e;

	assert_int_equal(store_put_session(place->store, &row, &e), 0);
	assert_int_equal(store_put_create(place->store, &create, &e), 0);
	assert_int_equal(store_undo_creates(place->store, &e), 0);
	stop(place);
	start(place);
	assert_int_equal(store_find_create(place->store, "o", "k", body, &sessions, &e), 0);
	assert_string_equal(sessions, SESSION);
	assert_memory_equal(body, create.body, sizeof(body));
	free(sessions);
	assert_int_equal(store_each_session(place->store, count, &row, &e), 0);
	create.sessions = "";
	assert_int_equal(store_put_create(place->store, &create, &e), 0);
	assert_int_equal(store_undo_creates(place->store, &e), 0);
	assert_int_equal(store_find_create(place->store, "o", "k", body, &sessions, &e), 0);
	assert_null(sessions);
	row.state = "starting";
	assert_int_equal(store_each_session(place->store, count, &row, &e), 0);
	create.sessions = SESSION;
	assert_int_equal(store_put_create(place->store, &create, &e), 0);
	assert_int_equal(store_count_creates(place->store, 1000, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_int_equal(store_count_creates(place->store, 1001, &n, &e), 0);
	assert_int_equal(n, 0);
}

static void test_a_damaged_store_is_told(void **state)
{
	struct place *place = *state;
	auto_free char *path = util_printf("%s/bad.db", place->folder);
	auto_fd fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char rubbish[4096];
	struct err e;

	memset(rubbish, 'x', sizeof(rubbish));
	assert_int_equal(util_write_all(fd, rubbish, sizeof(rubbish)), 0);
	assert_null(store_open(path, &e));
	assert_int_equal(e.code, ERR_INTERNAL);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_key_is_found_with_its_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_token_is_found_as_what_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tokens_differ, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_restart_knows_the_tokens, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_restart_keeps_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_token_ends_with_its_session, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_expired_token_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_list_has_all_but_the_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_revoked_token_stays_revoked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_session_has_so_many_tokens, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_store_of_before_is_brought_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_token_is_in_the_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_code_is_good_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_codes_are_slowed_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_code_is_no_empty_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sessions_are_stored, setup, teardown),
		cmocka_unit_test_setup_teardown(test_creates_are_stored, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_damaged_store_is_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
