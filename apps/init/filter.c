/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and loading filters. */
#include "apps/init/filter.h"

#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/base/util.h"

int filter_read(int fd, struct filter *out, struct err *e)
{
	auto_free struct sock_filter *rows = NULL;
	struct stat st;
	size_t len;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "the system call filter");
	len = (size_t)st.st_size;
	if (len == 0 || len > BPF_MAXINSNS * sizeof(*rows) || len % sizeof(*rows) != 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the system call filter is not whole");
	rows = util_alloc(len);
	if (pread(fd, rows, len, 0) != st.st_size)
		return err_sys(e, "reading the system call filter");
	out->program = (struct sock_fprog){.len = (unsigned short)(len / sizeof(*rows)), .filter = steal_ptr(&rows)};
	return 0;
}

int filter_load(const struct filter *filter)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter->program);
}

void filter_finish(struct filter *filter)
{
	free(filter->program.filter);
	*filter = (struct filter){0};
}
