/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chained lines. */
#include "session/base/chain.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "session/base/hash.h"
#include "session/base/json_text.h"
#include "session/base/util.h"

/* The next link, over the hash so far and a line. */
static void link_line(const unsigned char before[CHAIN_HASH_BYTES], const char *text, size_t len, unsigned char out[CHAIN_HASH_BYTES])
{
	gnutls_hash_hd_t state;

	if (gnutls_hash_init(&state, GNUTLS_DIG_SHA256) < 0 || gnutls_hash(state, before, CHAIN_HASH_BYTES) < 0 ||
	    gnutls_hash(state, text, len) < 0)
		DIE("SHA-256 does not work");
	gnutls_hash_deinit(state, out);
}

json_t *chain_line(const struct chain *chain, const char *event, const json_t *fields)
{
	char time[32];
	json_t *line = json_pack("{s:I,s:s,s:I,s:s}", "seq", (json_int_t)(chain->seq + 1), "time", util_wall_time(time, sizeof(time)),
	                         "mono_ms", (json_int_t)util_now_ms(), "event", event);

	/* jansson wants an object that may change; nothing of it is changed. */
	if (!line || (fields && json_object_update_missing(line, (json_t *)(uintptr_t)fields) < 0))
		DIE("no memory for a line");
	return line;
}

char *chain_text(const struct chain *chain, const json_t *line, struct chain *next)
{
	size_t len;
	auto_free char *text = json_text(line, &len);
	char hex[CHAIN_HEX_SIZE];

	next->seq = chain->seq + 1;
	link_line(chain->hash, text, len, next->hash);
	util_hex(hex, next->hash, sizeof(next->hash));
	return util_printf("%.*s,\"hash\":\"%s\"}\n", (int)(len - 1), text, hex);
}

bool chain_resume(struct chain *chain, const char *text, size_t len)
{
	const char *end = text && len > 0 ? memrchr(text, '\n', len) : NULL;
	const char *before = end ? memrchr(text, '\n', (size_t)(end - text)) : NULL;
	const char *start = before ? before + 1 : text;
	json_auto_t *line = end ? json_loadb(start, (size_t)(end - start), 0, NULL) : NULL;
	const json_t *seq = json_object_get(line, "seq");
	struct chain found = {.seq = json_integer_value(seq)};

	if (!json_is_integer(seq) || found.seq < 1 || !hash_from_hex(json_string_value(json_object_get(line, "hash")), found.hash))
		return false;
	*chain = found;
	return true;
}

json_t *chain_head(const struct chain *chain)
{
	char hex[CHAIN_HEX_SIZE];

	util_hex(hex, chain->hash, sizeof(chain->hash));
	return json_pack("{s:I,s:s}", "seq", (json_int_t)chain->seq, "hash", hex);
}
