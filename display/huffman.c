/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Huffman codes: symbols in order of their counts, the tree by two queues, lengths cut to the limit, codes in order of length.
 */
#include "display/huffman.h"

#include <stdbool.h>
#include <string.h>

#define SYMBOL_BITS 9 /* of a key: count and symbol in one number, which sorts as both */
#define SYMBOL_MASK ((1U << SYMBOL_BITS) - 1)
#define DIGITS 256    /* of the sort */

/* One pass of a sort by digits, stable; false if all keys have the same digit. */
static bool sort_pass(const uint32_t *in, uint32_t *out, int n, int shift)
{
	int starts[DIGITS] = {0};
	int sum = 0;

	for (int i = 0; i < n; i++)
		starts[in[i] >> shift & (DIGITS - 1)]++;
	if (starts[in[0] >> shift & (DIGITS - 1)] == n)
		return false;
	for (int i = 0; i < DIGITS; i++) {
		int count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (int i = 0; i < n; i++)
		out[starts[in[i] >> shift & (DIGITS - 1)]++] = in[i];
	return true;
}

/* The symbols that occur, as keys, the rarest first. Returns how many. */
static int sort_symbols(const uint32_t *counts, int n, uint32_t *keys)
{
	uint32_t other[HUFFMAN_SYMBOLS];
	int n_used = 0;

	for (int i = 0; i < n; i++)
		if (counts[i] > 0)
			keys[n_used++] = counts[i] << SYMBOL_BITS | (uint32_t)i;
	/* The symbols are in order already: only the counts are sorted. */
	for (int shift = SYMBOL_BITS; shift < 32 && n_used > 1; shift += 8)
		if (sort_pass(keys, other, n_used, shift))
			memcpy(keys, other, (size_t)n_used * sizeof(*keys));
	return n_used;
}

/*
 * How deep the leaves of the tree lie: per depth (cut at max_bits) the number of them. Leaves and nodes are each born in the order of
 * their weight, so the two lightest stand at the heads of two queues.
 */
static void count_depths(const uint32_t *keys, int n, int max_bits, int *n_at)
{
	uint32_t weights[HUFFMAN_SYMBOLS];
	int parents[HUFFMAN_SYMBOLS], depths[HUFFMAN_SYMBOLS], leaf_parents[HUFFMAN_SYMBOLS];
	int leaf = 0, node = 0;

	for (int made = 0; made < n - 1; made++) {
		weights[made] = 0;
		for (int child = 0; child < 2; child++)
			if (leaf < n && (node >= made || keys[leaf] >> SYMBOL_BITS <= weights[node])) {
				weights[made] += keys[leaf] >> SYMBOL_BITS;
				leaf_parents[leaf++] = made;
			} else {
				weights[made] += weights[node];
				parents[node++] = made;
			}
	}
	depths[n - 2] = 0;
	for (int i = n - 3; i >= 0; i--)
		depths[i] = depths[parents[i]] + 1;
	for (int i = 0; i < n; i++) {
		int depth = depths[leaf_parents[i]] + 1;

		n_at[depth < max_bits ? depth : max_bits]++;
	}
}

/* Leaves that were cut take too much of the code: each step lengthens one that is not at the limit, and gives one that is a place there. */
static void make_complete(int *n_at, int max_bits)
{
	uint32_t taken = 0;

	for (int bits = 1; bits <= max_bits; bits++)
		taken += (uint32_t)n_at[bits] << (max_bits - bits);
	for (; taken > 1U << max_bits; taken--) {
		int bits = max_bits - 1;

		while (n_at[bits] == 0)
			bits--;
		n_at[bits]--;
		n_at[bits + 1] += 2;
		n_at[max_bits]--;
	}
}

static uint16_t reversed(uint32_t code, int bits)
{
	uint32_t back = 0;

	for (int i = 0; i < bits; i++)
		back |= (code >> i & 1) << (bits - 1 - i);
	return (uint16_t)back;
}

static void assign_codes(struct huffman *huffman, int n, const int *n_at)
{
	uint32_t next[HUFFMAN_BITS + 2] = {0};

	for (int bits = 1; bits <= HUFFMAN_BITS; bits++)
		next[bits + 1] = (next[bits] + (uint32_t)n_at[bits]) << 1;
	for (int i = 0; i < n; i++)
		if (huffman->bits[i] > 0)
			huffman->codes[i] = reversed(next[huffman->bits[i]]++, huffman->bits[i]);
}

void huffman_build(struct huffman *huffman, const uint32_t *counts, int n, int max_bits)
{
	uint32_t keys[HUFFMAN_SYMBOLS];
	int n_at[HUFFMAN_BITS + 1] = {0};
	int n_used = sort_symbols(counts, n, keys);

	for (uint32_t symbol = 0; n_used < 2; symbol++)
		if (n_used == 0 || (keys[0] & SYMBOL_MASK) != symbol)
			keys[n_used++] = symbol;
	count_depths(keys, n_used, max_bits, n_at);
	make_complete(n_at, max_bits);
	memset(huffman->bits, 0, sizeof(huffman->bits));
	for (int bits = max_bits, i = 0; bits > 0; bits--)
		for (int left = n_at[bits]; left > 0; left--)
			huffman->bits[keys[i++] & SYMBOL_MASK] = (uint8_t)bits;
	assign_codes(huffman, n, n_at);
}
