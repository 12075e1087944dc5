/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SQLite. One statement a function; parameters are bound by a string of types, results are read by column. */
#include "session/front/store.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "session/base/util.h"

struct store {
	sqlite3 *db;
};

/* Its lock is held for as long as the front lives, and nothing is unlinked. FULL: on disk before the reply. */
static const char settings[] = "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=FULL;"
                               " PRAGMA temp_store=MEMORY;";

/* What brings a file of version N (user_version) to N + 1. Only ever added to: files of every version are about. */
static const char *const steps[] = {
	"CREATE TABLE IF NOT EXISTS sessions(id TEXT PRIMARY KEY, image TEXT NOT NULL, owner TEXT NOT NULL, spec TEXT NOT NULL,"
	" state TEXT NOT NULL, reason TEXT NOT NULL, isolation INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
	" expires_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS tokens(hash BLOB PRIMARY KEY, role INTEGER NOT NULL, session TEXT NOT NULL,"
	" expires_ms INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS codes(hash BLOB PRIMARY KEY, expires_ms INTEGER NOT NULL) WITHOUT ROWID;",
	"ALTER TABLE tokens ADD COLUMN name TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE tokens ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0;",
	"ALTER TABLE sessions ADD COLUMN made_by TEXT NOT NULL DEFAULT '';"
	"CREATE TABLE creates(owner TEXT NOT NULL, key TEXT NOT NULL, request_id TEXT NOT NULL, body BLOB NOT NULL, sessions TEXT NOT NULL,"
	" created_ms INTEGER NOT NULL, PRIMARY KEY(owner, key)) WITHOUT ROWID;"
	"CREATE INDEX creates_by_age ON creates(created_ms);",
	"ALTER TABLE tokens ADD COLUMN share TEXT NOT NULL DEFAULT '';"
	"CREATE TABLE shares(id TEXT PRIMARY KEY, session TEXT NOT NULL, role INTEGER NOT NULL, label TEXT NOT NULL, code BLOB NOT NULL,"
	" tries INTEGER NOT NULL, used_ms INTEGER NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL) WITHOUT ROWID;",
	"CREATE TABLE secrets(name TEXT PRIMARY KEY, app TEXT NOT NULL, origin TEXT NOT NULL, field TEXT NOT NULL, stored_by TEXT NOT NULL,"
	" created_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL) WITHOUT ROWID;",
	"ALTER TABLE secrets ADD COLUMN inject TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE secrets ADD COLUMN header TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE secrets ADD COLUMN prefix TEXT NOT NULL DEFAULT '';",
};

static int failed(struct store *store, const char *what, struct err *e)
{
	return err_set(e, ERR_INTERNAL, NULL, "the front's store: %s: %s", what, sqlite3_errmsg(store->db));
}

void store_close(struct store *store)
{
	if (!store)
		return;
	(void)sqlite3_close(store->db);
	free(store);
}

/* Binds one parameter for each letter of `types`: s text, i int64_t, h a hash. Everything is valid until the statement is done. */
static bool bind(sqlite3_stmt *statement, const char *types, va_list args)
{
	int rc = SQLITE_OK;

	for (int i = 1; *types && rc == SQLITE_OK; types++, i++) {
		if (*types == 's')
			rc = sqlite3_bind_text(statement, i, va_arg(args, const char *), -1, SQLITE_STATIC);
		else if (*types == 'i')
			rc = sqlite3_bind_int64(statement, i, va_arg(args, int64_t));
		else
			rc = sqlite3_bind_blob(statement, i, va_arg(args, const uint8_t *), STORE_HASH_BYTES, SQLITE_STATIC);
	}
	return rc == SQLITE_OK;
}

/* Runs one statement to its end; calls `row`, which may be NULL, for each row of its result. */
static int run(struct store *store, void (*row)(void *arg, sqlite3_stmt *statement), void *arg, struct err *e, const char *sql,
               const char *types, ...)
{
	sqlite3_stmt *statement = NULL;
	va_list args;
	bool ok;
	int rc;

	va_start(args, types);
	ok = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK && bind(statement, types, args);
	va_end(args);
	while (ok && (rc = sqlite3_step(statement)) != SQLITE_DONE) {
		ok = rc == SQLITE_ROW;
		if (ok && row)
			row(arg, statement);
	}
	if (!ok)
		(void)failed(store, "writing or reading it", e);
	(void)sqlite3_finalize(statement);
	return ok ? 0 : -1;
}

