/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages by rows: a head, and in some of them a count of what follows. */
#include "display/view/framer.h"

#include "session/base/limits.h"
#include "session/base/util.h"

/* How many bytes a viewer sends in each phase before the normal one. */
static const uint8_t greetings[] = {[FRAMER_VERSION] = 12, [FRAMER_SECURITY] = 1, [FRAMER_AUTH] = 16, [FRAMER_INIT] = 1};

static const struct row {
	uint8_t type, head;
	uint8_t count_at, count_bytes; /* of a number in the head; 0 bytes: none */
	uint8_t unit;                  /* bytes of one of what it counts */
	uint32_t max;
} rows[] = {
	{FRAMER_PIXEL_FORMAT, 20, 0, 0, 0, 0},
	{FRAMER_ENCODINGS, 4, 2, 2, 4, FRAMER_ENCODINGS_MAX},
	{FRAMER_UPDATE_REQUEST, 10, 0, 0, 0, 0},
	{FRAMER_KEY, 8, 0, 0, 0, 0},
	{FRAMER_POINTER, 6, 0, 0, 0, 0},
	{FRAMER_CUT_TEXT, 8, 4, 4, 1, LIMIT_CUT_BYTES},
	{FRAMER_DESKTOP_SIZE, 8, 6, 1, 16, FRAMER_SCREENS_MAX},
};

_Static_assert(FRAMER_MESSAGE_MAX == 8 + LIMIT_CUT_BYTES, "the longest message");

static const struct row *find(uint8_t type)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].type == type)
			return &rows[i];
	return NULL;
}

/* A length below 0 is that of an extended message. */
static uint32_t count_of(const struct row *row, const uint8_t *bytes)
{
	const uint8_t *at = bytes + row->count_at;
	uint32_t count = row->count_bytes == 4 ? framer_u32(at) : row->count_bytes == 2 ? framer_u16(at) : at[0];

	return row->count_bytes == 4 && count >> 31 ? -count : count;
}

ssize_t framer_length(enum framer_phase phase, const uint8_t *bytes, size_t n)
{
	const struct row *row;
	uint32_t count;

	if (n == 0)
		return 0;
	if (phase != FRAMER_NORMAL)
		return greetings[phase];
	row = find(bytes[0]);
	if (!row)
		return -1;
	if (row->count_bytes == 0)
		return row->head;
	if (n < (size_t)row->count_at + row->count_bytes)
		return 0;
	count = count_of(row, bytes);
	return count > row->max ? -1 : (ssize_t)(row->head + count * row->unit);
}
