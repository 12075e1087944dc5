/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading: a file, what is in a folder, and all beneath one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "apps/files/files.h"
#include "session/base/util.h"

/* Changes whenever the file does, as far as its times tell. */
static uint64_t tag_of(const struct stat *st)
{
	const uint64_t parts[] = {st->st_ino, (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_ctim.tv_sec,
	                          (uint64_t)st->st_ctim.tv_nsec};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(parts); i++)
		hash = (hash ^ ((const uint8_t *)parts)[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static struct files_opened opened_of(const struct stat *st)
{
	return (struct files_opened){.size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0, .tag = tag_of(st), .mtime_s = MAX(st->st_mtim.tv_sec, 0),
	                             .mode = st->st_mode & 0777};
}

static enum files_kind kind_of(const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return FILES_IS_FILE;
	if (S_ISDIR(st->st_mode))
		return FILES_IS_FOLDER;
	return S_ISLNK(st->st_mode) ? FILES_IS_LINK : FILES_IS_OTHER;
}

static int send_entry(const char *name, const char *target, const struct stat *st)
{
	const struct files_entry entry = {.kind = (uint32_t)kind_of(st), .mode = st->st_mode & 0777, .size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0,
	                                  .mtime_s = MAX(st->st_mtim.tv_sec, 0)};
	auto_free char *text = util_alloc(strlen(name) + strlen(target) + 2);
	size_t len = strlen(name) + 1;

	memcpy(text, name, len);
	if (S_ISLNK(st->st_mode)) {
		memcpy(text + len, target, strlen(target) + 1);
		len += strlen(target) + 1;
	}
	return talk_send(FILES_ENTRY, &entry, sizeof(entry), text, len);
}

/* --- one folder --- */

static enum files_fault list(int fd, const struct stat *folder)
{
	const struct files_opened opened = opened_of(folder);
	struct files_done done = {0};
	size_t n = 0;
	char **names = place_names(fd, FILES_MOST_PACKED, &n);

	if (!names)
		return talk_fault(errno);
	if (talk_send(FILES_FOLDER, &opened, sizeof(opened), NULL, 0) < 0)
		_exit(1);
	for (size_t i = 0; i < n; i++) {
		struct stat st;

		if (!util_utf8_valid(names[i], strlen(names[i])))
			done.unnamed++;
		else if (done.files == FILES_MOST_ENTRIES)
			done.more = 1;
		else if (fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && ++done.files && send_entry(names[i], "", &st) < 0)
			_exit(1);
	}
	place_names_finish(names);
	(void)talk_send(FILES_DONE, &done, sizeof(done), NULL, 0);
	return FILES_NO_FAULT;
}

/* --- one file, or a folder --- */

enum files_fault get_run(const char *path, bool head)
{
	struct place place;
	enum files_fault fault = place_open(path, &place);
	struct files_opened opened;
	struct stat st;
	auto_fd fd = -1;

	if (fault)
		return fault;
	/* A pipe that nobody writes does not stop this. */
	fd = place_at(place.root, place.rel, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0);
	place_finish(&place);
	if (fd < 0 || fstat(fd, &st) < 0)
		return talk_fault(errno);
	if (S_ISDIR(st.st_mode))
		return list(fd, &st);
	if (!S_ISREG(st.st_mode))
		return FILES_FAULT_NOT_PLAIN;
	if (st.st_nlink > 1)
		return FILES_FAULT_SHARED;
	opened = opened_of(&st);
	if (talk_send(FILES_OPENED, &opened, sizeof(opened), NULL, 0) < 0 || head)
		return FILES_NO_FAULT;
	(void)talk_ranges(fd);
	return FILES_NO_FAULT;
}

/* --- all beneath a folder --- */

struct walk {
	bool counts;              /* it is only counted */
	struct files_count count;
	dev_t device;
	char name[TAR_NAME_SIZE]; /* of the entry that is looked at */
	enum files_fault fault;
};

static void walk_folder(struct walk *walk, int fd, size_t len, size_t depth);

/* A link that stays beneath the folder; its target is in `target`. */
static bool link_stays(const struct walk *walk, int folder, const char *name, char target[TAR_NAME_SIZE])
{
	ssize_t n = readlinkat(folder, name, target, TAR_NAME_SIZE - 1);

	if (n <= 0 || n >= TAR_NAME_SIZE - 1)
		return false;
	target[n] = '\0';
	return !tar_target_fault(walk->name, target);
}

static void send_file(struct walk *walk, int fd, const struct stat *st)
{
	enum files_op op;

	if (send_entry(walk->name, "", st) < 0)
		_exit(1);
	op = talk_ranges(fd);
	if (op != FILES_NEXT)
		_exit(op == FILES_QUIT ? 0 : 1);
}

/* What it is when it is opened counts. */
static void walk_entry(struct walk *walk, int folder, const char *name, size_t len, size_t depth)
{
	char target[TAR_NAME_SIZE] = "";
	struct stat st;
	auto_fd fd = -1;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return; /* gone meanwhile */
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) < 0)
		return;
	if (st.st_dev != walk->device || (fd < 0 && !S_ISLNK(st.st_mode)) || (S_ISLNK(st.st_mode) && !link_stays(walk, folder, name, target)) ||
	    (S_ISREG(st.st_mode) && st.st_nlink > 1)) {
		walk->count.skipped++;
		return;
	}
	if (++walk->count.entries > FILES_MOST_PACKED) {
		walk->fault = FILES_FAULT_TOO_MANY;
		return;
	}
	walk->count.bytes += S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	if (!walk->counts && S_ISREG(st.st_mode))
		send_file(walk, fd, &st);
	else if (!walk->counts && send_entry(walk->name, target, &st) < 0)
		_exit(1);
	if (S_ISDIR(st.st_mode))
		walk_folder(walk, fd, len, depth + 1);
}

static void walk_folder(struct walk *walk, int fd, size_t len, size_t depth)
{
	size_t n = 0;
	char **names = place_names(fd, FILES_MOST_PACKED, &n);

	if (!names || depth >= TAR_DEPTH) {
		walk->fault = depth >= TAR_DEPTH ? FILES_FAULT_TOO_DEEP : talk_fault(errno);
		place_names_finish(names);
		return;
	}
	for (size_t i = 0; i < n && !walk->fault; i++) {
		size_t part = strlen(names[i]);

		if (len + part + 2 > TAR_NAME_SIZE || !util_utf8_valid(names[i], part)) {
			walk->count.skipped++;
			continue;
		}
		(void)snprintf(walk->name + len, TAR_NAME_SIZE - len, "%s%s", len > 0 ? "/" : "", names[i]);
		walk_entry(walk, fd, names[i], len + part + (len > 0), depth);
		walk->name[len] = '\0';
	}
	place_names_finish(names);
}

static enum files_fault walk_all(struct walk *walk, int fd, bool counts)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return talk_fault(errno);
	*walk = (struct walk){.counts = counts, .device = st.st_dev};
	walk_folder(walk, fd, 0, 0);
	return walk->fault;
}

enum files_fault pack_run(const char *path)
{
	struct place place;
	enum files_fault fault = place_open(path, &place);
	struct files_done done = {0};
	struct walk walk;
	auto_fd fd = -1;

	if (fault)
		return fault;
	fd = place_at(place.root, place.rel, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	place_finish(&place);
	if (fd < 0)
		return errno == ENOTDIR ? FILES_FAULT_IS_FILE : talk_fault(errno);
	fault = walk_all(&walk, fd, true);
	if (fault)
		return fault;
	if (talk_send(FILES_COUNT, &walk.count, sizeof(walk.count), NULL, 0) < 0)
		_exit(1);
	fault = walk_all(&walk, fd, false);
	if (fault)
		return fault;
	done.files = (uint32_t)walk.count.entries;
	done.bytes = walk.count.bytes;
	(void)talk_send(FILES_DONE, &done, sizeof(done), NULL, 0);
	return FILES_NO_FAULT;
}
