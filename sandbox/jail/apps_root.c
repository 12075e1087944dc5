/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root of the app jail. One tmpfs holds all that can be written: the overlay's upper layer, home, tmp, run, /dev/shm; its size is the disk limit.
 * Names are relative or of that tmpfs, so that mountinfo inside shows no path of the host.
 */
#include "sandbox/jail/apps_root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/jail/buses.h"
#include "sandbox/jail/mounts.h"
#include "session/base/ipc.h"
#include "session/base/layer.h"
#include "session/base/util.h"

#define SAFE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Folders of the tmpfs. Those with a place are bound there; the jail's user owns some. */
static const struct store {
	const char *name;
	mode_t mode;
	bool users;
	const char *place; /* in the root */
} STORES[] = {
	{"upper", 0755, false, NULL},
	{"work", 0755, false, NULL},
	{"lower", 0755, false, NULL},
	{"root", 0755, false, NULL},
	{"home", 0755, false, "home"},
	{"home/user", 0700, true, NULL},
	{"tmp", 01777, false, "tmp"},
	{"tmp/.X11-unix", 01777, false, NULL},
	{"vartmp", 01777, false, "var/tmp"},
	{"shm", 01777, false, NULL}, /* at /dev/shm */
	{"run", 0755, false, "run"},
	{"run/lock", 01777, false, NULL},
	{"run/user", 0755, false, NULL},
	{"run/user/1000", 0700, true, NULL},
	{"run/glovebox", 0755, false, NULL},
	{"run/glovebox/bin", 0755, false, NULL},
	{"run/glovebox/bus", 0755, false, NULL},
	{"run/glovebox/bus/services", 0755, false, NULL},
};

static const char *const NODES[] = {"null", "zero", "full", "random", "urandom", "tty"};

