/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One buffer, as large as the largest head. */
#include "sandbox/egress/inbox.h"

#include <string.h>

#include "session/base/co.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define READS_IN_TURN 8 /* then others have theirs: a peer that is fast enough never makes it wait */

void inbox_init(struct inbox *inbox, struct wire *wire)
{
	*inbox = (struct inbox){.wire = wire, .data = util_alloc(LIMIT_HEAD_BYTES)};
}

void inbox_finish(struct inbox *inbox)
{
	free(inbox->data);
	*inbox = (struct inbox){.wire = NULL};
}

int inbox_more(struct inbox *inbox, int64_t deadline_ms, struct err *e)
{
	ssize_t n;

	if (inbox->at > 0) {
		memmove(inbox->data, inbox->data + inbox->at, inbox->len);
		inbox->at = 0;
	}
	if (inbox->len == LIMIT_HEAD_BYTES)
		return err_set(e, ERR_TOO_LARGE, NULL, "it is longer than %d bytes", LIMIT_HEAD_BYTES);
	if (++inbox->n_reads % READS_IN_TURN == 0 && co_wait_until(util_now_ms(), e) < 0)
		return -1;
	n = wire_read(inbox->wire, inbox->data + inbox->len, LIMIT_HEAD_BYTES - inbox->len, deadline_ms, e);
	if (n <= 0)
		return (int)n;
	inbox->len += (size_t)n;
	return 1;
}

void inbox_take(struct inbox *inbox, size_t len)
{
	inbox->at += len;
	inbox->len -= len;
	if (inbox->len == 0)
		inbox->at = 0;
}

void inbox_give_back(struct inbox *inbox)
{
	if (inbox->len > 0)
		wire_unread(inbox->wire, inbox_data(inbox), inbox->len);
	inbox_take(inbox, inbox->len);
}
