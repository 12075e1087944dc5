/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One datagram. */
#include "session/warden/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "session/base/util.h"

int notify_open(int *out, struct err *e)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = name ? strlen(name) : 0;
	auto_fd fd = -1;

	*out = -1;
	if (len == 0)
		return 0;
	if ((*name != '/' && *name != '@') || len >= sizeof(address.sun_path))
		return err_set(e, ERR_BAD_FIELD, NULL, "NOTIFY_SOCKET is no path and no abstract name of less than %zu bytes", sizeof(address.sun_path));
	memcpy(address.sun_path, name, len);
	if (*name == '@')
		address.sun_path[0] = '\0';
	(void)unsetenv("NOTIFY_SOCKET");
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		return err_sys(e, "the service manager's socket");
	*out = steal_fd(&fd);
	return 0;
}

int notify_ready(int fd, struct err *e)
{
	static const char text[] = "READY=1";

	if (fd >= 0 && send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL) < 0)
		return err_sys(e, "telling the service manager");
	return 0;
}
