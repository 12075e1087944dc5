/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: sandbox/jail sandbox/confine */
/* What of the jails needs no root: finding control groups on several kinds of hosts, the Xauthority file, the home's skeleton. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandbox/jail/hierarchy.h"
#include "sandbox/jail/skel.h"
#include "session/base/x/xauth.h"
#include "session/base/util.h"

#define MAX 4

/* A host with systemd and v2 alone. */
static void test_v2_alone(void **state)
{
	static const char mounts[] =
		"24 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
		"30 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";
	struct hierarchy all[MAX];

	(void)state;
	assert_int_equal(hierarchy_parse(all, MAX, mounts, "0::/user.slice/user-0.slice/session-1.scope\n"), 1);
	assert_int_equal(all[0].version, 2);
	assert_string_equal(all[0].base, "/sys/fs/cgroup/user.slice/user-0.slice/session-1.scope");
	assert_string_equal(all[0].top, "/sys/fs/cgroup");
}

/* v1 controllers, two of them in one hierarchy, beside an empty v2. */
static void test_hybrid(void **state)
{
	static const char mounts[] =
		"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
		"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
		"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
		"36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices\n"
		"39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
		"40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
		"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
	static const char groups[] = "8:pids:/\n5:devices:/\n4:memory:/a/b\n1:cpu,cpuacct:/c\n0::/\n";
	struct hierarchy all[MAX];

	(void)state;
	assert_int_equal(hierarchy_parse(all, MAX, mounts, groups), 4);
	assert_int_equal(all[0].controllers, CONTROLLER_CPU);
	assert_string_equal(all[0].base, "/sys/fs/cgroup/cpu,cpuacct/c");
	assert_int_equal(all[1].controllers, CONTROLLER_MEMORY);
	assert_string_equal(all[1].base, "/sys/fs/cgroup/memory/a/b");
	assert_int_equal(all[2].controllers, CONTROLLER_PIDS);
	assert_string_equal(all[2].base, "/sys/fs/cgroup/pids");
	assert_int_equal(all[3].version, 2);
	assert_string_equal(all[3].base, "/sys/fs/cgroup/unified");
}

/* A container without a cgroup namespace: its mount shows its own part of the hierarchy alone. */
static void test_container(void **state)
{
	static const char mounts[] = "32 31 0:29 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n";
	struct hierarchy all[MAX];

	(void)state;
	assert_int_equal(hierarchy_parse(all, MAX, mounts, "4:memory:/docker/abc\n"), 1);
	assert_string_equal(all[0].base, "/sys/fs/cgroup/memory");
	assert_int_equal(hierarchy_parse(all, MAX, mounts, "4:memory:/docker/abc/inner\n"), 1);
	assert_string_equal(all[0].base, "/sys/fs/cgroup/memory/inner");
	/* A name that only begins the same is another group. */
	assert_int_equal(hierarchy_parse(all, MAX, mounts, "4:memory:/docker/abcdef\n"), 1);
	assert_string_equal(all[0].base, "/sys/fs/cgroup/memory");
}

static void test_mounted_twice_and_nothing(void **state)
{
	static const char mounts[] =
		"32 31 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
		"33 31 0:29 / /mnt/pids rw - cgroup cgroup rw,pids\n"
		"a line of another kind\n";
	struct hierarchy all[MAX];

	(void)state;
	assert_int_equal(hierarchy_parse(all, MAX, mounts, "8:pids:/\n"), 1);
	assert_string_equal(all[0].base, "/sys/fs/cgroup/pids");
	assert_int_equal(hierarchy_parse(all, MAX, "", "8:pids:/\n"), 0);
	assert_int_equal(hierarchy_parse(all, MAX, mounts, "garbage"), 0);
	/* cpuset is not cpu. */
	assert_int_equal(hierarchy_parse(all, MAX, "1 1 0:1 / /c rw - cgroup cgroup rw,cpuset\n", "3:cpuset:/\n"), 0);
}

static void test_xauth(void **state)
{
	uint8_t out[XAUTH_SIZE], cookie[XAUTH_COOKIE_LEN];
	const uint8_t head[] = {0xFF, 0xFF, 0, 0, 0, 0, 0, 18};

	(void)state;
	for (size_t i = 0; i < sizeof(cookie); i++)
		cookie[i] = (uint8_t)i;
	xauth_entry(out, cookie);
	assert_memory_equal(out, head, sizeof(head));
	assert_memory_equal(out + 8, "MIT-MAGIC-COOKIE-1", 18);
	assert_int_equal(out[26], 0);
	assert_int_equal(out[27], 16);
	assert_memory_equal(out + 28, cookie, sizeof(cookie));
	assert_int_equal(sizeof(out), 28 + 16);
}

