/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256. Owner: session/base. No threads. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_BYTES 32

void hash_sha256(const void *data, size_t len, uint8_t out[HASH_BYTES]);

/* Of what comes in pieces. hash_end gives it and frees; NULL `out`: it is not wanted any more. */
struct hash_stream;
struct hash_stream *hash_begin(void);
void hash_add(struct hash_stream *stream, const void *data, size_t len);
void hash_end(struct hash_stream *stream, uint8_t out[HASH_BYTES]);

/* Are they the same? In constant time: it does not tell where they differ. */
bool hash_same(const uint8_t a[HASH_BYTES], const uint8_t b[HASH_BYTES]);

/* Reads a hash from its 64 hexadecimal digits, small or large. False when it is none, also for NULL; out is untouched then. */
bool hash_from_hex(const char *hex, uint8_t out[HASH_BYTES]);

#endif
