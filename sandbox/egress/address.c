/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of addresses that are nobody's on the Internet (the registries of special purpose addresses, RFC 6890, and what clouds add). */
#include "sandbox/egress/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/egress/route.h"
#include "session/base/util.h"

#define V6_BYTES 16
#define V4_AT 12 /* of a mapped address */

static const uint8_t MAPPED[V4_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

/* The first row that fits decides: one without words lets it through. */
static const struct row {
	const char *prefix, *is;
} ROWS[] = {
	{"0.0.0.0/8", "an address of this network"},
	{"10.0.0.0/8", "a private address"},
	{"100.64.0.0/10", "an address of a provider's own network"},
	{"127.0.0.0/8", "a loopback address"},
	{"168.63.129.16", "a cloud's metadata service"},
	{"169.254.0.0/16", "a link-local address"},
	{"172.16.0.0/12", "a private address"},
	{"192.0.0.0/24", "a reserved address"},
	{"192.0.2.0/24", "an address of documentation"},
	{"192.88.99.0/24", "a reserved address"},
	{"192.168.0.0/16", "a private address"},
	{"198.18.0.0/15", "an address of benchmarks"},
	{"198.51.100.0/24", "an address of documentation"},
	{"203.0.113.0/24", "an address of documentation"},
	{"224.0.0.0/4", "a multicast address"},
	{"240.0.0.0/4", "a reserved address"},
	{"0.0.0.0/0", NULL},
	{"2001::/23", "a reserved address"},
	{"2001:db8::/32", "an address of documentation"},
	{"3fff::/20", "an address of documentation"},
	{"2000::/3", NULL},
	{"::1", "a loopback address"},
	{"fc00::/7", "a private address"},
	{"fe80::/10", "a link-local address"},
	{"ff00::/8", "a multicast address"},
	{"::/0", "a reserved address"},
};

/* Addresses of IPv6 that lead to one of IPv4, which lies at this byte of them. */
static const struct {
	const char *prefix;
	size_t at;
} EMBEDDING[] = {
	{"64:ff9b::/96", 12}, /* NAT64 */
	{"2002::/16", 2},     /* 6to4 */
	{"::/96", 12},        /* compatible; :: and ::1 among them are of 0.0.0.0/8 then */
};

static void map_v4(const void *v4, uint8_t out[V6_BYTES])
{
	memcpy(out, MAPPED, V4_AT);
	memcpy(out + V4_AT, v4, V6_BYTES - V4_AT);
}

static bool has_prefix(const uint8_t address[V6_BYTES], const struct address_prefix *prefix)
{
	unsigned whole = prefix->bits / 8, rest = prefix->bits % 8;

	return memcmp(address, prefix->bytes, whole) == 0 &&
	       (rest == 0 || ((address[whole] ^ prefix->bytes[whole]) & (0xFF << (8 - rest))) == 0);
}

static bool has_bits_behind(const struct address_prefix *prefix)
{
	for (unsigned bit = prefix->bits; bit < 8 * V6_BYTES; bit++)
		if (prefix->bytes[bit / 8] & (0x80 >> bit % 8))
			return true;
	return false;
}

bool address_read_prefix(const char *text, struct address_prefix *out)
{
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	struct address_prefix prefix = {.bits = 8 * V6_BYTES};
	unsigned most = 8 * V6_BYTES, bits;
	char *end;
	uint8_t v4[4];

	if (len >= sizeof(address))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(AF_INET, address, v4) == 1) {
		map_v4(v4, prefix.bytes);
		most = 32;
	} else if (inet_pton(AF_INET6, address, prefix.bytes) != 1) {
		return false;
	}
	if (slash) {
		if (slash[1] < '0' || slash[1] > '9')
			return false;
		bits = (unsigned)strtoul(slash + 1, &end, 10);
		if (*end || bits > most)
			return false;
		prefix.bits = 8 * V6_BYTES - most + bits;
	}
	if (has_bits_behind(&prefix))
		return false;
	*out = prefix;
	return true;
}

static bool in_row(const uint8_t address[V6_BYTES], const char *text)
{
	struct address_prefix prefix;

	if (!address_read_prefix(text, &prefix))
		DIE("the row %s is no prefix", text);
	return has_prefix(address, &prefix);
}

static bool bytes_of(const struct sockaddr *address, uint8_t out[V6_BYTES])
{
	if (address->sa_family == AF_INET)
		map_v4(&((const struct sockaddr_in *)(const void *)address)->sin_addr, out);
	else if (address->sa_family == AF_INET6)
		memcpy(out, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, V6_BYTES);
	else
		return false;
	return true;
}

/* Of loopback, ::1 comes as itself: it is judged before what embeds. */
static const char *judge(const uint8_t address[V6_BYTES])
{
	uint8_t v4[V6_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(EMBEDDING) && !in_row(address, "::1"); i++)
		if (in_row(address, EMBEDDING[i].prefix)) {
			map_v4(address + EMBEDDING[i].at, v4);
			return judge(v4);
		}
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		if (in_row(address, ROWS[i].prefix))
			return ROWS[i].is;
	return "no address";
}

static bool is_allowed(const uint8_t address[V6_BYTES], const struct address_list *allowed)
{
	for (size_t i = 0; i < allowed->n; i++)
		if (has_prefix(address, &allowed->list[i]))
			return true;
	return false;
}

/* What this host is to the address; NULL: nothing. Of what embeds another address, that one counts, too. */
static const char *judge_route(const uint8_t address[V6_BYTES])
{
	static const uint8_t far_v4[4] = {192, 0, 2, 1}, far_v6[V6_BYTES] = {0x20, 0x01, 0x0D, 0xB8, [15] = 1};
	uint8_t inner[V6_BYTES], far_away[V6_BYTES], gateway[V6_BYTES];
	bool is_v4 = memcmp(address, MAPPED, V4_AT) == 0;

	for (size_t i = 0; i < ARRAY_LEN(EMBEDDING) && !is_v4; i++)
		if (in_row(address, EMBEDDING[i].prefix)) {
			map_v4(address + EMBEDDING[i].at, inner);
			return judge_route(inner);
		}
	switch (route_to(address, NULL)) {
	case ROUTE_OWN:
		return "an address of this host";
	case ROUTE_MANY:
		return "an address of more than one host";
	case ROUTE_UNKNOWN:
		return "an address that this host says nothing of";
	case ROUTE_NONE:
		return NULL;
	case ROUTE_OUT:
		break;
	}
	/* Through whom would something far away be reached? */
	memcpy(far_away, far_v6, V6_BYTES);
	if (is_v4)
		map_v4(far_v4, far_away);
	return route_to(far_away, gateway) == ROUTE_OUT && memcmp(gateway, address, V6_BYTES) == 0 ? "the gateway of this host's network" : NULL;
}

const char *address_refusal(const struct sockaddr *address, socklen_t len, const struct address_list *allowed)
{
	uint8_t bytes[V6_BYTES];
	const char *is;

	if (len > sizeof(struct sockaddr_storage) || !bytes_of(address, bytes))
		return "no address of the Internet";
	if (is_allowed(bytes, allowed))
		return NULL;
	is = judge(bytes);
	return is ? is : judge_route(bytes);
}

bool address_is_loopback(const struct sockaddr *address)
{
	uint8_t bytes[V6_BYTES];

	return bytes_of(address, bytes) && (in_row(bytes, "127.0.0.0/8") || in_row(bytes, "::1"));
}
