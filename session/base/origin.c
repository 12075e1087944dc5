/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading addresses as browsers write them. */
#include "session/base/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "session/base/util.h"

#define HOST_MAX 253
#define HOST_CHARS "abcdefghijklmnopqrstuvwxyz0123456789-._"
#define HOST6_CHARS "0123456789abcdef:."

static const struct {
	const char *name;
	int port;
} schemes[] = {{"http", 80}, {"https", 443}};

static const char *read_scheme(const char *url, size_t *scheme)
{
	for (*scheme = 0; *scheme < ARRAY_LEN(schemes); ++*scheme) {
		size_t len = strlen(schemes[*scheme].name);

		if (strncasecmp(url, schemes[*scheme].name, len) == 0 && strncmp(url + len, "://", 3) == 0)
			return url + len + 3;
	}
	return NULL;
}

/* The host at the start of an authority, in lower case with its brackets; how many bytes of it are that, 0: it is none. */
static size_t read_host(const char *text, size_t len, char out[HOST_MAX + 1])
{
	bool is_6 = len > 0 && text[0] == '[';
	const char *end = memchr(text, is_6 ? ']' : ':', len);
	size_t n = !end ? len : (size_t)(end - text) + is_6, inner = n - 2 * (size_t)is_6;

	if (n == 0 || n > HOST_MAX || (is_6 && (!end || n < 4)))
		return 0;
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 0x20 : text[i]);
	out[n] = '\0';
	return strspn(out + is_6, is_6 ? HOST6_CHARS : HOST_CHARS) == inner ? n : 0;
}

/* The port behind a host; -1 when it is none. */
static int read_port(const char *text, size_t len, int usual)
{
	char digits[8] = "";

	if (len == 0)
		return usual;
	if (text[0] != ':' || len > 6)
		return -1;
	memcpy(digits, text + 1, len - 1);
	if (strspn(digits, "0123456789") != len - 1)
		return -1;
	return len == 1 ? usual : atoi(digits) > 0 && atoi(digits) <= 65535 ? atoi(digits) : -1;
}

bool origin_of(const char *url, char out[ORIGIN_SIZE])
{
	size_t scheme, len, n;
	const char *at = read_scheme(url, &scheme), *user;
	char host[HOST_MAX + 1], port[16] = "";
	int number;

	out[0] = '\0';
	if (!at)
		return false;
	len = strcspn(at, "/?#\\");
	user = memrchr(at, '@', len);
	if (user) {
		len -= (size_t)(user + 1 - at);
		at = user + 1;
	}
	n = read_host(at, len, host);
	number = n > 0 ? read_port(at + n, len - n, schemes[scheme].port) : -1;
	if (number < 0)
		return false;
	if (number != schemes[scheme].port)
		(void)snprintf(port, sizeof(port), ":%d", number);
	(void)snprintf(out, ORIGIN_SIZE, "%s://%s%s", schemes[scheme].name, host, port);
	return true;
}

bool origin_is(const char *text)
{
	char origin[ORIGIN_SIZE];

	return origin_of(text, origin) && strcmp(origin, text) == 0;
}
