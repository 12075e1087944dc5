/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SecurityGenerateAuthorization, as "Security Extension Specification" (X.Org, version 7.1) says, part 4. */
#include "session/base/xsecurity.h"

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
