/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Families of sockets, and ways to other hosts, to this one and to other sessions. */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "session/base/util.h"
#include "tests/escape/battery.h"

#define P(pointer) ((long)(uintptr_t)(pointer))
#define HIGH (1L << 32)
#define IPPROTO_MPTCP_ 262
#define LAST_FAMILY 64

#define SOCKET(text, family, type, protocol) CALL("socket " text, FILTER, SYS_socket, ENOSYS, (family), (type), (protocol))

/* All families that have no row of their own. */
static int try_other_families(const struct probe *probe)
{
	(void)probe;
	for (int family = 0; family < LAST_FAMILY; family++) {
		if (family == AF_UNIX || family == AF_INET || family == AF_INET6)
			continue;
		for (int type = 1; type <= 10; type++)
			if (socket(family, type, 0) >= 0)
				return DONE;
		if (errno != ENOSYS)
			return errno;
	}
	return ENOSYS;
}

static int connect_to(const char *address, unsigned port, int type)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	bool is_v6 = inet_pton(AF_INET, address, &v4.sin_addr) != 1;
	auto_fd fd = socket(is_v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || (is_v6 && inet_pton(AF_INET6, address, &v6.sin6_addr) != 1))
		return errno;
	return outcome_of(is_v6 ? connect(fd, (const struct sockaddr *)&v6, sizeof(v6)) : connect(fd, (const struct sockaddr *)&v4, sizeof(v4)));
}

static int try_tcp(const struct probe *probe)
{
	return connect_to(probe->path, (unsigned)probe->args[0], SOCK_STREAM);
}

static int try_udp(const struct probe *probe)
{
	return connect_to(probe->path, (unsigned)probe->args[0], SOCK_DGRAM);
}

/* In a network of its own, root has not even a loopback that is up. */
#define TCP(text, address, port, app, root) \
	{.name = (text), .layer = NO_NETWORK, .try = try_tcp, .args = {(port)}, .path = (address), .expect = {(app), SAME, (root)}}
#define UDP(text, address, port) \
	{.name = (text), .layer = NO_NETWORK, .try = try_udp, .args = {(port)}, .path = (address), .expect = {ENETUNREACH}}

/* A path that begins with "@" is an abstract name. */
static int try_unix(const struct probe *probe)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	size_t len = strlen(probe->path);
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	memcpy(name.sun_path, probe->path, len);
	if (name.sun_path[0] == '@')
		name.sun_path[0] = '\0';
	return outcome_of(connect(fd, (const struct sockaddr *)&name, (socklen_t)(sizeof(name.sun_family) + len)));
}

#define UNIX(where, wall, outcome) {.name = "connect " where, .layer = (wall), .try = try_unix, .path = (where), .expect = {(outcome)}}

static int try_low_port(const struct probe *probe)
{
	const struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(80)};
	auto_fd fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)probe;
	return fd < 0 ? errno : outcome_of(bind(fd, (const struct sockaddr *)&name, sizeof(name)));
}

/* Of all interfaces there is lo, and nothing behind it. */
static int try_interfaces(const struct probe *probe)
{
	struct if_nameindex *names = if_nameindex(), *at = names;
	auto_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq row = {.ifr_ifindex = 0};
	int outcome = HELD;

	(void)probe;
	/* It asks by netlink, which there is not; by number then. */
	if (names) {
		for (; at->if_name; at++)
			outcome = strcmp(at->if_name, "lo") == 0 ? outcome : DONE;
		if_freenameindex(names);
	}
	for (int i = 1; i < 64; i++) {
		row.ifr_ifindex = i;
		if (ioctl(fd, SIOCGIFNAME, &row) == 0 && strcmp(row.ifr_name, "lo") != 0)
			return DONE;
	}
	return outcome;
}

static int try_change_interface(const struct probe *probe)
{
	auto_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};

	(void)probe;
	return fd < 0 ? errno : outcome_of(ioctl(fd, SIOCSIFFLAGS, &lo));
}

