/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that the warden denies itself and with that every process of Glovebox: filters are inherited and never
 * loosen, so it holds only what no descendant needs.
 */
#include "sandbox/filters/rows.h"

static const struct table_rule rules[] = {
	ROWS_NEVER,
	FOR("what the kernel's youngest parts are for, which libraries do without"),
	DENY(io_uring_setup, ENOSYS), DENY(userfaultfd, ENOSYS),
#ifndef CONFINE_SANITIZER /* with ASAN_OPTIONS=detect_leaks=1 the warden's own leaks can be searched */
	FOR("no descendant looks into another one"),
	DENY(ptrace, EPERM),
#endif
};

TABLE(table_warden, "warden", rules, TABLE_OTHERS_ALLOWED);
