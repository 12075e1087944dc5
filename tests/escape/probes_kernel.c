/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that no program of a desktop needs, and terminals. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "session/base/util.h"
#include "tests/escape/battery.h"

#define P(pointer) ((long)(uintptr_t)(pointer))
#define HIGH (1L << 32) /* bits that the kernel does not look at */
#define SYS_memfd_secret_ 447
#define SYS_process_mrelease_ 448
#define SYS_set_mempolicy_home_node_ 450
#define SYS_lsm_get_self_attr_ 459
#define SYS_mseal_ 462
#define SYS_setxattrat_ 463
#define SYS_file_getattr_ 468
#define X32 0x40000000L

static const union bpf_attr MAP = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
static const struct perf_event_attr CLOCK = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(CLOCK), .config = PERF_COUNT_SW_CPU_CLOCK};
static const struct timespec EPOCH = {.tv_sec = 1};
static const struct timex NUDGE = {.modes = ADJ_OFFSET};
static char piece[16];
static const struct iovec HERE = {piece, sizeof(piece)};
static const uint8_t RING[256];

/* The 32-bit gate has other numbers: 20 is getpid. */
static int try_int80(const struct probe *probe)
{
	long result;

	(void)probe;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	return outcome_of(result);
}

static int open_terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	return fd >= 0 && grantpt(fd) == 0 && unlockpt(fd) == 0 ? open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
}

/* On a terminal of one's own, as its controlling one: the kernel allows it there. */
static int try_terminal(const struct probe *probe)
{
	int fd;

	(void)setsid();
	fd = open_terminal();
	if (fd < 0)
		return errno;
	(void)ioctl(fd, TIOCSCTTY, 0);
	return outcome_of(syscall(SYS_ioctl, (long)fd, probe->args[0], piece));
}

#define TERMINAL(text, request) {.name = (text), .layer = FILTER, .try = try_terminal, .args = {(request)}, .expect = {EPERM}}

static int try_low_page(const struct probe *probe)
{
	const void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	(void)probe;
	return page == MAP_FAILED ? errno : DONE;
}

