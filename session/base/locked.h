/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for secrets: in no core file, in no child, never swapped as far as the system lets this process lock pages, wiped when it is given back. Owner:
 * session/base. No threads.
 */
#ifndef BASE_LOCKED_H
#define BASE_LOCKED_H

#include <stddef.h>

/* Zeroed pages of its own. No memory is DIE. */
void *locked_alloc(size_t size);

/* `size` as it was asked for. NULL is fine. */
void locked_free(void *memory, size_t size);

#endif
