/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Landlock domains of the daemons, by what the kernel has of it: the second lock on files and ports, for the day on which the first one fails. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/confine/confine.h"
#include "session/base/util.h"

/* The kernel's struct landlock_ruleset_attr as of ABI 6, which is younger than the headers that this is built with; and what belongs to it. */
struct ruleset_attr {
	uint64_t files, ports, scopes;
};

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE                                                                                                                     \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
	 LANDLOCK_ACCESS_FS_MAKE_REG | REFER | TRUNCATE)
#define OTHER                                                                                                                       \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | IOCTL_DEVICE)
#define RUNS (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_SOCK) /* Xvfb's own socket, and what it runs at its start */
#define REFER (1U << 13)
#define TRUNCATE (1U << 14)
#define IOCTL_DEVICE (1U << 15)
#define BIND_TCP (1U << 0)
#define CONNECT_TCP (1U << 1)
#define ABSTRACT_SOCKETS (1U << 0)
#define SIGNALS (1U << 1)

/* What is refused but where it is allowed again, and what is allowed in the whole root. Reading is not handled where descriptors of other
 * roots come later, which no rule could name. */
static const struct {
	uint64_t handled, allowed, ports;
} LANDS[] = {
	[CONFINE_LAND_NOTHING] = {READ | WRITE | OTHER, 0, BIND_TCP | CONNECT_TCP},
	[CONFINE_LAND_READS] = {WRITE | OTHER, 0, BIND_TCP | CONNECT_TCP},
	[CONFINE_LAND_WRITES] = {READ | WRITE | OTHER, READ | WRITE, BIND_TCP | CONNECT_TCP},
	[CONFINE_LAND_RUNS] = {OTHER & ~RUNS, 0, BIND_TCP | CONNECT_TCP},
	[CONFINE_LAND_CONNECTS] = {READ | WRITE | OTHER, READ | WRITE, BIND_TCP},
};

/* The rights that this kernel knows. */
static uint64_t known(uint64_t files, int abi)
{
	if (abi < 2)
		files &= ~(uint64_t)REFER;
	if (abi < 3)
		files &= ~(uint64_t)TRUNCATE;
	return abi < 5 ? files & ~(uint64_t)IOCTL_DEVICE : files;
}

static int allow_root(int ruleset, uint64_t rights, struct err *e)
{
	auto_fd root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = root};

	if (root < 0 || (rights && syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0))
		return err_sys(e, "a rule of Landlock");
	return 0;
}

int confine_landlock(enum confine_land land, struct err *e)
{
	int abi = confine_landlock_abi();
	struct ruleset_attr attr = {.files = known(LANDS[land].handled, abi), .ports = LANDS[land].ports, .scopes = ABSTRACT_SOCKETS | SIGNALS};
	size_t size = abi >= CONFINE_SCOPES_ABI ? sizeof(attr) : abi >= CONFINE_PORTS_ABI ? offsetof(struct ruleset_attr, scopes) : sizeof(attr.files);
	auto_fd ruleset = -1;

	if (abi < 1 || land == CONFINE_LAND_NONE)
		return 0;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (ruleset < 0)
		return err_sys(e, "a set of rules of Landlock");
	if (allow_root(ruleset, known(LANDS[land].allowed, abi), e) < 0)
		return -1;
	return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? err_sys(e, "a domain of Landlock") : 0;
}
