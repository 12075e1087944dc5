/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ceilings: a row per key. */
#include "session/warden/ceilings.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/warden/proto.h"

#define PERMIT "egress_permit"
#define PERMITS 16 /* prefixes */

static const struct key {
	const char *name;
	size_t place;
	uint32_t usual, min, max;
	const char *words; /* what is written in place of the numbers from 0 on, with a space between them */
} KEYS[] = {
	{"sessions", offsetof(struct ceilings, sessions), LIMIT_SESSIONS, 1, LIMIT_SESSIONS_MAX, NULL},
	{"memory_mb", offsetof(struct ceilings, memory_mb), 65536, LIMIT_MEMORY_MIN_MB, 1024 * 1024, NULL},
	{"pids", offsetof(struct ceilings, pids), 32768, LIMIT_PIDS_MIN, 1024 * 1024, NULL},
	{"disk_mb", offsetof(struct ceilings, disk_mb), 32768, LIMIT_DISK_MIN_MB, 1024 * 1024, NULL},
	{"cpu_milli", offsetof(struct ceilings, cpu_milli), 64000, LIMIT_CPU_MIN_MILLI, 1024 * 1000, NULL},
	{"inodes", offsetof(struct ceilings, inodes), 4194304, LIMIT_INODES_MIN, 1U << 30, NULL},
	{"open_files", offsetof(struct ceilings, open_files), 65536, LIMIT_OPEN_FILES_MIN, 1048576, NULL},
	{"x_mb", offsetof(struct ceilings, x_mb), 4096, LIMIT_X_MIN_MB, 65536, NULL},
	{"ttl_s", offsetof(struct ceilings, ttl_s), LIMIT_TTL_S, 1, LIMIT_TTL_S, NULL},
	{"egress", offsetof(struct ceilings, egress), EGRESS_OPEN, EGRESS_NONE, EGRESS_OPEN, "none allowlist open"},
	{"unlimited", offsetof(struct ceilings, unlimited), 0, 0, 1, NULL},
	/* Above every uid that a system gives away, below 2^31. */
	{"uid_base", offsetof(struct ceilings, uid_base), 1900000000, 65536, 2000000000, NULL},
};

static uint32_t *field(struct ceilings *ceilings, const struct key *key)
{
	return (uint32_t *)(void *)((char *)ceilings + key->place);
}

void ceilings_default(struct ceilings *ceilings)
{
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++)
		*field(ceilings, &KEYS[i]) = KEYS[i].usual;
	ceilings->permit[0] = '\0';
}

static int refuse_name(const char *name, int number, struct err *e)
{
	char names[192];
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, " %s", KEYS[i].name);
	return err_set(e, ERR_BAD_FIELD, NULL, "line %d: no ceiling is called %s; there are:%s " PERMIT, number, name, names);
}

/* Digits alone: with a sign they would be taken modulo 2^64. */
static bool read_value(const struct key *key, const char *text, unsigned long long *value)
{
	const char *word = key->words;
	size_t len = strlen(text);

	if (!word) {
		*value = strtoull(text, NULL, 10);
		return len > 0 && len < 20 && strspn(text, "0123456789") == len;
	}
	for (*value = 0; *word; (*value)++) {
		size_t n = strcspn(word, " ");

		if (n == len && strncmp(word, text, n) == 0)
			return true;
		word += n + (word[n] == ' ');
	}
	return false;
}

static int refuse_value(const struct key *key, const char *text, int number, struct err *e)
{
	char shown[80];

	err_quote(shown, sizeof(shown), text, strlen(text));
	if (key->words)
		return err_set(e, ERR_BAD_FIELD, NULL, "line %d: %s is %s; it must be one of: %s", number, key->name, shown, key->words);
	return err_set(e, ERR_BAD_FIELD, NULL, "line %d: %s is %s; the form is \"key = number\"", number, key->name, shown);
}

/* Are all bits behind the first ones zero? */
static bool ends_at(const uint8_t *bytes, unsigned n_bits, unsigned bits)
{
	for (unsigned bit = bits; bit < n_bits; bit++)
		if (bytes[bit / 8] & (0x80 >> bit % 8))
			return false;
	return true;
}

/* One prefix of "egress_permit", by the rules of address_read_prefix: glovebox-egress reads it again, and does not start with one that it refuses. */
static bool is_prefix(char *text)
{
	unsigned n_bits = strchr(text, ':') ? 128 : 32, bits = n_bits;
	char *slash = strchr(text, '/');
	uint8_t bytes[16];
	size_t len;

	if (slash) {
		*slash++ = '\0';
		len = strlen(slash);
		if (len < 1 || len > 3 || strspn(slash, "0123456789") != len)
			return false;
		bits = (unsigned)strtoul(slash, NULL, 10);
	}
	return inet_pton(n_bits == 32 ? AF_INET : AF_INET6, text, bytes) == 1 && bits <= n_bits && ends_at(bytes, n_bits, bits);
}

