/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small helpers that every program uses. */
#include "session/base/util.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "session/base/log.h"

void util_close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = saved;
}

void util_free(void *ptr_to_ptr)
{
	void *ptr;

	memcpy(&ptr, ptr_to_ptr, sizeof(ptr));
	free(ptr);
}

void util_die(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	log_flush();
	(void)fprintf(stderr, "fatal: %s:%d: ", file, line);
	va_start(args, fmt);
	(void)vfprintf(stderr, fmt, args);
	va_end(args);
	(void)fputc('\n', stderr);
	abort();
}

void util_keep_freed(int bytes)
{
	/* What malloc maps by itself goes back at once when it is freed, whatever the other says. */
	(void)mallopt(M_MMAP_THRESHOLD, bytes);
	(void)mallopt(M_TRIM_THRESHOLD, bytes);
}

void util_give_back_freed(size_t bytes)
{
	(void)malloc_trim(bytes);
}

void *util_alloc(size_t size)
{
	void *ptr = malloc(size ? size : 1);

	if (!ptr)
		DIE("no memory for %zu bytes", size);
	return ptr;
}

void *util_zalloc(size_t size)
{
	return memset(util_alloc(size), 0, size);
}

void *util_realloc(void *ptr, size_t size)
{
	void *bigger = realloc(ptr, size ? size : 1);

	if (!bigger)
		DIE("no memory for %zu bytes", size);
	return bigger;
}

char *util_strdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(util_alloc(size), text, size);
}

char *util_printf(const char *fmt, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0)
		DIE("no memory for a text");
	return text;
}

int64_t util_now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t util_now_ms(void)
{
	return util_now_us() / 1000;
}

void util_tidy_path(char *path)
{
	char *start = path + (*path == '/'), *to = start;

	for (const char *from = start; *from;) {
		size_t len = strcspn(from, "/");

		if (len > 0 && !(len == 1 && *from == '.')) {
			if (to > start)
				*to++ = '/';
			memmove(to, from, len);
			to += len;
		}
		from += len + (from[len] == '/');
	}
	*to = '\0';
}

char *util_wall_time(char *out, size_t size)
{
	struct timespec now;
	struct tm utc;
	char seconds[24];

	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &utc);
	(void)strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc);
	(void)snprintf(out, size, "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
	return out;
}

char *util_wall_second(char out[UTIL_SECOND_SIZE], int64_t from_now_ms)
{
	time_t at = time(NULL) + (time_t)(from_now_ms / 1000);
	struct tm utc;

	out[0] = '\0';
	if (gmtime_r(&at, &utc))
		(void)strftime(out, UTIL_SECOND_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return out;
}

int util_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t util_read_file(int fd, size_t max, char **out)
{
	size_t size = 4096;
	size_t len = 0;
	auto_free char *text = util_alloc(size);

	for (;;) {
		ssize_t n;

		if (len + 1 >= size) {
			size *= 2;
			text = util_realloc(text, size);
		}
		n = read(fd, text + len, size - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max) {
			errno = EFBIG;
			return -1;
		}
	}
	text[len] = '\0';
	*out = steal_ptr(&text);
	return (ssize_t)len;
}

void util_random(void *out, size_t len)
{
	char *at = out;

	while (len > 0) {
		ssize_t n = getrandom(at, len, 0);

		if (n < 0 && errno != EINTR)
			DIE("the kernel gives no random bytes: %s", strerror(errno));
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
}

void util_hex(char *out, const void *data, size_t len)
{
	static const char DIGITS[] = "0123456789abcdef";
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = DIGITS[bytes[i] >> 4];
		out[2 * i + 1] = DIGITS[bytes[i] & 15];
	}
	out[2 * len] = '\0';
}

size_t util_utf8_decode(const char *text, size_t len, uint32_t *code_point)
{
	static const uint32_t LEAST[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *bytes = (const unsigned char *)text;
	uint32_t value;
	size_t n;

	if (len == 0)
		return 0;
	if (bytes[0] < 0x80) {
		*code_point = bytes[0];
		return 1;
	}
	n = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
	if (bytes[0] < 0xC2 || bytes[0] > 0xF4 || n > len)
		return 0;
	value = bytes[0] & (0xFFU >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((bytes[i] & 0xC0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3F);
	}
	if (value < LEAST[n] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
		return 0;
	*code_point = value;
	return n;
}

size_t util_utf8_encode(uint32_t code_point, char out[4])
{
	if (code_point < 0x80) {
		out[0] = (char)code_point;
		return 1;
	}
	if (code_point < 0x800) {
		out[0] = (char)(0xC0 | code_point >> 6);
		out[1] = (char)(0x80 | (code_point & 0x3F));
		return 2;
	}
	if (code_point < 0x10000) {
		out[0] = (char)(0xE0 | code_point >> 12);
		out[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
		out[2] = (char)(0x80 | (code_point & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | code_point >> 18);
	out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
	out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
	out[3] = (char)(0x80 | (code_point & 0x3F));
	return 4;
}

size_t util_utf8_prefix(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		uint32_t code_point;
		size_t n = util_utf8_decode(text + at, len - at, &code_point);

		if (n == 0)
			break;
		at += n;
	}
	return at;
}

bool util_utf8_valid(const char *text, size_t len)
{
	return util_utf8_prefix(text, len) == len;
}
