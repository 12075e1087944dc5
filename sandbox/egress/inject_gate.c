/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pass over an answer. Two bytes say whether a value may begin there, as in session/policy/leaks.c. What is held back does not depend on the values: else whoever
 * can choose what an answer holds, and sees in which pieces it comes, would guess them character by character.
 */
#include <string.h>

#include "sandbox/egress/inject_inner.h"
#include "session/base/util.h"
#include "session/base/written.h"

#define LONGEST_FORM 6   /* times as long as the value: \u0000 */
#define SHORT_REACH 4096 /* for values of up to 682 bytes: how long one is does not show */

struct gate {
	const struct inject *inject;
	size_t reach;            /* how long a value may be, as it is written */
	char *bytes;             /* the last that were passed on, those that are held back, then what came */
	size_t len, room, passed; /* of them, what the caller got */
	const char *found;
};

static void add_pair(void *arg, char a, char b)
{
	struct inject *inject = arg;
	size_t first = (uint8_t)a, pair = first | (size_t)(uint8_t)b << 8;

	inject->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
}

void inject_look_for(struct inject *inject, const struct injected *secret)
{
	written_begins((const uint8_t *)secret->value, secret->len, add_pair, inject);
}

struct gate *gate_create(const struct inject *inject)
{
	struct gate *gate = util_zalloc(sizeof(*gate));

	gate->inject = inject;
	gate->reach = SHORT_REACH;
	for (size_t i = 0; i < inject->n_secrets; i++)
		if (inject->secrets[i].len * LONGEST_FORM > SHORT_REACH)
			gate->reach = LIMIT_SECRET_BYTES * LONGEST_FORM;
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
		return false;
	pair = first | (size_t)(uint8_t)gate->bytes[at + 1] << 8;
	return gate->inject->pairs[pair / 64] >> pair % 64 & 1;
}

static bool is_value(struct gate *gate, size_t at)
{
	const struct written_text text = {gate->bytes, gate->len};

	for (size_t i = 0; i < gate->inject->n_secrets; i++) {
		const struct injected *secret = &gate->inject->secrets[i];

		if (written_match(&text, at, (const uint8_t *)secret->value, secret->len) == 0)
			continue;
		gate->found = secret->name;
		return true;
	}
	return false;
}

/* Behind what was held back before, and so much of what was passed on as a value may have begun in. */
static void take(struct gate *gate, const char *bytes, size_t len)
{
	size_t drop = gate->passed > gate->reach ? gate->passed - gate->reach : 0, kept = gate->len - drop;

	if (kept + len > gate->room) {
		gate->room = kept + len;
		gate->bytes = util_realloc(gate->bytes, gate->room);
	}
	if (kept > 0)
		memmove(gate->bytes, gate->bytes + drop, kept);
	if (len > 0)
		memcpy(gate->bytes + kept, bytes, len);
	gate->len = kept + len;
	gate->passed -= drop;
}

/* The first byte that is held back: behind the last one that no value has in it, or as many as a value may take. */
static size_t find_hold(const struct gate *gate)
{
	size_t least = gate->len > gate->reach ? gate->len - gate->reach : 0, at = gate->len;

	least = least > gate->passed ? least : gate->passed;
	while (at > least && gate->bytes[at - 1] >= ' ' && gate->bytes[at - 1] <= '~')
		at--;
	return at;
}

int gate_pass(struct gate *gate, const char *bytes, size_t len, const char **out, size_t *out_len)
{
	size_t from;

	if (gate->found)
		return -1;
	take(gate, bytes, len);
	for (size_t at = 0; at < gate->len; at++)
		if (may_begin(gate, at) && is_value(gate, at))
			return -1;
	from = gate->passed;
	gate->passed = find_hold(gate);
	*out = gate->bytes ? gate->bytes + from : NULL;
	*out_len = gate->passed - from;
	return 0;
}

void gate_end(struct gate *gate, const char **out, size_t *out_len)
{
	*out = gate->bytes ? gate->bytes + gate->passed : NULL;
	*out_len = gate->found ? 0 : gate->len - gate->passed;
	gate->len = gate->passed = 0;
}

const char *gate_found(const struct gate *gate)
{
	return gate->found;
}
