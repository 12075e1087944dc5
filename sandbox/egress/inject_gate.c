/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pass over an answer. Two bytes say whether a value may begin there, as in session/policy/leaks.c; the first place where the text ends before that is known
 * is where holding back begins.
 */
#include <string.h>

#include "sandbox/egress/inject_inner.h"
#include "session/base/util.h"
#include "session/base/written.h"

struct gate {
	const struct inject *inject;
	char *bytes;             /* held back, then what came */
	size_t len, room, passed; /* of them, what the caller got */
	const char *found;
};

static void add_pair(void *arg, char a, char b)
{
	struct inject *inject = arg;
	size_t first = (uint8_t)a, pair = first | (size_t)(uint8_t)b << 8;

	inject->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
	inject->firsts[first / 64] |= UINT64_C(1) << first % 64;
}

void inject_look_for(struct inject *inject, const struct injected *secret)
{
	written_begins((const uint8_t *)secret->value, secret->len, add_pair, inject);
}

struct gate *gate_create(const struct inject *inject)
{
	struct gate *gate = util_zalloc(sizeof(*gate));

	gate->inject = inject;
	return gate;
}

void gate_destroy(struct gate *gate)
{
	if (!gate)
		return;
	if (gate->bytes)
		explicit_bzero(gate->bytes, gate->room);
	free(gate->bytes);
	free(gate);
}

static bool may_begin(const struct gate *gate, size_t at)
{
	size_t first = (uint8_t)gate->bytes[at], pair;

	if (at + 1 == gate->len)
		return gate->inject->firsts[first / 64] >> first % 64 & 1;
	pair = first | (size_t)(uint8_t)gate->bytes[at + 1] << 8;
	return gate->inject->pairs[pair / 64] >> pair % 64 & 1;
}

/* True when a value is here; *unfinished when one may be. */
static bool is_value(struct gate *gate, size_t at, bool *unfinished)
{
	const struct written_text text = {gate->bytes, gate->len};

	for (size_t i = 0; i < gate->inject->n_secrets; i++) {
		const struct injected *secret = &gate->inject->secrets[i];

		if (written_match(&text, at, (const uint8_t *)secret->value, secret->len, unfinished) == 0)
			continue;
		gate->found = secret->name;
		return true;
	}
	return false;
}

/* Behind what was held back before. */
static void take(struct gate *gate, const char *bytes, size_t len)
{
	size_t held = gate->len - gate->passed;

	if (held + len > gate->room) {
		gate->room = held + len;
		gate->bytes = util_realloc(gate->bytes, gate->room);
	}
	if (held > 0)
		memmove(gate->bytes, gate->bytes + gate->passed, held);
	if (len > 0)
		memcpy(gate->bytes + held, bytes, len);
	gate->len = held + len;
	gate->passed = 0;
}

int gate_pass(struct gate *gate, const char *bytes, size_t len, const char **out, size_t *out_len)
{
	size_t hold;

	if (gate->found)
		return -1;
	take(gate, bytes, len);
	hold = gate->len;
	for (size_t at = 0; at < gate->len; at++) {
		bool unfinished = false;

		if (!may_begin(gate, at))
			continue;
		if (is_value(gate, at, &unfinished))
			return -1;
		if (unfinished && hold == gate->len)
			hold = at;
	}
	gate->passed = hold;
	*out = gate->bytes;
	*out_len = hold;
	return 0;
}

void gate_end(struct gate *gate, const char **out, size_t *out_len)
{
	*out = gate->bytes ? gate->bytes + gate->passed : NULL;
	*out_len = gate->found ? 0 : gate->len - gate->passed;
	gate->passed = gate->len;
}

const char *gate_found(const struct gate *gate)
{
	return gate->found;
}
