/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns. */
#include "session/policy/glob.h"

#include <string.h>

#include "session/base/util.h"

/* Alphabets with capitals: from, to, and how far away the small letter is. */
static uint32_t fold(uint32_t c)
{
	static const struct {
		uint32_t first, last, away;
	} alphabets[] = {{'A', 'Z', 32}, {0xC0, 0xD6, 32}, {0xD8, 0xDE, 32}, {0x391, 0x3A9, 32}, {0x400, 0x40F, 80}, {0x410, 0x42F, 32}};

	for (size_t i = 0; i < ARRAY_LEN(alphabets); i++)
		if (c >= alphabets[i].first && c <= alphabets[i].last)
			return c + alphabets[i].away;
	return c;
}

/* The next character, folded; a byte that is no UTF-8 stands for itself. */
static uint32_t take(const char **at)
{
	uint32_t c;
	size_t n = util_utf8_decode(*at, strlen(*at) < 4 ? strlen(*at) : 4, &c);

	if (n == 0) {
		c = (unsigned char)**at;
		n = 1;
	}
	*at += n;
	return fold(c);
}

bool glob_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL; /* behind the last "*", and where the text behind what it stands for begins */

	while (*text) {
		const char *next_pattern = pattern, *next_text = text;

		if (*pattern == '*') {
			star = ++pattern;
			from = text;
			continue;
		}
		if (*pattern) {
			uint32_t wanted = take(&next_pattern), got = take(&next_text);

			if (*pattern == '?' || wanted == got) {
				pattern = next_pattern;
				text = next_text;
				continue;
			}
		}
		if (!star)
			return false;
		(void)take(&from);
		pattern = star;
		text = from;
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

bool glob_leads(const char *pattern, const char *beginning)
{
	while (*beginning && *pattern && *pattern != '*') {
		bool is_any = *pattern == '?';
		uint32_t wanted = take(&pattern), got = take(&beginning);

		if (!is_any && wanted != got)
			return false;
	}
	return *pattern || !*beginning;
}

bool glob_matches_any(const json_t *patterns, const char *text)
{
	const json_t *pattern;
	size_t i;

	if (!text)
		return false;
	json_array_foreach(patterns, i, pattern)
		if (glob_matches(json_string_value(pattern), text))
			return true;
	return false;
}
