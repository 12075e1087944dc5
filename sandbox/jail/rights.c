/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resource limits. */
#include "sandbox/jail/rights.h"

#include <errno.h>

static int set_limit(int resource, rlim_t value)
{
	struct rlimit now, wanted = {value, value};

	if (setrlimit((__rlimit_resource_t)resource, &wanted) == 0)
		return 0;
	/* Without CAP_SYS_RESOURCE a hard limit can only sink. */
	if (errno != EPERM || getrlimit((__rlimit_resource_t)resource, &now) < 0)
		return -1;
	now.rlim_cur = now.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &now);
}

int rights_limit(const struct rights_limit *limits, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (set_limit(limits[i].resource, limits[i].value) < 0)
			return err_sys(e, "limit %d", limits[i].resource);
	return 0;
}
