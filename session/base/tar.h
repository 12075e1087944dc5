/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Archives of tar: ustar with the extensions of pax, and GNU's long names when one is read. Files, folders and symbolic links, nothing else.
 *
 * The reader is strict, for what it reads may be anybody's: an entry that is of another kind, that has a name of two readings, or that would lead out of the
 * folder it is unpacked in, is refused, and so is an archive that ends in the middle. Owner: session/base. No threads.
 */
#ifndef BASE_TAR_H
#define BASE_TAR_H

#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"

#define TAR_BLOCK 512
#define TAR_NAME_SIZE 4096   /* of a name or a target, with its NUL */
#define TAR_PART_BYTES 255   /* of one segment of a name */
#define TAR_DEPTH 64         /* segments of a name */
#define TAR_HEAD_MAX (TAR_BLOCK * 22) /* the headers of one entry */
#define TAR_END_BYTES (2 * TAR_BLOCK) /* zeros, behind the last one */

enum tar_kind { TAR_FILE, TAR_FOLDER, TAR_LINK };

struct tar_entry {
	enum tar_kind kind;
	char name[TAR_NAME_SIZE];   /* relative, UTF-8, no slash at its end; "" is the folder itself */
	char target[TAR_NAME_SIZE]; /* of a link: relative, beneath the folder */
	unsigned int mode;          /* rights: 0..0777 */
	int64_t mtime_s;            /* since 1970; not below 0 */
	uint64_t size;              /* of a file, bytes */
};

/* Called by tar_reader_feed; what they return is what it returns. `data` comes in pieces, for files alone, `size` bytes in all. */
struct tar_ops {
	int (*entry)(void *arg, const struct tar_entry *entry, struct err *e);
	int (*data)(void *arg, const void *data, size_t len, struct err *e);
	void *arg;
};

struct tar_reader {
	struct tar_ops ops;
	unsigned char block[TAR_BLOCK];
	size_t n_block;
	uint64_t left, padding;  /* of the present entry's content */
	int state;
	char *more;              /* content of a header that belongs to the next entry */
	size_t more_len;
	char more_kind;
	struct tar_entry entry;  /* the present one */
	char name[TAR_NAME_SIZE], target[TAR_NAME_SIZE]; /* of such headers; "": none */
	bool has_size, has_mtime;
	uint64_t size;
	int64_t mtime_s;
	size_t n_zero;           /* blocks of zeros so far */
	uint64_t n_entries;
};

void tar_reader_init(struct tar_reader *reader, const struct tar_ops *ops);

/* Reads on. Errors: ERR_BAD_REQUEST with the rule that is broken, and those of the functions. After one nothing more may be fed. */
int tar_reader_feed(struct tar_reader *reader, const void *data, size_t len, struct err *e);

/* Nothing more comes: ERR_BAD_REQUEST unless the archive is whole. */
int tar_reader_end(struct tar_reader *reader, struct err *e);

/* Frees what it has; may be called at any time, also twice. */
void tar_reader_finish(struct tar_reader *reader);

/* Writes the headers of an entry, whose name and target have the form of a tar_entry, into out; returns their length. */
size_t tar_head(const struct tar_entry *entry, unsigned char out[TAR_HEAD_MAX]);

/* Zeros behind the content of a file of this size. */
size_t tar_padding(uint64_t size);

/* Why a name (its NUL at name[len]) is no relative path of plain segments, as a text that stays; NULL: it is one. "" is none. */
const char *tar_name_fault(const char *name, size_t len);

/* The same of a link's target: it must lead to a place beneath the folder, and go up at its beginning alone. `name` is the link's. */
const char *tar_target_fault(const char *name, const char *target);

#endif
