/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns of rules: "*" is any text, "?" any character, everything else itself in any case. Over UTF-8. Owner: session/policy. No threads.
 */
#ifndef POLICY_GLOB_H
#define POLICY_GLOB_H

#include <jansson.h>
#include <stdbool.h>

/* Does the whole text match? In time proportional to both lengths multiplied, at most. */
bool glob_matches(const char *pattern, const char *text);

/* Does it match one of a list of patterns? */
bool glob_matches_any(const json_t *patterns, const char *text);

/* Does it, or could a text that begins with this one? */
bool glob_leads(const char *pattern, const char *beginning);

#endif
