/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: sandbox/confine */
/* The filters of system calls, tried in children that load them: what each must refuse, and with which answer. No root needed. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandbox/confine/confine.h"
#include "session/base/util.h"

#define KILLED 1000 /* the filter ended the process */

/* One call and its expected errno: 0 is success or any error that is the kernel's own, not the filter's. */
struct probe {
	const char *name;
	long number;
	long args[4];
	int expect;
};

static void load(const struct confine_filter *const *filters)
{
	struct err e = {0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(250);
	for (; *filters; filters++)
		if (confine_load(*filters, &e) < 0) {
			fprintf(stderr, "%s\n", e.msg);
			_exit(251);
		}
}

/* The errno of a call made in a child under the filters, 0 on success, KILLED. */
static int run(const struct confine_filter *const *filters, const struct probe *probe)
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		long result;

		load(filters);
		result = syscall(probe->number, probe->args[0], probe->args[1], probe->args[2], probe->args[3]);
		if (probe->number == SYS_clone && result == 0)
			_exit(0);
		_exit(result < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? KILLED : -WTERMSIG(status);
	return WEXITSTATUS(status);
}

static void run_all(const struct confine_filter *const *filters, const struct probe *probes, size_t n)
{
	int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		int got = run(filters, &probes[i]);
		bool right = got == probes[i].expect;

		/* What is allowed may still fail for a reason of the kernel's: a jail's uid, a missing device. */
		if (probes[i].expect == 0)
			right = got != ENOSYS && got != KILLED && got < 200;
		if (!right) {
			print_error("%s %s: expected %d, got %d\n", filters[0]->name, probes[i].name, probes[i].expect, got);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static const struct confine_filter *const APP[] = {&confine_app_deny, &confine_app, NULL};
static const struct confine_filter *const ALONE[] = {&confine_app_deny, &confine_app, &confine_app_alone, NULL};
static const struct confine_filter *const STAGE[] = {&confine_stage, NULL};
static const struct confine_filter *const FRONT[] = {&confine_front, NULL};
static const struct confine_filter *const EGRESS[] = {&confine_egress, NULL};
static const struct confine_filter *const PROXY[] = {&confine_proxy, NULL};
static const struct confine_filter *const VIEW[] = {&confine_view, NULL};
static const struct confine_filter *const XVFB[] = {&confine_xvfb, NULL};
static const struct confine_filter *const WM[] = {&confine_wm, NULL};
static const struct confine_filter *const WARDEN[] = {&confine_warden, NULL};

#define HIGH 0x100000000L /* bits that the kernel does not look at */

static void test_app(void **state)
{
	const struct probe probes[] = {
		{"unshare mnt", SYS_unshare, {CLONE_NEWNS}, EPERM},
		{"unshare user+mnt", SYS_unshare, {CLONE_NEWUSER | CLONE_NEWNS}, EPERM},
		{"unshare user+uts", SYS_unshare, {CLONE_NEWUSER | CLONE_NEWUTS}, EPERM},
		{"unshare user+cgroup", SYS_unshare, {CLONE_NEWUSER | CLONE_NEWCGROUP}, EPERM},
		{"unshare user+time", SYS_unshare, {CLONE_NEWUSER | 0x80}, EPERM},
		{"unshare user+net+pid", SYS_unshare, {CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID}, 0},
		{"clone user+mnt", SYS_clone, {CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD}, EPERM},
		{"clone uts", SYS_clone, {CLONE_NEWUTS | SIGCHLD}, EPERM},
		{"clone", SYS_clone, {SIGCHLD}, 0},
		{"clone3", SYS_clone3, {0, 0}, ENOSYS},
		{"mount", SYS_mount, {0}, EPERM},
		{"fsopen", SYS_fsopen, {0}, EPERM},
		{"setns", SYS_setns, {-1, 0}, EPERM},
		{"ptrace", SYS_ptrace, {0}, EPERM},
		{"bpf", SYS_bpf, {0}, EPERM},
		{"keyctl", SYS_keyctl, {0}, EPERM},
		{"userfaultfd", SYS_userfaultfd, {0}, ENOSYS},
		{"io_uring_setup", SYS_io_uring_setup, {0}, ENOSYS},
		{"shmget", SYS_shmget, {0}, ENOSYS},
		{"unknown call", 600, {0}, ENOSYS},
		{"x32", 0x40000000L | SYS_getpid, {0}, KILLED},
		{"socket unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, 0},
		{"socket tcp", SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP}, 0},
		{"socket udp6", SYS_socket, {AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0}, 0},
		{"socket tcp, high bits", SYS_socket, {HIGH | AF_INET, HIGH | SOCK_STREAM, HIGH}, 0},
		{"socket raw", SYS_socket, {AF_INET, SOCK_RAW, IPPROTO_ICMP}, ENOSYS},
		{"socket raw, high bits", SYS_socket, {HIGH | AF_INET, HIGH | SOCK_RAW, IPPROTO_ICMP}, ENOSYS},
		{"socket ping", SYS_socket, {AF_INET, SOCK_DGRAM, IPPROTO_ICMP}, ENOSYS},
		{"socket mptcp", SYS_socket, {AF_INET, SOCK_STREAM, 262}, ENOSYS},
		{"socket sctp", SYS_socket, {AF_INET, SOCK_STREAM, IPPROTO_SCTP}, ENOSYS},
		{"socket netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, ENOSYS},
		{"socket packet", SYS_socket, {AF_PACKET, SOCK_RAW, 0}, ENOSYS},
		{"socket vsock", SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}, ENOSYS},
		{"socket alg", SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}, ENOSYS},
		{"ioctl TIOCSTI", SYS_ioctl, {-1, TIOCSTI, 0}, EPERM},
		{"ioctl TIOCSTI, high bits", SYS_ioctl, {-1, HIGH | TIOCSTI, 0}, EPERM},
		{"ioctl TIOCLINUX", SYS_ioctl, {-1, TIOCLINUX, 0}, EPERM},
		{"ioctl TIOCSETD", SYS_ioctl, {-1, TIOCSETD, 0}, EPERM},
		{"ioctl FIONREAD", SYS_ioctl, {-1, FIONREAD, 0}, EBADF},
		{"setsockopt replace", SYS_setsockopt, {-1, IPPROTO_IP, 64, 0}, EPERM},
		{"setsockopt replace 6", SYS_setsockopt, {-1, IPPROTO_IPV6, 64, 0}, EPERM},
		{"setsockopt", SYS_setsockopt, {-1, SOL_SOCKET, 64, 0}, EBADF},
		{"personality ask", SYS_personality, {0xFFFFFFFFL}, 0},
		{"personality no randomize", SYS_personality, {ADDR_NO_RANDOMIZE}, ENOSYS},
	};

	(void)state;
	run_all(APP, probes, ARRAY_LEN(probes));
}

/* A program that is no browser has no namespaces of its own. */
static void test_app_alone(void **state)
{
	const struct probe probes[] = {
		{"unshare user", SYS_unshare, {CLONE_NEWUSER}, EPERM},
		{"unshare user, high bits", SYS_unshare, {HIGH | CLONE_NEWUSER}, EPERM},
		{"unshare pid", SYS_unshare, {CLONE_NEWPID}, EPERM},
		{"unshare net", SYS_unshare, {CLONE_NEWNET}, EPERM},
		{"unshare ipc", SYS_unshare, {CLONE_NEWIPC}, EPERM},
		{"unshare files", SYS_unshare, {CLONE_FILES}, 0},
		{"clone user+net", SYS_clone, {CLONE_NEWUSER | CLONE_NEWNET | SIGCHLD}, EPERM},
		{"clone user+pid", SYS_clone, {CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD}, EPERM},
		{"clone", SYS_clone, {SIGCHLD}, 0},
	};

	(void)state;
	run_all(ALONE, probes, ARRAY_LEN(probes));
}

/* What no daemon may do; execve and fork are rows of their own, since Xvfb has them. */
static void test_daemons(void **state)
{
	const struct probe probes[] = {
		{"ptrace", SYS_ptrace, {0}, EPERM},
		{"mount", SYS_mount, {0}, EPERM},
		{"bpf", SYS_bpf, {0}, EPERM},
		{"setns", SYS_setns, {-1, 0}, EPERM},
		{"unshare", SYS_unshare, {CLONE_NEWUSER}, ENOSYS},
		{"socket inet", SYS_socket, {AF_INET, SOCK_STREAM, 0}, ENOSYS},
		{"socket netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, ENOSYS},
		{"socket unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, 0},
		{"openat", SYS_openat, {AT_FDCWD, (long)"/", O_RDONLY}, 0},
		{"x32", 0x40000000L | SYS_getpid, {0}, KILLED},
	};
	const struct confine_filter *const *all[] = {STAGE, FRONT, XVFB, WM};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		run_all(all[i], probes, ARRAY_LEN(probes));
}

/* Those with a way out: outward alone, by TCP and UDP; a session's accepts of the socket that it was given. */
static void test_egress(void **state)
{
	const struct probe probes[] = {
		{"ptrace", SYS_ptrace, {0}, EPERM},
		{"mount", SYS_mount, {0}, EPERM},
		{"setns", SYS_setns, {-1, 0}, EPERM},
		{"unshare", SYS_unshare, {CLONE_NEWUSER}, ENOSYS},
		{"execve", SYS_execve, {0}, EPERM},
		{"clone", SYS_clone, {SIGCHLD}, ENOSYS},
		{"socket tcp", SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP}, 0},
		{"socket udp6", SYS_socket, {AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0}, 0},
		{"socket raw", SYS_socket, {AF_INET, SOCK_RAW, IPPROTO_ICMP}, ENOSYS},
		{"socket unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, ENOSYS},
		{"socket netlink of routes", SYS_socket, {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0}, 0},
		{"socket netlink of packet filters", SYS_socket, {AF_NETLINK, SOCK_RAW, 12}, ENOSYS},
		{"socket netlink of anything", SYS_socket, {AF_NETLINK, SOCK_RAW, 16}, ENOSYS},
		{"socket packet", SYS_socket, {AF_PACKET, SOCK_RAW, 0}, ENOSYS},
		{"bind", SYS_bind, {-1, 0, 0}, EPERM},
		{"listen", SYS_listen, {-1, 1}, EPERM},
		{"x32", 0x40000000L | SYS_getpid, {0}, KILLED},
	};

	const struct probe accepts_not[] = {{"accept4", SYS_accept4, {-1, 0, 0, 0}, ENOSYS}}, accepts[] = {{"accept4", SYS_accept4, {-1, 0, 0, 0}, 0}};

	(void)state;
	run_all(EGRESS, probes, ARRAY_LEN(probes));
	run_all(PROXY, probes, ARRAY_LEN(probes));
	run_all(EGRESS, accepts_not, 1);
	run_all(PROXY, accepts, 1);
}

static void test_starting_programs(void **state)
{
	const struct probe exec_denied[] = {{"execve", SYS_execve, {0}, EPERM}, {"execveat", SYS_execveat, {0}, EPERM}};
	const struct probe fork_unknown[] = {{"clone", SYS_clone, {SIGCHLD}, ENOSYS}, {"fork", SYS_fork, {0}, ENOSYS},
	                                     {"vfork", SYS_vfork, {0}, ENOSYS}, {"clone3", SYS_clone3, {0}, ENOSYS}};

	(void)state;
	run_all(STAGE, exec_denied, ARRAY_LEN(exec_denied));
	run_all(FRONT, exec_denied, ARRAY_LEN(exec_denied));
	run_all(STAGE, fork_unknown, ARRAY_LEN(fork_unknown));
	run_all(FRONT, fork_unknown, ARRAY_LEN(fork_unknown));
	run_all(WM, fork_unknown, ARRAY_LEN(fork_unknown));
}

/* A view has what it was handed, and no way to more. */
static void test_view(void **state)
{
	const struct probe probes[] = {
		{"socket unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, ENOSYS},
		{"socket tcp", SYS_socket, {AF_INET, SOCK_STREAM, 0}, ENOSYS},
		{"socketpair inet", SYS_socketpair, {AF_INET, SOCK_STREAM, 0}, ENOSYS},
		{"connect", SYS_connect, {-1, 0, 0}, ENOSYS},
		{"openat", SYS_openat, {AT_FDCWD, 0, O_RDONLY}, ENOSYS},
		{"open", SYS_open, {0, O_RDONLY}, ENOSYS},
		{"memfd_create", SYS_memfd_create, {0}, ENOSYS},
		{"ftruncate", SYS_ftruncate, {-1, 0}, ENOSYS},
		{"execve", SYS_execve, {0}, EPERM},
		{"fork", SYS_fork, {0}, ENOSYS},
		{"clone3", SYS_clone3, {0}, ENOSYS},
#ifndef CONFINE_SANITIZER
		{"kill", SYS_kill, {0, 0}, ENOSYS},
#endif
		{"select", SYS_select, {0}, ENOSYS},
		{"pselect6", SYS_pselect6, {0}, ENOSYS},
		{"ptrace", SYS_ptrace, {0}, EPERM},
		{"poll", SYS_poll, {0, 0, 0}, 0},
		{"recvfrom", SYS_recvfrom, {-1, 0, 0}, 0},
	};

	(void)state;
	run_all(VIEW, probes, ARRAY_LEN(probes));
}

static void test_journal_cannot_be_undone(void **state)
{
	const struct probe probes[] = {
		{"truncate", SYS_truncate, {0}, ENOSYS},
		{"ftruncate", SYS_ftruncate, {-1, 0}, ENOSYS},
		{"fallocate", SYS_fallocate, {-1, 0, 0, 1}, EBADF},
		{"fallocate, a hole", SYS_fallocate, {-1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1}, ENOSYS},
		{"rename", SYS_rename, {0}, ENOSYS},
		{"unlink", SYS_unlink, {0}, ENOSYS},
		{"pwrite64", SYS_pwrite64, {-1}, ENOSYS},
		{"pwritev", SYS_pwritev, {-1}, ENOSYS},
		{"pwritev2", SYS_pwritev2, {-1}, ENOSYS},
		{"lseek", SYS_lseek, {-1, 0, SEEK_SET}, ENOSYS}, /* O_APPEND can be taken off by fcntl */
	};

	(void)state;
	run_all(STAGE, probes, ARRAY_LEN(probes));
}

static void test_warden(void **state)
{
	const struct probe probes[] = {
#ifndef CONFINE_SANITIZER
		{"ptrace", SYS_ptrace, {0}, EPERM},
#endif
		{"kexec_load", SYS_kexec_load, {0}, EPERM},
		{"init_module", SYS_init_module, {0}, EPERM},
		{"bpf", SYS_bpf, {0}, EPERM},
		{"unshare", SYS_unshare, {CLONE_FILES}, 0},
		{"getpid", SYS_getpid, {0}, 0},
		{"x32", 0x40000000L | SYS_getpid, {0}, KILLED},
	};

	(void)state;
	run_all(WARDEN, probes, ARRAY_LEN(probes));
}

#ifdef __x86_64__
/* The signal that ends a process which calls getpid by the 32-bit gate, under the filter or without it; 0 if the call returns. */
static int signal_of_int80(bool confined)
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		long result;

		(void)signal(SIGSEGV, SIG_DFL); /* cmocka has a handler for it */
		if (confined)
			load(APP);
		__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* The 32-bit gate has other numbers, so the filter would judge the wrong call. Some kernels have no such gate. */
static void test_int80_kills(void **state)
{
	int without = signal_of_int80(false);

	(void)state;
	assert_int_equal(signal_of_int80(true), without ? without : SIGSYS);
}
#endif

/* The kernel's own answer, and whose filter it was. */
static void test_what_does_not_load(void **state)
{
	const struct confine_filter empty = {.name = "empty"};
	struct err e = {0};

	(void)state;
	assert_int_equal(confine_load(&empty, &e), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(e.sys_errno, EINVAL);
	assert_non_null(strstr(e.msg, "empty"));
}

/* What a Landlock domain refuses, tried in children; none of it needs root. */
static int in_land(enum confine_land land, int (*try)(void))
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct err e = {0};

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || confine_landlock(land, &e) < 0)
			_exit(250);
		_exit(try());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 251;
}

static int try_read_file(void)
{
	return open("/etc/passwd", O_RDONLY) < 0 ? errno : 0;
}

static int try_make_file(void)
{
	int fd = open("/tmp", O_TMPFILE | O_WRONLY, 0600);

	return fd < 0 ? errno : 0;
}

static int try_execute(void)
{
	(void)execl("/bin/true", "true", (char *)NULL);
	return errno;
}

static int try_listen(void)
{
	const struct sockaddr_in name = {.sin_family = AF_INET};

	return bind(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&name, sizeof(name)) < 0 ? errno : 0;
}

static int try_connect(void)
{
	const struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = 0x0100, .sin_addr.s_addr = 0x0100007F};

	return connect(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&name, sizeof(name)) < 0 ? errno : 0;
}

static int try_signal(void)
{
	return kill(getppid(), 0) < 0 ? errno : 0;
}

static void test_lands(void **state)
{
	const int ports = confine_landlock_abi() >= CONFINE_PORTS_ABI ? EACCES : 0, scopes = confine_landlock_abi() >= CONFINE_SCOPES_ABI ? EPERM : 0;
	const struct {
		enum confine_land land;
		int reads, makes, executes, listens, connects;
	} rows[] = {
		{CONFINE_LAND_NOTHING, EACCES, EACCES, EACCES, ports, ports ? ports : ECONNREFUSED},
		{CONFINE_LAND_READS, 0, EACCES, EACCES, ports, ports ? ports : ECONNREFUSED},
		{CONFINE_LAND_WRITES, 0, 0, EACCES, ports, ports ? ports : ECONNREFUSED},
		{CONFINE_LAND_RUNS, 0, 0, 0, ports, ports ? ports : ECONNREFUSED},
		{CONFINE_LAND_CONNECTS, 0, 0, EACCES, ports, ECONNREFUSED},
	};

	(void)state;
	if (confine_landlock_abi() < 1)
		return; /* where there is none, doctor says so */
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(in_land(rows[i].land, try_read_file), rows[i].reads);
		assert_int_equal(in_land(rows[i].land, try_make_file), rows[i].makes);
		assert_int_equal(in_land(rows[i].land, try_execute), rows[i].executes);
		assert_int_equal(in_land(rows[i].land, try_listen), rows[i].listens);
		assert_int_equal(in_land(rows[i].land, try_connect), rows[i].connects);
		assert_int_equal(in_land(rows[i].land, try_signal), scopes);
	}
}

/* The filter of the stage lets it open files; what makes one is refused by the domain that it enters at its start. */
static void test_entry_enters_the_land(void **state)
{
	pid_t pid = fork();
	int status = 0;

	(void)state;
	if (confine_landlock_abi() < 1)
		return;
	assert_true(pid >= 0);
	if (pid == 0) {
		struct err e = {0};

		(void)unsetenv("GLOVEBOX_UID");
		if (confine_enter_check(&confine_stage, &e) < 0)
			_exit(250);
		_exit(try_make_file());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_app),
		cmocka_unit_test(test_app_alone),
		cmocka_unit_test(test_daemons),
		cmocka_unit_test(test_egress),
		cmocka_unit_test(test_starting_programs),
		cmocka_unit_test(test_view), cmocka_unit_test(test_journal_cannot_be_undone),
		cmocka_unit_test(test_warden),
#ifdef __x86_64__
		cmocka_unit_test(test_int80_kills),
#endif
		cmocka_unit_test(test_what_does_not_load),
		cmocka_unit_test(test_lands),
		cmocka_unit_test(test_entry_enters_the_land),
	};

	return cmocka_run_group_tests_name("confine", tests, NULL, NULL);
}
