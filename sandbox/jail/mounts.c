/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts as descriptors. */
#include "sandbox/jail/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/base/layer.h"
#include "session/base/util.h"

/* All of it, but in a build that can switch layers off. */
static uint64_t in_force(uint64_t attrs)
{
	if (layer_is_off("mount flags"))
		attrs &= ~(uint64_t)(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	return layer_is_off("read-only") ? attrs & ~(uint64_t)MOUNT_ATTR_RDONLY : attrs;
}

int mounts_make_private(struct err *e)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ? err_sys(e, "making the mounts private") : 0;
}

static int set_option(int context, const char *option)
{
	const char *value = strchr(option, '=');
	char key[32];

	if (!value)
		return fsconfig(context, FSCONFIG_SET_FLAG, option, NULL, 0);
	(void)snprintf(key, sizeof(key), "%.*s", (int)(value - option), option);
	return fsconfig(context, FSCONFIG_SET_STRING, key, value + 1, 0);
}

int mounts_new(const char *type, const char *source, const char *const *options, uint64_t attrs, int *mount, struct err *e)
{
	auto_fd context = fsopen(type, FSOPEN_CLOEXEC);
	int fd;

	if (context < 0)
		return err_sys(e, "the kernel has no file system %s", type);
	if (fsconfig(context, FSCONFIG_SET_STRING, "source", source, 0) < 0)
		return err_sys(e, "%s: source", type);
	for (; options && *options; options++)
		if (set_option(context, *options) < 0)
			return err_sys(e, "%s: option %s", type, *options);
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(e, "making a %s", type);
	fd = fsmount(context, FSMOUNT_CLOEXEC, (unsigned)in_force(attrs));
	if (fd < 0)
		return err_sys(e, "mounting a %s", type);
	*mount = fd;
	return 0;
}

int mounts_restrict(int mount, uint64_t attrs, struct err *e)
{
	struct mount_attr change = {.attr_set = in_force(attrs)};

	if (mount_setattr(mount, "", AT_EMPTY_PATH, &change, sizeof(change)) < 0)
		return err_sys(e, "restricting a mount");
	return 0;
}

int mounts_clone(int dir, const char *path, unsigned recursive, uint64_t attrs, int *mount, struct err *e)
{
	auto_fd fd = open_tree(dir, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | recursive);
	struct mount_attr change = {.attr_set = in_force(attrs)};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "taking %s", path);
	if (S_ISLNK(st.st_mode))
		return err_set(e, ERR_INTERNAL, NULL, "%s is a link", path);
	if (attrs && mount_setattr(fd, "", AT_EMPTY_PATH | recursive, &change, sizeof(change)) < 0)
		return err_sys(e, "restricting %s", path);
	*mount = steal_fd(&fd);
	return 0;
}

static int resolve(int root, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC,
	                       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

int mounts_open(int root, const char *path, int *fd, struct err *e)
{
	int opened = resolve(root, path, O_PATH);

	if (opened < 0)
		return errno == ELOOP ? err_set(e, ERR_INTERNAL, NULL, "/%s of the image goes over a link", path) : err_sys(e, "opening /%s", path);
	*fd = opened;
	return 0;
}

int mounts_attach(int mount, int root, const char *path, struct err *e)
{
	auto_fd target = -1;

	if (mounts_open(root, path, &target, e) < 0)
		return -1;
	if (move_mount(mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_sys(e, "mounting on /%s", path);
	return 0;
}

int mounts_attach_host(int mount, const char *path, struct err *e)
{
	if (move_mount(mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mounting on %s", path);
	return 0;
}

int mounts_bind(const char *source, int root, const char *path, uint64_t attrs, struct err *e)
{
	auto_fd mount = -1;

	if (mounts_clone(AT_FDCWD, source, 0, attrs, &mount, e) < 0)
		return -1;
	return mounts_attach(mount, root, path, e);
}

int mounts_tmpfs(const char *source, const char *const *options, uint64_t attrs, int root, const char *path, struct err *e)
{
	auto_fd mount = -1;

	if (mounts_new("tmpfs", source, options, attrs, &mount, e) < 0)
		return -1;
	return mounts_attach(mount, root, path, e);
}

/* Opens the folder that holds `path` and points *name at its last part. */
static int open_parent(int root, const char *path, const char **name, int *parent, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char folder[256];

	if (!slash) {
		*name = path;
		return mounts_open(root, ".", parent, e);
	}
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	*name = slash + 1;
	return mounts_open(root, folder, parent, e);
}

int mounts_make_dir(int root, const char *path, mode_t mode, uid_t uid, struct err *e)
{
	auto_fd parent = -1;
	auto_fd dir = -1;
	const char *name;
	struct stat st;

	if (open_parent(root, path, &name, &parent, e) < 0)
		return -1;
	if (mkdirat(parent, name, mode) < 0) {
		if (errno != EEXIST)
			return err_sys(e, "making /%s", path);
		if (mounts_open(root, path, &dir, e) < 0)
			return -1;
		if (fstat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
			return err_set(e, ERR_INTERNAL, NULL, "/%s of the image is not a folder", path);
		return 0;
	}
	/* The folder is a moment old and ours alone, but the umask may have taken bits of the mode. */
	if (fchmodat(parent, name, mode, 0) < 0 || fchownat(parent, name, uid, uid, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "giving /%s away", path);
	return 0;
}

int mounts_make_file(int root, const char *path, mode_t mode, uid_t uid, const void *data, size_t len, struct err *e)
{
	auto_fd parent = -1;
	auto_fd file = -1;
	const char *name;

	if (open_parent(root, path, &name, &parent, e) < 0)
		return -1;
	file = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (file < 0 || fchmod(file, mode) < 0 || fchown(file, uid, uid) < 0 || util_write_all(file, data, len) < 0)
		return err_sys(e, "making /%s", path);
	return 0;
}

int mounts_make_link(int root, const char *path, const char *to, struct err *e)
{
	auto_fd parent = -1;
	const char *name;

	if (open_parent(root, path, &name, &parent, e) < 0)
		return -1;
	return symlinkat(to, parent, name) < 0 ? err_sys(e, "making the link /%s", path) : 0;
}

int mounts_enter(int root, struct err *e)
{
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return err_sys(e, "pivot_root");
	/* The old root lies on top of the new one now. */
	if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_sys(e, "leaving the old root");
	return 0;
}
