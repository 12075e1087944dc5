/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the lease. */
#include "session/stage/lease_rows.h"

#include <stddef.h>

#include "session/base/util.h"

#define EPOCH LEASE_EPOCH
#define STOP LEASE_STOP
#define RELEASE LEASE_RELEASE
#define HOLD LEASE_HOLD
#define FREE LEASE_FREE
#define RENEW LEASE_RENEW
#define LOSS LEASE_LOSS
#define RETURN LEASE_RETURN

static const struct lease_row rows[] = {
#define ROW(from, event, to, effects, words) {LEASE_##from, LEASE_##event, LEASE_##to, effects},
	LEASE_ROWS(ROW)
#undef ROW
};

const struct lease_row *lease_row(enum lease_holder from, enum lease_event event)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].from == from && rows[i].event == event)
			return &rows[i];
	return NULL;
}

const char *lease_holder_name(enum lease_holder holder)
{
	static const char *const names[LEASE_N_HOLDERS] = {"agent", "human", "nobody"};

	return names[holder];
}

const char *lease_event_name(enum lease_event event)
{
	static const char *const names[LEASE_N_EVENTS] = {
		[LEASE_ASK] = "ask",         [LEASE_DEMAND] = "demand", [LEASE_TAKE] = "take", [LEASE_GIVE] = "give",
		[LEASE_EXTEND] = "extend",   [LEASE_CLEAR] = "clear",   [LEASE_LOSE] = "lose", [LEASE_COME] = "come",
		[LEASE_RUN_OUT] = "run_out", [LEASE_WITHDRAW] = "withdraw", [LEASE_REVOKE] = "revoke",
	};

	return names[event];
}
