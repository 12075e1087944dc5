/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths beneath the two folders that there are. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apps/files/files.h"
#include "session/base/util.h"

#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV)
#define TRIES 16 /* the kernel gives up when folders are moved while it looks */

int place_at(int folder, const char *rel, int flags, unsigned int mode)
{
	const struct open_how how = {.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC), .mode = mode, .resolve = BENEATH};
	int fd = -1;

	for (int i = 0; i < TRIES; i++) {
		fd = (int)syscall(SYS_openat2, folder, *rel ? rel : ".", &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd;
}

enum files_fault place_open(const char *path, struct place *out)
{
	static const char *const roots[] = {FILES_HOME, FILES_TMP};

	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		size_t len = strlen(roots[i]);
		const char *slash;
		int root;

		if (strncmp(path, roots[i], len) != 0 || (path[len] && path[len] != '/'))
			continue;
		path += len + (path[len] == '/');
		if (*path && tar_name_fault(path, strlen(path)))
			return FILES_FAULT_MISSING;
		root = open(roots[i], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (root < 0)
			return talk_fault(errno);
		*out = (struct place){.root = root, .rel = util_strdup(path)};
		slash = strrchr(out->rel, '/');
		out->name = slash ? out->rel + (slash - out->rel) + 1 : out->rel;
		return FILES_NO_FAULT;
	}
	return FILES_FAULT_RIGHTS;
}

void place_finish(struct place *place)
{
	util_close_fd(&place->root);
	free(place->rel);
}

enum files_fault place_ancestor(const struct place *place, int *folder, const char **rest)
{
	auto_fd at = place_at(place->root, "", O_PATH | O_DIRECTORY, 0);
	const char *left = place->rel;

	while (at >= 0) {
		size_t len = strcspn(left, "/");
		auto_free char *part = util_printf("%.*s", (int)len, left);
		int next;

		if (!left[len])
			break;
		next = place_at(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (next < 0 && errno == ENOENT)
			break;
		if (next < 0)
			return talk_fault(errno);
		util_close_fd(&at);
		at = next;
		left += len + 1;
	}
	if (at < 0)
		return talk_fault(errno);
	*folder = steal_fd(&at);
	*rest = left;
	return FILES_NO_FAULT;
}

enum files_fault place_make(int folder, const char *path, int *parent, const char **name)
{
	auto_fd at = place_at(folder, "", O_PATH | O_DIRECTORY, 0);

	while (at >= 0) {
		size_t len = strcspn(path, "/");
		auto_free char *part = util_printf("%.*s", (int)len, path);
		int next;

		if (!path[len]) {
			*parent = steal_fd(&at);
			*name = path;
			return FILES_NO_FAULT;
		}
		if (mkdirat(at, part, 0755) < 0 && errno != EEXIST)
			return talk_fault(errno);
		next = place_at(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (next < 0)
			return talk_fault(errno);
		util_close_fd(&at);
		at = next;
		path += len + 1;
	}
	return talk_fault(errno);
}

enum files_fault place_check_file(int folder, const char *name, struct stat *st)
{
	if (fstatat(folder, name, st, AT_SYMLINK_NOFOLLOW) < 0)
		return talk_fault(errno);
	if (S_ISLNK(st->st_mode))
		return FILES_FAULT_LINK;
	if (S_ISDIR(st->st_mode))
		return FILES_FAULT_IS_FOLDER;
	if (!S_ISREG(st->st_mode))
		return FILES_FAULT_NOT_PLAIN;
	return st->st_nlink > 1 ? FILES_FAULT_SHARED : FILES_NO_FAULT;
}

void place_temporary(char out[PLACE_TEMPORARY_SIZE])
{
	char digits[17];
	uint8_t random[8];

	util_random(random, sizeof(random));
	util_hex(digits, random, sizeof(random));
	(void)snprintf(out, PLACE_TEMPORARY_SIZE, ".glovebox-%s", digits);
}

static int compare(const void *a, const void *b)
{
	const char *const *one = a, *const *other = b;

	return strcmp(*one, *other);
}

char **place_names(int fd, size_t most, size_t *out_n)
{
	int again = place_at(fd, "", O_RDONLY | O_DIRECTORY, 0);
	DIR *folder = again < 0 ? NULL : fdopendir(again);
	char **names = util_zalloc(sizeof(*names));
	const struct dirent *entry;
	size_t n = 0, room = 1;

	if (!folder) {
		free(names);
		return NULL;
	}
	while ((entry = readdir(folder)) && n <= most) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (n + 1 == room) {
			room = 2 * room + 8;
			names = util_realloc(names, room * sizeof(*names));
		}
		names[n++] = util_strdup(entry->d_name);
		names[n] = NULL;
	}
	(void)closedir(folder);
	if (n > most) {
		place_names_finish(names);
		errno = ERANGE;
		return NULL;
	}
	qsort(names, n, sizeof(*names), compare);
	*out_n = n;
	return names;
}

void place_names_finish(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}
