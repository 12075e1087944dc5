/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens. A look-up compares with every hash that there is, so that its time tells nothing. */
#include "session/front/tokens.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "session/base/hash.h"
#include "session/base/limits.h"
#include "session/base/secret.h"
#include "session/base/util.h"

#define CODE_BYTES_MAX 64

struct entry {
	uint8_t hash[STORE_HASH_BYTES];
	enum role role;
	char session[SESSION_ID_SIZE], owner[OWNER_SIZE];
	char name[LIMIT_TOKEN_NAME_BYTES + 1], share[SHARE_ID_SIZE];
	int64_t created_ms, expires_ms;
};

struct tokens {
	struct store *store;
	struct entry *entries;
	size_t n_entries;
	uint8_t code_hash[STORE_HASH_BYTES];
	int64_t code_until_ms; /* 0: there is none */
	int64_t tries;         /* wrong codes that may come at once */
	int64_t last_try_ms;
};

static const struct {
	const char *name, *prefix;
} roles[N_ROLES] = {
	[ROLE_AGENT] = {"agent", "gba_"},
	[ROLE_VIEWER] = {"viewer", "gbv_"},
	[ROLE_CONTROLLER] = {"controller", "gbc_"},
	[ROLE_OPERATOR] = {"operator", "gbo_"},
	[ROLE_OWNER] = {"owner", "gbk_"},
};

const char *role_name(enum role role)
{
	return roles[role].name;
}

enum role role_from_name(const char *name)
{
	enum role role = 0;

	while (role < N_ROLES && strcmp(roles[role].name, name) != 0)
		role++;
	return role;
}

static void hash_text(const char *text, uint8_t out[STORE_HASH_BYTES])
{
	hash_sha256(text, strlen(text), out);
}

static void make_id(const uint8_t hash[STORE_HASH_BYTES], char id[TOKEN_ID_SIZE])
{
	util_hex(id, hash, (TOKEN_ID_SIZE - 1) / 2);
}

static struct entry *add(struct tokens *tokens, const struct store_token *row)
{
	struct entry *entry;

	tokens->entries = util_realloc(tokens->entries, (tokens->n_entries + 1) * sizeof(*tokens->entries));
	entry = &tokens->entries[tokens->n_entries++];
	*entry = (struct entry){.role = (enum role)row->role, .created_ms = row->created_ms, .expires_ms = row->expires_ms};
	memcpy(entry->hash, row->hash, STORE_HASH_BYTES);
	(void)snprintf(entry->session, sizeof(entry->session), "%s", row->session);
	(void)snprintf(entry->name, sizeof(entry->name), "%s", row->name);
	(void)snprintf(entry->share, sizeof(entry->share), "%s", row->share);
	(void)snprintf(entry->owner, sizeof(entry->owner), "%s", row->role == ROLE_OPERATOR ? OWNER_OPERATOR : "");
	return entry;
}

void tokens_add_key(struct tokens *tokens, const uint8_t hash[STORE_HASH_BYTES], enum role role, const char *name)
{
	struct store_token row = {.role = (int)role, .session = "", .name = "", .share = ""};
	struct entry *entry;

	memcpy(row.hash, hash, STORE_HASH_BYTES);
	entry = add(tokens, &row);
	(void)snprintf(entry->owner, sizeof(entry->owner), "%s", name);
}

static void take_stored(void *arg, const struct store_token *token)
{
	if (token->role >= 0 && token->role < N_ROLES)
		(void)add(arg, token);
}

struct tokens *tokens_create(struct store *store, const uint8_t operator_hash[STORE_HASH_BYTES], struct err *e)
{
	struct tokens *tokens = util_zalloc(sizeof(*tokens));

	*tokens = (struct tokens){.store = store, .tries = LIMIT_CODE_TRIES, .last_try_ms = util_now_ms()};
	tokens_add_key(tokens, operator_hash, ROLE_OPERATOR, OWNER_OPERATOR);
	if (store_drop_old_tokens(store, store_now_ms(), e) < 0 || store_each_token(store, take_stored, tokens, e) < 0) {
		tokens_destroy(tokens);
		return NULL;
	}
	return tokens;
}

