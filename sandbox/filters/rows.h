/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the rows of the tables are written, and the rows that several tables share. */
#ifndef FILTERS_ROWS_H
#define FILTERS_ROWS_H

#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "sandbox/filters/table.h"
#include "session/base/util.h"

#define LOW32 0xFFFFFFFFu /* the kernel reads only this half of an int argument: the other must not be compared */
#define SOCK_TYPE 0xFu     /* of the second argument of socket; the rest are SOCK_CLOEXEC and SOCK_NONBLOCK */

/* Begins a group: what the plain rows below it are there for. */
#define FOR(text) {.why = (text)}
#define PLAIN(name) {.syscall = #name}
#define DENY(name, error) {.syscall = #name, .verdict = TABLE_DENY, .deny_errno = (error)}
#define ALLOW_IF(name, a, m, v, text) {.syscall = #name, .tests = {{(a), (m), (v)}}, .why = (text)}
#define DENY_IF(name, error, a, m, v, text) \
	{.syscall = #name, .verdict = TABLE_DENY, .deny_errno = (error), .tests = {{(a), (m), (v)}}, .why = (text)}

/* What any program does. */
#define ROWS_PROCESS \
	FOR("memory, time, signals and the process itself"), \
	PLAIN(arch_prctl), PLAIN(brk), PLAIN(clock_getres), PLAIN(clock_gettime), PLAIN(clock_nanosleep), PLAIN(close), \
	PLAIN(close_range), PLAIN(exit), PLAIN(exit_group), PLAIN(fcntl), PLAIN(fstat), PLAIN(futex), PLAIN(getegid), \
	PLAIN(geteuid), PLAIN(getgid), PLAIN(getpid), PLAIN(getppid), PLAIN(getrandom), PLAIN(getrlimit), PLAIN(getrusage), \
	PLAIN(gettid), PLAIN(gettimeofday), PLAIN(getuid), PLAIN(madvise), PLAIN(membarrier), PLAIN(mincore), \
	PLAIN(mmap), PLAIN(mprotect), PLAIN(mremap), PLAIN(msync), PLAIN(munmap), PLAIN(nanosleep), PLAIN(newfstatat), \
	PLAIN(prctl), PLAIN(prlimit64), PLAIN(read), PLAIN(readv), PLAIN(restart_syscall), PLAIN(rseq), PLAIN(rt_sigaction), \
	PLAIN(rt_sigpending), PLAIN(rt_sigprocmask), PLAIN(rt_sigreturn), PLAIN(rt_sigtimedwait), PLAIN(sched_getaffinity), \
	PLAIN(sched_yield), PLAIN(set_robust_list), PLAIN(set_tid_address), PLAIN(sigaltstack), PLAIN(sysinfo), PLAIN(tgkill), \
	PLAIN(uname), PLAIN(write), PLAIN(writev)

#define ROWS_LOOP \
	FOR("waiting: one loop of epoll, timers, signals, alarms, pipes"), \
	PLAIN(alarm), PLAIN(dup), PLAIN(dup2), PLAIN(dup3), PLAIN(epoll_create1), PLAIN(epoll_ctl), PLAIN(epoll_pwait), \
	PLAIN(epoll_wait), PLAIN(eventfd2), PLAIN(pipe2), PLAIN(poll), PLAIN(ppoll), PLAIN(pselect6), PLAIN(select), \
	PLAIN(setitimer), PLAIN(signalfd4), PLAIN(timerfd_create), PLAIN(timerfd_gettime), PLAIN(timerfd_settime)

#define ROWS_SOCKETS \
	FOR("sockets: those that were passed, and new ones of the Unix family only"), \
	ALLOW_IF(socket, 0, LOW32, AF_UNIX, "no way out of its own network namespace"), \
	ALLOW_IF(socketpair, 0, LOW32, AF_UNIX, "no way out of its own network namespace"), \
	PLAIN(accept), PLAIN(accept4), PLAIN(connect), PLAIN(getpeername), PLAIN(getsockname), PLAIN(getsockopt), PLAIN(recvfrom), \
	PLAIN(recvmmsg), PLAIN(recvmsg), PLAIN(sendmmsg), PLAIN(sendmsg), PLAIN(sendto), PLAIN(setsockopt), PLAIN(shutdown)

#define ROWS_FILES \
	FOR("looking at the few files that are there"), \
	PLAIN(access), PLAIN(faccessat), PLAIN(faccessat2), PLAIN(getcwd), PLAIN(getdents64), PLAIN(ioctl), PLAIN(lstat), \
	PLAIN(open), PLAIN(openat), PLAIN(openat2), PLAIN(pread64), PLAIN(readlink), PLAIN(readlinkat), PLAIN(stat), PLAIN(statfs), \
	PLAIN(fstatfs), PLAIN(statx), PLAIN(fdatasync), PLAIN(fsync), PLAIN(memfd_create)

/* What no process of Glovebox needs, the warden's builders included. */
#define ROWS_NEVER \
	FOR("no process needs it, and root could do all of it"), \
	DENY(acct, EPERM), DENY(add_key, EPERM), DENY(adjtimex, EPERM), DENY(bpf, EPERM), DENY(clock_adjtime, EPERM), \
	DENY(clock_settime, EPERM), DENY(delete_module, EPERM), DENY(fanotify_init, EPERM), DENY(finit_module, EPERM), \
	DENY(init_module, EPERM), DENY(ioperm, EPERM), DENY(iopl, EPERM), DENY(kcmp, EPERM), DENY(kexec_file_load, EPERM), \
	DENY(kexec_load, EPERM), DENY(keyctl, EPERM), DENY(modify_ldt, EPERM), DENY(open_by_handle_at, EPERM), \
	DENY(perf_event_open, EPERM), DENY(process_vm_readv, EPERM), DENY(process_vm_writev, EPERM), DENY(quotactl, EPERM), \
	DENY(reboot, EPERM), DENY(request_key, EPERM), DENY(settimeofday, EPERM), DENY(swapoff, EPERM), DENY(swapon, EPERM), \
	DENY(syslog, EPERM)

#define ROWS_DANGEROUS \
	ROWS_NEVER, \
	FOR("what a process that was taken over would try first: told apart from calls that a library merely probes for"), \
	DENY(fsconfig, EPERM), DENY(fsmount, EPERM), DENY(fsopen, EPERM), DENY(fspick, EPERM), DENY(lookup_dcookie, EPERM), \
	DENY(mbind, EPERM), DENY(migrate_pages, EPERM), DENY(mount, EPERM), DENY(mount_setattr, EPERM), DENY(move_mount, EPERM), \
	DENY(move_pages, EPERM), DENY(name_to_handle_at, EPERM), DENY(open_tree, EPERM), DENY(pidfd_getfd, EPERM), \
	DENY(pivot_root, EPERM), DENY(process_madvise, EPERM), DENY(ptrace, EPERM), DENY(quotactl_fd, EPERM), \
	DENY(setdomainname, EPERM), DENY(sethostname, EPERM), DENY(setns, EPERM), DENY(umount2, EPERM), DENY(vhangup, EPERM), \
	DENY(vmsplice, EPERM)

#define ROWS_STARTS_NOTHING \
	FOR("it starts nothing"), \
	DENY(execve, EPERM), DENY(execveat, EPERM)

#define ROWS_LISTENS_NOWHERE \
	FOR("it listens nowhere but where it was given a socket that does"), \
	DENY(bind, EPERM), DENY(listen, EPERM)

/* A socket by all three arguments, or whatever its protocol. */
#define SOCKET(family, type, protocol, text) \
	{.syscall = "socket", .tests = {{0, LOW32, (family)}, {1, SOCK_TYPE, (type)}, {2, LOW32, (protocol)}}, .why = (text)}
#define SOCKET_ANY(family, type, text) {.syscall = "socket", .tests = {{0, LOW32, (family)}, {1, SOCK_TYPE, (type)}}, .why = (text)}

/* Of the two with a way out: to `whom`, by what name servers say. */
#define ROWS_OUTWARD(whom) \
	SOCKET_ANY(AF_INET, SOCK_STREAM, whom), SOCKET_ANY(AF_INET6, SOCK_STREAM, whom), \
	SOCKET_ANY(AF_INET, SOCK_DGRAM, "name servers"), SOCKET_ANY(AF_INET6, SOCK_DGRAM, "name servers"), \
	SOCKET(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, "whose address is this?"), \
	FOR("connections outward"), \
	PLAIN(connect), PLAIN(getpeername), PLAIN(getsockname), PLAIN(getsockopt), PLAIN(recvfrom), PLAIN(recvmsg), PLAIN(sendmsg), \
	PLAIN(sendto), PLAIN(setsockopt), PLAIN(shutdown)

/* Of a program with a Landlock domain. */
#define DAEMON_TABLE(ident, table_name, rows, where) \
	const struct table ident = {.name = (table_name), .rules = (rows), .n_rules = ARRAY_LEN(rows), .others = ENOSYS, .land = (where)}

#define TABLE(ident, table_name, rows, other_calls) \
	const struct table ident = {.name = (table_name), .rules = (rows), .n_rules = ARRAY_LEN(rows), .others = (other_calls)}

#endif
