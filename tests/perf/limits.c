/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits ROUNDS: what no program can be faster than on this machine and display, one JSON object of lists of microseconds:
 *   memcpy     one frame of the display's size copied in memory
 *   round_trip a request of X that needs nothing but its reply
 *   shm        the whole frame through MIT-SHM into memory that both have
 *   loopback   a short request and a short answer over TCP with a process that does nothing but answer
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/base/util.h"
#include "tests/perf/frame.h"

#define REQUEST_BYTES 200
#define ANSWER_BYTES 100

struct limits {
	struct frame frame;
	char *from; /* a frame that memcpy takes to the other one */
	int socket;
};

static double now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void do_memcpy(const struct limits *l)
{
	memcpy(l->frame.data, l->from, l->frame.len);
	__asm__ volatile("" ::: "memory"); /* it is wanted */
}

static void do_round_trip(const struct limits *l)
{
	frame_round_trip(&l->frame);
}

static void do_shm(const struct limits *l)
{
	frame_get(&l->frame, 0, 0, l->frame.width, l->frame.height);
}

static void read_all(int fd, size_t len)
{
	char data[REQUEST_BYTES];

	while (len > 0) {
		ssize_t n = read(fd, data, len < sizeof(data) ? len : sizeof(data));

		if (n <= 0)
			_exit(0);
		len -= (size_t)n;
	}
}

static void do_loopback(const struct limits *l)
{
	static const char request[REQUEST_BYTES];

	if (util_write_all(l->socket, request, sizeof(request)) < 0)
		err(1, "loopback");
	read_all(l->socket, ANSWER_BYTES);
}

static void serve(int fd)
{
	static const char answer[ANSWER_BYTES];

	do {
		read_all(fd, REQUEST_BYTES);
	} while (util_write_all(fd, answer, sizeof(answer)) == 0);
	_exit(0);
}

/* Our end of a TCP connection to a process of our own. */
static int start_server(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	auto_fd listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, theirs;

	if (bind(listening, (const struct sockaddr *)&address, len) < 0 || listen(listening, 1) < 0 ||
	    getsockname(listening, (struct sockaddr *)&address, &len) < 0 || connect(fd, (const struct sockaddr *)&address, len) < 0)
		err(1, "loopback");
	theirs = accept(listening, NULL, NULL);
	if (theirs < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
	    setsockopt(theirs, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		err(1, "loopback");
	if (fork() == 0) {
		close(fd);
		serve(theirs);
	}
	close(theirs);
	return fd;
}

static const struct limit_row {
	const char *name;
	void (*work)(const struct limits *l);
} rows[] = {{"memcpy", do_memcpy}, {"round_trip", do_round_trip}, {"shm", do_shm}, {"loopback", do_loopback}};

int main(int argc, char **argv)
{
	struct limits l = {0};
	int n = argc == 2 ? atoi(argv[1]) : 0;

	if (n < 1)
		errx(2, "usage: limits ROUNDS");
	l.socket = start_server();
	frame_open(&l.frame);
	l.from = util_alloc(l.frame.len);
	memset(l.from, 1, l.frame.len);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		printf("%s\"%s\":[", i == 0 ? "{" : ",", rows[i].name);
		rows[i].work(&l);
		for (int k = 0; k < n; k++) {
			double before = now_us();

			rows[i].work(&l);
			printf("%s%.2f", k == 0 ? "" : ",", now_us() - before);
		}
		printf("]");
	}
	printf("}\n");
	close(l.socket);
	(void)wait(NULL);
	frame_close(&l.frame);
	free(l.from);
	return 0;
}
