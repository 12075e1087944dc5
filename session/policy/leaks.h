/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking for what is not to be told in texts: values of secrets, as such and as programs write them (Base64 at any place in it, percent-encoded, with the
 * escapes of JSON), private keys, keys of cloud services, numbers of payment cards. What is found is masked by a text that says nothing of its length.
 *
 * This is for accidents: whoever wants to get a value out finds a way to write it that is not looked for. One pass over a text; values are not copied. Pure
 * functions. Owner: session/policy.
 */
#ifndef POLICY_LEAKS_H
#define POLICY_LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/limits.h"

#define LEAKS_MASK "[masked]"
#define LEAKS_SECRET_MIN_BYTES 8 /* shorter values stand in texts by chance */

enum leak_rule { LEAK_PRIVATE_KEY, LEAK_CLOUD_KEY, LEAK_CARD, LEAK_N_RULES };
enum leak_verdict { LEAK_ALLOW, LEAK_ALERT, LEAK_MASK };

/* A value, borrowed. */
struct leak_secret {
	const uint8_t *value;
	size_t len;
};

struct leaks {
	struct leak_secret secrets[LIMIT_SECRETS];
	size_t n_secrets;
	enum leak_verdict verdicts[LEAK_N_RULES];
	bool any;            /* there is anything to look for */
	uint64_t pairs[1024]; /* a bit for each two bytes that something may begin with */
};

/* How often each was found; added to. */
struct leak_hits {
	size_t secrets[LIMIT_SECRETS]; /* by their places */
	size_t rules[LEAK_N_RULES];
};

/* Secrets and verdicts are set: makes the rest. */
void leaks_begin(struct leaks *leaks);

/* The text with masks in it, malloced and NUL-terminated, *out_len bytes; NULL when nothing is masked. Hits are counted in either case. A text that is UTF-8
 * stays UTF-8. */
char *leaks_mask(const struct leaks *leaks, const char *text, size_t len, struct leak_hits *hits, size_t *out_len);

/* How much of a text that was cut off at its end does not belong to the beginning of a secret there, of LEAKS_PART_BYTES or more. */
#define LEAKS_PART_BYTES 4
size_t leaks_whole(const struct leaks *leaks, const char *text, size_t len);

/*
 * A text that comes in pieces, of any length: what stands across their borders is found as well, as long as it ends within LEAKS_AHEAD_BYTES. `out` gets what may
 * leave, piece by piece, and ends the pass with -1. At most LEAKS_WINDOW_BYTES are kept.
 */
#define LEAKS_WINDOW_BYTES (256 * 1024)
#define LEAKS_AHEAD_BYTES (64 * 1024)
typedef int leaks_out_fn(void *arg, const char *bytes, size_t len);

struct leaks_stream {
	const struct leaks *leaks;
	leaks_out_fn *out;
	void *arg;
	char *text;       /* of LEAKS_WINDOW_BYTES; NULL: there is nothing to look for */
	size_t len, from; /* what is kept of it, and where what was not dealt with begins */
	struct leak_hits hits;
	bool masked;      /* something was */
};

void leaks_stream_begin(struct leaks_stream *stream, const struct leaks *leaks, leaks_out_fn *out, void *arg);
int leaks_stream_feed(struct leaks_stream *stream, const char *bytes, size_t len);
int leaks_stream_end(struct leaks_stream *stream); /* nothing more comes */
void leaks_stream_finish(struct leaks_stream *stream); /* wipes and frees */

/* "private_key", "cloud_key", "card". */
const char *leaks_rule_name(enum leak_rule rule);

/* The verdict of this name: "allow", "alert", "mask". */
enum leak_verdict leaks_verdict(const char *name);

#endif
