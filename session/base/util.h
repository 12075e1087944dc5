/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small helpers that every program uses: scope-bound descriptors and memory, the one clock, whole reads and writes.
 * Owner: session/base. No threads.
 */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

void util_close_fd(int *fd);
void util_free(void *ptr_to_ptr);

/* A descriptor that is closed when its scope ends; -1 is none. */
#define auto_fd __attribute__((cleanup(util_close_fd))) int
/* Memory that is freed when its scope ends. */
#define auto_free __attribute__((cleanup(util_free)))

/* Takes the value out of an auto_fd, which becomes -1. */
static inline int steal_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Takes the pointer out of an auto_free variable, which becomes NULL. */
#define steal_ptr(pp) __extension__({ __typeof__(*(pp)) taken_ = *(pp); *(pp) = NULL; taken_; })

/* Ends the program after a line on standard error: for programmer errors and for no memory, nothing else. */
#define DIE(...) util_die(__FILE__, __LINE__, __VA_ARGS__)
void util_die(const char *file, int line, const char *fmt, ...) __attribute__((noreturn, format(printf, 3, 4)));

/* malloc, calloc, strdup and realloc that never return NULL: no memory is DIE. */
void *util_alloc(size_t size);
void *util_zalloc(size_t size);
void *util_realloc(void *ptr, size_t size);
char *util_strdup(const char *text);
char *util_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Takes "." and what is empty out of a path, in place: "./a//b/" becomes "a/b", "/." "/". ".." stays. */
void util_tidy_path(char *path);

/* Up to so many bytes of freed memory stay with the process, for the next picture: the kernel takes longer to give fresh pages than we to fill
 * them. */
void util_keep_freed(int bytes);

/* All freed memory goes back to the kernel, wherever in the heap it lies, but for so many bytes at its end. */
void util_give_back_freed(size_t bytes);

/* Milliseconds and microseconds of CLOCK_MONOTONIC: the only clock for durations and deadlines. */
int64_t util_now_ms(void);
int64_t util_now_us(void);

/* Wall time as RFC 3339 with milliseconds in UTC ("2026-11-29T12:00:00.000Z"); out holds at least 25 bytes. Returns out. */
char *util_wall_time(char *out, size_t size);

/* The same so many milliseconds from now (or before it, if negative), to the second: "2026-11-29T12:00:00Z". Returns out. */
#define UTIL_SECOND_SIZE 32
char *util_wall_second(char out[UTIL_SECOND_SIZE], int64_t from_now_ms);

/* Writes all `len` bytes to a blocking descriptor, through EINTR and short writes. 0, or -1 with errno. */
int util_write_all(int fd, const void *data, size_t len);

/* Reads until end of file or `max` bytes; *out is malloced, NUL-terminated, the caller's. Returns the length, or -1 with errno
 * (EFBIG when there is more than max). */
ssize_t util_read_file(int fd, size_t max, char **out);

/* `len` random bytes of the kernel. */
void util_random(void *out, size_t len);

/* Lower-case hex of `len` bytes; out holds 2 * len + 1 bytes. */
void util_hex(char *out, const void *data, size_t len);

/* True if the `len` bytes are well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). */
bool util_utf8_valid(const char *text, size_t len);

/* How many of the `len` bytes stand before the first one that breaks that rule. */
size_t util_utf8_prefix(const char *text, size_t len);

/*
 * Decodes the character at text[0..len): stores its code point, returns its length in bytes (1 to 4), or 0 if it is malformed.
 */
size_t util_utf8_decode(const char *text, size_t len, uint32_t *code_point);

/* A character, which must be one (no surrogate, at most U+10FFFF), as UTF-8; returns how many bytes that is. */
size_t util_utf8_encode(uint32_t code_point, char out[4]);

#endif
