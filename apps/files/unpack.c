/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacking an archive. It is kept until all of it is here, in a file without a name, and read as a whole before anything is made of it; then once more against
 * what is in the folder; and then it is unpacked. What is unpacked of it is given back, so that it takes hardly more room than once.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "apps/files/files.h"
#include "apps/files/names.h"
#include "session/base/util.h"

#define GIVE_BACK_BYTES (4 * 1024 * 1024)
#define PAGE_BYTES 4096

/* A folder's rights and time are set when all is in it. */
struct folder {
	struct folder *next;
	unsigned int mode;
	int64_t mtime_s;
	char name[];
};

struct unpacking {
	int kept;                /* the archive */
	uint64_t kept_bytes;
	int folder;              /* where it goes */
	struct names names;
	uint64_t needed;         /* bytes, in whole pages */
	uint64_t n;
	struct folder *folders;  /* the latest first */
	/* The file that is written now. */
	int parent, fd;
	char name[TAR_PART_BYTES + 1], temporary[PLACE_TEMPORARY_SIZE];
	uint64_t left, bytes;
	struct tar_entry entry;
	enum files_fault fault;
};

static int stop(struct unpacking *u, enum files_fault fault, struct err *e)
{
	u->fault = fault;
	return err_set(e, ERR_BAD_REQUEST, NULL, "stopped");
}

/* --- first: is it an archive, and one that may be unpacked? --- */

static int check_entry(void *arg, const struct tar_entry *entry, struct err *e)
{
	struct unpacking *u = arg;
	const char *why = *entry->name ? names_add(&u->names, entry->name, entry->kind) : NULL;
	char shown[200];

	if (why)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the archive is refused at %s: %s", err_quote(shown, sizeof(shown), entry->name, strlen(entry->name)), why);
	if (++u->n > FILES_MOST_PACKED)
		return stop(u, FILES_FAULT_TOO_MANY, e);
	u->needed += entry->kind == TAR_FILE ? (entry->size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES : 0;
	return 0;
}

/* Keeps what comes, and reads it. False: the stage has gone. */
static bool take_all(struct unpacking *u, struct tar_reader *reader, struct err *e)
{
	static char data[FILES_DATA_BYTES];
	struct files_head head = {0};

	while (talk_receive(&head, data, sizeof(data)) == 0 && head.op == FILES_DATA) {
		if (tar_reader_feed(reader, data, head.len, e) < 0) {
			if (!u->fault)
				u->fault = FILES_FAULT_ARCHIVE;
			return true;
		}
		if (util_write_all(u->kept, data, head.len) < 0) {
			u->fault = talk_fault(errno);
			return true;
		}
		u->kept_bytes += head.len;
	}
	if (head.op != FILES_COMMIT)
		return false;
	if (tar_reader_end(reader, e) < 0)
		u->fault = FILES_FAULT_ARCHIVE;
	return true;
}

static enum files_fault check_room(const struct unpacking *u)
{
	struct statvfs fs;

	if (fstatvfs(u->kept, &fs) < 0)
		return talk_fault(errno);
	/* What is kept is given back as it is unpacked. */
	if (u->needed > (uint64_t)fs.f_bavail * fs.f_frsize + u->kept_bytes || (fs.f_files > 0 && u->n > fs.f_favail))
		return FILES_FAULT_FULL;
	return FILES_NO_FAULT;
}

/* --- passes over what is kept --- */

static enum files_fault pass(struct unpacking *u, const struct tar_ops *ops, bool gives_back)
{
	static char data[FILES_DATA_BYTES];
	struct tar_reader reader;
	struct err ignored;
	uint64_t at = 0, given = 0;
	ssize_t n = 0;

	tar_reader_init(&reader, ops);
	while (!u->fault && at < u->kept_bytes && (n = pread(u->kept, data, sizeof(data), (off_t)at)) > 0) {
		if (tar_reader_feed(&reader, data, (size_t)n, &ignored) < 0 && !u->fault)
			u->fault = FILES_FAULT_FAILED;
		at += (uint64_t)n;
		if (gives_back && at - given >= GIVE_BACK_BYTES) {
			(void)fallocate(u->kept, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)given, (off_t)(at - given));
			given = at;
		}
	}
	if (n < 0 && !u->fault)
		u->fault = talk_fault(errno);
	tar_reader_finish(&reader);
	return u->fault;
}

