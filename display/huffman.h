/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Huffman codes of limited length, as RFC 1951 (deflate) wants them. Owner: display. No threads, no memory of its own.
 */
#ifndef DISPLAY_HUFFMAN_H
#define DISPLAY_HUFFMAN_H

#include <stdint.h>

#define HUFFMAN_SYMBOLS 288 /* the most in one code */
#define HUFFMAN_BITS 15     /* the most in one symbol */

struct huffman {
	uint8_t bits[HUFFMAN_SYMBOLS];   /* length of each symbol; 0: not in use */
	uint16_t codes[HUFFMAN_SYMBOLS]; /* first bit lowest */
};

/*
 * The best code for `n` symbols (2..HUFFMAN_SYMBOLS) that occur `counts` times (less than 2^22 each), none longer than `max_bits`
 * (7..HUFFMAN_BITS). It is always complete: where fewer than two symbols occur, it has some that do not.
 */
void huffman_build(struct huffman *huffman, const uint32_t *counts, int n, int max_bits);

#endif