static const struct probe probes[] = {
	SOCKET("vsock", AF_VSOCK, SOCK_STREAM, 0), SOCKET("vsock, high bits", HIGH | AF_VSOCK, SOCK_STREAM, 0),
	SOCKET("packet", AF_PACKET, SOCK_RAW, 0), SOCKET("packet datagrams", AF_PACKET, SOCK_DGRAM, 0), SOCKET("alg", AF_ALG, SOCK_SEQPACKET, 0),
	SOCKET("netlink route", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), SOCKET("netlink netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER),
	SOCKET("netlink audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT), SOCKET("netlink uevent", AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT),
	SOCKET("netlink xfrm", AF_NETLINK, SOCK_RAW, NETLINK_XFRM), SOCKET("netlink generic", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC),
	SOCKET("netlink, high bits", HIGH | AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), SOCKET("key", AF_KEY, SOCK_RAW, 2),
	SOCKET("bluetooth", AF_BLUETOOTH, SOCK_RAW, 1), SOCKET("tipc", AF_TIPC, SOCK_STREAM, 0), SOCKET("smc", AF_SMC, SOCK_STREAM, 0),
	SOCKET("xdp", AF_XDP, SOCK_RAW, 0), SOCKET("can", AF_CAN, SOCK_RAW, 1), SOCKET("rds", AF_RDS, SOCK_SEQPACKET, 0),
	SOCKET("kcm", AF_KCM, SOCK_DGRAM, 0), SOCKET("nfc", AF_NFC, SOCK_SEQPACKET, 1), SOCKET("ax25", AF_AX25, SOCK_SEQPACKET, 0),
	SOCKET("x25", AF_X25, SOCK_SEQPACKET, 0), SOCKET("appletalk", AF_APPLETALK, SOCK_DGRAM, 0), SOCKET("rxrpc", AF_RXRPC, SOCK_DGRAM, AF_INET),
	SOCKET("qipcrtr", AF_QIPCRTR, SOCK_DGRAM, 0), SOCKET("llc", AF_LLC, SOCK_STREAM, 0),
	SOCKET("raw icmp", AF_INET, SOCK_RAW, IPPROTO_ICMP), SOCKET("raw, all", AF_INET, SOCK_RAW, IPPROTO_RAW),
	SOCKET("raw icmp 6", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6), SOCKET("ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP),
	SOCKET("mptcp", AF_INET, SOCK_STREAM, IPPROTO_MPTCP_), SOCKET("sctp", AF_INET, SOCK_STREAM, IPPROTO_SCTP),
	SOCKET("sctp, messages", AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP), SOCKET("udplite", AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE),
	SOCKET("dccp", AF_INET, SOCK_DCCP, IPPROTO_DCCP),
	TRY("sockets of all other families", FILTER, try_other_families, ENOSYS),
	CALL("socketpair inet", FILTER, SYS_socketpair, ENOSYS, AF_INET, SOCK_STREAM, 0, 0),
	CALL("replace netfilter's tables", FILTER, SYS_setsockopt, EPERM, -1, IPPROTO_IP, 64, 0, 0),
	CALL("replace netfilter's tables, 6", FILTER, SYS_setsockopt, EPERM, -1, IPPROTO_IPV6, 64, 0, 0),
	CALL("replace netfilter's tables, high bits", FILTER, SYS_setsockopt, EPERM, -1, HIGH | IPPROTO_IP, HIGH | 64, 0, 0),
	TCP("the host's ssh", "127.0.0.1", 22, ECONNREFUSED, ENETUNREACH),
	TCP("the server's port", "127.0.0.1", 7070, ECONNREFUSED, ENETUNREACH),
	TCP("X by TCP", "127.0.0.1", 6000, ECONNREFUSED, ENETUNREACH),
	TCP("X of another session by TCP", "127.0.0.1", 6001, ECONNREFUSED, ENETUNREACH),
	TCP("the host's ssh, 6", "::1", 22, ECONNREFUSED, EADDRNOTAVAIL),
	TCP("a private address", "10.0.0.1", 80, ENETUNREACH, ENETUNREACH), TCP("a home address", "192.168.1.1", 80, ENETUNREACH, ENETUNREACH),
	TCP("metadata of a cloud", "169.254.169.254", 80, ENETUNREACH, ENETUNREACH), TCP("the internet", "192.0.2.1", 443, ENETUNREACH, ENETUNREACH),
	TCP("the internet, 6", "2001:db8::1", 443, ENETUNREACH, EADDRNOTAVAIL),
	UDP("names by UDP", "192.0.2.53", 53), UDP("everybody by UDP", "224.0.0.251", 5353), UDP("QUIC", "192.0.2.1", 443),
	UNIX("@/tmp/.X11-unix/X0", NO_NETWORK, ECONNREFUSED), UNIX("@/tmp/.X11-unix/X1", NO_NETWORK, ECONNREFUSED),
	UNIX("@/tmp/dbus-session", NO_NETWORK, ECONNREFUSED), UNIX("/tmp/.X11-unix/X1", OWN_ROOT, ENOENT),
	UNIX("/run/docker.sock", OWN_ROOT, ENOENT), UNIX("/var/run/docker.sock", OWN_ROOT, ENOENT), UNIX("/run/containerd/containerd.sock", OWN_ROOT, ENOENT),
	UNIX("/run/dbus/system_bus_socket", OWN_ROOT, ENOENT), UNIX("/run/systemd/private", OWN_ROOT, ENOENT),
	UNIX("/run/systemd/journal/socket", OWN_ROOT, ENOENT), UNIX("/dev/log", OWN_ROOT, ENOENT), UNIX("/run/glovebox/stage.sock", OWN_ROOT, ENOENT),
	TRY_BY("listen on a low port", NO_CAPABILITY, try_low_port, EACCES, EACCES, DONE),
	TRY("interfaces beside lo", NO_NETWORK, try_interfaces, HELD),
	TRY_BY("change an interface", NO_CAPABILITY, try_change_interface, EPERM, EPERM, DONE),
};

const struct probe_table probes_sockets = {probes, ARRAY_LEN(probes)};
