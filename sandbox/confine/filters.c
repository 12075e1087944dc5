/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filters as they were compiled of the tables of sandbox/filters while this was built, and loading them. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/confine/confine.h"

#include FILTER_ROWS /* of the build folder */

#ifdef CONFINE_SANITIZER
/* The search for leaks at exit traces the process from another, which no filter allows. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

int confine_load(const struct confine_filter *filter, struct err *e)
{
	/* The kernel only reads them; its header says nothing of const. */
	const struct sock_fprog program = {.len = filter->n_rows, .filter = (struct sock_filter *)(uintptr_t)filter->rows};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? err_sys(e, "loading the filter of %s", filter->name) : 0;
}
