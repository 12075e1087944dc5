/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Building a root: file systems as descriptors (fsopen, open_tree, move_mount), put together without following a link that an
 * image may have planted. Everything works on the mount namespace of the calling process. Paths inside a root are relative ("dev/pts")
 * and every part of them must be a real folder: a link on the way is refused.
 */
#ifndef JAIL_MOUNTS_H
#define JAIL_MOUNTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/types.h>

#include "session/base/err.h"

#define MOUNTS_DATA (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* Cuts this namespace off from every other: nothing mounted here is seen elsewhere, nothing mounted elsewhere is seen here. */
int mounts_make_private(struct err *e);

/* A new file system, mounted nowhere yet. `options` are "key=value" or "flag", ended by NULL; `attrs` are MOUNT_ATTR_…; `source`
 * is the name that mountinfo shows. *mount is the caller's. */
int mounts_new(const char *type, const char *source, const char *const *options, uint64_t attrs, int *mount, struct err *e);

/* What is mounted or lies at dir/path (a link at its end is refused), as a mount of its own. AT_RECURSIVE or 0. *mount is the caller's. */
int mounts_clone(int dir, const char *path, unsigned recursive, uint64_t attrs, int *mount, struct err *e);

/* Puts a mount on the folder or file `path` of the root; on the root's own folder "." too. The descriptor stays good. */
int mounts_attach(int mount, int root, const char *path, struct err *e);

/* The same, on an absolute path of the host. */
int mounts_attach_host(int mount, const char *path, struct err *e);

/* mounts_clone from the host's absolute path and mounts_attach in one. */
int mounts_bind(const char *source, int root, const char *path, uint64_t attrs, struct err *e);

/* mounts_new of a tmpfs and mounts_attach in one. */
int mounts_tmpfs(const char *source, const char *const *options, uint64_t attrs, int root, const char *path, struct err *e);

/* Opens a folder or file of the root, as O_PATH. */
int mounts_open(int root, const char *path, int *fd, struct err *e);

/* Makes a folder, or takes the real folder that is there (which then keeps its owner and mode). Its parent must be there. */
int mounts_make_dir(int root, const char *path, mode_t mode, uid_t uid, struct err *e);

/* Makes a regular file that was not there, with `len` bytes. */
int mounts_make_file(int root, const char *path, mode_t mode, uid_t uid, const void *data, size_t len, struct err *e);

/* Makes a symbolic link that was not there. */
int mounts_make_link(int root, const char *path, const char *to, struct err *e);

/* Adds MOUNT_ATTR_… to one mount. */
int mounts_restrict(int mount, uint64_t attrs, struct err *e);

/* Makes the root the root: pivot_root, and the old one is gone from this namespace. The working directory is "/". */
int mounts_enter(int root, struct err *e);

#endif
