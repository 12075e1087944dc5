/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of glovebox-egress: its loop, outward connections of libcurl, questions of c-ares to name servers. It listens nowhere and
 * starts nothing.
 */
#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_PROCESS,
	ROWS_LOOP,
	ROWS_FILES,
	ROWS_DANGEROUS,
	ROWS_STARTS_NOTHING,
	ROWS_LISTENS_NOWHERE,
	ROWS_OUTWARD("receivers of webhooks"),
	ALLOW_IF(socketpair, 0, LOW32, AF_UNIX, "libcurl wakes itself by it"),
};

DAEMON_TABLE(table_egress, "egress", rules, CONFINE_LAND_CONNECTS);
