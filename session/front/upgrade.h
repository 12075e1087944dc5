/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The opening handshake of WebSocket (RFC 6455 part 4), as this server takes it: version 13, the subprotocol "binary", and beside it a
 * ticket, "ticket.TEXT", since a browser can send neither a header field nor a body of its own. Owner: session/front. No threads.
 */
#ifndef FRONT_UPGRADE_H
#define FRONT_UPGRADE_H

#include "session/front/head.h"

#define UPGRADE_PROTOCOL "binary" /* what is answered: bytes, in binary messages */
#define UPGRADE_VERSION "13"

/*
 * Is it a handshake that can be answered? ERR_UPGRADE when it is none, or of another version (the reply then says which), ERR_BAD_REQUEST when
 * it is not whole. Whose it is is not looked at.
 */
int upgrade_check(const struct head *head, bool is_get, bool is_http_11, struct err *e);

/* The ticket among the subprotocols: malloced, the caller's, and to be wiped. NULL when there is none. */
char *upgrade_ticket(const struct head *head);

#endif
