/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Share links. */
#include "session/front/shares.h"

#include <stdio.h>
#include <string.h>

#include "session/base/hash.h"
#include "session/base/limits.h"
#include "session/base/secret.h"
#include "session/base/util.h"

#define CODE_SIGNS 8
#define CODE_GROUP 4
#define ID_SIGNS 8

struct shares {
	struct store *store;
	struct share list[LIMIT_SHARES_IN_ALL]; /* oldest first */
	size_t n;
};

static void take_stored(void *arg, const struct store_share *row)
{
	struct shares *shares = arg;
	struct share *share;

	if (shares->n == LIMIT_SHARES_IN_ALL || (row->role != ROLE_VIEWER && row->role != ROLE_CONTROLLER))
		return;
	share = &shares->list[shares->n++];
	*share = (struct share){.role = (enum role)row->role, .created_ms = row->created_ms, .expires_ms = row->expires_ms,
	                        .used_ms = row->used_ms, .tries = row->tries};
	(void)snprintf(share->id, sizeof(share->id), "%s", row->id);
	(void)snprintf(share->session, sizeof(share->session), "%s", row->session);
	(void)snprintf(share->label, sizeof(share->label), "%s", row->label);
	memcpy(share->code, row->code, sizeof(share->code));
}

struct shares *shares_create(struct store *store, struct err *e)
{
	struct shares *shares = util_zalloc(sizeof(*shares));

	shares->store = store;
	if (store_each_share(store, take_stored, shares, e) == 0)
		return shares;
	shares_destroy(shares);
	return NULL;
}

void shares_destroy(struct shares *shares)
{
	free(shares);
}

static int put(const struct shares *shares, const struct share *share, struct err *e)
{
	struct store_share row = {.id = share->id, .session = share->session, .role = (int)share->role, .label = share->label, .tries = share->tries,
	                          .used_ms = share->used_ms, .created_ms = share->created_ms, .expires_ms = share->expires_ms};

	memcpy(row.code, share->code, sizeof(row.code));
	return store_put_share(shares->store, &row, e);
}

/* --- who is there --- */

static void leave_out(struct shares *shares, size_t i)
{
	memmove(&shares->list[i], &shares->list[i + 1], (shares->n - i - 1) * sizeof(shares->list[0]));
	shares->n--;
}

/* The store drops them with old tokens. */
static void drop_old(struct shares *shares)
{
	for (size_t i = shares->n; i-- > 0;)
		if (shares->list[i].expires_ms <= store_now_ms())
			leave_out(shares, i);
}

static struct share *find(struct shares *shares, const char *id)
{
	drop_old(shares);
	for (size_t i = 0; i < shares->n; i++)
		if (strcmp(shares->list[i].id, id) == 0)
			return &shares->list[i];
	return NULL;
}

static size_t count_of(const struct shares *shares, const char *session)
{
	size_t n = 0;

	for (size_t i = 0; i < shares->n; i++)
		n += strcmp(shares->list[i].session, session) == 0;
	return n;
}

void shares_each(struct shares *shares, const char *session, void (*fn)(void *arg, const struct share *share), void *arg)
{
	drop_old(shares);
	for (size_t i = 0; i < shares->n; i++)
		if (strcmp(shares->list[i].session, session) == 0)
			fn(arg, &shares->list[i]);
}

/* --- codes --- */

/* With the link's id, so that no two links have a code in common. False when the text is no code at all. */
static bool hash_code(const char *id, const char *code, uint8_t hash[STORE_HASH_BYTES])
{
	char text[SHARE_ID_SIZE + CODE_SIGNS] = {0};
	bool is_code = secret_read_code(code, CODE_SIGNS, text + SHARE_ID_SIZE);

	(void)snprintf(text, SHARE_ID_SIZE, "%s", id);
	hash_sha256(text, sizeof(text), hash);
	explicit_bzero(text, sizeof(text));
	return is_code;
}

static void make_id(struct share *share)
{
	auto_free char *signs = secret_new_code(ID_SIGNS, ID_SIGNS);

	for (char *c = signs; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	(void)snprintf(share->id, sizeof(share->id), "%s-%s", share->session, signs);
}

int shares_make(struct shares *shares, struct share *share, char **code, struct err *e)
{
	char *text;

	drop_old(shares);
	if (shares->n == LIMIT_SHARES_IN_ALL || count_of(shares, share->session) >= LIMIT_SHARES)
		return err_set(e, ERR_LIMIT, NULL, "a session has %d share links at most, and the server %d; revoke one, or let one expire", LIMIT_SHARES,
		               LIMIT_SHARES_IN_ALL);
	make_id(share);
	share->created_ms = store_now_ms();
	share->used_ms = 0;
	share->tries = LIMIT_SHARE_TRIES;
	text = secret_new_code(CODE_SIGNS, CODE_GROUP);
	(void)hash_code(share->id, text, share->code);
	if (put(shares, share, e) < 0) {
		secret_wipe(text);
		return -1;
	}
	shares->list[shares->n++] = *share;
	*code = text;
	return 0;
}

int shares_trade(struct shares *shares, const char *id, const char *code, struct share *out, struct err *e)
{
	struct share *share = find(shares, id);
	uint8_t hash[STORE_HASH_BYTES];
	bool is_right = hash_code(id, code, hash);

	is_right = share && hash_same(share->code, hash) && is_right && share->tries > 0;
	if (share && share->tries > 0) {
		share->tries = is_right ? 0 : share->tries - 1;
		share->used_ms = is_right ? store_now_ms() : 0;
		/* A try that is not on disk could be had again. */
		if (put(shares, share, e) < 0)
			return -1;
	}
	if (!is_right)
		return err_set(e, ERR_UNAUTHORIZED, "/code", "this code is wrong, was used already or tried too often, or its link has ended");
	*out = *share;
	return 0;
}

int shares_revoke(struct shares *shares, const char *session, const char *id, struct err *e)
{
	const struct share *share = find(shares, id);
	char shown[80];

	if (!share || strcmp(share->session, session) != 0)
		return err_set(e, ERR_NOT_FOUND, NULL, "the session has no share link %s", err_quote(shown, sizeof(shown), id, strlen(id)));
	if (store_drop_share(shares->store, share->id, e) < 0)
		return -1;
	leave_out(shares, (size_t)(share - shares->list));
	return 0;
}

void shares_forget(struct shares *shares, const char *session)
{
	for (size_t i = shares->n; i-- > 0;)
		if (strcmp(shares->list[i].session, session) == 0)
			leave_out(shares, i);
}