void tokens_destroy(struct tokens *tokens)
{
	if (!tokens)
		return;
	free(tokens->entries);
	free(tokens);
}

static bool has_expired(const struct entry *entry)
{
	return entry->expires_ms > 0 && entry->expires_ms <= store_now_ms();
}

/* Takes out the entries that `is_out` says; true if there were any. */
static bool leave_out(struct tokens *tokens, bool (*is_out)(const struct entry *entry, const void *arg), const void *arg)
{
	size_t kept = 0, before = tokens->n_entries;

	for (size_t i = 0; i < before; i++)
		if (!is_out(&tokens->entries[i], arg))
			tokens->entries[kept++] = tokens->entries[i];
	tokens->n_entries = kept;
	return kept < before;
}

static bool is_old(const struct entry *entry, const void *arg)
{
	(void)arg;
	return has_expired(entry);
}

static bool is_of_session(const struct entry *entry, const void *session)
{
	return *entry->session && strcmp(entry->session, session) == 0;
}

/* Room for one more; what has expired takes none. */
static int make_room(struct tokens *tokens, const char *session, struct err *e)
{
	size_t n = 0;

	if (leave_out(tokens, is_old, NULL) && store_drop_old_tokens(tokens->store, store_now_ms(), e) < 0)
		return -1;
	for (size_t i = 0; i < tokens->n_entries; i++)
		n += is_of_session(&tokens->entries[i], session);
	if (n >= LIMIT_TOKENS)
		return err_set(e, ERR_LIMIT, NULL, "the session has %zu tokens, which is the most; revoke one, or let one expire", n);
	return 0;
}

/* No two of a session have the same: by it lists keep their order when the front starts again. */
static int64_t next_created_ms(const struct tokens *tokens, const char *session)
{
	int64_t created_ms = store_now_ms();

	for (size_t i = 0; i < tokens->n_entries; i++)
		if (is_of_session(&tokens->entries[i], session) && tokens->entries[i].created_ms >= created_ms)
			created_ms = tokens->entries[i].created_ms + 1;
	return created_ms;
}

int tokens_make(struct tokens *tokens, struct token_info *info, char **token, struct err *e)
{
	struct store_token row = {.role = (int)info->role, .session = info->session, .name = info->name ? info->name : "", .share = info->share ? info->share : "",
	                          .created_ms = next_created_ms(tokens, info->session), .expires_ms = info->expires_ms};
	char *text;

	if (make_room(tokens, info->session, e) < 0)
		return -1;
	text = secret_new_token(roles[info->role].prefix);
	hash_text(text, row.hash);
	if (store_put_token(tokens->store, &row, e) < 0) {
		secret_wipe(text);
		return -1;
	}
	(void)add(tokens, &row);
	info->created_ms = row.created_ms;
	make_id(row.hash, info->id);
	*token = text;
	return 0;
}

bool tokens_find(const struct tokens *tokens, const char *token, struct identity *who)
{
	uint8_t hash[STORE_HASH_BYTES];
	const struct entry *found = NULL;

	hash_text(token, hash);
	for (size_t i = 0; i < tokens->n_entries; i++)
		if (hash_same(tokens->entries[i].hash, hash))
			found = &tokens->entries[i];
	if (!found || has_expired(found))
		return false;
	who->role = found->role;
	memcpy(who->session, found->session, sizeof(who->session));
	memcpy(who->owner, found->owner, sizeof(who->owner));
	memcpy(who->share, found->share, sizeof(who->share));
	make_id(hash, who->name);
	who->expires_ms = found->expires_ms;
	return true;
}

