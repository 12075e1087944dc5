/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a connection keeps of what was sent. */
#include <sys/uio.h>
#include <xcb/xcbext.h>

#include "session/base/util.h"
#include "session/base/x/xconn.h"

#define QUEUE_BYTES 16384 /* of xcb's buffer (XCB_QUEUE_BUFFER_SIZE): a request of just this size fills it */

int xconn_wipe_sent(struct xconn *x, struct err *e)
{
	const xcb_protocol_request_t nothing = {.count = 1, .opcode = XCB_NO_OPERATION, .isvoid = 1};
	auto_free uint8_t *zeros = util_zalloc(QUEUE_BYTES);
	struct iovec parts[3] = {{.iov_base = NULL}, {.iov_base = NULL}, {.iov_base = zeros, .iov_len = QUEUE_BYTES}};

	/* The buffer is empty after it. */
	if (xconn_room(x, e) < 0)
		return -1;
	/* xcb may put requests of its own into the parts before. */
	(void)xcb_send_request(x->xcb, 0, parts + 2, &nothing);
	xconn_flush(x);
	return 0;
}
