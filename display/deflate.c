/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens to blocks. Section numbers are those of RFC 1951.
 */
#include "display/deflate.h"

#include <stdbool.h>
#include <string.h>
#include <sys/param.h>

#include "display/huffman.h"
#include "session/base/util.h"

#define END 256            /* symbol of the end of a block */
#define FIRST_LENGTH 257
#define LITERALS 286       /* symbols of bytes, the end and lengths */
#define LENGTH_KINDS 29
#define DYNAMIC_BITS 3     /* of a block's head: not the last one, codes of its own */
#define DYNAMIC 4U
#define STORED_MAX 65535
#define STORED_HEAD 5
#define HEAD_CODES 19      /* symbols of the code that the lengths of the other two are written in */
#define HEAD_BITS_MAX 7
#define PACKED_MAX (LITERALS + DEFLATE_DISTANCES)

/* 3.2.5. What a length symbol begins with, and how many more bits say which one it is. */
static const uint16_t length_bases[LENGTH_KINDS] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra[LENGTH_KINDS] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

/* The code of each length with its extra bits, and of each byte and distance, ready to be written. */
struct coder {
	struct huffman literals, distances;
	uint32_t length_codes[DEFLATE_MAX + 1];
	uint8_t length_bits[DEFLATE_MAX + 1];
};

/* The lengths of both codes, in the symbols of 3.2.7: a length, or a repetition with extra bits. */
struct head {
	struct huffman code;
	int n_literals, n_distances, n_code, n_packed;
	uint8_t symbols[PACKED_MAX];
	uint8_t extra[PACKED_MAX];
};

struct writer {
	uint8_t *out;
	uint64_t bits; /* not written yet, the first one lowest */
	int n_bits;
};

static unsigned int distance_extra(unsigned int symbol)
{
	return symbol < 2 ? 0 : symbol / 2 - 1;
}

void deflate_init(struct deflate *deflate, size_t max_tokens)
{
	*deflate = (struct deflate){.tokens = util_alloc(max_tokens * sizeof(uint32_t))};
}

void deflate_finish(struct deflate *deflate)
{
	free(deflate->tokens);
	*deflate = (struct deflate){0};
}

void deflate_begin(struct deflate *deflate)
{
	*deflate = (struct deflate){.tokens = deflate->tokens};
}

void deflate_long_match(struct deflate *deflate, uint32_t bytes, uint32_t distance)
{
	uint32_t whole = bytes / DEFLATE_MAX, rest = bytes % DEFLATE_MAX;

	deflate_matches(deflate, DEFLATE_MAX, distance, whole);
	if (rest > 0)
		deflate_matches(deflate, rest, distance, 1);
}

/* Both codes. Adds up the bits of all tokens on the way. */
static uint64_t make_codes(const struct deflate *deflate, struct coder *coder)
{
	uint32_t counts[LITERALS] = {[END] = 1};
	uint64_t bits = 0;

	for (int i = 0; i < 256; i++)
		counts[i] = deflate->bytes[0][i] + deflate->bytes[1][i] + deflate->bytes[2][i];
	for (int kind = 0; kind < LENGTH_KINDS; kind++)
		for (int length = length_bases[kind]; length < (kind + 1 < LENGTH_KINDS ? length_bases[kind + 1] : DEFLATE_MAX + 1); length++)
			counts[FIRST_LENGTH + kind] += deflate->lengths[length];
	huffman_build(&coder->literals, counts, LITERALS, HUFFMAN_BITS);
	huffman_build(&coder->distances, deflate->distances, DEFLATE_DISTANCES, HUFFMAN_BITS);
	for (int i = 0; i < LITERALS; i++)
		bits += (uint64_t)counts[i] * (coder->literals.bits[i] + (i < FIRST_LENGTH ? 0U : length_extra[i - FIRST_LENGTH]));
	for (unsigned int i = 0; i < DEFLATE_DISTANCES; i++)
		bits += (uint64_t)deflate->distances[i] * (coder->distances.bits[i] + distance_extra(i));
	return bits;
}

