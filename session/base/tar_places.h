/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the fields of a header of tar (POSIX.1-2017, pax) are, for tar.c and tar_write.c alone. Bytes. */
#ifndef BASE_TAR_PLACES_H
#define BASE_TAR_PLACES_H

/* Places in a header. */
enum place {
	NAME = 0, MODE = 100, SIZE = 124, MTIME = 136, CHECKSUM = 148, KIND = 156, TARGET = 157, MAGIC = 257, VERSION = 263, PREFIX = 345, PREFIX_END = 500,
};

#endif
