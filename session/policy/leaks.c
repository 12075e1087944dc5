/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two bytes of a text say whether anything may begin there; only then each candidate is compared, straight against the value: no pattern of it is in memory.
 */
#include "session/policy/leaks.h"

#include <ctype.h>
#include <string.h>

#include "session/base/util.h"
#include "session/base/written.h"

#define CARD_MIN_DIGITS 13
#define CARD_MAX_DIGITS 19
#define PEM_BEGIN "-----BEGIN "
#define PEM_END "-----END "
#define PEM_LABEL_MAX 48

/* --- rules --- */

static bool begins(const struct written_text *text, size_t at, const char *with)
{
	size_t len = strlen(with);

	return text->len - at >= len && memcmp(text->bytes + at, with, len) == 0;
}

/* A block up to its end, or to that of the text. */
static size_t match_private_key(const struct written_text *text, size_t at)
{
	const char *label, *end, *dashes;
	size_t left;

	if (!begins(text, at, PEM_BEGIN))
		return 0;
	label = text->bytes + at + strlen(PEM_BEGIN);
	left = text->len - at - strlen(PEM_BEGIN);
	dashes = memmem(label, left < PEM_LABEL_MAX ? left : PEM_LABEL_MAX, "-----", 5);
	if (!dashes || !memmem(label, (size_t)(dashes - label), "PRIVATE KEY", 11))
		return 0;
	end = memmem(dashes, left - (size_t)(dashes - label), PEM_END, strlen(PEM_END));
	if (!end)
		return text->len - at;
	left = text->len - (size_t)(end - text->bytes) - strlen(PEM_END);
	dashes = memmem(end + strlen(PEM_END), left < PEM_LABEL_MAX ? left : PEM_LABEL_MAX, "-----", 5);
	return dashes ? (size_t)(dashes + 5 - (text->bytes + at)) : text->len - at;
}

/* What keys of well-known services begin with, and how many characters follow. Those that Base64 of anything may have by chance are told by their length. */
#define MORE 4096
static const struct {
	const char *prefix;
	size_t min, max;
} cloud_keys[] = {
	{"AKIA", 16, 16},        {"ASIA", 16, 16},     {"AIza", 35, 35},       {"ya29.", 20, MORE},   {"ghp_", 36, MORE},    {"gho_", 36, MORE},
	{"ghu_", 36, MORE},      {"ghs_", 36, MORE},   {"ghr_", 36, MORE},     {"github_pat_", 22, MORE}, {"glpat-", 20, MORE}, {"xoxb-", 10, MORE},
	{"xoxp-", 10, MORE},     {"xoxa-", 10, MORE},  {"xoxs-", 10, MORE},    {"sk_live_", 20, MORE}, {"rk_live_", 20, MORE}, {"sk-ant-", 20, MORE},
	{"sk-proj-", 20, MORE},  {"npm_", 36, MORE},   {"hf_", 30, MORE},      {"dop_v1_", 40, MORE},
};

static bool is_key_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static size_t match_cloud_key(const struct written_text *text, size_t at)
{
	if (at > 0 && (is_key_char(text->bytes[at - 1]) || text->bytes[at - 1] == '+' || text->bytes[at - 1] == '/'))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(cloud_keys); i++) {
		size_t end = at + strlen(cloud_keys[i].prefix), n = 0;

		if (!begins(text, at, cloud_keys[i].prefix))
			continue;
		while (end + n < text->len && is_key_char(text->bytes[end + n]))
			n++;
		return n >= cloud_keys[i].min && n <= cloud_keys[i].max ? end + n - at : 0;
	}
	return 0;
}

/* The check digit of ISO 7812. */
static bool is_luhn(const uint8_t *digits, size_t n)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int digit = digits[n - 1 - i] * (i % 2 ? 2U : 1U);

		sum += digit > 9 ? digit - 9 : digit;
	}
	return sum % 10 == 0;
}

static bool is_digit_at(const struct written_text *text, size_t at)
{
	return at < text->len && text->bytes[at] >= '0' && text->bytes[at] <= '9';
}

