/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tickets. Looked up as tokens are: compared with every hash that there is. */
#include "session/front/tickets.h"

#include <string.h>

#include "session/base/hash.h"
#include "session/base/limits.h"
#include "session/base/secret.h"
#include "session/base/util.h"

#define N_SIGNS 20
#define GROUP 5

struct entry {
	uint8_t hash[STORE_HASH_BYTES];
	struct ticket ticket;
};

struct tickets {
	struct entry entries[LIMIT_TICKETS];
	size_t n_entries;
};

static const struct {
	int64_t ms;
	const char *words;
} lives[N_TICKET_KINDS] = {
	[TICKET_CONSOLE] = {LIMIT_CODE_MS, "five minutes"},
	[TICKET_VIEW] = {LIMIT_VIEW_TICKET_MS, "30 s"},
};

struct tickets *tickets_create(void)
{
	return util_zalloc(sizeof(struct tickets));
}

void tickets_destroy(struct tickets *tickets)
{
	free(tickets);
}

static void hash_signs(const char *text, uint8_t hash[STORE_HASH_BYTES], bool *is_whole)
{
	char signs[N_SIGNS] = {0};

	*is_whole = secret_read_code(text, N_SIGNS, signs);
	hash_sha256(signs, sizeof(signs), hash);
	explicit_bzero(signs, sizeof(signs));
}

/* The last takes its place. */
static void drop(struct tickets *tickets, size_t i)
{
	struct entry *last = &tickets->entries[--tickets->n_entries];

	if (i < tickets->n_entries)
		tickets->entries[i] = *last;
	explicit_bzero(last, sizeof(*last));
}

static void drop_old(struct tickets *tickets, int64_t now_ms)
{
	for (size_t i = tickets->n_entries; i-- > 0;)
		if (tickets->entries[i].ticket.expires_ms <= now_ms)
			drop(tickets, i);
}

static size_t count_of(const struct tickets *tickets, const struct ticket *ticket)
{
	size_t n = 0;

	for (size_t i = 0; i < tickets->n_entries; i++)
		n += tickets->entries[i].ticket.kind == ticket->kind && strcmp(tickets->entries[i].ticket.session, ticket->session) == 0;
	return n;
}

int tickets_make(struct tickets *tickets, struct ticket *ticket, int64_t now_ms, char **text, struct err *e)
{
	struct entry *entry;
	bool is_whole;

	drop_old(tickets, now_ms);
	if (tickets->n_entries == LIMIT_TICKETS || count_of(tickets, ticket) == LIMIT_SESSION_TICKETS)
		return err_set(e, ERR_LIMIT, NULL, "%d links of a session may wait to be used, and %d of the server; the first expires within %s",
		               LIMIT_SESSION_TICKETS, LIMIT_TICKETS, lives[ticket->kind].words);
	ticket->expires_ms = now_ms + lives[ticket->kind].ms;
	entry = &tickets->entries[tickets->n_entries++];
	entry->ticket = *ticket;
	*text = secret_new_code(N_SIGNS, GROUP);
	hash_signs(*text, entry->hash, &is_whole);
	return 0;
}

bool tickets_take(struct tickets *tickets, enum ticket_kind kind, const char *text, int64_t now_ms, struct ticket *out)
{
	uint8_t hash[STORE_HASH_BYTES];
	bool is_whole;
	size_t found;

	drop_old(tickets, now_ms);
	hash_signs(text, hash, &is_whole);
	if (!is_whole)
		return false;
	found = tickets->n_entries;
	for (size_t i = 0; i < tickets->n_entries; i++)
		if (hash_same(tickets->entries[i].hash, hash))
			found = i;
	if (found == tickets->n_entries || tickets->entries[found].ticket.kind != kind)
		return false;
	*out = tickets->entries[found].ticket;
	drop(tickets, found);
	return true;
}

void tickets_revoke(struct tickets *tickets, const char *session, const char *token_id)
{
	for (size_t i = tickets->n_entries; i-- > 0;) {
		const struct ticket *ticket = &tickets->entries[i].ticket;

		if (ticket->kind == TICKET_VIEW && strcmp(ticket->session, session) == 0 && strcmp(ticket->who.name, token_id) == 0)
			drop(tickets, i);
	}
}
