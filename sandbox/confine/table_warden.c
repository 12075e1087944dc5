/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that the warden denies itself and with that every process of Glovebox: filters are inherited and never
 * loosen, so it holds only what no descendant needs.
 */
#include "sandbox/confine/rows.h"

static const struct confine_rule rules[] = {
	FOR("no descendant needs it, and root could do all of it"),
	DENY(acct, EPERM), DENY(add_key, EPERM), DENY(adjtimex, EPERM), DENY(bpf, EPERM), DENY(clock_adjtime, EPERM),
	DENY(clock_settime, EPERM), DENY(delete_module, EPERM), DENY(fanotify_init, EPERM), DENY(finit_module, EPERM),
	DENY(init_module, EPERM), DENY(io_uring_setup, ENOSYS), DENY(ioperm, EPERM), DENY(iopl, EPERM), DENY(kcmp, EPERM),
	DENY(kexec_file_load, EPERM), DENY(kexec_load, EPERM), DENY(keyctl, EPERM), DENY(modify_ldt, EPERM),
	DENY(open_by_handle_at, EPERM), DENY(perf_event_open, EPERM), DENY(process_vm_readv, EPERM),
	DENY(process_vm_writev, EPERM), DENY(quotactl, EPERM), DENY(reboot, EPERM), DENY(request_key, EPERM), DENY(settimeofday, EPERM),
	DENY(swapoff, EPERM), DENY(swapon, EPERM), DENY(syslog, EPERM), DENY(userfaultfd, ENOSYS),
#ifndef CONFINE_SANITIZER /* with ASAN_OPTIONS=detect_leaks=1 the warden's own leaks can be searched */
	DENY(ptrace, EPERM),
#endif
};

TABLE(confine_warden, "warden", rules, CONFINE_OTHERS_ALLOWED);
