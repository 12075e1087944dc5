/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzz target is a file fuzz_NAME.c with this function, and a folder corpus/NAME; a line "longest: N" in it bounds its inputs. README.md says how they are run
 * (run): for long as fuzzers (`make MODE=fuzz CC=clang fuzz`); in all other modes of make they run what they are given (replay.c), which the tests do with the corpus.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* A number of the input's bytes (FNV-1a), by which a target picks one of several ways: all of them come up, and no run takes the time of all. */
static inline size_t fuzz_pick(const uint8_t *data, size_t size)
{
	uint32_t hash = 0x811C9DC5;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 0x01000193U;
	return hash >> 4;
}

/* One input; what must not happen ends the program. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
