/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The warden's own confinement. */
#include "session/warden/settle.h"

#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/confine/confine.h"
#include "session/base/util.h"

static const struct {
	unsigned cap;
	const char *why;
} KEPT[] = {
	{CAP_CHOWN, "journals, homes and sockets get their owners"},
	{CAP_DAC_OVERRIDE, "folders of the session's uids are made and removed"},
	{CAP_FOWNER, "modes of what was given away"},
	{CAP_FSETID, "the journal folder's set-group-id"},
	{CAP_KILL, "sessions end"},
	{CAP_SETGID, "children become their gid"},
	{CAP_SETUID, "children become their uid"},
	{CAP_SETPCAP, "children give up capabilities"},
	{CAP_NET_ADMIN, "a jail's loopback is raised"},
	{CAP_SYS_ADMIN, "namespaces and mounts"},
	{CAP_SYS_CHROOT, "entering the display's mount namespace to seal it"},
	{CAP_SYS_PTRACE, "setns to a process that is undumpable; the call ptrace itself is filtered out"},
	{CAP_SYS_RESOURCE, "limits above the caller's"},
};

int settle_mounts(struct err *e)
{
	if (unshare(CLONE_NEWNS) < 0)
		return err_sys(e, "a mount namespace");
	return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ? err_sys(e, "separating the mounts") : 0;
}

size_t settle_missing_rights(char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < ARRAY_LEN(KEPT); i++)
		if (prctl(PR_CAPBSET_READ, KEPT[i].cap, 0, 0, 0) == 0) {
			size_t used = strlen(out);

			(void)snprintf(out + used, size - used, "%s%s", n++ ? "; " : "", KEPT[i].why);
		}
	return n;
}

static bool is_kept(unsigned cap)
{
	for (size_t i = 0; i < ARRAY_LEN(KEPT); i++)
		if (KEPT[i].cap == cap)
			return true;
	return false;
}

static int drop_capabilities(struct err *e)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	int there;

	if (syscall(SYS_capget, &head, caps) < 0)
		return err_sys(e, "capget");
	for (unsigned cap = 0; (there = prctl(PR_CAPBSET_READ, cap, 0, 0, 0)) >= 0; cap++) {
		uint32_t bit = 1U << (cap % 32);
		struct __user_cap_data_struct *word = &caps[cap / 32];

		if (is_kept(cap))
			continue;
		if (there && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return err_sys(e, "dropping capability %u", cap);
		word->effective &= ~bit;
		word->permitted &= ~bit;
		word->inheritable &= ~bit;
	}
	return syscall(SYS_capset, &head, caps) < 0 ? err_sys(e, "capset") : 0;
}

int settle_rights(bool keeps_net, struct err *e)
{
	struct rlimit core;

	if (!keeps_net && unshare(CLONE_NEWNET) < 0)
		return err_sys(e, "an empty network namespace");
	/* The hard limit stays: jails have 1, which it takes to keep a pipe of core_pattern from being run. */
	if (getrlimit(RLIMIT_CORE, &core) < 0)
		return err_sys(e, "the limit of core files");
	core.rlim_cur = 0;
	if (setrlimit(RLIMIT_CORE, &core) < 0)
		return err_sys(e, "the limit of core files");
	if (drop_capabilities(e) < 0)
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "prctl");
	return confine_load(&confine_warden, e);
}
