/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SECURITY extension, of which no binding for xcb exists: cookies for clients that are not trusted. Such a client sees no other
 * extension, nothing of a trusted client's windows but their place and properties, and neither reads the screen nor makes input.
 */
#ifndef BASE_XSECURITY_H
#define BASE_XSECURITY_H

#include "session/base/x/xconn.h"

#define XSECURITY_COOKIE_LEN 16

extern xcb_extension_t xsecurity_extension;

/*
 * Makes the server accept a new MIT-MAGIC-COOKIE-1, of untrusted clients, for as long as it runs. Errors: ERR_UNSUPPORTED if the server gives
 * no such cookie, those of xconn_reply. Must run in a coroutine.
 */
int xsecurity_untrusted_cookie(struct xconn *x, uint8_t cookie[XSECURITY_COOKIE_LEN], struct err *e);

/*
 * Lets every process with this gid (as the server's user namespace numbers it) connect without a cookie, as a trusted client. The kernel tells
 * the server the gid, so no program can lose it to another, as it could a file. Errors and coroutine as above.
 */
int xsecurity_trust_group(struct xconn *x, uint32_t gid, struct err *e);

#endif