static const struct probe probes[] = {
	CALL("bpf map", FILTER, SYS_bpf, EPERM, BPF_MAP_CREATE, P(&MAP), sizeof(MAP)),
	CALL("bpf program", FILTER, SYS_bpf, EPERM, BPF_PROG_LOAD, P(&MAP), sizeof(MAP)),
	CALL("perf_event_open", FILTER, SYS_perf_event_open, EPERM, P(&CLOCK), 0, -1, -1, 0),
	CALL("userfaultfd", FILTER, SYS_userfaultfd, ENOSYS, 0),
	CALL("userfaultfd, user mode only", FILTER, SYS_userfaultfd, ENOSYS, 1),
	CALL("io_uring_setup", FILTER, SYS_io_uring_setup, ENOSYS, 4, P(RING)),
	CALL("io_uring_enter", FILTER, SYS_io_uring_enter, ENOSYS, -1),
	CALL("io_uring_register", FILTER, SYS_io_uring_register, ENOSYS, -1),
	CALL("io_setup", FILTER, SYS_io_setup, ENOSYS, 1, P(piece)),
	CALL("io_submit", FILTER, SYS_io_submit, ENOSYS, 0),
	CALL("keyctl", FILTER, SYS_keyctl, EPERM, 0, -3, 1),
	CALL("add_key", FILTER, SYS_add_key, EPERM, P("user"), P("battery"), P(piece), 1, -3),
	CALL("request_key", FILTER, SYS_request_key, EPERM, P("user"), P("battery"), 0, 0),
	CALL("init_module", FILTER, SYS_init_module, EPERM, P(piece), sizeof(piece), P("")),
	CALL("finit_module", FILTER, SYS_finit_module, EPERM, -1, P(""), 0),
	CALL("delete_module", FILTER, SYS_delete_module, EPERM, P("no-such-module"), 0),
	CALL("kexec_load", FILTER, SYS_kexec_load, EPERM, 0, 0, 0, 0xFFFF),
	CALL("kexec_file_load", FILTER, SYS_kexec_file_load, EPERM, -1, -1),
	CALL("reboot, bad magic", FILTER, SYS_reboot, EPERM, 1, 2, 3),
	CALL("swapon", FILTER, SYS_swapon, EPERM, P("/tmp"), 0),
	CALL("swapoff", FILTER, SYS_swapoff, EPERM, P("/tmp")),
	CALL("syslog", FILTER, SYS_syslog, EPERM, 10),
	CALL("acct", FILTER, SYS_acct, EPERM, P("/tmp")),
	CALL("quotactl", FILTER, SYS_quotactl, EPERM, 0, P("/tmp"), 0, 0),
	CALL("quotactl_fd", FILTER, SYS_quotactl_fd, EPERM, -1),
	CALL("iopl", FILTER, SYS_iopl, EPERM, 3),
	CALL("ioperm", FILTER, SYS_ioperm, EPERM, 0x80, 1, 1),
	CALL("modify_ldt", FILTER, SYS_modify_ldt, EPERM, 0, P(piece), sizeof(piece)),
	CALL("ptrace traceme", FILTER, SYS_ptrace, EPERM, PTRACE_TRACEME),
	CALL("ptrace attach pid 1", FILTER, SYS_ptrace, EPERM, PTRACE_ATTACH, 1),
	CALL("ptrace seize pid 1", FILTER, SYS_ptrace, EPERM, PTRACE_SEIZE, 1),
	CALL("process_vm_readv", FILTER, SYS_process_vm_readv, EPERM, 1, P(&HERE), 1, P(&HERE), 1, 0),
	CALL("process_vm_writev", FILTER, SYS_process_vm_writev, EPERM, 1, P(&HERE), 1, P(&HERE), 1, 0),
	CALL("kcmp", FILTER, SYS_kcmp, EPERM, 1, 1, 1),
	CALL("pidfd_getfd", FILTER, SYS_pidfd_getfd, EPERM, -1, 0, 0),
	CALL("process_madvise", FILTER, SYS_process_madvise, EPERM, -1),
	CALL("process_mrelease", FILTER, SYS_process_mrelease_, ENOSYS, -1),
	CALL("memfd_secret", FILTER, SYS_memfd_secret_, ENOSYS, 0),
	CALL("fanotify_init", FILTER, SYS_fanotify_init, EPERM, 0x200, 0),
	CALL("fanotify_mark", FILTER, SYS_fanotify_mark, ENOSYS, -1),
	CALL("personality, no randomizing", FILTER, SYS_personality, ENOSYS, ADDR_NO_RANDOMIZE),
	CALL("personality, reading is executing", FILTER, SYS_personality, ENOSYS, READ_IMPLIES_EXEC),
	CALL("clock_settime", FILTER, SYS_clock_settime, EPERM, CLOCK_REALTIME, P(&EPOCH)),
	CALL("settimeofday", FILTER, SYS_settimeofday, EPERM, P(&EPOCH), 0),
	CALL("adjtimex", FILTER, SYS_adjtimex, EPERM, P(&NUDGE)),
	CALL("clock_adjtime", FILTER, SYS_clock_adjtime, EPERM, CLOCK_REALTIME, P(&NUDGE)),
	CALL("sethostname", FILTER, SYS_sethostname, EPERM, P("battery"), 7),
	CALL("setdomainname", FILTER, SYS_setdomainname, EPERM, P("battery"), 7),
	CALL("vhangup", FILTER, SYS_vhangup, EPERM, 0),
	CALL("move_pages", FILTER, SYS_move_pages, EPERM, 1, 0),
	CALL("migrate_pages", FILTER, SYS_migrate_pages, EPERM, 1, 0),
	CALL("mbind", FILTER, SYS_mbind, EPERM, 0),
	CALL("set_mempolicy_home_node", FILTER, SYS_set_mempolicy_home_node_, ENOSYS, 0),
	CALL("vmsplice", FILTER, SYS_vmsplice, EPERM, -1),
	CALL("lookup_dcookie", FILTER, SYS_lookup_dcookie, EPERM, 0),
	CALL("mq_open", FILTER, SYS_mq_open, ENOSYS, P("battery"), O_RDWR | O_CREAT, 0600, 0),
	CALL("shmget", FILTER, SYS_shmget, ENOSYS, 0, 4096, 0600),
	CALL("semget", FILTER, SYS_semget, ENOSYS, 0, 1, 0600),
	CALL("msgget", FILTER, SYS_msgget, ENOSYS, 0, 0600),
	CALL("uselib", FILTER, SYS_uselib, ENOSYS, P("/tmp")),
	CALL("ustat", FILTER, SYS_ustat, ENOSYS, 0),
	CALL("sysfs", FILTER, SYS_sysfs, ENOSYS, 3),
	CALL("remap_file_pages", FILTER, SYS_remap_file_pages, ENOSYS, 0),
	CALL("lsm_get_self_attr", FILTER, SYS_lsm_get_self_attr_, ENOSYS, 0),
	CALL("mseal", FILTER, SYS_mseal_, ENOSYS, 0),
	CALL("setxattrat", FILTER, SYS_setxattrat_, ENOSYS, -1),
	CALL("file_getattr", FILTER, SYS_file_getattr_, ENOSYS, -1),
	CALL("a call without a name", FILTER, 600, ENOSYS, 0),
	CALL("a call of x32", FILTER, X32 | SYS_getpid, KILLED, 0),
	TRY("a call by int 0x80", FILTER, try_int80, KILLED),
	TERMINAL("type into a terminal", TIOCSTI),
	TERMINAL("type into a terminal, high bits", HIGH | TIOCSTI),
	TERMINAL("paste into a console", TIOCLINUX),
	TERMINAL("paste into a console, high bits", HIGH | TIOCLINUX),
	TERMINAL("take the console's output", TIOCCONS),
	TERMINAL("line discipline", TIOCSETD),
	CALL("type into standard input", FILTER, SYS_ioctl, EPERM, 0, TIOCSTI, P(piece)),
	TRY("map the lowest page", KERNEL, try_low_page, EPERM),
};

const struct probe_table probes_kernel = {probes, ARRAY_LEN(probes)};
