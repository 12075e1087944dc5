/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The listening socket, and who holds a port that is taken. */
#include "session/warden/listen.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
		return err_set(e, ERR_BAD_REQUEST, NULL, "--listen is %s; the form is ADDR:PORT or unix:PATH", shown);
	(void)snprintf(host, sizeof(host), "%.*s", (int)(colon - where), where);
	memset(address, 0, sizeof(*address));
	if (strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons(port);
		*len = sizeof(address->v4);
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
	}
	return 0;
}

static bool is_loopback(const union address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
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

static void write_url(int fd, bool tls, char *url, size_t size)
{
	const char *scheme = tls ? "https" : "http";
	union address address;
	socklen_t len = sizeof(address);
	char host[64] = "";

	if (getsockname(fd, &address.any, &len) < 0)
		DIE("a socket without a name: %s", strerror(errno));
	if (address.any.sa_family == AF_INET) {
		(void)inet_ntop(AF_INET, &address.v4.sin_addr, host, sizeof(host));
		(void)snprintf(url, size, "%s://%s:%u", scheme, host, ntohs(address.v4.sin_port));
	} else {
		(void)inet_ntop(AF_INET6, &address.v6.sin6_addr, host, sizeof(host));
		(void)snprintf(url, size, "%s://[%s]:%u", scheme, host, ntohs(address.v6.sin6_port));
	}
}

static int open_tcp(const char *where, const struct listen_way *way, struct listener *out, struct err *e)
{
	union address address;
	socklen_t len = 0;
	auto_fd fd = -1;
	char shown[80];
	int on = 1;

	if (parse_address(where, &address, &len, e) < 0)
		return -1;
	if (!is_loopback(&address) && !way->tls && !way->insecure)
		return err_set(e, ERR_UNSUPPORTED, NULL,
		               "--listen is %s, which other machines can reach: it needs TLS. Add --tls-cert FILE --tls-key FILE, or listen on "
		               "127.0.0.1 or unix:PATH. (--insecure-plain-http serves it all the same: whoever is on the way reads the tokens.)",
		               err_quote(shown, sizeof(shown), where, strlen(where)));
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
	write_url(fd, way->tls, out->url, sizeof(out->url));
	out->fd = steal_fd(&fd);
	return 0;
}

/* --- Unix sockets --- */

/* Removes a socket that was left behind by a server that is gone. */
static int remove_stale(const struct sockaddr_un *address, struct err *e)
{
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "%s", address->sun_path);
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, ERR_CONFLICT, NULL, "%s is there and is no socket; remove it or choose another path with --listen",
		               address->sun_path);
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno != ECONNREFUSED)
		return err_set(e, ERR_CONFLICT, NULL, "somebody listens on %s; end that or choose another path with --listen", address->sun_path);
	return unlink(address->sun_path) < 0 ? err_sys(e, "removing %s", address->sun_path) : 0;
}

/* The user behind sudo may connect, as that user may read the token. */
static int give_to_sudo_user(const char *path, struct err *e)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (!uid || !gid || strspn(uid, "0123456789") != strlen(uid) || strspn(gid, "0123456789") != strlen(gid))
		return 0;
	if (fchownat(AT_FDCWD, path, (uid_t)strtoul(uid, NULL, 10), (gid_t)strtoul(gid, NULL, 10), AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "%s", path);
	return 0;
}

static int open_unix(const char *path, struct listener *out, struct err *e)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	auto_fd fd = -1;
	char shown[80];
	struct stat st;

	if (path[0] != '/' || strlen(path) >= sizeof(address.sun_path) || strpbrk(path, " \t\r\n"))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--listen is unix:%s; the form is unix:PATH, an absolute path without blanks of at most %zu bytes",
		               err_quote(shown, sizeof(shown), path, strlen(path)), sizeof(address.sun_path) - 1);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (remove_stale(&address, e) < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Its mode is that of the file from the first moment on. */
	if (fd < 0 || fchmod(fd, 0600) < 0)
		return err_sys(e, "a socket");
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || lstat(path, &st) < 0 || listen(fd, BACKLOG) < 0)
		return err_sys(e, "listening on %s", path);
	(void)snprintf(out->url, sizeof(out->url), "unix:%s", path);
	out->ino = st.st_ino;
	out->made = st.st_mtim;
	out->fd = steal_fd(&fd);
	return give_to_sudo_user(path, e);
}

int listen_open(const char *where, const struct listen_way *way, struct listener *listener, struct err *e)
{
	return strncmp(where, "unix:", 5) == 0 ? open_unix(where + 5, listener, e) : open_tcp(where, way, listener, e);
}

void listen_close(struct listener *listener)
{
	const char *path = listener->url + strlen("unix:");
	struct stat st;

	if (listener->ino && lstat(path, &st) == 0 && st.st_ino == listener->ino && st.st_mtim.tv_sec == listener->made.tv_sec &&
	    st.st_mtim.tv_nsec == listener->made.tv_nsec)
		(void)unlink(path);
	util_close_fd(&listener->fd);
	listener->ino = 0;
}
