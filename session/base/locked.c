/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages from the kernel. */
#include "session/base/locked.h"

#include <string.h>
#include <sys/mman.h>

#include "session/base/util.h"

void *locked_alloc(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		DIE("no memory for %zu bytes", size);
	/* What a limit forbids is not forced: the server's groups have no swap where the host can say so. */
	(void)mlock(memory, size);
	(void)madvise(memory, size, MADV_DONTDUMP);
	(void)madvise(memory, size, MADV_DONTFORK);
	return memory;
}

void locked_free(void *memory, size_t size)
{
	if (!memory)
		return;
	explicit_bzero(memory, size);
	(void)munmap(memory, size);
}
