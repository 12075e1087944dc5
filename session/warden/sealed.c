/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sealed memory. */
#include "session/warden/sealed.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "session/base/util.h"

int sealed_copy(const char *what, const void *bytes, size_t len, int *copy, struct err *e)
{
	auto_fd fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || util_write_all(fd, bytes, len) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		return err_sys(e, "copying %s", what);
	*copy = steal_fd(&fd);
	return 0;
}