/* The folder of an entry, made if it is not there; *name is what it is called in it. */
static int parent_of(struct unpacking *u, const char *path, struct err *e)
{
	const char *name;
	enum files_fault fault;

	util_close_fd(&u->parent);
	fault = place_make(u->folder, path, &u->parent, &name);
	if (fault)
		return stop(u, fault, e);
	(void)snprintf(u->name, sizeof(u->name), "%s", name);
	return 0;
}

/* --- second: does it fit what is in the folder? --- */

static int fit_entry(void *arg, const struct tar_entry *entry, struct err *e)
{
	struct unpacking *u = arg;
	auto_fd at = *entry->name ? place_at(u->folder, entry->name, O_PATH | O_NOFOLLOW, 0) : -1;
	struct stat st;

	if (!*entry->name || (at < 0 && errno == ENOENT))
		return 0;
	if (at < 0 || fstat(at, &st) < 0)
		return stop(u, talk_fault(errno), e);
	if (entry->kind == TAR_FOLDER)
		return S_ISDIR(st.st_mode) ? 0 : stop(u, S_ISLNK(st.st_mode) ? FILES_FAULT_LINK : FILES_FAULT_NOT_FOLDER, e);
	if (S_ISDIR(st.st_mode))
		return stop(u, FILES_FAULT_IS_FOLDER, e);
	if (S_ISLNK(st.st_mode))
		return entry->kind == TAR_LINK ? 0 : stop(u, FILES_FAULT_LINK, e);
	if (!S_ISREG(st.st_mode))
		return stop(u, FILES_FAULT_NOT_PLAIN, e);
	return st.st_nlink > 1 ? stop(u, FILES_FAULT_SHARED, e) : 0;
}

/* --- third: it is unpacked --- */

static int end_file(struct unpacking *u, struct err *e)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = u->entry.mtime_s}};
	bool ok = fchmod(u->fd, u->entry.mode) == 0 && futimens(u->fd, times) == 0 && renameat(u->parent, u->temporary, u->parent, u->name) == 0;

	util_close_fd(&u->fd);
	if (ok)
		return 0;
	u->fault = talk_fault(errno);
	(void)unlinkat(u->parent, u->temporary, 0);
	return stop(u, u->fault, e);
}

static int make_folder(struct unpacking *u, const struct tar_entry *entry, struct err *e)
{
	size_t size = sizeof(struct folder) + strlen(entry->name) + 1;
	struct folder *folder;

	if (*entry->name && mkdirat(u->parent, u->name, 0755) < 0 && errno != EEXIST)
		return stop(u, talk_fault(errno), e);
	folder = util_alloc(size);
	*folder = (struct folder){.next = u->folders, .mode = entry->mode, .mtime_s = entry->mtime_s};
	memcpy(folder->name, entry->name, strlen(entry->name) + 1);
	u->folders = folder;
	return 0;
}

static int make_link(struct unpacking *u, const struct tar_entry *entry, struct err *e)
{
	if (symlinkat(entry->target, u->parent, u->temporary) < 0)
		return stop(u, talk_fault(errno), e);
	if (renameat(u->parent, u->temporary, u->parent, u->name) == 0)
		return 0;
	u->fault = talk_fault(errno);
	(void)unlinkat(u->parent, u->temporary, 0);
	return stop(u, u->fault, e);
}

static int make_entry(void *arg, const struct tar_entry *entry, struct err *e)
{
	struct unpacking *u = arg;

	if (*entry->name && parent_of(u, entry->name, e) < 0)
		return -1;
	if (entry->kind == TAR_FOLDER)
		return make_folder(u, entry, e);
	place_temporary(u->temporary);
	if (entry->kind == TAR_LINK)
		return make_link(u, entry, e);
	u->entry = *entry;
	u->left = entry->size;
	u->bytes += entry->size;
	u->fd = place_at(u->parent, u->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (u->fd < 0)
		return stop(u, talk_fault(errno), e);
	return u->left == 0 ? end_file(u, e) : 0;
}

static int write_data(void *arg, const void *data, size_t len, struct err *e)
{
	struct unpacking *u = arg;

	if (util_write_all(u->fd, data, len) < 0) {
		u->fault = talk_fault(errno);
		util_close_fd(&u->fd);
		(void)unlinkat(u->parent, u->temporary, 0);
		return stop(u, u->fault, e);
	}
	u->left -= len;
	return u->left == 0 ? end_file(u, e) : 0;
}

/* Those within others first. */
static void end_folders(struct unpacking *u)
{
	while (u->folders) {
		struct folder *folder = u->folders;
		const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = folder->mtime_s}};
		auto_fd fd = place_at(u->folder, folder->name, O_RDONLY | O_DIRECTORY, 0);

		if (fd >= 0) {
			(void)futimens(fd, times);
			if (*folder->name)
				(void)fchmod(fd, folder->mode);
		}
		u->folders = folder->next;
		free(folder);
	}
}

