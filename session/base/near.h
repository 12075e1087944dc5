/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How near two names are, for errors that say what may have been meant. Owner: session/base. No threads.
 */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <stddef.h>

/* How many bytes must be changed, put in or left out to make b of a (Levenshtein); SIZE_MAX when a name is longer than 64 bytes. */
size_t near_distance(const char *a, const char *b);

#endif
