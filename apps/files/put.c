/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing one file, which takes its place once it is whole; and deleting. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps/files/files.h"
#include "session/base/util.h"

#define DEEPEST 1000 /* folders in folders, that are deleted */

/* A file that comes. */
struct coming {
	int folder;        /* where it is until it is whole: the deepest that is there */
	const char *rest;  /* from there to its place */
	char name[PLACE_TEMPORARY_SIZE];
	int fd;
	uint64_t bytes;
};

/* False: the stage has gone. */
static bool take_all(struct coming *coming, enum files_fault *fault)
{
	static char data[FILES_DATA_BYTES];
	struct files_head head;

	for (;;) {
		if (talk_receive(&head, data, sizeof(data)) < 0)
			return false;
		if (head.op == FILES_COMMIT)
			return true;
		if (head.op != FILES_DATA)
			return false;
		if (!*fault && util_write_all(coming->fd, data, head.len) < 0)
			*fault = talk_fault(errno);
		if (*fault)
			return true;
		coming->bytes += head.len;
	}
}

static enum files_fault settle(const struct coming *coming, int mode, uint32_t *created)
{
	auto_fd parent = -1;
	const char *name;
	struct stat st;
	enum files_fault fault = place_make(coming->folder, coming->rest, &parent, &name);

	if (fault)
		return fault;
	fault = place_check_file(parent, name, &st);
	*created = fault == FILES_FAULT_MISSING;
	if (fault && !*created)
		return fault;
	if (fchmod(coming->fd, mode >= 0 ? (mode_t)mode : *created ? 0644 : st.st_mode & 0777) < 0 ||
	    renameat(coming->folder, coming->name, parent, name) < 0)
		return talk_fault(errno);
	return FILES_NO_FAULT;
}

static enum files_fault find(const struct place *place, bool parents, struct coming *coming)
{
	struct stat st;
	enum files_fault fault;

	if (!*place->rel)
		return FILES_FAULT_IS_FOLDER;
	fault = place_ancestor(place, &coming->folder, &coming->rest);
	if (fault)
		return fault;
	if (strchr(coming->rest, '/'))
		return parents ? FILES_NO_FAULT : FILES_FAULT_NO_PARENT;
	fault = place_check_file(coming->folder, coming->rest, &st);
	return fault == FILES_FAULT_MISSING ? FILES_NO_FAULT : fault;
}

static enum files_fault put(struct coming *coming, int mode)
{
	struct files_done done = {0};
	enum files_fault fault = FILES_NO_FAULT;

	place_temporary(coming->name);
	coming->fd = place_at(coming->folder, coming->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (coming->fd < 0)
		return talk_fault(errno);
	if (!take_all(coming, &fault)) {
		(void)unlinkat(coming->folder, coming->name, 0);
		_exit(1);
	}
	if (!fault)
		fault = settle(coming, mode, &done.created);
	if (fault) {
		(void)unlinkat(coming->folder, coming->name, 0);
		return fault;
	}
	done.bytes = coming->bytes;
	done.files = 1;
	(void)talk_send(FILES_DONE, &done, sizeof(done), NULL, 0);
	return FILES_NO_FAULT;
}

enum files_fault put_run(const char *path, int mode, bool parents)
{
	struct coming coming = {.folder = -1, .fd = -1};
	struct place place;
	enum files_fault fault = place_open(path, &place);

	if (fault)
		return fault;
	fault = find(&place, parents, &coming);
	if (!fault)
		fault = put(&coming, mode);
	util_close_fd(&coming.fd);
	util_close_fd(&coming.folder);
	place_finish(&place);
	return fault;
}

/* --- deleting --- */

static enum files_fault drop(int parent, const char *name, bool tree, size_t depth, uint32_t *n);

static enum files_fault drop_content(int folder, size_t depth, uint32_t *n)
{
	size_t count = 0;
	char **names = place_names(folder, FILES_MOST_PACKED, &count);
	enum files_fault fault = names ? FILES_NO_FAULT : talk_fault(errno);

	for (size_t i = 0; i < count && !fault; i++) {
		fault = drop(folder, names[i], true, depth + 1, n);
		if (fault == FILES_FAULT_MISSING)
			fault = FILES_NO_FAULT;
	}
	place_names_finish(names);
	return fault;
}

/* A link is deleted itself; what it leads to stays. */
static enum files_fault drop(int parent, const char *name, bool tree, size_t depth, uint32_t *n)
{
	auto_fd folder = -1;
	enum files_fault fault;

	if (unlinkat(parent, name, 0) == 0) {
		(*n)++;
		return FILES_NO_FAULT;
	}
	if (errno != EISDIR)
		return talk_fault(errno);
	if (depth >= DEEPEST)
		return FILES_FAULT_TOO_DEEP;
	if (tree) {
		folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder < 0)
			return talk_fault(errno);
		(void)fchmod(folder, 0700);
		fault = drop_content(folder, depth, n);
		if (fault)
			return fault;
	}
	if (unlinkat(parent, name, AT_REMOVEDIR) < 0)
		return talk_fault(errno);
	(*n)++;
	return FILES_NO_FAULT;
}

enum files_fault drop_tree(int parent, const char *name, uint32_t *n)
{
	return drop(parent, name, true, 0, n);
}

enum files_fault drop_run(const char *path, bool tree)
{
	struct files_done done = {0};
	struct place place;
	enum files_fault fault = place_open(path, &place);
	auto_fd parent = -1;
	const char *rest = "";

	if (fault)
		return fault;
	fault = *place.rel ? place_ancestor(&place, &parent, &rest) : FILES_FAULT_ROOT;
	if (!fault && strchr(rest, '/'))
		fault = FILES_FAULT_MISSING;
	if (!fault)
		fault = drop(parent, rest, tree, 0, &done.files);
	place_finish(&place);
	if (!fault)
		(void)talk_send(FILES_DONE, &done, sizeof(done), NULL, 0);
	return fault;
}
