/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deflate (RFC 1951): literals and matches are gathered, then written as one block with a code of its own. Owner: display. No threads.
 */
#ifndef DISPLAY_DEFLATE_H
#define DISPLAY_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#define DEFLATE_WINDOW 32768 /* how far back a match may reach, in bytes */
#define DEFLATE_MIN 3        /* shortest match */
#define DEFLATE_MAX 258      /* longest one that can be written; longer ones are written as several */
#define DEFLATE_DISTANCES 30 /* symbols of distances */
#define DEFLATE_COLOURS 3

/* The end of a block that ends on a byte, and what comes after the last one. */
#define DEFLATE_FINAL "\x03\x00"
#define DEFLATE_FINAL_BYTES 2

/*
 * Tokens: a byte; a pixel 0x00RRGGBB, which is three bytes; or a match, as distance - 1 (15 bits), length - 3 (8 bits) and how often it
 * comes, one after the other (7 bits).
 */
#define DEFLATE_BYTE (1U << 30)
#define DEFLATE_MATCH (1U << 31)
#define DEFLATE_LENGTH_SHIFT 15
#define DEFLATE_TIMES_SHIFT 23
#define DEFLATE_TIMES_MAX 127U
#define DEFLATE_LONG (DEFLATE_TIMES_MAX * DEFLATE_MAX)

struct deflate {
	uint32_t *tokens; /* as many as there is room for */
	size_t n_tokens;
	/* How often each symbol occurs. One count per colour, so that the three of a grey pixel do not wait for each other. */
	uint32_t bytes[DEFLATE_COLOURS][256];
	uint32_t lengths[DEFLATE_MAX + 1];
	uint32_t distances[DEFLATE_DISTANCES];
};

/* `deflate` with room for so many tokens: each byte, pixel and match takes one, and a match of more than DEFLATE_MAX bytes two. */
void deflate_init(struct deflate *deflate, size_t max_tokens);
void deflate_finish(struct deflate *deflate);

/* Empties it. */
void deflate_begin(struct deflate *deflate);

/* The symbol of a distance (1..DEFLATE_WINDOW). */
static inline unsigned int deflate_distance_symbol(uint32_t distance)
{
	unsigned int log;

	if (distance <= 2)
		return distance - 1;
	log = 31U - (unsigned int)__builtin_clz(distance - 1);
	return 2 * log + ((distance - 1) >> (log - 1) & 1);
}

/* `times` matches of the same length (DEFLATE_MIN..DEFLATE_MAX) and distance; times is 1..DEFLATE_TIMES_MAX. */
static inline void deflate_matches(struct deflate *deflate, uint32_t length, uint32_t distance, uint32_t times)
{
	deflate->tokens[deflate->n_tokens++] =
		DEFLATE_MATCH | times << DEFLATE_TIMES_SHIFT | (length - DEFLATE_MIN) << DEFLATE_LENGTH_SHIFT | (distance - 1);
	deflate->lengths[length] += times;
	deflate->distances[deflate_distance_symbol(distance)] += times;
}

/* `bytes` (more than DEFLATE_MAX, and at most DEFLATE_LONG) that are as those `distance` before them. */
void deflate_long_match(struct deflate *deflate, uint32_t bytes, uint32_t distance);

/*
 * `bytes` (DEFLATE_MIN..DEFLATE_LONG, a multiple of DEFLATE_MIN as DEFLATE_MAX is, so that no rest is too short to be a match) that are
 * as those `distance` (1..DEFLATE_WINDOW) before them.
 */
static inline void deflate_match(struct deflate *deflate, uint32_t bytes, uint32_t distance)
{
	if (bytes <= DEFLATE_MAX)
		deflate_matches(deflate, bytes, distance, 1);
	else
		deflate_long_match(deflate, bytes, distance);
}

static inline void deflate_pixel(struct deflate *deflate, uint32_t pixel)
{
	deflate->tokens[deflate->n_tokens++] = pixel;
	deflate->bytes[0][pixel >> 16]++;
	deflate->bytes[1][pixel >> 8 & 0xFF]++;
	deflate->bytes[2][pixel & 0xFF]++;
}

static inline void deflate_byte(struct deflate *deflate, uint8_t byte)
{
	deflate->tokens[deflate->n_tokens++] = DEFLATE_BYTE | byte;
	deflate->bytes[0][byte]++;
}

/*
 * Writes what was gathered as a block and an empty stored one, so that it ends on a byte, to `out`, and returns the number of bytes. If
 * they are more than `max`, nothing is written, and 0 is returned. Up to 8 bytes behind `max` are overwritten.
 */
size_t deflate_write(const struct deflate *deflate, uint8_t *out, size_t max);

/* Bytes that `len` take when they are stored as they are. */
size_t deflate_stored_bytes(size_t len);

/* Stores `len` bytes as they are; returns deflate_stored_bytes(len). */
size_t deflate_store(const uint8_t *bytes, size_t len, uint8_t *out);

#endif
