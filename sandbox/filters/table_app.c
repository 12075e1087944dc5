/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of the app jail: what was traced of terminals, GTK, Chromium, Firefox and LibreOffice, and harmless kin. A second
 * filter, app_deny, takes out of the allowed calls the arguments that lead out of a jail. Trusted programs, the browsers, keep
 * their own sandboxes, so they can make namespaces of users, processes, network and IPC; all others get a third filter, app_alone,
 * by which they cannot. clone3 is refused as unknown (its flags are in memory, where a filter cannot look): libraries fall back to
 * clone. So are SysV IPC, io_uring and userfaultfd: no app needs them. What is allowed shares no rows with daemons: what one of them comes to need is
 * not for the jail.
 */
#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sandbox/filters/rows.h"

#define APP_SOCKET(family, type, protocol) \
	SOCKET(family, type, protocol, "no raw, ping, MPTCP, SCTP, netlink, packet, VSOCK: the last is not even in a network namespace")

static const struct table_rule rules[] = {
	FOR("files: opening, reading, writing, looking; what may be touched is for mounts, modes and Landlock to say"),
	PLAIN(access), PLAIN(chdir), PLAIN(chmod), PLAIN(chown), PLAIN(close), PLAIN(close_range), PLAIN(copy_file_range),
	PLAIN(creat), PLAIN(dup), PLAIN(dup2), PLAIN(dup3), PLAIN(faccessat), PLAIN(faccessat2), PLAIN(fadvise64), PLAIN(fallocate),
	PLAIN(fchdir), PLAIN(fchmod), PLAIN(fchmodat), PLAIN(fchown), PLAIN(fchownat), PLAIN(fcntl), PLAIN(fdatasync),
	PLAIN(fgetxattr), PLAIN(flistxattr), PLAIN(flock), PLAIN(fremovexattr), PLAIN(fsetxattr), PLAIN(fstat), PLAIN(fstatfs),
	PLAIN(fsync), PLAIN(ftruncate), PLAIN(futimesat), PLAIN(getcwd), PLAIN(getdents), PLAIN(getdents64), PLAIN(getxattr),
	PLAIN(ioctl), PLAIN(lchown), PLAIN(lgetxattr), PLAIN(link), PLAIN(linkat), PLAIN(listxattr), PLAIN(llistxattr),
	PLAIN(lremovexattr), PLAIN(lseek), PLAIN(lsetxattr), PLAIN(lstat), PLAIN(mkdir), PLAIN(mkdirat), PLAIN(newfstatat),
	PLAIN(open), PLAIN(openat), PLAIN(openat2), PLAIN(pread64), PLAIN(preadv), PLAIN(preadv2), PLAIN(pwrite64), PLAIN(pwritev),
	PLAIN(pwritev2), PLAIN(read), PLAIN(readahead), PLAIN(readlink), PLAIN(readlinkat), PLAIN(readv), PLAIN(removexattr),
	PLAIN(rename), PLAIN(renameat), PLAIN(renameat2), PLAIN(rmdir), PLAIN(sendfile), PLAIN(setxattr), PLAIN(splice), PLAIN(stat),
	PLAIN(statfs), PLAIN(statx), PLAIN(symlink), PLAIN(symlinkat), PLAIN(sync), PLAIN(sync_file_range), PLAIN(syncfs), PLAIN(tee),
	PLAIN(truncate), PLAIN(umask), PLAIN(unlink), PLAIN(unlinkat), PLAIN(utime), PLAIN(utimensat), PLAIN(utimes), PLAIN(write),
	PLAIN(writev),
	FOR("FIFOs and sockets as files; devices take a capability that nobody has"),
	PLAIN(mknod), PLAIN(mknodat),
	FOR("waiting: loops, timers, changes of files"),
	PLAIN(alarm), PLAIN(clock_nanosleep), PLAIN(epoll_create), PLAIN(epoll_create1), PLAIN(epoll_ctl), PLAIN(epoll_pwait),
	PLAIN(epoll_pwait2), PLAIN(epoll_wait), PLAIN(eventfd), PLAIN(eventfd2), PLAIN(getitimer), PLAIN(inotify_add_watch),
	PLAIN(inotify_init), PLAIN(inotify_init1), PLAIN(inotify_rm_watch), PLAIN(nanosleep), PLAIN(pause), PLAIN(pipe), PLAIN(pipe2),
	PLAIN(poll), PLAIN(ppoll), PLAIN(pselect6), PLAIN(select), PLAIN(setitimer), PLAIN(signalfd), PLAIN(signalfd4),
	PLAIN(timer_create), PLAIN(timer_delete), PLAIN(timer_getoverrun), PLAIN(timer_gettime), PLAIN(timer_settime),
	PLAIN(timerfd_create), PLAIN(timerfd_gettime), PLAIN(timerfd_settime),
	FOR("memory of its own, its protection, memory files"),
	PLAIN(brk), PLAIN(get_mempolicy), PLAIN(madvise), PLAIN(membarrier), PLAIN(memfd_create), PLAIN(mincore), PLAIN(mlock),
	PLAIN(mlock2), PLAIN(mlockall), PLAIN(mmap), PLAIN(mprotect), PLAIN(mremap), PLAIN(msync), PLAIN(munlock), PLAIN(munlockall),
	PLAIN(munmap), PLAIN(pkey_alloc), PLAIN(pkey_free), PLAIN(pkey_mprotect), PLAIN(set_mempolicy),
	FOR("starting programs and threads, waiting for them; the flags of clone and unshare are the next filter's"),
	PLAIN(arch_prctl), PLAIN(clone), PLAIN(execve), PLAIN(exit), PLAIN(exit_group), PLAIN(fork), PLAIN(futex), PLAIN(futex_waitv),
	PLAIN(prctl), PLAIN(restart_syscall), PLAIN(rseq), PLAIN(set_robust_list), PLAIN(set_tid_address), PLAIN(unshare),
	PLAIN(vfork), PLAIN(wait4), PLAIN(waitid),
	FOR("signals: to processes of the own pid namespace, of the own uid"),
	PLAIN(kill), PLAIN(pidfd_open), PLAIN(pidfd_send_signal), PLAIN(rt_sigaction), PLAIN(rt_sigpending), PLAIN(rt_sigprocmask),
	PLAIN(rt_sigqueueinfo), PLAIN(rt_sigreturn), PLAIN(rt_sigsuspend), PLAIN(rt_sigtimedwait), PLAIN(rt_tgsigqueueinfo),
	PLAIN(sigaltstack), PLAIN(tgkill), PLAIN(tkill),
	FOR("who it is, and changes among what it may be: one uid and no capability are left"),
	PLAIN(capget), PLAIN(capset), PLAIN(getegid), PLAIN(geteuid), PLAIN(getgid), PLAIN(getgroups), PLAIN(getpgid), PLAIN(getpgrp),
	PLAIN(getpid), PLAIN(getppid), PLAIN(getresgid), PLAIN(getresuid), PLAIN(getsid), PLAIN(gettid), PLAIN(getuid),
	PLAIN(setfsgid), PLAIN(setfsuid), PLAIN(setgid), PLAIN(setgroups), PLAIN(setpgid), PLAIN(setregid), PLAIN(setresgid),
	PLAIN(setresuid), PLAIN(setreuid), PLAIN(setsid), PLAIN(setuid),
	FOR("what the browsers' own sandboxes are made of: without a capability chroot is refused, and filters and domains only ever take away"),
	PLAIN(chroot), PLAIN(landlock_add_rule), PLAIN(landlock_create_ruleset), PLAIN(landlock_restrict_self), PLAIN(seccomp),
	FOR("time, limits, processors, names"),
	PLAIN(clock_getres), PLAIN(clock_gettime), PLAIN(getcpu), PLAIN(getpriority), PLAIN(getrandom), PLAIN(getrlimit),
	PLAIN(getrusage), PLAIN(gettimeofday), PLAIN(ioprio_get), PLAIN(ioprio_set), PLAIN(prlimit64), PLAIN(sched_get_priority_max),
	PLAIN(sched_get_priority_min), PLAIN(sched_getaffinity), PLAIN(sched_getattr), PLAIN(sched_getparam),
	PLAIN(sched_getscheduler), PLAIN(sched_rr_get_interval), PLAIN(sched_setaffinity), PLAIN(sched_setattr),
	PLAIN(sched_setscheduler), PLAIN(sched_yield), PLAIN(setpriority), PLAIN(setrlimit), PLAIN(sysinfo), PLAIN(time), PLAIN(times),
	PLAIN(uname),
	FOR("sockets once they are there; which can be made is for the next rows to say"),
	PLAIN(accept), PLAIN(accept4), PLAIN(bind), PLAIN(connect), PLAIN(getpeername), PLAIN(getsockname), PLAIN(getsockopt),
	PLAIN(listen), PLAIN(recvfrom), PLAIN(recvmmsg), PLAIN(recvmsg), PLAIN(sendmmsg), PLAIN(sendmsg), PLAIN(sendto),
	PLAIN(setsockopt), PLAIN(shutdown),
	ALLOW_IF(socket, 0, LOW32, AF_UNIX, "the display, the buses"),
	APP_SOCKET(AF_INET, SOCK_STREAM, 0), APP_SOCKET(AF_INET, SOCK_STREAM, IPPROTO_TCP), APP_SOCKET(AF_INET, SOCK_DGRAM, 0),
	APP_SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_UDP), APP_SOCKET(AF_INET6, SOCK_STREAM, 0), APP_SOCKET(AF_INET6, SOCK_STREAM, IPPROTO_TCP),
	APP_SOCKET(AF_INET6, SOCK_DGRAM, 0), APP_SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_UDP),
	ALLOW_IF(socketpair, 0, LOW32, AF_UNIX, "the only family that has pairs"),
	ALLOW_IF(personality, 0, LOW32, 0, "the usual one"),
	ALLOW_IF(personality, 0, LOW32, LOW32, "only asks"),
	ROWS_DANGEROUS,
};

