/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of the app jail: what was traced of terminals, GTK, Chromium, Firefox and LibreOffice, and harmless kin. The
 * browsers keep their own sandboxes, so namespaces of users, processes, network and IPC can be made. A second filter, confine_app_deny,
 * takes out of the allowed calls the arguments that lead out of a jail. clone3 is refused as unknown (its flags are in memory,
 * where a filter cannot look): libraries fall back to clone. So are SysV IPC, io_uring and userfaultfd: no app needs them.
 */
#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sandbox/confine/rows.h"

#define SOCK_TYPE_MASK 0xF /* the rest are SOCK_CLOEXEC and SOCK_NONBLOCK */
#define SOCKET(family, type, protocol) \
	{.syscall = "socket", \
	 .tests = {{0, LOW32, (family)}, {1, SOCK_TYPE_MASK, (type)}, {2, LOW32, (protocol)}}, \
	 .why = "no raw, ping, MPTCP, SCTP, netlink, packet, VSOCK: the last is not even in a network namespace"}

static const struct confine_rule rules[] = {
	PLAIN(accept), PLAIN(accept4), PLAIN(access), PLAIN(alarm), PLAIN(arch_prctl), PLAIN(bind), PLAIN(brk), PLAIN(capget),
	PLAIN(capset), PLAIN(chdir), PLAIN(chmod), PLAIN(chown), PLAIN(chroot), PLAIN(clock_getres), PLAIN(clock_gettime),
	PLAIN(clock_nanosleep), PLAIN(clone), PLAIN(close), PLAIN(close_range), PLAIN(connect), PLAIN(copy_file_range),
	PLAIN(creat), PLAIN(dup), PLAIN(dup2), PLAIN(dup3), PLAIN(epoll_create), PLAIN(epoll_create1), PLAIN(epoll_ctl),
	PLAIN(epoll_pwait), PLAIN(epoll_pwait2), PLAIN(epoll_wait), PLAIN(eventfd), PLAIN(eventfd2), PLAIN(execve), PLAIN(exit),
	PLAIN(exit_group), PLAIN(faccessat), PLAIN(faccessat2), PLAIN(fadvise64), PLAIN(fallocate), PLAIN(fchdir),
	PLAIN(fchmod), PLAIN(fchmodat), PLAIN(fchown), PLAIN(fchownat), PLAIN(fcntl), PLAIN(fdatasync), PLAIN(fgetxattr),
	PLAIN(flistxattr), PLAIN(flock), PLAIN(fork), PLAIN(fremovexattr), PLAIN(fsetxattr), PLAIN(fstat), PLAIN(fstatfs),
	PLAIN(fsync), PLAIN(ftruncate), PLAIN(futex), PLAIN(futex_waitv), PLAIN(futimesat), PLAIN(get_mempolicy), PLAIN(getcpu),
	PLAIN(getcwd), PLAIN(getdents), PLAIN(getdents64), PLAIN(getegid), PLAIN(geteuid), PLAIN(getgid), PLAIN(getgroups),
	PLAIN(getitimer), PLAIN(getpeername), PLAIN(getpgid), PLAIN(getpgrp), PLAIN(getpid), PLAIN(getppid), PLAIN(getpriority),
	PLAIN(getrandom), PLAIN(getresgid), PLAIN(getresuid), PLAIN(getrlimit), PLAIN(getrusage), PLAIN(getsid),
	PLAIN(getsockname), PLAIN(getsockopt), PLAIN(gettid), PLAIN(gettimeofday), PLAIN(getuid), PLAIN(getxattr),
	PLAIN(inotify_add_watch), PLAIN(inotify_init), PLAIN(inotify_init1), PLAIN(inotify_rm_watch), PLAIN(ioctl),
	PLAIN(ioprio_get), PLAIN(ioprio_set), PLAIN(kill), PLAIN(landlock_add_rule), PLAIN(landlock_create_ruleset),
	PLAIN(landlock_restrict_self), PLAIN(lchown), PLAIN(lgetxattr), PLAIN(link), PLAIN(linkat), PLAIN(listen),
	PLAIN(listxattr), PLAIN(llistxattr), PLAIN(lremovexattr), PLAIN(lseek), PLAIN(lsetxattr), PLAIN(lstat), PLAIN(madvise),
	PLAIN(membarrier), PLAIN(memfd_create), PLAIN(mincore), PLAIN(mkdir), PLAIN(mkdirat), PLAIN(mknod), PLAIN(mknodat),
	PLAIN(mlock), PLAIN(mlock2), PLAIN(mlockall), PLAIN(mmap), PLAIN(mprotect), PLAIN(mremap), PLAIN(msync), PLAIN(munlock),
	PLAIN(munlockall), PLAIN(munmap), PLAIN(nanosleep), PLAIN(newfstatat), PLAIN(open), PLAIN(openat), PLAIN(openat2),
	PLAIN(pause), PLAIN(pidfd_open), PLAIN(pidfd_send_signal), PLAIN(pipe), PLAIN(pipe2), PLAIN(pkey_alloc),
	PLAIN(pkey_free), PLAIN(pkey_mprotect), PLAIN(poll), PLAIN(ppoll), PLAIN(prctl), PLAIN(pread64), PLAIN(preadv),
	PLAIN(preadv2), PLAIN(prlimit64), PLAIN(pselect6), PLAIN(pwrite64), PLAIN(pwritev), PLAIN(pwritev2), PLAIN(read),
	PLAIN(readahead), PLAIN(readlink), PLAIN(readlinkat), PLAIN(readv), PLAIN(recvfrom), PLAIN(recvmmsg), PLAIN(recvmsg),
	PLAIN(removexattr), PLAIN(rename), PLAIN(renameat), PLAIN(renameat2), PLAIN(restart_syscall), PLAIN(rmdir), PLAIN(rseq),
	PLAIN(rt_sigaction), PLAIN(rt_sigpending), PLAIN(rt_sigprocmask), PLAIN(rt_sigqueueinfo), PLAIN(rt_sigreturn),
	PLAIN(rt_sigsuspend), PLAIN(rt_sigtimedwait), PLAIN(rt_tgsigqueueinfo), PLAIN(sched_get_priority_max),
	PLAIN(sched_get_priority_min), PLAIN(sched_getaffinity), PLAIN(sched_getattr), PLAIN(sched_getparam),
	PLAIN(sched_getscheduler), PLAIN(sched_rr_get_interval), PLAIN(sched_setaffinity), PLAIN(sched_setattr),
	PLAIN(sched_setscheduler), PLAIN(sched_yield), PLAIN(seccomp), PLAIN(select), PLAIN(sendfile), PLAIN(sendmmsg),
	PLAIN(sendmsg), PLAIN(sendto), PLAIN(set_mempolicy), PLAIN(set_robust_list), PLAIN(set_tid_address), PLAIN(setfsgid),
	PLAIN(setfsuid), PLAIN(setgid), PLAIN(setgroups), PLAIN(setitimer), PLAIN(setpgid), PLAIN(setpriority), PLAIN(setregid),
	PLAIN(setresgid), PLAIN(setresuid), PLAIN(setreuid), PLAIN(setrlimit), PLAIN(setsid), PLAIN(setsockopt), PLAIN(setuid),
	PLAIN(setxattr), PLAIN(shutdown), PLAIN(sigaltstack), PLAIN(signalfd), PLAIN(signalfd4), PLAIN(splice), PLAIN(stat),
	PLAIN(statfs), PLAIN(statx), PLAIN(symlink), PLAIN(symlinkat), PLAIN(sync), PLAIN(sync_file_range), PLAIN(syncfs),
	PLAIN(sysinfo), PLAIN(tee), PLAIN(tgkill), PLAIN(time), PLAIN(timer_create), PLAIN(timer_delete),
	PLAIN(timer_getoverrun), PLAIN(timer_gettime), PLAIN(timer_settime), PLAIN(timerfd_create), PLAIN(timerfd_gettime),
	PLAIN(timerfd_settime), PLAIN(times), PLAIN(tkill), PLAIN(truncate), PLAIN(umask), PLAIN(uname), PLAIN(unlink),
	PLAIN(unlinkat), PLAIN(unshare), PLAIN(utime), PLAIN(utimensat), PLAIN(utimes), PLAIN(vfork), PLAIN(wait4),
	PLAIN(waitid), PLAIN(write), PLAIN(writev),
	ALLOW_IF(socket, 0, LOW32, AF_UNIX, "the display, the buses"),
	SOCKET(AF_INET, SOCK_STREAM, 0), SOCKET(AF_INET, SOCK_STREAM, IPPROTO_TCP), SOCKET(AF_INET, SOCK_DGRAM, 0),
	SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_UDP), SOCKET(AF_INET6, SOCK_STREAM, 0), SOCKET(AF_INET6, SOCK_STREAM, IPPROTO_TCP),
	SOCKET(AF_INET6, SOCK_DGRAM, 0), SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_UDP),
	ALLOW_IF(socketpair, 0, LOW32, AF_UNIX, "the only family that has pairs"),
	ALLOW_IF(personality, 0, LOW32, 0, "the usual one"),
	ALLOW_IF(personality, 0, LOW32, LOW32, "only asks"),
	ROWS_DANGEROUS,
};

TABLE(confine_app, "app", rules, ENOSYS);

#define NO_NAMESPACE(name, flag) DENY_IF(name, EPERM, 0, (flag), (flag), "mounts and names belong to the warden alone")
#define NO_TTY(request, text) DENY_IF(ioctl, EPERM, 1, LOW32, (request), (text))
#define NO_TABLES(level) \
	{.syscall = "setsockopt", .verdict = CONFINE_DENY, .deny_errno = EPERM, \
	 .tests = {{1, LOW32, (level)}, {2, LOW32, 64}}, .why = "IPT_SO_SET_REPLACE: netfilter from a nested network namespace"}

static const struct confine_rule deny_rules[] = {
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

TABLE(confine_app_deny, "app_deny", deny_rules, CONFINE_OTHERS_ALLOWED);
