/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The root of front, stage and egress. */
#include "sandbox/jail/daemon_jail.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/jail/mounts.h"
#include "session/base/util.h"

#define HOSTNAME "glovebox"

/* A folder of the loader: on a merged /usr it is a link, which the new root gets as it is. */
static int add_loader_folder(int root, const char *path, struct err *e)
{
	char to[256];
	ssize_t len = readlink(path, to, sizeof(to) - 1);
	auto_fd mount = -1;

	if (len > 0) {
		to[len] = '\0';
		return mounts_make_link(root, path + 1, to, e);
	}
	if (access(path, F_OK) < 0)
		return 0;
	if (mounts_make_dir(root, path + 1, 0755, 0, e) < 0 ||
	    mounts_clone(AT_FDCWD, path, AT_RECURSIVE, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &mount, e) < 0)
		return -1;
	return mounts_attach(mount, root, path + 1, e);
}

static int add_loader(int root, struct err *e)
{
	static const char *const folders[] = {"/usr", "/lib", "/lib64", "/lib32", "/libx32"};
	static const char cache[] = "/etc/ld.so.cache";

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (add_loader_folder(root, folders[i], e) < 0)
			return -1;
	if (access(cache, F_OK) < 0)
		return 0;
	if (mounts_make_dir(root, "etc", 0755, 0, e) < 0 || mounts_make_file(root, cache + 1, 0444, 0, "", 0, e) < 0)
		return -1;
	return mounts_bind(cache, root, cache + 1, MOUNT_ATTR_RDONLY | MOUNTS_DATA, e);
}

static int add_bind(int root, const struct daemon_bind *bind, struct err *e)
{
	uint64_t attrs = (bind->is_device ? MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC : MOUNTS_DATA) | (bind->writable ? 0 : MOUNT_ATTR_RDONLY);
	char path[128] = "";

	/* The folders on the way to the target. */
	for (const char *slash = strchr(bind->target, '/'); slash; slash = strchr(slash + 1, '/')) {
		memcpy(path, bind->target, (size_t)(slash - bind->target));
		path[slash - bind->target] = '\0';
		if (mounts_make_dir(root, path, 0755, 0, e) < 0)
			return -1;
	}
	if ((bind->is_file ? mounts_make_file(root, bind->target, 0444, 0, "", 0, e) : mounts_make_dir(root, bind->target, 0755, 0, e)) < 0)
		return -1;
	return mounts_bind(bind->source, root, bind->target, attrs, e);
}

static int add_tmp(int root, struct err *e)
{
	static const char *const options[] = {"size=2m", "nr_inodes=16", "mode=1777", NULL};

	return mounts_make_dir(root, "tmp", 0755, 0, e) < 0 ? -1 : mounts_tmpfs("tmp", options, MOUNTS_DATA, root, "tmp", e);
}

int daemon_jail_build(void *arg, int sync, struct err *e)
{
	static const char *const options[] = {"size=64k", "nr_inodes=64", "mode=755", NULL};
	const struct daemon_jail *jail = arg;
	auto_fd root = -1;

	(void)sync;
	if (sethostname(HOSTNAME, strlen(HOSTNAME)) < 0)
		return err_sys(e, "sethostname");
	if (jail->net && setns(*jail->net, CLONE_NEWNET) < 0)
		return err_sys(e, "entering the host's network namespace");
	if (mounts_make_private(e) < 0 || mounts_new("tmpfs", "root", options, MOUNTS_DATA, &root, e) < 0 ||
	    mounts_attach_host(root, jail->place, e) < 0 || add_loader(root, e) < 0)
		return -1;
	for (size_t i = 0; i < jail->n_binds; i++)
		if (add_bind(root, &jail->binds[i], e) < 0)
			return -1;
	if ((jail->has_tmp && add_tmp(root, e) < 0) || mounts_restrict(root, MOUNT_ATTR_RDONLY, e) < 0)
		return -1;
	return mounts_enter(root, e);
}
