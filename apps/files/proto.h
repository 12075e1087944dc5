/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link between the stage and glovebox-files: frames on its standard input and output, built together, so that it has no versions. Each is a head and `len`
 * bytes, in the machine's byte order.
 *
 * The stage takes what comes as hostile: the helper runs beside the apps. Arguments: what to do (enum files_verb as a word), the path, an option (see below).
 *
 *   get PATH [head]    OPENED of a file, then DATA and PASS for each RANGE that is asked for, until QUIT or end of file; of a folder FOLDER, ENTRY for each entry, DONE.
 *                      With "head" nothing but OPENED or FOLDER, DONE
 *   pack PATH          of a folder: COUNT, then ENTRY for all beneath it, and for a file behind its ENTRY passes as above; NEXT instead of QUIT; DONE at the end
 *   put PATH OPTIONS   takes DATA, then COMMIT: DONE. End of file before that: nothing has happened
 *   unpack PATH        the same; what came is a tar
 *   drop PATH [tree]   DONE
 * Each may answer FAULT instead, which is the last frame.
 */
#ifndef FILES_PROTO_H
#define FILES_PROTO_H

#include <stdint.h>

#include "session/base/tar.h"

#define FILES_HOME "/home/user"
#define FILES_TMP "/tmp"
#define FILES_DATA_BYTES (64 * 1024) /* of one DATA */
#define FILES_MOST_ENTRIES 10000     /* of one list */
#define FILES_MOST_PACKED 200000     /* entries of one archive, each way */

enum files_op {
	FILES_OPENED = 1, FILES_FOLDER, FILES_ENTRY, FILES_COUNT, FILES_DATA, FILES_PASS, FILES_DONE, FILES_FAULT, /* of the helper; DATA also to it */
	FILES_RANGE, FILES_NEXT, FILES_QUIT, FILES_COMMIT, /* of the stage */
};

struct files_head {
	uint32_t op, len;
};

/* OPENED, FOLDER */
struct files_opened {
	uint64_t size;  /* of a file */
	uint64_t tag;   /* of its content, as the file system says: another one when it has changed */
	int64_t mtime_s;
	uint32_t mode;
};

/* ENTRY, followed by the name, a NUL, and of a link its target and a NUL. In a list kinds are those of enum files_kind. */
struct files_entry {
	uint32_t kind, mode;
	uint64_t size;
	int64_t mtime_s;
};

enum files_kind { FILES_IS_FILE, FILES_IS_FOLDER, FILES_IS_LINK, FILES_IS_OTHER };

/* COUNT: what an archive will have, and what is left out of it (other kinds, files with several names, links that lead out, names that are not UTF-8). */
struct files_count {
	uint64_t entries, bytes, skipped;
};

struct files_range {
	uint64_t from, len;
};

struct files_done {
	uint64_t bytes;
	uint32_t files;   /* of unpack and drop: entries */
	uint32_t created; /* put: it was not there */
	uint32_t more;    /* a list: there are more */
	uint32_t unnamed; /* a list: entries whose names are not UTF-8 */
};

/* Why not. The rows are what the stage says to it: code and words. */
#define FILES_FAULT_ROWS(X) \
	X(MISSING, NOT_FOUND, "there is no such file or folder") \
	X(NO_PARENT, NOT_FOUND, "its folder is not there; parents=true makes it") \
	X(LINK, CONFLICT, "a symbolic link is on the way, and none is followed") \
	X(NOT_FOLDER, CONFLICT, "a part of it is no folder") \
	X(IS_FOLDER, CONFLICT, "it is a folder, where a file was asked for") \
	X(IS_FILE, CONFLICT, "it is a file, where a folder was asked for") \
	X(NOT_PLAIN, CONFLICT, "it is no plain file (a device, a pipe, a socket)") \
	X(SHARED, CONFLICT, "the file has more than one name (a hard link), and is not opened") \
	X(NOT_EMPTY, CONFLICT, "the folder is not empty; recursive=true deletes what is in it") \
	X(ROOT, CONFLICT, "this folder is the session's own, and stays") \
	X(RIGHTS, FORBIDDEN, "its rights do not allow this") \
	X(FULL, DISK_FULL, "the session has no room for it (limits.disk_mb; for many small files limits.inodes)") \
	X(TOO_MANY, TOO_LARGE, "there are more entries than one archive may have") \
	X(TOO_DEEP, TOO_LARGE, "its folders are more than 64 deep") \
	X(CHANGED, CONFLICT, "it changed while it was read") \
	X(ARCHIVE, BAD_REQUEST, "the archive is refused") \
	X(FAILED, SESSION_FAILED, "the file system failed")

enum files_fault {
	FILES_NO_FAULT,
#define FAULT_ENUM(symbol, code, words) FILES_FAULT_##symbol,
	FILES_FAULT_ROWS(FAULT_ENUM)
#undef FAULT_ENUM
	FILES_N_FAULTS
};

/* FAULT, followed by words for ARCHIVE: what the reader of the archive says. */
struct files_refusal {
	uint32_t fault;
};

#endif
