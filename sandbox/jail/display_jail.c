/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The root of the display and its sealing. */
#include "sandbox/jail/display_jail.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/confine/confine.h"
#include "sandbox/jail/mounts.h"
#include "sandbox/jail/rights.h"
#include "session/base/x/xauth.h"
#include "session/base/util.h"

#define HOSTNAME "glovebox"
#define MIB (1024 * 1024ULL)

/* The address space is the limit that a client's pixmaps meet first: it gets BadAlloc and the server lives, which the memory
 * group alone would not give. A core limit of 1 stops pipe handlers too, 0 does not. */
static int limit_rights(const struct display_jail *jail, struct err *e)
{
	const struct rights_limit limits[] = {{RLIMIT_AS, jail->x_mb * MIB}, {RLIMIT_CORE, 1}, {RLIMIT_NOFILE, 4096}};

	return rights_limit(limits, ARRAY_LEN(limits), e);
}

static int add_tmp(int root, const struct display_jail *jail, struct err *e)
{
	static const char *const options[] = {"size=4m", "nr_inodes=256", "mode=1777", NULL};
	uint8_t authority[XAUTH_SIZE];

	xauth_entry(authority, jail->cookie);
	if (mounts_tmpfs("tmp", options, MOUNTS_DATA, root, "tmp", e) < 0 || mounts_make_dir(root, "tmp/.X11-unix", 01777, 0, e) < 0)
		return -1;
	if (mounts_bind(jail->x11, root, "tmp/.X11-unix", MOUNTS_DATA, e) < 0)
		return -1;
	return mounts_make_file(root, "tmp/xauth", 0400, jail->uid, authority, sizeof(authority), e);
}

static int add_dev(int root, struct err *e)
{
	static const char *const options[] = {"size=4k", "nr_inodes=8", "mode=755", NULL};
	auto_fd dev = -1;

	if (mounts_new("tmpfs", "dev", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, &dev, e) < 0 || mounts_attach(dev, root, "dev", e) < 0 ||
	    mounts_make_file(root, "dev/null", 0666, 0, "", 0, e) < 0 ||
	    mounts_bind("/dev/null", root, "dev/null", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, e) < 0)
		return -1;
	return mounts_restrict(dev, MOUNT_ATTR_RDONLY, e);
}

int display_jail_build(void *arg, int sync, struct err *e)
{
	const struct display_jail *jail = arg;
	auto_fd root = -1;

	(void)sync;
	if (sethostname(HOSTNAME, strlen(HOSTNAME)) < 0)
		return err_sys(e, "sethostname");
	if (mounts_make_private(e) < 0 ||
	    mounts_clone(AT_FDCWD, jail->image_root, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &root, e) < 0 ||
	    mounts_attach_host(root, jail->place, e) < 0 || add_tmp(root, jail, e) < 0 || add_dev(root, e) < 0 || mounts_enter(root, e) < 0)
		return -1;
	if (limit_rights(jail, e) < 0 || confine_become(jail->uid, e) < 0)
		return -1;
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? err_sys(e, "prctl") : 0;
}

static int seal_here(int pidfd)
{
	struct mount_attr noexec = {.attr_set = MOUNT_ATTR_NOEXEC};

	if (setns(pidfd, CLONE_NEWNS) < 0 || mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &noexec, sizeof(noexec)) < 0)
		return errno;
	return 0;
}

int display_jail_seal(int pidfd, struct err *e)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0)
		_exit(seal_here(pidfd));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, "waitpid");
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
	return errno ? err_sys(e, "sealing the display") : 0;
}
