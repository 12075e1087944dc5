/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that takes all it can get of one thing and keeps it: hoard WHAT [SECONDS [HOST:PORT]]. It prints a line, "WHAT GOT why-no-more", once it is
 * refused more, goes on asking until the seconds are over (10 at most unless said), and ends. For the tests of limits; static.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xcb/xcb.h>

#define PIECE (1024 * 1024)
#define PIXMAP_SIDE 1024 /* 4 MiB each */
#define SPINNERS 3

#define RELAY_PORT 3128 /* the way out, in a session that has one */

static time_t end_s;
static const char *target = "host.invalid:443";

static time_t now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static int is_over(void)
{
	return now_s() >= end_s;
}

static void tell(const char *what, long got, const char *why)
{
	printf("%s %ld %s\n", what, got, why);
	(void)fflush(stdout);
}

/* Until the time is over: asks again and again, and says once how much it got. `take` is 0 while there is more. */
static void hoard(const char *what, int (*take)(void))
{
	long got = 0;
	int told = 0;

	while (!is_over()) {
		if (take() == 0) {
			got++;
			continue;
		}
		if (!told++)
			tell(what, got, strerror(errno));
		(void)sched_yield();
	}
	if (!told)
		tell(what, got, "nothing");
}

/* Each child does the same: what is left of it when this ends is for the jail to end. */
static int take_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		while (!is_over())
			(void)fork();
		_exit(0);
	}
	return pid < 0;
}

/* In a user namespace of its own, if it gets one: there no count of a uid would hold. */
static int take_child_apart(void)
{
	static int tried;

	if (!tried++)
		printf("unshare %s\n", unshare(CLONE_NEWUSER) == 0 ? "done" : strerror(errno));
	return take_child();
}

/* Children that only count on, more than there are processors. */
static int take_processor(void)
{
	static int n;
	pid_t pid = ++n <= SPINNERS ? fork() : 0;

	if (pid == 0)
		while (!is_over())
			;
	if (pid == 0 && n <= SPINNERS)
		_exit(0);
	return pid < 0;
}

static void *rest(void *unused)
{
	for (;;)
		(void)pause();
	return unused;
}

static int take_thread(void)
{
	pthread_attr_t small;
	pthread_t thread;
	int rc;

	(void)pthread_attr_init(&small);
	(void)pthread_attr_setstacksize(&small, 64 * 1024);
	rc = pthread_create(&thread, &small, rest, NULL);
	errno = rc;
	return rc;
}

static int take_memory(void)
{
	char *piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (piece == MAP_FAILED)
		return 1;
	memset(piece, 1, PIECE);
	return 0;
}

/* What waits in sockets is the kernel's memory. */
static int take_sockets(void)
{
	static char data[64 * 1024];
	int ends[2], rc = socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends);

	while (rc == 0 && write(ends[0], data, sizeof(data)) > 0)
		;
	return rc;
}

static int take_memfd(void)
{
	static char data[PIECE];
	int fd = memfd_create("hoard", 0);

	return fd < 0 || write(fd, data, sizeof(data)) != (ssize_t)sizeof(data);
}

static int take_fd(void)
{
	return open("/dev/null", O_RDONLY) < 0;
}

static int take_disk(void)
{
	static char data[PIECE];
	static int fd = -1;

	if (fd < 0)
		fd = open("/tmp/hoard", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	return write(fd, data, sizeof(data)) <= 0;
}

static int take_inode(void)
{
	static long n;
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/tmp/hoard-%ld", n);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return 1;
	n++;
	return close(fd);
}

/* Pictures that nobody sees, kept in the X server. */
static int take_pixmap(void)
{
	static xcb_connection_t *x;
	xcb_generic_error_t *error;
	xcb_screen_t *screen;

	if (!x)
		x = xcb_connect(NULL, NULL);
	if (xcb_connection_has_error(x)) {
		errno = ECONNREFUSED;
		return 1;
	}
	screen = xcb_setup_roots_iterator(xcb_get_setup(x)).data;
	error = xcb_request_check(x, xcb_create_pixmap_checked(x, 24, xcb_generate_id(x), screen->root, PIXMAP_SIDE, PIXMAP_SIDE));
	errno = error ? ENOMEM : 0;
	free(error);
	return errno != 0;
}

static int take_client(void)
{
	xcb_connection_t *x = xcb_connect(NULL, NULL);
	int rc = xcb_connection_has_error(x);

	errno = ECONNREFUSED;
	if (rc)
		xcb_disconnect(x);
	return rc;
}

/* Tunnels through the way out, which are kept when it gives them. */
static int take_tunnel(void)
{
	const struct sockaddr_in relay = {.sin_family = AF_INET, .sin_port = htons(RELAY_PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int sock = socket(AF_INET, SOCK_STREAM, 0);
	char answer[64] = "";

	if (sock < 0)
		return 1;
	if (connect(sock, (const struct sockaddr *)&relay, sizeof(relay)) == 0 &&
	    dprintf(sock, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target) > 0 && read(sock, answer, sizeof(answer) - 1) > 0 &&
	    strstr(answer, " 200 "))
		return 0;
	(void)close(sock);
	errno = EACCES;
	return 1;
}

/* Output that nobody asked for, as fast as it is taken. */
static int take_output(void)
{
	static char line[64 * 1024];

	memset(line, 'x', sizeof(line));
	return write(STDERR_FILENO, line, sizeof(line)) < 0;
}

static const struct {
	const char *name;
	int (*take)(void);
} things[] = {
	{"processors", take_processor}, {"children", take_child}, {"children-apart", take_child_apart}, {"threads", take_thread}, {"memory", take_memory},
	{"sockets", take_sockets}, {"memfds", take_memfd}, {"files", take_fd}, {"disk", take_disk}, {"inodes", take_inode},
	{"pixmaps", take_pixmap}, {"clients", take_client}, {"output", take_output}, {"tunnels", take_tunnel},
};

int main(int argc, char **argv)
{
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_IGN);
	end_s = now_s() + (argc > 2 ? atoi(argv[2]) : 10);
	if (argc > 3)
		target = argv[3];
	for (size_t i = 0; argc > 1 && i < sizeof(things) / sizeof(*things); i++)
		if (strcmp(things[i].name, argv[1]) == 0) {
			hoard(things[i].name, things[i].take);
			return 0;
		}
	fprintf(stderr, "usage: hoard WHAT [SECONDS]\n");
	return 2;
}
