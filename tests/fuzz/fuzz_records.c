/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/journal */
/* longest: 640 */
/* The records of a stage's pictures, along which the front goes: each step goes on, and none beyond the end. */
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "session/base/util.h"
#include "session/journal/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_fd fd = memfd_create("records", MFD_CLOEXEC);
	off_t at = 0, next = 0;

	if (fd < 0 || util_write_all(fd, data, size) < 0)
		DIE("no file for the input");
	while (scan_record(fd, at, (off_t)size, &next)) {
		if (next <= at || next > (off_t)size)
			DIE("from %jd to %jd of %zu", (intmax_t)at, (intmax_t)next, size);
		at = next;
	}
	return 0;
}