static int read_permit(struct ceilings *ceilings, const char *text, int number, struct err *e)
{
	auto_free char *copy = util_strdup(text);
	char *save = NULL;
	size_t n = 0;

	for (char *item = strtok_r(copy, ", \t", &save); item; item = strtok_r(NULL, ", \t", &save), n++)
		if (n == PERMITS || !is_prefix(item))
			return err_set(e, ERR_BAD_FIELD, NULL, "line %d: " PERMIT " is at most %d networks such as 10.0.0.0/8 or fd00::/8, and %.60s is none", number,
			               PERMITS, item);
	if (strlen(text) >= sizeof(ceilings->permit))
		return err_set(e, ERR_BAD_FIELD, NULL, "line %d: " PERMIT " is longer than %zu bytes", number, sizeof(ceilings->permit) - 1);
	(void)snprintf(ceilings->permit, sizeof(ceilings->permit), "%s", text);
	return 0;
}

static int read_key(struct ceilings *ceilings, const struct key *key, const char *text, int number, struct err *e)
{
	unsigned long long value;

	if (!read_value(key, text, &value))
		return refuse_value(key, text, number, e);
	if (value < key->min || value > key->max)
		return err_set(e, ERR_BAD_FIELD, NULL, "line %d: %s is %llu; allowed %u..%u", number, key->name, value, key->min, key->max);
	*field(ceilings, key) = (uint32_t)value;
	return 0;
}

static int mark_seen(unsigned *seen, size_t bit, const char *name, int number, struct err *e)
{
	if (*seen & (1U << bit))
		return err_set(e, ERR_BAD_FIELD, NULL, "line %d: %s is there twice", number, name);
	*seen |= 1U << bit;
	return 0;
}

static int parse_line(struct ceilings *ceilings, unsigned *seen, char *line, int number, struct err *e)
{
	char name[32], shown[80], text[512];

	line[strcspn(line, "#\r")] = '\0';
	if (line[strspn(line, " \t")] == '\0')
		return 0;
	err_quote(shown, sizeof(shown), line, strlen(line));
	for (size_t end = strlen(line); end > 0 && strchr(" \t", line[end - 1]); end--)
		line[end - 1] = '\0';
	if (sscanf(line, " %31[a-z_] = %511[^\n]", name, text) != 2)
		return err_set(e, ERR_BAD_FIELD, NULL, "line %d is %s; the form is \"key = number\"", number, shown);
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++)
		if (strcmp(KEYS[i].name, name) == 0)
			return mark_seen(seen, i, name, number, e) < 0 ? -1 : read_key(ceilings, &KEYS[i], text, number, e);
	if (strcmp(name, PERMIT) == 0)
		return mark_seen(seen, ARRAY_LEN(KEYS), name, number, e) < 0 ? -1 : read_permit(ceilings, text, number, e);
	return refuse_name(name, number, e);
}

int ceilings_parse(struct ceilings *ceilings, const char *text, struct err *e)
{
	auto_free char *copy = util_strdup(text);
	unsigned seen = 0;
	char *rest = copy;
	char *line;

	for (int number = 1; (line = strsep(&rest, "\n")) != NULL; number++)
		if (parse_line(ceilings, &seen, line, number, e) < 0)
			return -1;
	return 0;
}

/* True if [a, a + n) and [b, b + m) have a number in common. */
static bool overlap(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
	return a < b + m && b < a + n;
}

/* The uids of one line: "owner:secret:uid:…" of accounts, "owner:first:count" of ranges. The owner and the secret may be empty. */
static bool read_line(char *line, bool is_range, const char **owner, unsigned long long *first, unsigned long long *many)
{
	*owner = strsep(&line, ":");
	*many = 1;
	if (!is_range)
		(void)strsep(&line, ":");
	return line && sscanf(line, is_range ? "%llu:%llu" : "%llu", first, many) == (is_range ? 2 : 1);
}

static int check_lines(const struct ceilings *ceilings, const char *text, bool are_ranges, struct err *e)
{
	auto_free char *copy = util_strdup(text ? text : "");
	uint64_t count = (uint64_t)CEILINGS_SLOT_UIDS * (ceilings->sessions + 1ULL);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *owner;
		unsigned long long first, many;

		if (read_line(line, are_ranges, &owner, &first, &many) && overlap(ceilings->uid_base, count, first, many))
			return err_set(e, ERR_CONFLICT, NULL, "uids %u..%llu are to be the sessions', but %llu..%llu are %s's; choose another uid_base",
			               ceilings->uid_base, (unsigned long long)(ceilings->uid_base + count - 1), first, first + many - 1, owner);
	}
	return 0;
}

int ceilings_check_uids(const struct ceilings *ceilings, const char *passwd, const char *subids, struct err *e)
{
	return check_lines(ceilings, passwd, false, e) < 0 ? -1 : check_lines(ceilings, subids, true, e);
}