static size_t match_card(const struct written_text *text, size_t at)
{
	uint8_t digits[CARD_MAX_DIGITS];
	size_t start = at, n = 0;

	if (text->bytes[at] < '3' || text->bytes[at] > '6' || (at > 0 && (is_key_char(text->bytes[at - 1]) || text->bytes[at - 1] == '.')))
		return 0;
	while (is_digit_at(text, at)) {
		if (n == CARD_MAX_DIGITS)
			return 0;
		digits[n++] = (uint8_t)(text->bytes[at++] - '0');
		if (at < text->len && (text->bytes[at] == ' ' || text->bytes[at] == '-') && is_digit_at(text, at + 1))
			at++;
	}
	return n >= CARD_MIN_DIGITS && is_luhn(digits, n) ? at - start : 0;
}

static const struct {
	const char *name;
	size_t (*match)(const struct written_text *text, size_t at);
} rules[LEAK_N_RULES] = {
	[LEAK_PRIVATE_KEY] = {"private_key", match_private_key},
	[LEAK_CLOUD_KEY] = {"cloud_key", match_cloud_key},
	[LEAK_CARD] = {"card", match_card},
};

const char *leaks_rule_name(enum leak_rule rule)
{
	return rules[rule].name;
}

enum leak_verdict leaks_verdict(const char *name)
{
	return strcmp(name, "mask") == 0 ? LEAK_MASK : strcmp(name, "alert") == 0 ? LEAK_ALERT : LEAK_ALLOW;
}

/* --- where something may begin --- */

static size_t pair_of(char a, char b)
{
	return (size_t)((uint8_t)a | (unsigned int)(uint8_t)b << 8);
}

static void add_pair(void *arg, char a, char b)
{
	struct leaks *leaks = arg;
	size_t pair = pair_of(a, b);

	leaks->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
}

static void add_rules(struct leaks *leaks)
{
	if (leaks->verdicts[LEAK_PRIVATE_KEY] != LEAK_ALLOW)
		add_pair(leaks, PEM_BEGIN[0], PEM_BEGIN[1]);
	for (size_t i = 0; i < ARRAY_LEN(cloud_keys) && leaks->verdicts[LEAK_CLOUD_KEY] != LEAK_ALLOW; i++)
		add_pair(leaks, cloud_keys[i].prefix[0], cloud_keys[i].prefix[1]);
	for (char a = '3'; a <= '6' && leaks->verdicts[LEAK_CARD] != LEAK_ALLOW; a++)
		for (char b = '0'; b <= '9'; b++)
			add_pair(leaks, a, b);
}

void leaks_begin(struct leaks *leaks)
{
	memset(leaks->pairs, 0, sizeof(leaks->pairs));
	for (size_t i = 0; i < leaks->n_secrets; i++)
		if (leaks->secrets[i].len >= LEAKS_SECRET_MIN_BYTES)
			written_begins(leaks->secrets[i].value, leaks->secrets[i].len, add_pair, leaks);
	add_rules(leaks);
	leaks->any = false;
	for (size_t i = 0; i < ARRAY_LEN(leaks->pairs); i++)
		leaks->any |= leaks->pairs[i] != 0;
}

/* --- the pass --- */

/* What is at this place: its length, 0 for nothing, and whether it is to be masked. */
static size_t find_at(const struct leaks *leaks, const struct written_text *text, size_t at, struct leak_hits *hits, bool *masks)
{
	size_t n;

	for (size_t i = 0; i < leaks->n_secrets; i++) {
		const struct leak_secret *secret = &leaks->secrets[i];

		n = secret->len >= LEAKS_SECRET_MIN_BYTES ? written_match(text, at, secret->value, secret->len) : 0;
		if (n == 0)
			continue;
		hits->secrets[i]++;
		*masks = true;
		return n;
	}
	for (size_t i = 0; i < LEAK_N_RULES; i++) {
		n = leaks->verdicts[i] == LEAK_ALLOW ? 0 : rules[i].match(text, at);
		if (n == 0)
			continue;
		hits->rules[i]++;
		*masks = leaks->verdicts[i] == LEAK_MASK;
		return n;
	}
	return 0;
}

/* A text that grows. */
struct masked {
	char *bytes;
	size_t len;
	size_t taken; /* of the original */
};

static void put(struct masked *out, const char *bytes, size_t n)
{
	memcpy(out->bytes + out->len, bytes, n);
	out->len += n;
}

/* What stood before it, and the mask. A mask may be longer than what it hides: room is made. */
static void mask(struct masked *out, const struct written_text *text, size_t at, size_t n)
{
	size_t before = at - out->taken;

	out->bytes = util_realloc(out->bytes, out->len + before + strlen(LEAKS_MASK) + (text->len - at - n) + 1);
	put(out, text->bytes + out->taken, before);
	put(out, LEAKS_MASK, strlen(LEAKS_MASK));
	out->taken = at + n;
}

