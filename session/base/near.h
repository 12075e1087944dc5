/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How near two names are, for errors that say what may have been meant. Owner: session/base. No threads.
 */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes must be changed, put in or left out to make b of a (Levenshtein); SIZE_MAX when a name is longer than 64 bytes. */
size_t near_distance(const char *a, const char *b);

/* Whether the name of an action may have been meant. Vendors call things "left_click" and "typing": a name inside the other is near, too. */
bool near_action(const char *asked, const char *name);

#endif
