/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the image, of the host, of the kernel; devices. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "session/base/util.h"
#include "tests/escape/battery.h"

#define P(pointer) ((long)(uintptr_t)(pointer))

static int try_make(const struct probe *probe)
{
	auto_fd fd = open(probe->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	(void)unlink(probe->path);
	return DONE;
}

/* Opens it alone: nothing is written. */
static int try_change(const struct probe *probe)
{
	auto_fd fd = open(probe->path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? errno : DONE;
}

/* Which of the kernel's files there are is not the same everywhere: it is not there, closed, or cannot be written. */
static int try_kept(const struct probe *probe)
{
	int outcome = try_change(probe);

	return outcome == ENOENT || outcome == EACCES || outcome == EROFS ? HELD : outcome;
}

#define KEEP(where) {.name = "write " where, .layer = OWNERS, .try = try_kept, .path = (where), .expect = {HELD}}
#define MAKE(where, wall, outcome) {.name = "make " where, .layer = (wall), .try = try_make, .path = (where), .expect = {(outcome)}}
#define CHANGE(where, wall, outcome) {.name = "write " where, .layer = (wall), .try = try_change, .path = (where), .expect = {(outcome)}}

static int look_into_folder(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int outcome = HIDDEN;

	if (!dir)
		return errno;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			outcome = DONE;
	(void)closedir(dir);
	return outcome;
}

/* Not there, or nothing in it. */
static int try_hidden(const struct probe *probe)
{
	auto_fd fd = open(probe->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char byte;

	if (fd < 0)
		return errno == ENOENT ? HIDDEN : errno;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return look_into_folder(probe->path);
	switch (read(fd, &byte, 1)) {
	case 0:
		return HIDDEN;
	case 1:
		return DONE;
	default:
		return errno;
	}
}

#define HIDE(where) {.name = "read " where, .layer = MASKS, .try = try_hidden, .path = (where), .expect = {HIDDEN}}

static int try_read(const struct probe *probe)
{
	auto_fd fd = open(probe->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char byte;

	return fd < 0 ? errno : read(fd, &byte, 1) < 0 ? errno : DONE;
}

#define READ(where, wall, outcome) {.name = "read " where, .layer = (wall), .try = try_read, .path = (where), .expect = {(outcome)}}

static int try_link(const struct probe *probe)
{
	char to[4096];

	return outcome_of(readlink(probe->path, to, sizeof(to)));
}

#define LINK(where) {.name = "follow " where, .layer = OWNERS, .try = try_link, .path = (where), .expect = {EACCES}}

static int try_device(const struct probe *probe)
{
	auto_fd fd = open(probe->path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? errno : DONE;
}

#define DEVICE(where) {.name = "open " where, .layer = NO_DEVICES, .try = try_device, .path = (where), .expect = {ENOENT}}

static int try_node(const struct probe *probe)
{
	int outcome = outcome_of(mknod("/tmp/battery-node", (mode_t)probe->args[0] | 0600, makedev((unsigned)probe->args[1], (unsigned)probe->args[2])));

	if (outcome == DONE)
		(void)unlink("/tmp/battery-node");
	return outcome;
}

#define NODE(text, kind, major, minor) {.name = (text), .layer = NO_CAPABILITY, .try = try_node, .args = {(kind), (major), (minor)}, .expect = {EPERM}}

static int try_hard_link(const struct probe *probe)
{
	int outcome = outcome_of(link(probe->path, "/tmp/battery-link"));

	if (outcome == DONE)
		(void)unlink("/tmp/battery-link");
	return outcome;
}

static int try_attribute(const struct probe *probe)
{
	/* Of capabilities: version 2, without any. */
	static const uint32_t value[5] = {0x02000000};
	auto_fd fd = open("/tmp/battery-file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? errno : outcome_of(fsetxattr(fd, probe->path, value, sizeof(value), 0));
}

/* Of the words of mountinfo no root and no source is a path of the host. */
static int try_mountinfo(const struct probe *probe)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[4096];
	int outcome = file ? HELD : errno;

	(void)probe;
	while (file && fgets(line, sizeof(line), file)) {
		const char *type = strstr(line, " - ");

		if (!type || strstr(type, " /") || strstr(type, "=/") || strstr(line, "/var/lib/") || strstr(line, "/state/"))
			outcome = DONE;
	}
	if (file)
		(void)fclose(file);
	return outcome;
}

/* A group of the jail's own, and above it nothing. */
static int try_groups_shown(const struct probe *probe)
{
	static const char *const leaves[] = {"/\n", "/base\n", "/apps\n", "/agent\n"};
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[4096];
	int outcome = file ? HELD : errno;

	(void)probe;
	while (file && fgets(line, sizeof(line), file)) {
		const char *place = strchr(line, '/');
		size_t i = 0;

		while (i < ARRAY_LEN(leaves) && (!place || strcmp(place, leaves[i]) != 0))
			i++;
		outcome = i == ARRAY_LEN(leaves) ? DONE : outcome;
	}
	if (file)
		(void)fclose(file);
	return outcome;
}

static int try_identity(const struct probe *probe)
{
	char name[256];

	(void)probe;
	return gethostname(name, sizeof(name)) == 0 && strcmp(name, "glovebox") == 0 ? HELD : DONE;
}

/* /dev has no place to put a program, and what lies in proc and sys is none. */
static int try_noexec(const struct probe *probe)
{
	auto_fd fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	const void *page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (page != MAP_FAILED)
		return DONE;
	return errno;
}

static const struct probe probes[] = {
	MAKE("/battery", READ_ONLY, EROFS), MAKE("/usr/battery", READ_ONLY, EROFS), MAKE("/usr/bin/battery", READ_ONLY, EROFS),
	MAKE("/etc/battery", READ_ONLY, EROFS), MAKE("/etc/ld.so.preload", READ_ONLY, EROFS), MAKE("/root/battery", OWNERS, EACCES),
	MAKE("/var/lib/battery", READ_ONLY, EROFS), MAKE("/opt/battery", READ_ONLY, EROFS),
	MAKE("/dev/battery", READ_ONLY, EROFS), MAKE("/sys/battery", READ_ONLY, EROFS), MAKE("/proc/battery", KERNEL, ENOENT),
	MAKE("/run/battery", OWNERS, EACCES), MAKE("/run/glovebox/battery", OWNERS, EACCES), MAKE("/run/glovebox/bin/battery", READ_ONLY, EROFS),
	MAKE("/run/glovebox/bus/battery", OWNERS, EACCES), MAKE("/run/glovebox/bus/services/battery", OWNERS, EACCES),
	MAKE("/home/battery", OWNERS, EACCES), MAKE("/tmp/.X11-unix/X7", READ_ONLY, EROFS), MAKE("/run/user/battery", OWNERS, EACCES),
	CHANGE("/etc/passwd", OWNERS, EACCES), CHANGE("/etc/machine-id", OWNERS, EACCES), CHANGE("/usr/bin/env", OWNERS, EACCES),
	CHANGE("/run/glovebox/bin/glovebox-launch", OWNERS, EACCES), CHANGE("/run/glovebox/machine-id", OWNERS, EACCES),
	KEEP("/proc/sysrq-trigger"), KEEP("/proc/sys/kernel/core_pattern"), KEEP("/proc/sys/kernel/modprobe"), KEEP("/proc/sys/kernel/hostname"),
	KEEP("/proc/sys/kernel/sysrq"), KEEP("/proc/sys/kernel/randomize_va_space"), KEEP("/proc/sys/vm/overcommit_memory"),
	KEEP("/proc/sys/vm/drop_caches"), KEEP("/proc/sys/net/ipv4/ip_forward"), KEEP("/proc/sys/fs/binfmt_misc/register"),
	KEEP("/proc/irq/default_smp_affinity"), KEEP("/proc/sys/kernel/unprivileged_bpf_disabled"),
	CHANGE("/proc/1/mem", OWNERS, EACCES), CHANGE("/proc/1/oom_score_adj", OWNERS, EACCES), CHANGE("/proc/1/clear_refs", OWNERS, EACCES),
	HIDE("/proc/kcore"), HIDE("/proc/kmsg"), HIDE("/proc/keys"), HIDE("/proc/key-users"), HIDE("/proc/timer_list"), HIDE("/proc/kallsyms"),
	HIDE("/proc/slabinfo"), HIDE("/proc/vmallocinfo"), HIDE("/proc/sched_debug"), HIDE("/proc/cmdline"), HIDE("/proc/diskstats"),
	HIDE("/proc/partitions"), HIDE("/proc/interrupts"), HIDE("/proc/softirqs"), HIDE("/proc/iomem"), HIDE("/proc/ioports"), HIDE("/proc/zoneinfo"),
	HIDE("/proc/crypto"), HIDE("/proc/config.gz"), HIDE("/proc/modules"), HIDE("/proc/swaps"), HIDE("/proc/kpagecount"), HIDE("/proc/kpageflags"),
	HIDE("/proc/kpagecgroup"), HIDE("/proc/latency_stats"), HIDE("/proc/acpi"), HIDE("/proc/scsi"), HIDE("/proc/asound"),
	HIDE("/sys"), HIDE("/sys/kernel/uevent_helper"), HIDE("/sys/power/state"), HIDE("/sys/kernel/vmcoreinfo"), HIDE("/sys/fs/cgroup"),
	HIDE("/sys/kernel/debug"), HIDE("/sys/class/net"),
	HIDE("/var/lib/glovebox"), HIDE("/run/docker.sock"), HIDE("/run/systemd"), HIDE("/run/dbus"), HIDE("/mnt"), HIDE("/media"), HIDE("/srv"),
	READ("/etc/shadow", OWNERS, EACCES), READ("/root", OWNERS, EACCES), READ("/proc/1/environ", OWNERS, EACCES),
	READ("/proc/1/maps", OWNERS, EACCES), READ("/proc/1/mem", OWNERS, EACCES), READ("/proc/1/auxv", OWNERS, EACCES),
	READ("/proc/1/stack", OWNERS, EACCES), READ("/proc/1/syscall", OWNERS, EACCES), READ("/proc/1/io", OWNERS, EACCES),
	READ("/proc/1/fd/4", OWNERS, EACCES), READ("/proc/1/root/etc/hostname", OWNERS, EACCES),
	{.name = "read /run/glovebox/trusted/.config/user-dirs.dirs", .layer = OWNERS, .try = try_read,
	 .path = "/run/glovebox/trusted/.config/user-dirs.dirs", .expect = {EACCES, DONE, DONE}},
	LINK("/proc/1/root"), LINK("/proc/1/cwd"), LINK("/proc/1/exe"), LINK("/proc/1/ns/mnt"), LINK("/proc/1/fd/0"),
	DEVICE("/dev/mem"), DEVICE("/dev/port"), DEVICE("/dev/kvm"), DEVICE("/dev/vda"), DEVICE("/dev/sda"), DEVICE("/dev/nvme0n1"), DEVICE("/dev/fuse"),
	DEVICE("/dev/net/tun"), DEVICE("/dev/vhost-vsock"), DEVICE("/dev/vhost-net"), DEVICE("/dev/loop-control"), DEVICE("/dev/loop0"),
	DEVICE("/dev/dri/card0"), DEVICE("/dev/input/event0"), DEVICE("/dev/uinput"), DEVICE("/dev/uhid"), DEVICE("/dev/console"), DEVICE("/dev/tty0"),
	DEVICE("/dev/kmsg"), DEVICE("/dev/mapper/control"), DEVICE("/dev/cuse"), DEVICE("/dev/userfaultfd"), DEVICE("/dev/vfio/vfio"),
	DEVICE("/dev/rtc0"), DEVICE("/dev/hwrng"), DEVICE("/dev/autofs"), DEVICE("/dev/btrfs-control"), DEVICE("/dev/snapshot"), DEVICE("/dev/vcs"),
	{.name = "open /dev/tty", .layer = "session of its own", .try = try_device, .path = "/dev/tty", .expect = {ENXIO}},
	NODE("make a character device", S_IFCHR, 1, 1), NODE("make a block device", S_IFBLK, 8, 0),
	{.name = "a hard link to the image", .layer = OWN_ROOT, .try = try_hard_link, .path = "/etc/passwd", .expect = {EXDEV}},
	{.name = "a hard link to a program of ours", .layer = OWN_ROOT, .try = try_hard_link, .path = "/run/glovebox/bin/glovebox-launch", .expect = {EXDEV}},
	{.name = "an attribute of overlays", .layer = NO_CAPABILITY, .try = try_attribute, .path = "trusted.overlay.opaque", .expect = {EPERM}},
	{.name = "an attribute of capabilities", .layer = NO_CAPABILITY, .try = try_attribute, .path = "security.capability", .expect = {EPERM}},
	CALL_BY("give a file to root", ONE_UID, SYS_chown, EINVAL, SAME, EPERM, P("/tmp"), 0, 0),
	CALL("rename what is of the image", READ_ONLY, SYS_rename, EROFS, P("/etc/passwd"), P("/etc/battery")),
	CALL("remove what is of the image", READ_ONLY, SYS_unlink, EROFS, P("/etc/passwd")),
	CALL("change modes of the image", READ_ONLY, SYS_chmod, EROFS, P("/usr/bin/env"), 0777),
	CALL("cut a file of the image", OWNERS, SYS_truncate, EACCES, P("/etc/passwd"), 0),
	{.name = "execute from /dev", .layer = "noexec", .try = try_noexec, .path = "/dev/zero", .expect = {EPERM}},
	{.name = "execute from /proc", .layer = "noexec", .try = try_noexec, .path = "/proc/self/status", .expect = {EPERM, SAME, SAME}},
	TRY("paths of the host in mountinfo", OWN_ROOT, try_mountinfo, HELD),
	TRY("groups of the host", OWN_ROOT, try_groups_shown, HELD),
	TRY("the name of the host", OWN_ROOT, try_identity, HELD),
};

const struct probe_table probes_files = {probes, ARRAY_LEN(probes)};
