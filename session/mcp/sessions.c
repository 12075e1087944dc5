/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions of legacy clients, in memory: after a restart clients begin anew. */
#include "session/mcp/sessions.h"

#include <stdio.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define TOKEN_TEXT_SIZE 32

struct entry {
	struct mcp_session session;
	char token[TOKEN_TEXT_SIZE];
	int64_t used_ms;
	struct entry *next;
};

struct mcp_sessions {
	struct entry *first;
	size_t n;
};

struct mcp_sessions *mcp_sessions_create(void)
{
	return util_zalloc(sizeof(struct mcp_sessions));
}

static void drop(struct mcp_sessions *all, struct entry **place)
{
	struct entry *entry = *place;

	*place = entry->next;
	all->n--;
	json_decref(entry->session.caps);
	free(entry);
}

void mcp_sessions_destroy(struct mcp_sessions *all)
{
	while (all && all->first)
		drop(all, &all->first);
	free(all);
}

static bool is_of(const struct entry *entry, const char *token)
{
	return !token || strcmp(entry->token, token) == 0;
}

/* The one that was used longest ago, of this token or (NULL) of any; *n counts them. */
static struct entry **oldest(struct mcp_sessions *all, const char *token, size_t *n)
{
	struct entry **found = NULL;

	*n = 0;
	for (struct entry **place = &all->first; *place; place = &(*place)->next) {
		if (!is_of(*place, token))
			continue;
		++*n;
		if (!found || (*place)->used_ms <= (*found)->used_ms)
			found = place;
	}
	return found;
}

static void make_room(struct mcp_sessions *all, const char *token)
{
	size_t n_of_token, n;
	struct entry **of_token = oldest(all, token, &n_of_token);

	if (n_of_token >= LIMIT_MCP_SESSIONS_OF_TOKEN)
		drop(all, of_token);
	else if (all->n >= LIMIT_MCP_SESSIONS)
		drop(all, oldest(all, NULL, &n));
}

const struct mcp_session *mcp_sessions_begin(struct mcp_sessions *all, const char *token, const struct revision *revision, const json_t *caps,
                                             int64_t now_ms)
{
	struct entry *entry = util_zalloc(sizeof(*entry));
	uint8_t random[16];

	make_room(all, token);
	util_random(random, sizeof(random));
	util_hex(entry->session.id, random, sizeof(random));
	(void)snprintf(entry->token, sizeof(entry->token), "%s", token);
	entry->session.token = entry->token;
	entry->session.revision = revision;
	entry->session.caps = caps ? json_deep_copy(caps) : json_object();
	entry->used_ms = now_ms;
	entry->next = all->first;
	all->first = entry;
	all->n++;
	return &entry->session;
}

static struct entry **place_of(struct mcp_sessions *all, const char *token, const char *id)
{
	for (struct entry **place = &all->first; *place; place = &(*place)->next)
		if (is_of(*place, token) && strcmp((*place)->session.id, id) == 0)
			return place;
	return NULL;
}

const struct mcp_session *mcp_sessions_find(struct mcp_sessions *all, const char *token, const char *id, int64_t now_ms)
{
	struct entry **place = place_of(all, token, id);

	if (!place)
		return NULL;
	(*place)->used_ms = now_ms;
	return &(*place)->session;
}

bool mcp_sessions_end(struct mcp_sessions *all, const char *token, const char *id)
{
	struct entry **place = place_of(all, token, id);

	if (place)
		drop(all, place);
	return place;
}
