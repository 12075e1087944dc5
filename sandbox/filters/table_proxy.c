/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of the glovebox-egress of a session: its loop, connections that it accepts of a socket it was given, outward ones, and questions to name
 * servers. It listens nowhere of its own and starts nothing.
 */
#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_PROCESS,
	ROWS_LOOP,
	ROWS_FILES,
	ROWS_DANGEROUS,
	ROWS_STARTS_NOTHING,
	ROWS_LISTENS_NOWHERE,
	ROWS_OUTWARD("what the session may reach"),
	FOR("connections that come in"),
	PLAIN(accept4),
	FOR("secrets are not swapped"),
	PLAIN(mlock), PLAIN(mlock2), PLAIN(munlock),
	FOR("files for the session: whole when they are there, to be read there, with nothing of older ones"),
	PLAIN(rename), PLAIN(renameat), PLAIN(renameat2), PLAIN(fchmod), PLAIN(ftruncate),
	FOR("the authority's key, in memory that outlives this process"),
	PLAIN(pwrite64),
};

DAEMON_TABLE(table_proxy, "egress", rules, CONFINE_LAND_CONNECTS);
