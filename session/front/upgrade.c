/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The opening handshake of WebSocket. */
#include "session/front/upgrade.h"

#include <string.h>

#include "session/base/handshake.h"
#include "session/base/util.h"

#define TICKET "ticket."

int upgrade_check(const struct head *head, bool is_get, bool is_http_11, struct err *e)
{
	if (!is_get || !is_http_11 || !head->upgrade || !head_list_has(head->upgrade, "websocket") || !head->connection_upgrade)
		return err_set(e, ERR_UPGRADE, NULL, "this path is a WebSocket: GET by HTTP/1.1 with Upgrade: websocket and Connection: Upgrade");
	if (!head->websocket_version || strcmp(head->websocket_version, UPGRADE_VERSION) != 0)
		return err_set(e, ERR_UPGRADE, NULL, "Sec-WebSocket-Version must be " UPGRADE_VERSION);
	if (!handshake_is_key(head->websocket_key))
		return err_set(e, ERR_BAD_REQUEST, NULL, "Sec-WebSocket-Key must be 16 bytes in Base64");
	if (head->websocket_protocol && !head_list_has(head->websocket_protocol, UPGRADE_PROTOCOL))
		return err_set(e, ERR_BAD_REQUEST, NULL, "Sec-WebSocket-Protocol must offer " UPGRADE_PROTOCOL ", and with it " TICKET "TEXT");
	return 0;
}

char *upgrade_ticket(const struct head *head)
{
	const char *at = head->websocket_protocol;

	while (at && *at) {
		at += strspn(at, " \t,");
		size_t n = strcspn(at, " \t,");

		if (n > strlen(TICKET) && strncmp(at, TICKET, strlen(TICKET)) == 0)
			return util_printf("%.*s", (int)(n - strlen(TICKET)), at + strlen(TICKET));
		at += n;
	}
	return NULL;
}