static void on_version(void *arg, sqlite3_stmt *row)
{
	int64_t *version = arg;

	*version = sqlite3_column_int64(row, 0);
}

/* One transaction: a front that dies meanwhile finds the file as it was. */
static int upgrade(struct store *store, struct err *e)
{
	auto_free char *version = util_printf("PRAGMA user_version=%zu; COMMIT", ARRAY_LEN(steps));
	int64_t from = 0;

	if (run(store, on_version, &from, e, "PRAGMA user_version", "") < 0)
		return -1;
	if (from == (int64_t)ARRAY_LEN(steps))
		return 0;
	if (from < 0 || from > (int64_t)ARRAY_LEN(steps))
		return err_set(e, ERR_INTERNAL, NULL, "the front's store is of a later version of this program");
	if (sqlite3_exec(store->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return failed(store, "opening it", e);
	for (size_t i = (size_t)from; i < ARRAY_LEN(steps); i++)
		if (sqlite3_exec(store->db, steps[i], NULL, NULL, NULL) != SQLITE_OK)
			return failed(store, "bringing it up to this version", e);
	return sqlite3_exec(store->db, version, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(store, "bringing it up to this version", e);
}

struct store *store_open(const char *path, struct err *e)
{
	struct store *store = util_zalloc(sizeof(*store));

	if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
	    sqlite3_exec(store->db, settings, NULL, NULL, NULL) != SQLITE_OK) {
		(void)failed(store, "opening it", e);
		store_close(store);
		return NULL;
	}
	if (upgrade(store, e) < 0) {
		store_close(store);
		return NULL;
	}
	return store;
}

int store_put_session(struct store *store, const struct store_session *session, struct err *e)
{
	return run(store, NULL, NULL, e, "INSERT OR REPLACE INTO sessions VALUES(?,?,?,?,?,?,?,?,?,?,?)", "ssssssiiiis", session->id,
	           session->image, session->owner, session->spec, session->state, session->reason, session->isolation,
	           session->created_ms, session->expires_ms, session->ended_ms, session->made_by);
}

int store_drop_session(struct store *store, const char *id, struct err *e)
{
	if (run(store, NULL, NULL, e, "DELETE FROM tokens WHERE session=?", "s", id) < 0 ||
	    run(store, NULL, NULL, e, "DELETE FROM shares WHERE session=?", "s", id) < 0)
		return -1;
	return run(store, NULL, NULL, e, "DELETE FROM sessions WHERE id=?", "s", id);
}

int store_put_token(struct store *store, const struct store_token *token, struct err *e)
{
	return run(store, NULL, NULL, e, "INSERT OR REPLACE INTO tokens VALUES(?,?,?,?,?,?,?)", "hisisis", token->hash, (int64_t)token->role,
	           token->session, token->expires_ms, token->name, token->created_ms, token->share);
}

int store_drop_token(struct store *store, const uint8_t hash[STORE_HASH_BYTES], struct err *e)
{
	return run(store, NULL, NULL, e, "DELETE FROM tokens WHERE hash=?", "h", hash);
}

int store_drop_old_tokens(struct store *store, int64_t now_ms, struct err *e)
{
	if (run(store, NULL, NULL, e, "DELETE FROM shares WHERE expires_ms < ?", "i", now_ms) < 0)
		return -1;
	return run(store, NULL, NULL, e, "DELETE FROM tokens WHERE expires_ms > 0 AND expires_ms < ?", "i", now_ms);
}

int store_put_share(struct store *store, const struct store_share *share, struct err *e)
{
	return run(store, NULL, NULL, e, "INSERT OR REPLACE INTO shares VALUES(?,?,?,?,?,?,?,?,?)", "ssishiiii", share->id, share->session,
	           (int64_t)share->role, share->label, share->code, share->tries, share->used_ms, share->created_ms, share->expires_ms);
}

int store_drop_share(struct store *store, const char *id, struct err *e)
{
	return run(store, NULL, NULL, e, "DELETE FROM shares WHERE id=?", "s", id);
}

struct each_session {
	void (*fn)(void *arg, const struct store_session *session);
	void *arg;
};

static const char *text_at(sqlite3_stmt *statement, int column)
{
	const void *text = sqlite3_column_text(statement, column);

	return text ? text : "";
}

static void on_session(void *arg, sqlite3_stmt *row)
{
	const struct each_session *each = arg;
	struct store_session session = {
		.id = text_at(row, 0), .image = text_at(row, 1), .owner = text_at(row, 2), .spec = text_at(row, 3),
		.state = text_at(row, 4), .reason = text_at(row, 5), .isolation = sqlite3_column_int64(row, 6),
		.created_ms = sqlite3_column_int64(row, 7), .expires_ms = sqlite3_column_int64(row, 8),
		.ended_ms = sqlite3_column_int64(row, 9), .made_by = text_at(row, 10),
	};

	each->fn(each->arg, &session);
}

int store_each_session(struct store *store, void (*fn)(void *arg, const struct store_session *session), void *arg, struct err *e)
{
	struct each_session each = {.fn = fn, .arg = arg};

	return run(store, on_session, &each, e, "SELECT * FROM sessions ORDER BY created_ms, id", "");
}

struct each_token {
	void (*fn)(void *arg, const struct store_token *token);
	void *arg;
};

static void on_token(void *arg, sqlite3_stmt *row)
{
	const struct each_token *each = arg;
	struct store_token token = {
		.role = sqlite3_column_int(row, 1), .session = text_at(row, 2), .expires_ms = sqlite3_column_int64(row, 3),
		.name = text_at(row, 4), .created_ms = sqlite3_column_int64(row, 5), .share = text_at(row, 6),
	};

	if (sqlite3_column_bytes(row, 0) != STORE_HASH_BYTES)
		return;
	memcpy(token.hash, sqlite3_column_blob(row, 0), STORE_HASH_BYTES);
	each->fn(each->arg, &token);
}

int store_each_token(struct store *store, void (*fn)(void *arg, const struct store_token *token), void *arg, struct err *e)
{
	struct each_token each = {.fn = fn, .arg = arg};

	return run(store, on_token, &each, e, "SELECT * FROM tokens ORDER BY created_ms, hash", "");
}

struct each_share {
	void (*fn)(void *arg, const struct store_share *share);
	void *arg;
};

static void on_share(void *arg, sqlite3_stmt *row)
{
	const struct each_share *each = arg;
	struct store_share share = {
		.id = text_at(row, 0), .session = text_at(row, 1), .role = sqlite3_column_int(row, 2), .label = text_at(row, 3),
		.tries = sqlite3_column_int64(row, 5), .used_ms = sqlite3_column_int64(row, 6), .created_ms = sqlite3_column_int64(row, 7),
		.expires_ms = sqlite3_column_int64(row, 8),
	};

	if (sqlite3_column_bytes(row, 4) != STORE_HASH_BYTES)
		return;
	memcpy(share.code, sqlite3_column_blob(row, 4), STORE_HASH_BYTES);
	each->fn(each->arg, &share);
}

int store_each_share(struct store *store, void (*fn)(void *arg, const struct store_share *share), void *arg, struct err *e)
{
	struct each_share each = {.fn = fn, .arg = arg};

	return run(store, on_share, &each, e, "SELECT * FROM shares ORDER BY created_ms, id", "");
}

static void on_code(void *arg, sqlite3_stmt *row)
{
	int64_t *good_until_ms = arg;

	*good_until_ms = sqlite3_column_int64(row, 0);
}

int store_put_create(struct store *store, const struct store_create *create, struct err *e)
{
	return run(store, NULL, NULL, e, "INSERT OR REPLACE INTO creates VALUES(?,?,?,?,?,?)", "ssshsi", create->owner, create->key,
	           create->request_id, create->body, create->sessions, create->created_ms);
}

int store_drop_create(struct store *store, const char *owner, const char *key, struct err *e)
{
	return run(store, NULL, NULL, e, "DELETE FROM creates WHERE owner=? AND key=?", "ss", owner, key);
}

struct found_create {
	uint8_t *body;
	char *sessions;
};

static void on_create(void *arg, sqlite3_stmt *row)
{
	struct found_create *found = arg;

	if (sqlite3_column_bytes(row, 0) != STORE_HASH_BYTES)
		return;
	memcpy(found->body, sqlite3_column_blob(row, 0), STORE_HASH_BYTES);
	found->sessions = util_strdup(text_at(row, 1));
}

int store_find_create(struct store *store, const char *owner, const char *key, uint8_t body[STORE_HASH_BYTES], char **sessions,
                      struct err *e)
{
	struct found_create found = {.body = body};

	if (run(store, on_create, &found, e, "SELECT body, sessions FROM creates WHERE owner=? AND key=?", "ss", owner, key) < 0) {
		free(found.sessions);
		return -1;
	}
	*sessions = found.sessions;
	return 0;
}

int store_put_secret(struct store *store, const struct store_secret *secret, struct err *e)
{
	return run(store, NULL, NULL, e, "INSERT OR REPLACE INTO secrets VALUES(?,?,?,?,?,?,?,?,?,?)", "sssssiisss", secret->name, secret->app,
	           secret->origin, secret->field, secret->by, secret->created_ms, secret->changed_ms, secret->inject, secret->header, secret->prefix);
}

int store_drop_secret(struct store *store, const char *name, struct err *e)
{
	return run(store, NULL, NULL, e, "DELETE FROM secrets WHERE name=?", "s", name);
}

struct each_secret {
	void (*fn)(void *arg, const struct store_secret *secret);
	void *arg;
};

static void on_secret(void *arg, sqlite3_stmt *row)
{
	const struct each_secret *each = arg;
	const struct store_secret secret = {
		.name = text_at(row, 0), .app = text_at(row, 1), .origin = text_at(row, 2), .field = text_at(row, 3), .by = text_at(row, 4),
		.created_ms = sqlite3_column_int64(row, 5), .changed_ms = sqlite3_column_int64(row, 6), .inject = text_at(row, 7), .header = text_at(row, 8),
		.prefix = text_at(row, 9),
	};

	each->fn(each->arg, &secret);
}

int store_each_secret(struct store *store, const char *name, void (*fn)(void *arg, const struct store_secret *secret), void *arg, struct err *e)
{
	struct each_secret each = {.fn = fn, .arg = arg};

	return run(store, on_secret, &each, e, "SELECT * FROM secrets WHERE ?='' OR name=? ORDER BY name", "ss", name ? name : "", name ? name : "");
}

static void on_number(void *arg, sqlite3_stmt *row)
{
	int64_t *n = arg;

	*n = sqlite3_column_int64(row, 0);
}

int store_count_creates(struct store *store, int64_t since_ms, int64_t *n, struct err *e)
{
	if (run(store, NULL, NULL, e, "DELETE FROM creates WHERE created_ms < ? AND sessions<>''", "i", since_ms) < 0)
		return -1;
	return run(store, on_number, n, e, "SELECT count(*) FROM creates", "");
}

int store_undo_creates(struct store *store, struct err *e)
{
	if (run(store, NULL, NULL, e,
	        "UPDATE sessions SET state='starting' WHERE ended_ms=0 AND made_by IN (SELECT request_id FROM creates WHERE sessions='')",
	        "") < 0)
		return -1;
	return run(store, NULL, NULL, e, "DELETE FROM creates WHERE sessions=''", "");
}

int store_note_code(struct store *store, const uint8_t hash[STORE_HASH_BYTES], int64_t expires_ms, int64_t *good_until_ms,
                    struct err *e)
{
	if (run(store, NULL, NULL, e, "DELETE FROM codes WHERE hash<>?", "h", hash) < 0 ||
	    run(store, NULL, NULL, e, "INSERT OR IGNORE INTO codes VALUES(?,?)", "hi", hash, expires_ms) < 0)
		return -1;
	return run(store, on_code, good_until_ms, e, "SELECT expires_ms FROM codes WHERE hash=?", "h", hash);
}

int store_use_code(struct store *store, const uint8_t hash[STORE_HASH_BYTES], struct err *e)
{
	return run(store, NULL, NULL, e, "UPDATE codes SET expires_ms=0 WHERE hash=?", "h", hash);
}

int64_t store_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