/* Looks at the places from `from` to before `to`, of which later ones may be part of what begins there; where that ends is in *end. */
static struct masked pass(const struct leaks *leaks, const struct written_text *text, size_t from, size_t to, struct leak_hits *hits, size_t *end)
{
	struct masked out = {.bytes = NULL, .taken = from};
	size_t at = from;

	while (at < to && at + 1 < text->len) {
		size_t pair = pair_of(text->bytes[at], text->bytes[at + 1]), n = 0;
		bool masks = false;

		if (leaks->pairs[pair / 64] >> pair % 64 & 1)
			n = find_at(leaks, text, at, hits, &masks);
		if (masks)
			mask(&out, text, at, n);
		at += n > 0 ? n : 1;
	}
	*end = at < to ? to : at;
	return out;
}

size_t leaks_whole(const struct leaks *leaks, const char *text, size_t len)
{
	size_t most = 0;

	for (size_t i = 0; i < leaks->n_secrets; i++) {
		const struct leak_secret *secret = &leaks->secrets[i];

		for (size_t part = LEAKS_PART_BYTES; part < secret->len && part <= len; part++)
			if (memcmp(text + len - part, secret->value, part) == 0 && part > most)
				most = part;
	}
	return len - most;
}

char *leaks_mask(const struct leaks *leaks, const char *bytes, size_t len, struct leak_hits *hits, size_t *out_len)
{
	const struct written_text text = {bytes, len};
	struct masked out;
	size_t end;

	if (!leaks->any || len < LEAKS_SECRET_MIN_BYTES)
		return NULL;
	out = pass(leaks, &text, 0, len, hits, &end);
	if (!out.bytes)
		return NULL;
	put(&out, bytes + out.taken, len - out.taken);
	out.bytes[out.len] = '\0';
	*out_len = out.len;
	return out.bytes;
}

/* --- a text that comes in pieces --- */

void leaks_stream_begin(struct leaks_stream *stream, const struct leaks *leaks, leaks_out_fn *out, void *arg)
{
	*stream = (struct leaks_stream){.leaks = leaks, .out = out, .arg = arg};
	if (leaks->any)
		stream->text = util_alloc(LEAKS_WINDOW_BYTES);
}

/* Deals with what begins before `to`, and keeps the rest, with the byte before it. */
static int deal(struct leaks_stream *stream, size_t to)
{
	const struct written_text text = {stream->text, stream->len};
	size_t end, kept;
	struct masked out = pass(stream->leaks, &text, stream->from, to, &stream->hits, &end);
	int rc = out.len > 0 ? stream->out(stream->arg, out.bytes, out.len) : 0;

	stream->masked |= out.bytes != NULL;
	if (rc == 0 && end > out.taken)
		rc = stream->out(stream->arg, stream->text + out.taken, end - out.taken);
	if (out.bytes)
		explicit_bzero(out.bytes, out.len);
	free(out.bytes);
	kept = end > 0 ? end - 1 : 0;
	memmove(stream->text, stream->text + kept, stream->len - kept);
	stream->len -= kept;
	stream->from = end - kept;
	return rc;
}

int leaks_stream_feed(struct leaks_stream *stream, const char *bytes, size_t len)
{
	if (!stream->leaks->any)
		return len > 0 ? stream->out(stream->arg, bytes, len) : 0;
	while (len > 0) {
		size_t room = LEAKS_WINDOW_BYTES - stream->len, n = len < room ? len : room;

		memcpy(stream->text + stream->len, bytes, n);
		stream->len += n;
		bytes += n;
		len -= n;
		if (stream->len == LEAKS_WINDOW_BYTES && deal(stream, LEAKS_WINDOW_BYTES - LEAKS_AHEAD_BYTES) < 0)
			return -1;
	}
	return 0;
}

int leaks_stream_end(struct leaks_stream *stream)
{
	return stream->leaks->any && stream->len > stream->from ? deal(stream, stream->len) : 0;
}

void leaks_stream_finish(struct leaks_stream *stream)
{
	if (stream->text)
		explicit_bzero(stream->text, LEAKS_WINDOW_BYTES);
	free(stream->text);
	stream->text = NULL;
}
