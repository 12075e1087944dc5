/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One question of rtnetlink(7). A datagram socket's source does not tell: further addresses of an interface have its first one as theirs. */
#include "sandbox/egress/route.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/base/util.h"

#define V6_BYTES 16
#define V4_BYTES 4
#define V4_AT 12
#define ANSWER_BYTES 4096

static const uint8_t MAPPED[V4_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

struct question {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr attribute;
	uint8_t address[V6_BYTES];
};

static bool is_v4(const uint8_t address[V6_BYTES])
{
	return memcmp(address, MAPPED, V4_AT) == 0;
}

static bool ask(int fd, const uint8_t address[V6_BYTES])
{
	size_t len = is_v4(address) ? V4_BYTES : V6_BYTES;
	struct question question = {
		.head = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 1},
		.route = {.rtm_family = len == V4_BYTES ? AF_INET : AF_INET6, .rtm_dst_len = (uint8_t)(8 * len)},
		.attribute = {.rta_len = (uint16_t)RTA_LENGTH(len), .rta_type = RTA_DST},
	};

	memcpy(question.address, address + V6_BYTES - len, len);
	question.head.nlmsg_len = (uint32_t)(offsetof(struct question, address) + len);
	return send(fd, &question, question.head.nlmsg_len, 0) == (ssize_t)question.head.nlmsg_len;
}

static void take_gateway(const struct rtmsg *route, const char *attributes, size_t len, uint8_t *gateway)
{
	size_t bytes = route->rtm_family == AF_INET ? V4_BYTES : V6_BYTES;
	struct rtattr attribute;

	memset(gateway, 0, V6_BYTES);
	for (size_t at = 0; at + sizeof(attribute) <= len; at += RTA_ALIGN(attribute.rta_len)) {
		memcpy(&attribute, attributes + at, sizeof(attribute));
		if (attribute.rta_len < sizeof(attribute) || attribute.rta_len > len - at)
			return;
		if (attribute.rta_type != RTA_GATEWAY || attribute.rta_len != RTA_LENGTH(bytes))
			continue;
		if (bytes == V4_BYTES)
			memcpy(gateway, MAPPED, V4_AT);
		memcpy(gateway + V6_BYTES - bytes, attributes + at + RTA_LENGTH(0), bytes);
	}
}

static enum route_kind kind_of(unsigned char type)
{
	switch (type) {
	case RTN_UNICAST:
		return ROUTE_OUT;
	case RTN_LOCAL:
		return ROUTE_OWN;
	case RTN_BROADCAST:
	case RTN_ANYCAST:
	case RTN_MULTICAST:
		return ROUTE_MANY;
	default:
		return ROUTE_NONE;
	}
}

enum route_kind route_to(const uint8_t address[16], uint8_t *gateway)
{
	auto_fd fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
		char attributes[ANSWER_BYTES];
	} answer;
	const size_t heads = offsetof(__typeof__(answer), attributes);
	ssize_t len;

	/* The kernel answers while it is asked. */
	if (fd < 0 || !ask(fd, address) || (len = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT)) < (ssize_t)sizeof(answer.head))
		return ROUTE_UNKNOWN;
	if (answer.head.nlmsg_type == NLMSG_ERROR)
		return ROUTE_NONE;
	if (answer.head.nlmsg_type != RTM_NEWROUTE || answer.head.nlmsg_len < heads || answer.head.nlmsg_len > (size_t)len)
		return ROUTE_UNKNOWN;
	if (gateway)
		take_gateway(&answer.route, answer.attributes, answer.head.nlmsg_len - heads, gateway);
	return kind_of(answer.route.rtm_type);
}
