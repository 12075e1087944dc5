/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* Records with descriptors, against a peer that may be hostile. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/ipc.h"
#include "session/base/util.h"

static size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

/* Every test: nothing that it opened stays open. */
struct links {
	int mine, peer;
	size_t before;
};

static int set_up(void **state)
{
	struct links *links = util_zalloc(sizeof(*links));
	int ends[2];

	links->before = open_descriptors();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	links->mine = ends[0];
	links->peer = ends[1];
	*state = links;
	return 0;
}

static int tear_down(void **state)
{
	struct links *links = *state;
	size_t before = links->before;

	util_close_fd(&links->mine);
	util_close_fd(&links->peer);
	free(links);
	assert_int_equal(open_descriptors(), before);
	return 0;
}

static void test_record(void **state)
{
	struct links *l = *state;
	auto_fd counter = eventfd(41, EFD_CLOEXEC);
	auto_fd other = eventfd(7, 0);
	int got[2] = {-1, -1};
	char data[16];
	size_t n = 9;
	uint64_t value = 0;

	assert_int_equal(ipc_send(l->peer, "hello", 5, (const int[]){counter, other}, 2, NULL), 0);
	assert_int_equal(ipc_send(l->peer, "x", 1, NULL, 0, NULL), 0);
	assert_int_equal(ipc_recv(l->mine, data, sizeof(data), got, 2, &n, NULL), 5);
	assert_memory_equal(data, "hello", 5);
	assert_int_equal(n, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
	assert_int_equal(read(got[0], &value, sizeof(value)), sizeof(value));
	assert_int_equal(value, 41);
	util_close_fd(&got[0]);
	util_close_fd(&got[1]);
	assert_int_equal(ipc_recv(l->mine, data, 1, NULL, 0, &n, NULL), 1); /* exactly as long as allowed */
	assert_int_equal(n, 0);
}

static void test_record_of_16(void **state)
{
	struct links *l = *state;
	int fds[IPC_MAX_FDS], got[IPC_MAX_FDS];
	size_t n = 0;
	char data[4];

	for (size_t i = 0; i < IPC_MAX_FDS; i++)
		fds[i] = l->peer;
	assert_int_equal(ipc_send(l->peer, "x", 1, fds, IPC_MAX_FDS, NULL), 0);
	assert_int_equal(ipc_recv(l->mine, data, sizeof(data), got, IPC_MAX_FDS, &n, NULL), 1);
	assert_int_equal(n, IPC_MAX_FDS);
	for (size_t i = 0; i < IPC_MAX_FDS; i++)
		util_close_fd(&got[i]);
}

/* A refusal: nothing is handed over, nothing stays open, the next record is read as ever. */
static void refused(struct links *l, size_t max, size_t max_fds)
{
	int got[4] = {-7, -7, -7, -7};
	char data[16];
	size_t n = 99;
	size_t before = open_descriptors();
	struct err e = {0};

	assert_int_equal(ipc_recv(l->mine, data, max, got, max_fds, &n, &e), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(e.code, ERR_INTERNAL);
	assert_int_equal(n, 99);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(ipc_send(l->peer, "next", 4, NULL, 0, NULL), 0);
	assert_int_equal(ipc_recv(l->mine, data, sizeof(data), got, 4, &n, &e), 4);
	assert_int_equal(n, 0);
}

/* A record with more descriptors than ipc_send would take. */
static void send_many(int sock, const char *data, size_t len, size_t n_fds)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * 253)];
		struct cmsghdr align;
	} control = {.bytes = {0}};
	char copy[16];
	struct iovec iov = {copy, len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(sizeof(int) * n_fds)};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	memcpy(copy, data, len);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
	for (size_t i = 0; i < n_fds; i++)
		memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &sock, sizeof(sock));
	assert_int_equal(sendmsg(sock, &msg, 0), len);
}

static void test_record_refused(void **state)
{
	struct links *l = *state;
	const int two[2] = {l->peer, l->peer};

	assert_int_equal(ipc_send(l->peer, "12345", 5, NULL, 0, NULL), 0);
	refused(l, 4, 4);
	assert_int_equal(ipc_send(l->peer, "12345", 5, two, 2, NULL), 0);
	refused(l, 4, 4);
	assert_int_equal(ipc_send(l->peer, "12345", 5, two, 2, NULL), 0);
	refused(l, 5, 1);
	assert_int_equal(ipc_send(l->peer, "12345", 5, two, 2, NULL), 0);
	refused(l, 5, 0);
	for (size_t n = 15; n <= 18; n++) {
		send_many(l->peer, "12345", 5, n);
		refused(l, 16, 4);
	}
	send_many(l->peer, "12345", 5, 253);
	refused(l, 16, 4);
	send_many(l->peer, "", 0, 1); /* not to be taken for the end, with a descriptor that nobody closes */
	refused(l, 16, 4);
}

static void test_record_none_and_end(void **state)
{
	struct links *l = *state;
	char data[4];
	size_t n = 99;
	struct err e = {0};

	errno = 0;
	assert_int_equal(ipc_recv(l->mine, data, sizeof(data), NULL, 0, &n, &e), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(ipc_send(l->peer, "ab", 2, NULL, 0, NULL), 0);
	util_close_fd(&l->peer);
	assert_int_equal(ipc_recv(l->mine, data, sizeof(data), NULL, 0, &n, &e), 2);
	assert_int_equal(ipc_recv(l->mine, data, sizeof(data), NULL, 0, &n, &e), 0);
	assert_int_equal(n, 0);
	assert_int_equal(ipc_send(l->mine, "ab", 2, NULL, 0, &e), -1); /* and no SIGPIPE */
	assert_int_equal(errno, EPIPE);
	assert_int_equal(e.sys_errno, EPIPE);
}

static void test_record_full(void **state)
{
	struct links *l = *state;
	char data[1024] = "";
	size_t sent = 0, n = 0;
	struct err e = {0};

	while (ipc_send(l->peer, data, sizeof(data), &l->peer, 1, &e) == 0)
		sent++;
	assert_int_equal(e.sys_errno, EAGAIN);
	assert_true(sent > 3);
	for (int fd = -1; sent > 0; sent--, util_close_fd(&fd))
		assert_int_equal(ipc_recv(l->mine, data, sizeof(data), &fd, 1, &n, NULL), sizeof(data));
	assert_int_equal(ipc_recv(l->mine, data, sizeof(data), NULL, 0, &n, NULL), -1);
	assert_int_equal(errno, EAGAIN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_record),         TEST(test_record_of_16),        TEST(test_record_refused),
		TEST(test_record_full),    TEST(test_record_none_and_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
