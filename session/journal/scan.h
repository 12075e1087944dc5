/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Along the records of a file of pictures (pictures.h), which may be growing. Owner: whoever has the file. No threads. */
#ifndef JOURNAL_SCAN_H
#define JOURNAL_SCAN_H

#include <stdbool.h>
#include <sys/types.h>

/* The record at `at` of the first `size` bytes of the file is whole: true, and *next is behind it. False: there is none, no whole one, or what is there is
 * no record. */
bool scan_record(int fd, off_t at, off_t size, off_t *next);

#endif