static const struct {
	const char *name, *to;
} DEV_LINKS[] = {
	{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
	{"ptmx", "pts/ptmx"},
};

/* What of proc tells about the host or changes it: files read as empty, folders are empty or cannot be written. */
static const struct mask {
	const char *name;
	enum { MASK_FILE, MASK_FOLDER, MASK_READONLY } kind;
} MASKS[] = {
	{"acpi", MASK_FOLDER},      {"asound", MASK_FOLDER},    {"bus", MASK_READONLY},      {"cmdline", MASK_FILE},
	{"config.gz", MASK_FILE},   {"crypto", MASK_FILE},      {"diskstats", MASK_FILE},    {"fs", MASK_READONLY},
	{"interrupts", MASK_FILE},  {"iomem", MASK_FILE},       {"ioports", MASK_FILE},      {"irq", MASK_READONLY},
	{"kallsyms", MASK_FILE},    {"kcore", MASK_FILE},       {"keys", MASK_FILE},         {"key-users", MASK_FILE},
	{"kmsg", MASK_FILE},        {"kpagecgroup", MASK_FILE}, {"kpagecount", MASK_FILE},   {"kpageflags", MASK_FILE},
	{"latency_stats", MASK_FILE}, {"modules", MASK_FILE},   {"partitions", MASK_FILE},   {"sched_debug", MASK_FILE},
	{"scsi", MASK_FOLDER},      {"slabinfo", MASK_FILE},    {"softirqs", MASK_FILE},     {"swaps", MASK_FILE},
	{"sys", MASK_READONLY},     {"sysrq-trigger", MASK_FILE}, {"timer_list", MASK_FILE}, {"vmallocinfo", MASK_FILE},
	{"zoneinfo", MASK_FILE},
};

/* For who counts what is in it: a file that nothing can be read from or reached by. */
static int send_store(const struct apps_jail *jail, int store, struct err *e)
{
	auto_fd file = -1;

	if (jail->store < 0)
		return 0;
	if (mounts_open(store, "empty", &file, e) < 0)
		return -1;
	return ipc_send(jail->store, "", 1, &file, 1, e);
}

static int make_store(const struct apps_jail *jail, int *store, struct err *e)
{
	char size[32], inodes[32];
	const char *const options[] = {size, inodes, "mode=755", NULL};

	(void)snprintf(size, sizeof(size), "size=%um", jail->disk_mb);
	(void)snprintf(inodes, sizeof(inodes), "nr_inodes=%u", jail->inodes);
	if (mounts_new("tmpfs", "jail", options, SAFE, store, e) < 0 || mounts_attach_host(*store, jail->place, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(STORES); i++)
		if (mounts_make_dir(*store, STORES[i].name, STORES[i].mode, STORES[i].users ? jail->uid : 0, e) < 0)
			return -1;
	if (mounts_make_file(*store, "empty", 0444, 0, "", 0, e) < 0)
		return -1;
	return send_store(jail, *store, e);
}

/* The overlay over the image, on the folder "root" of the store. */
static int make_overlay(const struct apps_jail *jail, int store, int *root, struct err *e)
{
	static const char *const options[] = {"lowerdir=lower", "upperdir=upper", "workdir=work", "volatile", "xino=off", NULL};

	if (mounts_bind(jail->image_root, store, "lower", MOUNT_ATTR_RDONLY | SAFE, e) < 0)
		return -1;
	/* The names of the layers are looked up from here. */
	if (fchdir(store) < 0)
		return err_sys(e, "fchdir");
	if (mounts_new("overlay", "root", options, SAFE, root, e) < 0)
		return -1;
	return mounts_attach(*root, store, "root", e);
}

/* Copies a folder or file of the store to a place in the root. */
static int bind_store(int store, const char *name, int root, const char *place, uint64_t attrs, struct err *e)
{
	auto_fd mount = -1;

	if (mounts_clone(store, name, 0, attrs, &mount, e) < 0)
		return -1;
	return mounts_attach(mount, root, place, e);
}

static int bind_stores(int store, int root, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(STORES); i++)
		if (STORES[i].place && (mounts_make_dir(root, STORES[i].place, 0755, 0, e) < 0 ||
		                        bind_store(store, STORES[i].name, root, STORES[i].place, SAFE, e) < 0))
			return -1;
	return 0;
}

static int add_dev(int store, int root, struct err *e)
{
	static const char *const dev_options[] = {"size=64k", "nr_inodes=64", "mode=755", NULL};
	static const char *const pts_options[] = {"newinstance", "ptmxmode=0666", "mode=0620", "max=64", NULL};
	auto_fd dev = -1;
	auto_fd pts = -1;
	char host[32];

	if (mounts_make_dir(root, "dev", 0755, 0, e) < 0 ||
	    mounts_new("tmpfs", "dev", dev_options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, &dev, e) < 0 || mounts_attach(dev, root, "dev", e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(NODES); i++) {
		(void)snprintf(host, sizeof(host), "/dev/%s", NODES[i]);
		if (mounts_make_file(dev, NODES[i], 0666, 0, "", 0, e) < 0 ||
		    mounts_bind(host, dev, NODES[i], MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < ARRAY_LEN(DEV_LINKS); i++)
		if (mounts_make_link(dev, DEV_LINKS[i].name, DEV_LINKS[i].to, e) < 0)
			return -1;
	if (mounts_make_dir(dev, "pts", 0755, 0, e) < 0 || mounts_make_dir(dev, "shm", 01777, 0, e) < 0 ||
	    mounts_new("devpts", "devpts", pts_options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, &pts, e) < 0 ||
	    mounts_attach(pts, dev, "pts", e) < 0 || bind_store(store, "shm", dev, "shm", SAFE, e) < 0)
		return -1;
	return mounts_restrict(dev, MOUNT_ATTR_RDONLY, e);
}

static int apply_mask(const struct mask *mask, int store, int proc, struct err *e)
{
	static const char *const no_files[] = {"size=4k", "nr_inodes=2", "mode=555", NULL};

	if (faccessat(proc, mask->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* this kernel has none */
	switch (mask->kind) {
	case MASK_FILE:
		return bind_store(store, "empty", proc, mask->name, MOUNT_ATTR_RDONLY | MOUNTS_DATA, e);
	case MASK_FOLDER:
		return mounts_tmpfs("empty", no_files, MOUNT_ATTR_RDONLY | MOUNTS_DATA, proc, mask->name, e);
	case MASK_READONLY:
		return bind_store(proc, mask->name, proc, mask->name, MOUNT_ATTR_RDONLY | MOUNTS_DATA, e);
	}
	return 0;
}

static int add_proc_and_sys(int store, int root, struct err *e)
{
	static const char *const no_files[] = {"size=4k", "nr_inodes=2", "mode=555", NULL};
	auto_fd proc = -1;

	if (mounts_make_dir(root, "proc", 0555, 0, e) < 0 || mounts_new("proc", "proc", NULL, MOUNTS_DATA, &proc, e) < 0 ||
	    mounts_attach(proc, root, "proc", e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(MASKS) && !layer_is_off("masks"); i++)
		if (apply_mask(&MASKS[i], store, proc, e) < 0)
			return -1;
	if (mounts_make_dir(root, "sys", 0555, 0, e) < 0)
		return -1;
	return mounts_tmpfs("sys", no_files, MOUNT_ATTR_RDONLY | MOUNTS_DATA, root, "sys", e);
}

/*
 * Where trusted programs keep their settings and profiles. What these say is executed (modules of GTK, of NSS), so no other program of the
 * user may write there: it is root's, for the group of the trusted. What they download is for all.
 */
static int add_trusted_home(const struct apps_jail *jail, int store, struct err *e)
{
	static const char *const folders[] = {"run/glovebox/trusted", "run/glovebox/trusted/.config"};
	static const char places[] = "XDG_DESKTOP_DIR=\"/home/user\"\nXDG_DOCUMENTS_DIR=\"/home/user\"\nXDG_DOWNLOAD_DIR=\"/home/user/Downloads\"\n";

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		if (mounts_make_dir(store, folders[i], 0770, 0, e) < 0)
			return -1;
		if (fchownat(store, folders[i], 0, jail->trusted, AT_SYMLINK_NOFOLLOW) < 0)
			return err_sys(e, "giving /%s away", folders[i]);
	}
	return mounts_make_file(store, "run/glovebox/trusted/.config/user-dirs.dirs", 0444, 0, places, strlen(places), e);
}

/* What belongs to one session lies under /run and is made anew each time. */
static int add_identity(const struct apps_jail *jail, int store, int root, struct err *e)
{
	uint8_t random[16];
	char id[2 * sizeof(random) + 2];

	util_random(random, sizeof(random));
	util_hex(id, random, sizeof(random));
	strcat(id, "\n");
	/* init fills it once the display has made a cookie for untrusted programs; trusted ones need none. */
	if (mounts_make_file(store, "run/glovebox/xauth", 0600, jail->uid, "", 0, e) < 0 ||
	    add_trusted_home(jail, store, e) < 0 ||
	    mounts_make_file(store, "run/glovebox/machine-id", 0444, 0, id, strlen(id), e) < 0 || mounts_make_dir(root, "etc", 0755, 0, e) < 0)
		return -1;
	if (faccessat(root, "etc/machine-id", F_OK, AT_SYMLINK_NOFOLLOW) < 0 && mounts_make_file(root, "etc/machine-id", 0444, 0, "", 0, e) < 0)
		return -1;
	return bind_store(store, "run/glovebox/machine-id", root, "etc/machine-id", MOUNT_ATTR_RDONLY | MOUNTS_DATA, e);
}

/* Nothing shows that there could be a way out where there is none. */
static int add_egress(const struct apps_jail *jail, int store, int root, struct err *e)
{
	if (!jail->egress)
		return 0;
	if (mounts_make_dir(store, "run/egress", 0755, 0, e) < 0)
		return -1;
	return mounts_bind(jail->egress, root, "run/egress", MOUNT_ATTR_RDONLY | MOUNTS_DATA, e);
}

int apps_root_build(const struct apps_jail *jail, struct err *e)
{
	auto_fd store = -1;
	auto_fd root = -1;

	if (mounts_make_private(e) < 0 || make_store(jail, &store, e) < 0 || make_overlay(jail, store, &root, e) < 0 ||
	    bind_stores(store, root, e) < 0 || add_identity(jail, store, root, e) < 0 || buses_add(store, root, e) < 0 ||
	    add_dev(store, root, e) < 0 || add_proc_and_sys(store, root, e) < 0)
		return -1;
	if (mounts_bind(jail->x11, root, "tmp/.X11-unix", MOUNT_ATTR_RDONLY | MOUNTS_DATA, e) < 0)
		return -1;
	if (add_egress(jail, store, root, e) < 0)
		return -1;
	if (jail->bin && mounts_bind(jail->bin, root, "run/glovebox/bin", MOUNT_ATTR_RDONLY | SAFE, e) < 0)
		return -1;
	if (mounts_restrict(root, MOUNT_ATTR_RDONLY, e) < 0)
		return -1;
	return mounts_enter(root, e);
}