/* --- all of it --- */

static enum files_fault unpack_kept(struct unpacking *u)
{
	const struct tar_ops fit = {.entry = fit_entry, .arg = u}, make = {.entry = make_entry, .data = write_data, .arg = u};
	enum files_fault fault = pass(u, &fit, false);

	if (!fault)
		fault = pass(u, &make, true);
	end_folders(u);
	return fault;
}

/* Into a folder that is there. */
static enum files_fault unpack_into(struct unpacking *u, int ancestor, const char *name)
{
	u->folder = place_at(ancestor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	return u->folder < 0 ? talk_fault(errno) : unpack_kept(u);
}

/* Into a new one, which gets its name when all is in it. */
static enum files_fault unpack_new(struct unpacking *u, int ancestor, const char *rest)
{
	char temporary[PLACE_TEMPORARY_SIZE];
	auto_fd parent = -1;
	const char *name;
	uint32_t n = 0;
	enum files_fault fault;

	place_temporary(temporary);
	if (mkdirat(ancestor, temporary, 0755) < 0)
		return talk_fault(errno);
	fault = unpack_into(u, ancestor, temporary);
	if (!fault)
		fault = place_make(ancestor, rest, &parent, &name);
	if (!fault && renameat2(ancestor, temporary, parent, name, RENAME_NOREPLACE) < 0)
		fault = talk_fault(errno);
	if (fault)
		(void)drop_tree(ancestor, temporary, &n);
	return fault;
}

static enum files_fault unpack(struct unpacking *u, const struct place *place, bool parents)
{
	auto_fd ancestor = -1;
	const char *rest = "";
	struct stat st;
	enum files_fault fault = place_ancestor(place, &ancestor, &rest);

	if (fault)
		return fault;
	if (!*rest)
		return unpack_into(u, ancestor, ".");
	if (strchr(rest, '/') && !parents)
		return FILES_FAULT_NO_PARENT;
	if (!strchr(rest, '/') && fstatat(ancestor, rest, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return S_ISLNK(st.st_mode) ? FILES_FAULT_LINK : S_ISDIR(st.st_mode) ? unpack_into(u, ancestor, rest) : FILES_FAULT_IS_FILE;
	return unpack_new(u, ancestor, rest);
}

static enum files_fault take(struct unpacking *u, const struct place *place, char why[ERR_MSG_MAX])
{
	const struct tar_ops ops = {.entry = check_entry, .arg = u};
	struct tar_reader reader;
	struct err e = {.msg = ""};
	bool is_here;

	u->kept = openat(place->root, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (u->kept < 0)
		return talk_fault(errno);
	tar_reader_init(&reader, &ops);
	is_here = take_all(u, &reader, &e);
	tar_reader_finish(&reader);
	names_finish(&u->names);
	if (!is_here)
		_exit(1);
	(void)snprintf(why, ERR_MSG_MAX, "%s", u->fault == FILES_FAULT_ARCHIVE ? e.msg : "");
	return u->fault ? u->fault : check_room(u);
}

enum files_fault unpack_run(const char *path, bool parents, char why[ERR_MSG_MAX])
{
	auto_free struct unpacking *u = util_zalloc(sizeof(*u));
	struct files_done done = {0};
	struct place place;
	enum files_fault fault = place_open(path, &place);

	if (fault)
		return fault;
	u->kept = u->folder = u->parent = u->fd = -1;
	fault = take(u, &place, why);
	if (!fault)
		fault = unpack(u, &place, parents);
	place_finish(&place);
	util_close_fd(&u->kept);
	util_close_fd(&u->folder);
	util_close_fd(&u->parent);
	util_close_fd(&u->fd);
	if (fault)
		return fault;
	done.files = (uint32_t)u->n;
	done.bytes = u->bytes;
	(void)talk_send(FILES_DONE, &done, sizeof(done), NULL, 0);
	return FILES_NO_FAULT;
}