static void make_length_codes(struct coder *coder)
{
	for (int kind = 0; kind < LENGTH_KINDS; kind++) {
		uint8_t bits = coder->literals.bits[FIRST_LENGTH + kind];

		for (uint32_t extra = 0; extra < 1U << length_extra[kind]; extra++) {
			uint32_t length = length_bases[kind] + extra;

			/* The longest one, which could be said with extra bits, comes last and has a symbol of its own. */
			coder->length_codes[length] = coder->literals.codes[FIRST_LENGTH + kind] | extra << bits;
			coder->length_bits[length] = (uint8_t)(bits + length_extra[kind]);
		}
	}
}

static void put_packed(struct head *head, uint32_t *counts, int symbol, int extra)
{
	counts[symbol]++;
	head->symbols[head->n_packed] = (uint8_t)symbol;
	head->extra[head->n_packed++] = (uint8_t)extra;
}

/* `run` times the same length. */
static void pack_run(struct head *head, uint32_t *counts, int bits, int run)
{
	if (bits > 0) {
		put_packed(head, counts, bits, 0);
		run--;
	}
	while (run >= 3) {
		int most = bits > 0 ? 6 : run > 10 ? 138 : 10;
		int now = MIN(run, most);

		put_packed(head, counts, bits > 0 ? 16 : run > 10 ? 18 : 17, now - (bits == 0 && run > 10 ? 11 : 3));
		run -= now;
	}
	for (; run > 0; run--)
		put_packed(head, counts, bits, 0);
}

static const uint8_t head_order[HEAD_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
static const uint8_t head_extra[HEAD_CODES] = {[16] = 2, [17] = 3, [18] = 7};

static uint64_t make_head(const struct coder *coder, struct head *head)
{
	uint8_t bits[PACKED_MAX];
	uint32_t counts[HEAD_CODES] = {0};
	uint64_t sum;
	int n;

	*head = (struct head){.n_literals = LITERALS, .n_distances = DEFLATE_DISTANCES, .n_code = HEAD_CODES};
	while (coder->literals.bits[head->n_literals - 1] == 0)
		head->n_literals--;
	while (coder->distances.bits[head->n_distances - 1] == 0)
		head->n_distances--;
	n = head->n_literals + head->n_distances;
	memcpy(bits, coder->literals.bits, (size_t)head->n_literals);
	memcpy(bits + head->n_literals, coder->distances.bits, (size_t)head->n_distances);
	for (int i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && bits[end] == bits[i]; end++)
			;
		pack_run(head, counts, bits[i], end - i);
	}
	huffman_build(&head->code, counts, HEAD_CODES, HEAD_BITS_MAX);
	while (head->code.bits[head_order[head->n_code - 1]] == 0)
		head->n_code--;
	sum = 5 + 5 + 4 + 3 * (uint64_t)head->n_code;
	for (int i = 0; i < HEAD_CODES; i++)
		sum += (uint64_t)counts[i] * (head->code.bits[i] + (uint64_t)head_extra[i]);
	return sum;
}

/* At most 56 bits between two flushes. */
static inline void put(struct writer *writer, uint64_t bits, unsigned int n)
{
	writer->bits |= bits << writer->n_bits;
	writer->n_bits += (int)n;
}

/* Writes whole bytes; 8 are touched. The lowest byte comes first on every machine. */
static inline void flush(struct writer *writer)
{
	uint64_t bits = htole64(writer->bits);

	memcpy(writer->out, &bits, sizeof(bits));
	writer->out += writer->n_bits >> 3;
	writer->bits >>= writer->n_bits & ~7;
	writer->n_bits &= 7;
}

