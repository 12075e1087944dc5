/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzz target is a file fuzz_NAME.c with this function, and a folder corpus/NAME. `make MODE=fuzz CC=clang fuzz` makes fuzzers of them; in all other
 * modes they run what they are given (replay.c), which the tests do with the corpus.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* One input; what must not happen ends the program. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
