/* SPDX-License-Identifier: GPL-2.0-or-later */
/* free() and realloc() of a whole program that is linked with it: what is given up is overwritten, also by libraries (GnuTLS, OpenSSL, libmicrohttpd, jansson,
 * libc). People type and paste passwords through the front, answers with a secret in them come through egress, and no library wipes what it read them into. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer has an allocator of its own, and keeps freed memory to find its late uses. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATOR_IS_NOT_LIBCS
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOCATOR_IS_NOT_LIBCS
#endif

#ifndef ALLOCATOR_IS_NOT_LIBCS
/* glibc's own, under the names that it exports for programs that wrap them. */
extern void __libc_free(void *block);

void free(void *block)
{
	if (block)
		explicit_bzero(block, malloc_usable_size(block));
	__libc_free(block);
}

void *realloc(void *block, size_t size)
{
	size_t had = block ? malloc_usable_size(block) : 0;
	void *grown;

	if (size > 0 && size <= had && size >= had / 2)
		return block;
	if (block && size == 0) {
		free(block);
		return NULL;
	}
	grown = malloc(size);
	if (!grown || !block)
		return grown;
	memcpy(grown, block, size < had ? size : had);
	free(block);
	return grown;
}
#endif
