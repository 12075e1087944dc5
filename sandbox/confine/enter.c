/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way of a daemon from root with a loader's mounts to nothing at all. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/confine/confine.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/warden/proto.h"

#define MAX_OPEN_FILES 8192

/* The mapped libraries stay; nothing more can be loaded. */
static int detach_loader(struct err *e)
{
	static const char *const mounts[] = {"/usr", "/lib", "/lib64", "/lib32", "/libx32", "/etc/ld.so.cache"};

	for (size_t i = 0; i < ARRAY_LEN(mounts); i++)
		if (umount2(mounts[i], MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL && errno != ENOENT)
			return err_sys(e, "detaching %s", mounts[i]);
	return 0;
}

static int limit_resources(struct err *e)
{
	const struct rlimit core = {0, 0};
	const struct rlimit bytes = {LIMIT_FILE_BYTES, LIMIT_FILE_BYTES};
	struct rlimit files;

	if (setrlimit(RLIMIT_CORE, &core) < 0 || setrlimit(RLIMIT_FSIZE, &bytes) < 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return err_sys(e, "limits");
	if (files.rlim_max > MAX_OPEN_FILES)
		files.rlim_max = MAX_OPEN_FILES;
	files.rlim_cur = files.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &files) < 0 ? err_sys(e, "the limit of open files") : 0;
}

static int drop_bounding_set(struct err *e)
{
	int there;

	for (unsigned long cap = 0; (there = prctl(PR_CAPBSET_READ, cap, 0, 0, 0)) >= 0; cap++)
		if (there && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return err_sys(e, "dropping capability %lu from the bounding set", cap);
	return 0;
}

int confine_drop_caps(struct err *e)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};

	if (drop_bounding_set(e) < 0)
		return -1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return err_sys(e, "clearing the ambient set");
	if (syscall(SYS_capset, &head, none) < 0)
		return err_sys(e, "dropping the capabilities");
	return 0;
}

int confine_raise_ambient(int cap, struct err *e)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];

	if (syscall(SYS_capget, &head, caps) < 0)
		return err_sys(e, "capget");
	caps[cap / 32].inheritable |= 1U << (cap % 32);
	if (syscall(SYS_capset, &head, caps) < 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
		return err_sys(e, "raising capability %d", cap);
	return 0;
}

int confine_drop_caps_but(int cap, struct err *e)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}, {0}};
	uint32_t bit = 1U << (cap % 32);

	if (drop_bounding_set(e) < 0)
		return -1;
	caps[cap / 32] = (struct __user_cap_data_struct){.effective = bit, .permitted = bit, .inheritable = bit};
	/* The ambient set is never more than these. */
	return syscall(SYS_capset, &head, caps) < 0 ? err_sys(e, "dropping the capabilities") : 0;
}

static int read_uid(uid_t *uid, struct err *e)
{
	const char *text = getenv("GLOVEBOX_UID");
	char *end = NULL;
	unsigned long value;

	if (!text)
		return err_set(e, ERR_INTERNAL, NULL, "this program is started by gloveboxd, not by hand");
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value == 0 || value >= UINT32_MAX)
		return err_set(e, ERR_INTERNAL, NULL, "GLOVEBOX_UID is no uid");
	*uid = (uid_t)value;
	(void)unsetenv("GLOVEBOX_UID");
	return 0;
}

int confine_landlock_abi(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

int confine_become(uid_t uid, struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0)
		return err_sys(e, "dropping groups");
	/* The bounding set goes while there is the capability to drop it: the change of the uid takes that away. */
	if (drop_bounding_set(e) < 0)
		return -1;
	if (setresuid(uid, uid, uid) < 0)
		return err_sys(e, "becoming uid %u", uid);
	return confine_drop_caps(e);
}

/*
 * The byte may be in the pipe although the warden has died since: only a pipe whose other end is still open says that it
 * lives, and from here on the parent-death signal watches.
 */
int confine_wait_go(struct err *e)
{
	struct pollfd go = {.fd = CHILD_GO, .events = POLLIN};
	char byte;

	while (poll(&go, 1, -1) < 0)
		if (errno != EINTR)
			return err_sys(e, "waiting for the warden");
	if ((go.revents & (POLLHUP | POLLERR | POLLNVAL)) || read(CHILD_GO, &byte, 1) != 1)
		return err_set(e, ERR_INTERNAL, NULL, "the warden is gone");
	return 0;
}

/* Default actions of signals do not reach pid 1 of a namespace. */
static void end_at_alarm(int signo)
{
	_exit(128 + signo);
}

int confine_enter_check(const struct confine_filter *filter, struct err *e)
{
	uid_t uid = 0;

	if (limit_resources(e) < 0 || (getenv("GLOVEBOX_UID") && (read_uid(&uid, e) < 0 || confine_become(uid, e) < 0)))
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(e, "prctl");
	return confine_landlock(filter->land, e) < 0 ? -1 : confine_load(filter, e);
}

int confine_enter(const struct confine_filter *filter, struct err *e)
{
	struct sigaction at_alarm = {.sa_handler = end_at_alarm};
	char name[16];
	uid_t uid = 0;

	(void)snprintf(name, sizeof(name), "glovebox-%s", filter->name);
	if (read_uid(&uid, e) < 0 || detach_loader(e) < 0 || limit_resources(e) < 0 || confine_become(uid, e) < 0)
		return -1;
	if (prctl(PR_SET_NAME, name, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || sigaction(SIGALRM, &at_alarm, NULL) < 0 ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(e, "prctl");
	if (confine_wait_go(e) < 0 || confine_landlock(filter->land, e) < 0)
		return -1;
	return confine_load(filter, e);
}
