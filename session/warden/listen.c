/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The listening socket, and who holds a port that is taken. */
#include "session/warden/listen.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/base/util.h"

#define BACKLOG 1024
#define TCP_LISTEN 10 /* state 0A in /proc/net/tcp */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool parse_port(const char *text, uint16_t *port)
{
	char *end = NULL;
	long value;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	value = strtol(text, &end, 10);
	*port = (uint16_t)value;
	return value <= 65535;
}

static int parse_address(const char *where, union address *address, socklen_t *len, struct err *e)
{
	const char *colon = strrchr(where, ':');
	char host[64], shown[80];
	uint16_t port;

	err_quote(shown, sizeof(shown), where, strlen(where));
	if (!colon || (size_t)(colon - where) >= sizeof(host) || !parse_port(colon + 1, &port))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--listen is %s; the form is ADDR:PORT", shown);
	(void)snprintf(host, sizeof(host), "%.*s", (int)(colon - where), where);
	memset(address, 0, sizeof(*address));
	if (strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons(port);
		*len = sizeof(address->v4);
		if (ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET)
			return 0;
	} else {
		size_t n = strlen(host);

		if (n < 2 || host[0] != '[' || host[n - 1] != ']')
			return err_set(e, ERR_BAD_REQUEST, NULL, "--listen is %s; the address is an IPv4 one or [IPv6]", shown);
		host[n - 1] = '\0';
		if (inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) != 1)
			return err_set(e, ERR_BAD_REQUEST, NULL, "--listen is %s; the address is an IPv4 one or [IPv6]", shown);
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = htons(port);
		*len = sizeof(address->v6);
		if (IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr))
			return 0;
	}
	return err_set(e, ERR_UNSUPPORTED, NULL, "--listen is %s; only loopback addresses, since this version has no TLS", shown);
}

/* The inode of a socket that listens on the port, from the tables of the kernel; 0 if there is none. */
static unsigned long listening_inode(const char *table, unsigned port)
{
	FILE *file = fopen(table, "re");
	unsigned long found = 0;
	char line[512];

	while (file && !found && fgets(line, sizeof(line), file)) {
		unsigned local, state;
		unsigned long inode;

		if (sscanf(line, "%*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %*u %*u %lu", &local, &state, &inode) == 3 && local == port &&
		    state == TCP_LISTEN)
			found = inode;
	}
	if (file)
		(void)fclose(file);
	return found;
}

static bool has_socket(int proc, const char *pid, unsigned long inode)
{
	char path[300], wanted[64], to[64];
	DIR *fds;
	bool found = false;

	(void)snprintf(path, sizeof(path), "%s/fd", pid);
	(void)snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	fds = fdopendir(openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (struct dirent *entry = fds ? readdir(fds) : NULL; entry && !found; entry = readdir(fds)) {
		ssize_t len = readlinkat(dirfd(fds), entry->d_name, to, sizeof(to) - 1);

		if (len > 0) {
			to[len] = '\0';
			found = strcmp(to, wanted) == 0;
		}
	}
	if (fds)
		(void)closedir(fds);
	return found;
}

/* Writes "pid 12 (nginx)" to out, or "another process". */
static void name_holder(unsigned port, char *out, size_t size)
{
	unsigned long inode = listening_inode("/proc/net/tcp", port);
	DIR *proc = opendir("/proc");

	(void)snprintf(out, size, "another process");
	if (!inode)
		inode = listening_inode("/proc/net/tcp6", port);
	for (struct dirent *entry = proc && inode ? readdir(proc) : NULL; entry; entry = readdir(proc)) {
		char path[300], shown[80];
		auto_free char *name = NULL;
		auto_fd fd = -1;

		if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name) || !has_socket(dirfd(proc), entry->d_name, inode))
			continue;
		(void)snprintf(path, sizeof(path), "%s/comm", entry->d_name);
		fd = openat(dirfd(proc), path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || util_read_file(fd, 4096, &name) < 0)
			break;
		name[strcspn(name, "\n")] = '\0';
		(void)snprintf(out, size, "pid %s (%s)", entry->d_name, err_quote(shown, sizeof(shown), name, strlen(name)));
		break;
	}
	if (proc)
		(void)closedir(proc);
}

static void write_url(int fd, char *url, size_t size)
{
	union address address;
	socklen_t len = sizeof(address);
	char host[64] = "";

	if (getsockname(fd, &address.any, &len) < 0)
		DIE("a socket without a name: %s", strerror(errno));
	if (address.any.sa_family == AF_INET) {
		(void)inet_ntop(AF_INET, &address.v4.sin_addr, host, sizeof(host));
		(void)snprintf(url, size, "http://%s:%u", host, ntohs(address.v4.sin_port));
	} else {
		(void)inet_ntop(AF_INET6, &address.v6.sin6_addr, host, sizeof(host));
		(void)snprintf(url, size, "http://[%s]:%u", host, ntohs(address.v6.sin6_port));
	}
}

int listen_open(const char *where, int *out, char *url, size_t url_size, struct err *e)
{
	union address address;
	socklen_t len = 0;
	auto_fd fd = -1;
	int on = 1;

	if (parse_address(where, &address, &len, e) < 0)
		return -1;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return err_sys(e, "a socket");
	if (bind(fd, &address.any, len) < 0 || listen(fd, BACKLOG) < 0) {
		unsigned port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
		char holder[400];

		if (errno != EADDRINUSE)
			return err_sys(e, "listening on %s", where);
		name_holder(port, holder, sizeof(holder));
		return err_set(e, ERR_CONFLICT, NULL, "port %u is taken by %s; end that or choose another with --listen", port, holder);
	}
	write_url(fd, url, url_size);
	*out = steal_fd(&fd);
	return 0;
}
