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
#define TEXT_BYTES (N_SIGNS + N_SIGNS / GROUP) /* with dashes between the groups and a NUL */

struct entry {
	uint8_t hash[STORE_HASH_BYTES];
	struct ticket ticket;
};

struct tickets {
	struct entry entries[LIMIT_TICKETS];
	size_t n_entries;
};

struct tickets *tickets_create(void)
{
	return util_zalloc(sizeof(struct tickets));
}

void tickets_destroy(struct tickets *tickets)
{
	free(tickets);
}

/* Of 32 signs; none of them looks like another. */
static char *random_text(uint8_t hash[STORE_HASH_BYTES])
{
	static const char alphabet[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
	uint8_t random[N_SIGNS];
	char signs[N_SIGNS], *text = util_zalloc(TEXT_BYTES);
	size_t len = 0;

	util_random(random, sizeof(random));
	for (size_t i = 0; i < N_SIGNS; i++) {
		signs[i] = alphabet[random[i] % 32];
		if (i > 0 && i % GROUP == 0)
			text[len++] = '-';
		text[len++] = signs[i];
	}
	hash_sha256(signs, sizeof(signs), hash);
	explicit_bzero(random, sizeof(random));
	explicit_bzero(signs, sizeof(signs));
	return text;
}

static void drop_old(struct tickets *tickets, int64_t now_ms)
{
	size_t kept = 0;

	for (size_t i = 0; i < tickets->n_entries; i++)
		if (tickets->entries[i].ticket.expires_ms > now_ms)
			tickets->entries[kept++] = tickets->entries[i];
	tickets->n_entries = kept;
}

static size_t count_of(const struct tickets *tickets, const char *session)
{
	size_t n = 0;

	for (size_t i = 0; i < tickets->n_entries; i++)
		n += strcmp(tickets->entries[i].ticket.session, session) == 0;
	return n;
}

int tickets_make(struct tickets *tickets, struct ticket *ticket, int64_t now_ms, char **text, struct err *e)
{
	struct entry *entry;

	drop_old(tickets, now_ms);
	if (tickets->n_entries == LIMIT_TICKETS || count_of(tickets, ticket->session) == LIMIT_SESSION_TICKETS)
		return err_set(e, ERR_LIMIT, NULL, "%d links of a session may wait to be used, and %d of the server; the first expires within five minutes",
		               LIMIT_SESSION_TICKETS, LIMIT_TICKETS);
	ticket->expires_ms = now_ms + LIMIT_CODE_MS;
	entry = &tickets->entries[tickets->n_entries++];
	entry->ticket = *ticket;
	*text = random_text(entry->hash);
	return 0;
}

/* The signs of a text as people type it; false when it has not as many as a ticket has. */
static bool read_signs(const char *text, char signs[N_SIGNS])
{
	size_t n = 0;

	for (; *text; text++) {
		if (*text == '-' || *text == ' ')
			continue;
		if (n == N_SIGNS)
			return false;
		signs[n++] = *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text;
	}
	return n == N_SIGNS;
}

bool tickets_take(struct tickets *tickets, const char *text, int64_t now_ms, struct ticket *out)
{
	uint8_t hash[STORE_HASH_BYTES];
	char signs[N_SIGNS];
	size_t found;

	drop_old(tickets, now_ms);
	if (!read_signs(text, signs))
		return false;
	hash_sha256(signs, sizeof(signs), hash);
	found = tickets->n_entries;
	for (size_t i = 0; i < tickets->n_entries; i++)
		if (hash_same(tickets->entries[i].hash, hash))
			found = i;
	if (found == tickets->n_entries)
		return false;
	*out = tickets->entries[found].ticket;
	tickets->entries[found] = tickets->entries[--tickets->n_entries];
	return true;
}
