/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host and Origin. */
#include "session/front/hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "session/base/util.h"

#define SHOWN_MAX 80

/* A Host field in two; no port is "". False when it cannot be one. */
static bool split(const char *value, struct host *out)
{
	const char *end = value[0] == '[' ? strchr(value, ']') : NULL;
	const char *colon = strchr(end ? end : value, ':');
	size_t len = colon ? (size_t)(colon - value) : strlen(value);

	if (len == 0 || len >= sizeof(out->address) || (end && value + len != end + 1))
		return false;
	if (colon && (colon[1] == '\0' || strlen(colon + 1) >= sizeof(out->port) || strspn(colon + 1, "0123456789") != strlen(colon + 1)))
		return false;
	*out = (struct host){.wildcard = false};
	memcpy(out->address, value, len);
	(void)snprintf(out->port, sizeof(out->port), "%s", colon ? colon + 1 : "");
	return true;
}

/* The name of a web page can be made to point at this server, a numeric address cannot. */
static bool is_numeric(const char *address)
{
	unsigned char binary[sizeof(struct in6_addr)];
	char inner[64];
	size_t len = strlen(address);

	if (address[0] != '[')
		return inet_pton(AF_INET, address, binary) == 1;
	if (len < 3 || address[len - 1] != ']' || len - 2 >= sizeof(inner))
		return false;
	memcpy(inner, address + 1, len - 2);
	inner[len - 2] = '\0';
	return inet_pton(AF_INET6, inner, binary) == 1;
}

bool hosts_is_name(const char *address)
{
	if (is_numeric(address))
		return true;
	if (!*address || strlen(address) >= sizeof(((struct host *)NULL)->address))
		return false;
	for (const char *at = address; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("-_.", *at))
			return false;
	return address[0] != '.' && address[0] != '-' && !strstr(address, "..");
}

static bool is_loopback(const char *address)
{
	static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; i < ARRAY_LEN(local); i++)
		if (strcasecmp(address, local[i]) == 0)
			return true;
	return false;
}

int hosts_listen(struct hosts *hosts, const char *url, struct err *e)
{
	bool secure = strncmp(url, "https://", 8) == 0;
	struct host place;

	if (strncmp(url, "unix:", 5) == 0)
		return 0;
	if ((!secure && strncmp(url, "http://", 7) != 0) || hosts->n_places == LIMIT_LISTENERS || !split(url + (secure ? 8 : 7), &place) ||
	    !place.port[0])
		return err_set(e, ERR_INTERNAL, NULL, "the server's own address is malformed");
	place.wildcard = strcmp(place.address, "0.0.0.0") == 0 || strcmp(place.address, "[::]") == 0;
	hosts->secure = secure;
	hosts->places[hosts->n_places++] = place;
	return 0;
}

int hosts_add(struct hosts *hosts, const char *name, struct err *e)
{
	struct host host;
	char shown[SHOWN_MAX];

	if (!split(name, &host) || !hosts_is_name(host.address) || (host.port[0] && (atoi(host.port) < 1 || atoi(host.port) > 65535)))
		return err_set(e, ERR_BAD_FIELD, NULL, "the host is %s; the form is NAME or NAME:PORT",
		               err_quote(shown, sizeof(shown), name, strlen(name)));
	if (hosts->n_names == ARRAY_LEN(hosts->names))
		return err_set(e, ERR_LIMIT, NULL, "there are more than %zu names of hosts", ARRAY_LEN(hosts->names));
	hosts->names[hosts->n_names++] = host;
	return 0;
}

/* The port of a Host field, where the client left it out too. */
static const char *port_of(const struct hosts *hosts, const struct host *host)
{
	return host->port[0] ? host->port : hosts->secure ? "443" : "80";
}

static bool is_added(const struct hosts *hosts, const struct host *host)
{
	for (size_t i = 0; i < hosts->n_names; i++) {
		const struct host *name = &hosts->names[i];
		bool may_lack_port = strcmp(name->port, "443") == 0 || strcmp(name->port, "80") == 0;

		if (strcasecmp(name->address, host->address) != 0)
			continue;
		if (!name->port[0] || strcmp(name->port, host->port) == 0 || (may_lack_port && !host->port[0]))
			return true;
	}
	return false;
}

static bool is_place(const struct hosts *hosts, const struct host *host)
{
	for (size_t i = 0; i < hosts->n_places; i++) {
		const struct host *place = &hosts->places[i];

		if (strcmp(place->port, port_of(hosts, host)) == 0 &&
		    (is_loopback(host->address) || strcasecmp(place->address, host->address) == 0 ||
		     (place->wildcard && is_numeric(host->address))))
			return true;
	}
	return false;
}

bool hosts_has(const struct hosts *hosts, const char *value, bool local)
{
	struct host host;

	return split(value, &host) && ((local ? is_loopback(host.address) : is_place(hosts, &host)) || is_added(hosts, &host));
}

bool hosts_has_origin(const struct hosts *hosts, const char *origin, const char *value, bool local)
{
	bool secure = strncmp(origin, "https://", 8) == 0;
	const char *rest = origin + (secure ? 8 : 7);
	struct host host;

	if ((!secure && strncmp(origin, "http://", 7) != 0) || !split(rest, &host))
		return false;
	if (local)
		return strcasecmp(rest, value) == 0;
	return (secure == hosts->secure && is_place(hosts, &host)) || is_added(hosts, &host);
}

char *hosts_describe(const struct hosts *hosts, bool local, char *out, size_t size)
{
	const struct host *place = &hosts->places[0];

	if (local || hosts->n_places == 0)
		(void)snprintf(out, size, "localhost");
	else
		(void)snprintf(out, size, "%s:%s and to localhost:%s", place->address, place->port, place->port);
	return out;
}