static void write_head(struct writer *writer, const struct head *head)
{
	put(writer, DYNAMIC, DYNAMIC_BITS);
	put(writer, (uint64_t)(head->n_literals - FIRST_LENGTH), 5);
	put(writer, (uint64_t)(head->n_distances - 1), 5);
	put(writer, (uint64_t)(head->n_code - 4), 4);
	flush(writer);
	for (int i = 0; i < head->n_code; i++) {
		put(writer, head->code.bits[head_order[i]], 3);
		flush(writer);
	}
	for (int i = 0; i < head->n_packed; i++) {
		put(writer, head->code.codes[head->symbols[i]], head->code.bits[head->symbols[i]]);
		put(writer, head->extra[i], head_extra[head->symbols[i]]);
		flush(writer);
	}
}

static inline void write_match(struct writer *writer, const struct coder *coder, uint32_t token)
{
	uint32_t distance = (token & (DEFLATE_WINDOW - 1)) + 1;
	uint32_t length = (token >> DEFLATE_LENGTH_SHIFT & 0xFF) + DEFLATE_MIN;
	uint32_t times = token >> DEFLATE_TIMES_SHIFT & DEFLATE_TIMES_MAX;
	unsigned int symbol = deflate_distance_symbol(distance), extra = distance_extra(symbol);
	unsigned int bits = coder->distances.bits[symbol] + extra;
	uint64_t code = coder->distances.codes[symbol] | (uint64_t)((distance - 1) & ((1U << extra) - 1)) << coder->distances.bits[symbol];

	code = coder->length_codes[length] | code << coder->length_bits[length];
	bits += coder->length_bits[length];
	for (; times > 0; times--) {
		put(writer, code, bits);
		flush(writer);
	}
}

static void write_tokens(struct writer *writer, const struct deflate *deflate, const struct coder *coder)
{
	const struct huffman *code = &coder->literals;

	for (size_t i = 0; i < deflate->n_tokens; i++) {
		uint32_t token = deflate->tokens[i];

		if (token & DEFLATE_MATCH) {
			write_match(writer, coder, token);
			continue;
		}
		if (!(token & DEFLATE_BYTE)) {
			put(writer, code->codes[token >> 16], code->bits[token >> 16]);
			put(writer, code->codes[token >> 8 & 0xFF], code->bits[token >> 8 & 0xFF]);
		}
		put(writer, code->codes[token & 0xFF], code->bits[token & 0xFF]);
		flush(writer);
	}
	put(writer, code->codes[END], code->bits[END]);
	flush(writer);
}

size_t deflate_write(const struct deflate *deflate, uint8_t *out, size_t max)
{
	struct writer writer = {.out = out};
	struct coder coder;
	struct head head;
	uint64_t bits;
	size_t len;

	bits = DYNAMIC_BITS + make_codes(deflate, &coder);
	bits += make_head(&coder, &head);
	/* The empty stored block: its head of three bits, the rest of that byte, its length and that length inverted. */
	len = (size_t)((bits + 3 + 7) / 8) + STORED_HEAD - 1;
	if (len > max)
		return 0;
	make_length_codes(&coder);
	write_head(&writer, &head);
	write_tokens(&writer, deflate, &coder);
	put(&writer, 0, 3);
	writer.n_bits = (writer.n_bits + 7) & ~7;
	put(&writer, 0xFFFF0000U, 32);
	flush(&writer);
	if ((size_t)(writer.out - out) != len)
		DIE("a block of %zu bytes has %td", len, writer.out - out);
	return len;
}

size_t deflate_stored_bytes(size_t len)
{
	return len + (len + STORED_MAX - 1) / STORED_MAX * STORED_HEAD;
}

size_t deflate_store(const uint8_t *bytes, size_t len, uint8_t *out)
{
	const uint8_t *begin = out;

	while (len > 0) {
		size_t now = MIN(len, STORED_MAX);
		const uint8_t head[STORED_HEAD] = {0, (uint8_t)now, (uint8_t)(now >> 8), (uint8_t)~now, (uint8_t)(~now >> 8)};

		memcpy(out, head, sizeof(head));
		memcpy(out + sizeof(head), bytes, now);
		out += sizeof(head) + now;
		bytes += now;
		len -= now;
	}
	return (size_t)(out - begin);
}