void tokens_each(const struct tokens *tokens, const char *session, void (*fn)(void *arg, const struct token_info *info), void *arg)
{
	for (size_t i = 0; i < tokens->n_entries; i++) {
		const struct entry *entry = &tokens->entries[i];
		struct token_info info = {.role = entry->role, .session = entry->session, .name = entry->name, .share = entry->share,
		                          .created_ms = entry->created_ms, .expires_ms = entry->expires_ms};

		if (!is_of_session(entry, session) || has_expired(entry))
			continue;
		make_id(entry->hash, info.id);
		fn(arg, &info);
	}
}

static struct entry *find_id(struct tokens *tokens, const char *session, const char *id)
{
	char its_id[TOKEN_ID_SIZE];

	for (size_t i = 0; i < tokens->n_entries; i++) {
		make_id(tokens->entries[i].hash, its_id);
		if (is_of_session(&tokens->entries[i], session) && strcmp(its_id, id) == 0)
			return &tokens->entries[i];
	}
	return NULL;
}

static bool is_this(const struct entry *entry, const void *which)
{
	return entry == which;
}

int tokens_revoke(struct tokens *tokens, const char *session, const char *id, struct err *e)
{
	const struct entry *entry = find_id(tokens, session, id);
	char shown[80];

	if (!entry || has_expired(entry))
		return err_set(e, ERR_NOT_FOUND, NULL, "the session has no token %s", err_quote(shown, sizeof(shown), id, strlen(id)));
	if (store_drop_token(tokens->store, entry->hash, e) < 0)
		return -1;
	(void)leave_out(tokens, is_this, entry);
	return 0;
}

void tokens_forget(struct tokens *tokens, const char *session)
{
	(void)leave_out(tokens, is_of_session, session);
}

int tokens_note_code(struct tokens *tokens, const uint8_t hash[STORE_HASH_BYTES], struct err *e)
{
	static const uint8_t none[STORE_HASH_BYTES];

	if (memcmp(hash, none, sizeof(none)) == 0)
		return 0;
	memcpy(tokens->code_hash, hash, STORE_HASH_BYTES);
	return store_note_code(tokens->store, hash, store_now_ms() + LIMIT_CODE_MS, &tokens->code_until_ms, e);
}

/* A bucket of tries that fills up again by time. */
static bool may_try(struct tokens *tokens)
{
	int64_t earned = (util_now_ms() - tokens->last_try_ms) / LIMIT_CODE_TRY_MS;

	tokens->last_try_ms += earned * LIMIT_CODE_TRY_MS;
	tokens->tries = tokens->tries + earned > LIMIT_CODE_TRIES ? LIMIT_CODE_TRIES : tokens->tries + earned;
	return tokens->tries > 0;
}

/* As the warden made it: people type in lower case, and with or without the dash. */
static void hash_code(const char *code, uint8_t hash[STORE_HASH_BYTES])
{
	char text[CODE_BYTES_MAX];
	size_t len = 0;

	for (; *code && len < sizeof(text) - 1; code++)
		if (*code != '-' && *code != ' ')
			text[len++] = (char)toupper((unsigned char)*code);
	text[len] = '\0';
	hash_text(text, hash);
}

int tokens_trade(struct tokens *tokens, const char *code, char **token, int64_t *expires_ms, struct err *e)
{
	uint8_t hash[STORE_HASH_BYTES];
	struct token_info info = {.role = ROLE_OPERATOR, .session = "", .expires_ms = store_now_ms() + LIMIT_CONSOLE_TOKEN_MS};

	if (!may_try(tokens))
		return err_set(e, ERR_LIMIT, NULL, "too many wrong codes; one try a second is allowed now");
	hash_code(code, hash);
	if (!hash_same(hash, tokens->code_hash) || tokens->code_until_ms <= store_now_ms()) {
		tokens->tries--;
		return err_set(e, ERR_UNAUTHORIZED, "/code", "this code is wrong, was used already or is older than five minutes");
	}
	if (store_use_code(tokens->store, hash, e) < 0)
		return -1;
	tokens->code_until_ms = 0;
	if (tokens_make(tokens, &info, token, e) < 0)
		return -1;
	*expires_ms = info.expires_ms;
	return 0;
}
