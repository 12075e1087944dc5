/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reply of our own on a connection that libmicrohttpd does not answer: it still waits for the rest, or never sees it. */
#include "session/front/refusal.h"

#include <string.h>
#include <sys/socket.h>

#include "session/base/problem.h"
#include "session/base/util.h"

void refusal_send(int fd, const struct err *e)
{
	const struct err_info *info = err_info(e->code);
	auto_free char *body = problem_text(e, NULL);
	auto_free char *text = util_printf("HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: " PROBLEM_MEDIA_TYPE "\r\n"
	                                   "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nContent-Length: %zu\r\n\r\n%s",
	                                   info->status, info->title, strlen(body), body);

	(void)send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
}
