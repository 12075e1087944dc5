/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SecurityGenerateAuthorization, as "Security Extension Specification" (X.Org, version 7.1) says, part 4. */
#include "session/base/x/xsecurity.h"

#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <xcb/xcbext.h>

#include "session/base/util.h"

#define PROTOCOL "MIT-MAGIC-COOKIE-1"
#define GENERATE_AUTHORIZATION 1

/* Of value_mask; their values follow in this order. */
#define VALUE_TIMEOUT (1U << 0)
#define VALUE_TRUST (1U << 1)

xcb_extension_t xsecurity_extension = {.name = "SECURITY"};

struct generate {
	uint8_t major, minor;
	uint16_t length;
	uint16_t protocol_len, data_len;
	uint32_t value_mask;
	char protocol[20]; /* padded to four */
	uint32_t timeout_s; /* 0: for ever */
	uint32_t trust;     /* 1: untrusted */
};

struct generated {
	uint8_t type, pad0;
	uint16_t sequence;
	uint32_t length;
	uint32_t id;
	uint16_t data_len;
	uint8_t pad1[18];
	uint8_t data[];
};

static unsigned int ask(xcb_connection_t *xcb)
{
	static const xcb_protocol_request_t request = {.count = 1, .ext = &xsecurity_extension, .opcode = GENERATE_AUTHORIZATION};
	struct generate body = {
		.protocol_len = strlen(PROTOCOL), .value_mask = VALUE_TIMEOUT | VALUE_TRUST, .protocol = PROTOCOL, .timeout_s = 0, .trust = 1};
	struct iovec parts[3] = {{NULL, 0}, {NULL, 0}, {&body, sizeof(body)}}; /* the first two are xcb's own */

	return xcb_send_request(xcb, XCB_REQUEST_CHECKED, parts + 2, &request);
}

int xsecurity_untrusted_cookie(struct xconn *x, uint8_t cookie[XSECURITY_COOKIE_LEN], struct err *e)
{
	auto_free struct generated *reply = NULL;

	if (x->lost)
		return err_set(e, ERR_GONE, NULL, "the display of this session is gone");
	if (xconn_reply(x, ask(x->xcb), (void **)&reply, e) < 0)
		return -1;
	if (reply->length < XSECURITY_COOKIE_LEN / 4 || reply->data_len != XSECURITY_COOKIE_LEN)
		return err_set(e, ERR_UNSUPPORTED, NULL, "the display made a cookie of %u bytes", reply->data_len);
	memcpy(cookie, reply->data, XSECURITY_COOKIE_LEN);
	return 0;
}

/* Family and form of the address: "Server Interpreted" addresses of the X protocol (X11R6.7, part 3), with a number in the place of a name. */
int xsecurity_trust_group(struct xconn *x, uint32_t gid, struct err *e)
{
	static const char TYPE[] = "localgroup";
	uint8_t address[sizeof(TYPE) + 16];
	auto_free xcb_list_hosts_reply_t *hosts = NULL;
	int n;

	if (x->lost)
		return err_set(e, ERR_GONE, NULL, "the display of this session is gone");
	memcpy(address, TYPE, sizeof(TYPE));
	n = snprintf((char *)address + sizeof(TYPE), sizeof(address) - sizeof(TYPE), "#%u", gid);
	xcb_change_hosts(x->xcb, XCB_HOST_MODE_INSERT, XCB_FAMILY_SERVER_INTERPRETED, (uint16_t)(sizeof(TYPE) + (size_t)n), address);
	if (xconn_reply(x, xcb_list_hosts(x->xcb).sequence, (void **)&hosts, e) < 0)
		return -1;
	for (xcb_host_iterator_t it = xcb_list_hosts_hosts_iterator(hosts); it.rem > 0; xcb_host_next(&it))
		if (it.data->family == XCB_FAMILY_SERVER_INTERPRETED && it.data->address_len == sizeof(TYPE) + (size_t)n &&
		    memcmp(xcb_host_address(it.data), address, it.data->address_len) == 0)
			return 0;
	return err_set(e, ERR_UNSUPPORTED, NULL, "the display takes no group for trusted");
}
