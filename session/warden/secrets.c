/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of secrets. Their names were checked (requests.c) and are no paths. */
#include "session/warden/secrets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/locked.h"
#include "session/base/util.h"
#include "session/warden/sealed.h"

#define NEW ".new" /* no secret has this name */

static int open_folder(const struct state *state, struct err *e)
{
	int fd = openat(state->fd, "secrets", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? err_sys(e, "the folder of secrets") : fd;
}

static bool is_there(int folder, const char *name)
{
	return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int check_room(int folder, const char *name, struct err *e)
{
	DIR *stream = is_there(folder, name) ? NULL : fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	int n = 0;

	for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
		n += entry->d_name[0] != '.';
	if (stream)
		(void)closedir(stream);
	return n < LIMIT_STORED_SECRETS ? 0 : err_set(e, ERR_LIMIT, NULL, "the server keeps at most %d secrets", LIMIT_STORED_SECRETS);
}

static int write_new(int folder, const struct warden_secret *secret, struct err *e)
{
	auto_fd fd = -1;

	if (unlinkat(folder, NEW, 0) < 0 && errno != ENOENT)
		return err_sys(e, "removing what is left of a secret");
	fd = openat(folder, NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0600) < 0 || util_write_all(fd, secret->value, secret->len) < 0 || fsync(fd) < 0)
		return err_sys(e, "writing a secret");
	return 0;
}

int secrets_put(const struct state *state, const struct warden_secret *secret, struct err *e)
{
	auto_fd folder = open_folder(state, e);

	if (folder < 0 || check_room(folder, secret->name, e) < 0)
		return -1;
	if (write_new(folder, secret, e) < 0) {
		(void)unlinkat(folder, NEW, 0);
		return -1;
	}
	if (renameat(folder, NEW, folder, secret->name) < 0 || fsync(folder) < 0)
		return err_sys(e, "storing a secret");
	return 0;
}

int secrets_drop(const struct state *state, const char *name, struct err *e)
{
	auto_fd folder = open_folder(state, e);

	if (folder < 0)
		return -1;
	if (unlinkat(folder, name, 0) == 0)
		return fsync(folder) < 0 ? err_sys(e, "removing a secret") : 0;
	return errno == ENOENT ? err_set(e, ERR_NOT_FOUND, NULL, "there is no secret %s", name) : err_sys(e, "removing a secret");
}

int secrets_check(const struct state *state, const struct warden_create *create, struct err *e)
{
	auto_fd folder = open_folder(state, e);
	char path[40];

	for (size_t i = 0; i < LIMIT_SECRETS && create->secrets[i][0] && folder >= 0; i++) {
		if (is_there(folder, create->secrets[i]))
			continue;
		(void)snprintf(path, sizeof(path), "/secrets/%zu", i);
		return err_set(e, ERR_BAD_FIELD, path, "there is no secret %s; GET /v1/secrets lists them", create->secrets[i]);
	}
	return folder < 0 ? -1 : 0;
}

/* Of a memory file with seals a descriptor for reading alone. */
static int reopen(int fd)
{
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int secrets_copy(const struct state *state, const char *name, int *copy, struct err *e)
{
	auto_fd folder = open_folder(state, e);
	auto_fd file = folder < 0 ? -1 : openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	auto_fd sealed = -1;
	char *value;
	ssize_t n;
	int rc;

	if (folder < 0)
		return -1;
	if (file < 0)
		return err_sys(e, "opening the secret %s", name);
	value = locked_alloc(LIMIT_SECRET_BYTES);
	n = pread(file, value, LIMIT_SECRET_BYTES, 0);
	rc = n <= 0 ? err_sys(e, "reading the secret %s", name) : sealed_copy("a secret", value, (size_t)n, &sealed, e);
	locked_free(value, LIMIT_SECRET_BYTES);
	if (rc < 0)
		return -1;
	*copy = reopen(sealed);
	return *copy < 0 ? err_sys(e, "handing over the secret %s", name) : 0;
}
