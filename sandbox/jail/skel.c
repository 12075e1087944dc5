/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The home's skeleton. */
#include "sandbox/jail/skel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/util.h"

#define MAX_NAMES 2000
#define MAX_BYTES (32LL * 1024 * 1024)
#define MAX_DEPTH 8

struct budget {
	int names;
	long long bytes;
};

static int copy_dir(int from, int to, int depth, struct budget *budget, struct err *e);

static int copy_file(int from, int to, const char *name, mode_t mode, struct budget *budget, struct err *e)
{
	auto_fd in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	auto_fd out = -1;
	ssize_t n;

	if (in < 0)
		return errno == EACCES ? 0 : err_sys(e, "reading the skeleton");
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0755);
	if (out < 0)
		return errno == EEXIST ? 0 : err_sys(e, "copying the skeleton");
	while ((n = sendfile(out, in, NULL, 1 << 20)) > 0)
		if ((budget->bytes -= n) < 0)
			return err_set(e, ERR_INTERNAL, NULL, "the image's skeleton is larger than %lld bytes", MAX_BYTES);
	return n < 0 ? err_sys(e, "copying the skeleton") : 0;
}

static int copy_link(int from, int to, const char *name, struct err *e)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(from, name, target, sizeof(target) - 1);

	if (len < 0)
		return err_sys(e, "reading the skeleton");
	target[len] = '\0';
	return symlinkat(target, to, name) < 0 && errno != EEXIST ? err_sys(e, "copying the skeleton") : 0;
}

static int copy_folder(int from, int to, const char *name, int depth, struct budget *budget, struct err *e)
{
	auto_fd in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	auto_fd out = -1;

	if (in < 0)
		return errno == EACCES ? 0 : err_sys(e, "reading the skeleton");
	if (mkdirat(to, name, 0755) < 0 && errno != EEXIST)
		return err_sys(e, "copying the skeleton");
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return err_sys(e, "copying the skeleton");
	return copy_dir(in, out, depth + 1, budget, e);
}

static int copy_name(int from, int to, const char *name, int depth, struct budget *budget, struct err *e)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "reading the skeleton");
	if (budget->names-- <= 0 || depth > MAX_DEPTH)
		return err_set(e, ERR_INTERNAL, NULL, "the image's skeleton has more than %d names or %d levels", MAX_NAMES, MAX_DEPTH);
	if (S_ISREG(st.st_mode))
		return copy_file(from, to, name, st.st_mode, budget, e);
	if (S_ISDIR(st.st_mode))
		return copy_folder(from, to, name, depth, budget, e);
	return S_ISLNK(st.st_mode) ? copy_link(from, to, name, e) : 0;
}

static int copy_dir(int from, int to, int depth, struct budget *budget, struct err *e)
{
	DIR *stream = fdopendir(dup(from));
	int result = 0;

	if (!stream)
		return err_sys(e, "reading the skeleton");
	for (struct dirent *entry = readdir(stream); entry && result == 0; entry = readdir(stream))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = copy_name(from, to, entry->d_name, depth, budget, e);
	(void)closedir(stream);
	return result;
}

int skel_copy(const char *from, const char *to, struct err *e)
{
	struct budget budget = {MAX_NAMES, MAX_BYTES};
	auto_fd in = open(from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	auto_fd out = -1;

	if (in < 0)
		return errno == ENOENT ? 0 : err_sys(e, "opening the skeleton");
	out = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return err_sys(e, "opening the home");
	return copy_dir(in, out, 0, &budget, e);
}
