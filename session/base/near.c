/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that may have been meant. */
#include "session/base/near.h"

#include <stdint.h>
#include <string.h>
#include <sys/param.h>

#define NAME_MAX_BYTES 64

size_t near_distance(const char *a, const char *b)
{
	size_t len_a = strlen(a);
	size_t len_b = strlen(b);
	size_t row[NAME_MAX_BYTES + 1];

	if (len_a > NAME_MAX_BYTES || len_b > NAME_MAX_BYTES)
		return SIZE_MAX;
	for (size_t j = 0; j <= len_b; j++)
		row[j] = j;
	for (size_t i = 1; i <= len_a; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= len_b; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = MIN(change, MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[len_b];
}

bool near_action(const char *asked, const char *name)
{
	size_t len = strlen(asked);

	return near_distance(asked, name) <= (len > 4 ? 2 : 1) || strstr(asked, name) || (len > 2 && strstr(name, asked));
}
