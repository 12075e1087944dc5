/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ceilings: a row per key. */
#include "session/warden/ceilings.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

static const struct key {
	const char *name;
	size_t place;
	uint32_t usual, min, max;
} KEYS[] = {
	{"sessions", offsetof(struct ceilings, sessions), LIMIT_SESSIONS, 1, LIMIT_SESSIONS_MAX},
	{"memory_mb", offsetof(struct ceilings, memory_mb), 65536, LIMIT_MEMORY_MIN_MB, 1024 * 1024},
	{"pids", offsetof(struct ceilings, pids), 32768, LIMIT_PIDS_MIN, 1024 * 1024},
	{"disk_mb", offsetof(struct ceilings, disk_mb), 32768, LIMIT_DISK_MIN_MB, 1024 * 1024},
	{"cpu_milli", offsetof(struct ceilings, cpu_milli), 64000, LIMIT_CPU_MIN_MILLI, 1024 * 1000},
	{"ttl_s", offsetof(struct ceilings, ttl_s), LIMIT_TTL_S, 1, LIMIT_TTL_S},
	/* Above every uid that a system gives away, below 2^31. */
	{"uid_base", offsetof(struct ceilings, uid_base), 1900000000, 65536, 2000000000},
};

static uint32_t *field(struct ceilings *ceilings, const struct key *key)
{
	return (uint32_t *)(void *)((char *)ceilings + key->place);
}

void ceilings_default(struct ceilings *ceilings)
{
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++)
		*field(ceilings, &KEYS[i]) = KEYS[i].usual;
}

static int refuse_name(const char *name, int number, struct err *e)
{
	char names[96];
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, " %s", KEYS[i].name);
	return err_set(e, ERR_BAD_FIELD, NULL, "line %d: no ceiling is called %s; there are:%s", number, name, names);
}

static int parse_line(struct ceilings *ceilings, unsigned *seen, char *line, int number, struct err *e)
{
	char name[32], digits[20], rest[2];
	unsigned long long value;
	char shown[80];

	line[strcspn(line, "#")] = '\0';
	if (line[strspn(line, " \t\r")] == '\0')
		return 0;
	err_quote(shown, sizeof(shown), line, strlen(line));
	/* A number of digits alone: with a sign it would be taken modulo 2^64. */
	if (sscanf(line, " %31[a-z_] = %19[0-9] %1s", name, digits, rest) != 2)
		return err_set(e, ERR_BAD_FIELD, NULL, "line %d is %s; the form is \"key = number\"", number, shown);
	value = strtoull(digits, NULL, 10);
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
		const struct key *key = &KEYS[i];

		if (strcmp(key->name, name) != 0)
			continue;
		if (*seen & (1U << i))
			return err_set(e, ERR_BAD_FIELD, NULL, "line %d: %s is there twice", number, name);
		if (value < key->min || value > key->max)
			return err_set(e, ERR_BAD_FIELD, NULL, "line %d: %s is %llu; allowed %u..%u", number, name, value, key->min, key->max);
		*seen |= 1U << i;
		*field(ceilings, key) = (uint32_t)value;
		return 0;
	}
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