struct folders {
	char top[32], from[64], to[64];
};

static int make_folders(void **state)
{
	struct folders *f = util_zalloc(sizeof(*f));

	strcpy(f->top, "/dev/shm/glovebox-test-XXXXXX");
	assert_non_null(mkdtemp(f->top));
	(void)snprintf(f->from, sizeof(f->from), "%s/from", f->top);
	(void)snprintf(f->to, sizeof(f->to), "%s/to", f->top);
	assert_int_equal(mkdir(f->from, 0755), 0);
	assert_int_equal(mkdir(f->to, 0755), 0);
	*state = f;
	return 0;
}

static int remove_folders(void **state)
{
	struct folders *f = *state;
	char command[64];
	int status;

	(void)snprintf(command, sizeof(command), "rm -rf %s", f->top);
	status = system(command);
	free(f);
	return status;
}

static char *under(char *out, const char *folder, const char *name)
{
	(void)snprintf(out, 128, "%s/%s", folder, name);
	return out;
}

static void make_file(const char *folder, const char *name, const char *text, mode_t mode)
{
	char path[128];
	auto_fd fd = open(under(path, folder, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(util_write_all(fd, text, strlen(text)), 0);
}

static void test_skel_copies(void **state)
{
	const struct folders *f = *state;
	char path[128], text[16] = "";
	struct err e = {0};
	struct stat st;
	int fd;

	make_file(f->from, ".profile", "one", 0644);
	make_file(f->from, "run", "two", 04755);
	make_file(f->to, "kept", "old", 0600);
	make_file(f->from, "kept", "new", 0600);
	assert_int_equal(mkdir(under(path, f->from, "sub"), 0755), 0);
	make_file(path, "deep", "three", 0644);
	assert_int_equal(symlink("/etc/passwd", under(path, f->from, "link")), 0);
	assert_int_equal(mkfifo(under(path, f->from, "pipe"), 0644), 0);
	assert_int_equal(skel_copy(f->from, f->to, &e), 0);
	/* A set-uid bit stays behind, a link is copied as a link, what was there stays, a pipe is left out. */
	assert_int_equal(stat(under(path, f->to, "run"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(lstat(under(path, f->to, "link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(access(under(path, f->to, "sub/deep"), R_OK), 0);
	assert_int_equal(access(under(path, f->to, "pipe"), F_OK), -1);
	fd = open(under(path, f->to, "kept"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text)), 3);
	assert_string_equal(text, "old");
	assert_int_equal(close(fd), 0);
}

static void test_skel_without_one(void **state)
{
	const struct folders *f = *state;
	char path[128];
	struct err e = {0};

	assert_int_equal(skel_copy(under(path, f->from, "absent"), f->to, &e), 0);
	assert_int_equal(symlink("/etc", under(path, f->top, "link")), 0);
	assert_int_equal(skel_copy(path, f->to, &e), -1);
}

static void test_skel_is_bounded(void **state)
{
	const struct folders *f = *state;
	char path[128], name[16];
	struct err e = {0};

	for (int i = 0; i <= 2000; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		make_file(f->from, name, "", 0644);
	}
	assert_int_equal(skel_copy(f->from, f->to, &e), -1);
	assert_non_null(strstr(e.msg, "2000"));
	/* One sparse file beyond the bytes. */
	make_file(f->top, "big", "", 0644);
	assert_int_equal(mkdir(under(path, f->top, "other"), 0755), 0);
	assert_int_equal(mkdir(under(path, f->top, "from2"), 0755), 0);
	make_file(path, "big", "", 0644);
	(void)strcat(path, "/big");
	assert_int_equal(truncate(path, 33LL * 1024 * 1024), 0);
	{
		char from[128], to[128];

		assert_int_equal(skel_copy(under(from, f->top, "from2"), under(to, f->top, "other"), &e), -1);
		assert_non_null(strstr(e.msg, "larger"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v2_alone),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_mounted_twice_and_nothing),
		cmocka_unit_test(test_xauth),
		cmocka_unit_test_setup_teardown(test_skel_copies, make_folders, remove_folders),
		cmocka_unit_test_setup_teardown(test_skel_without_one, make_folders, remove_folders),
		cmocka_unit_test_setup_teardown(test_skel_is_bounded, make_folders, remove_folders),
	};

	return cmocka_run_group_tests_name("jail", tests, NULL, NULL);
}