TABLE(table_app, "app", rules, ENOSYS);

#define NO_NAMESPACE(name, flag) DENY_IF(name, EPERM, 0, (flag), (flag), "mounts and names belong to the warden alone")
#define NO_TTY(request, text) DENY_IF(ioctl, EPERM, 1, LOW32, (request), (text))
#define NO_TABLES(level) \
	{.syscall = "setsockopt", .verdict = TABLE_DENY, .deny_errno = EPERM, \
	 .tests = {{1, LOW32, (level)}, {2, LOW32, 64}}, .why = "IPT_SO_SET_REPLACE: netfilter from a nested network namespace"}

static const struct table_rule deny_rules[] = {
	NO_NAMESPACE(clone, CLONE_NEWNS),
	NO_NAMESPACE(clone, CLONE_NEWCGROUP),
	NO_NAMESPACE(clone, CLONE_NEWUTS),
	NO_NAMESPACE(unshare, CLONE_NEWNS),
	NO_NAMESPACE(unshare, CLONE_NEWCGROUP),
	NO_NAMESPACE(unshare, CLONE_NEWUTS),
	NO_NAMESPACE(unshare, CLONE_NEWTIME), /* in clone this bit is of the exit signal */
	NO_TTY(TIOCSTI, "types into a terminal"),
	NO_TTY(TIOCLINUX, "pastes into a console"),
	NO_TTY(TIOCCONS, "takes the console's output"),
	NO_TTY(TIOCSETD, "line disciplines are old kernel code"),
	NO_TABLES(IPPROTO_IP),
	NO_TABLES(IPPROTO_IPV6),
};

TABLE(table_app_deny, "app_deny", deny_rules, TABLE_OTHERS_ALLOWED);

#define NO_NESTING(name, flag) DENY_IF(name, EPERM, 0, (flag), (flag), "most of the kernel's way from a user to root begins in a namespace")

static const struct table_rule alone_rules[] = {
	NO_NESTING(clone, CLONE_NEWUSER), NO_NESTING(clone, CLONE_NEWPID), NO_NESTING(clone, CLONE_NEWNET), NO_NESTING(clone, CLONE_NEWIPC),
	NO_NESTING(unshare, CLONE_NEWUSER), NO_NESTING(unshare, CLONE_NEWPID), NO_NESTING(unshare, CLONE_NEWNET), NO_NESTING(unshare, CLONE_NEWIPC),
};

TABLE(table_app_alone, "app_alone", alone_rules, TABLE_OTHERS_ALLOWED);
