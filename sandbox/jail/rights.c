/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resource limits. */
#include "sandbox/jail/rights.h"

int rights_limit(const struct rights_limit *limits, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		struct rlimit now, wanted = {limits[i].value, limits[i].value};

		/* Without CAP_SYS_RESOURCE a hard limit can only sink. */
		if (getrlimit((__rlimit_resource_t)limits[i].resource, &now) < 0)
			return err_sys(e, "limit %d", limits[i].resource);
		if (wanted.rlim_max > now.rlim_max)
			wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
		if (setrlimit((__rlimit_resource_t)limits[i].resource, &wanted) < 0)
			return err_sys(e, "limit %d", limits[i].resource);
	}
	return 0;
}
