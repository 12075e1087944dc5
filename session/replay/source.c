/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of files and of memory. Files are read, never mapped: one that is cut meanwhile is an error and no signal. */
#include "session/replay/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/util.h"

struct source source_none(void)
{
	return (struct source){.fd = -1};
}

int source_of_file(int fd, uint64_t max, struct source *out, struct err *e)
{
	auto_fd own = fd;
	struct stat st;

	if (fstat(own, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, ERR_BAD_REQUEST, NULL, "it is no file");
	if ((uint64_t)st.st_size > max)
		return err_set(e, ERR_TOO_LARGE, NULL, "it has %jd bytes; at most %ju are read", (intmax_t)st.st_size, (uintmax_t)max);
	*out = (struct source){.fd = steal_fd(&own), .len = (uint64_t)st.st_size};
	return 0;
}

struct source source_of_memory(char *data, size_t len)
{
	return (struct source){.fd = -1, .data = data, .len = len};
}

void source_finish(struct source *source)
{
	if (source->fd >= 0)
		util_close_fd(&source->fd);
	free(source->data);
	*source = source_none();
}

int source_temporary(struct err *e)
{
	const char *folder = getenv("TMPDIR");
	auto_free char *name = util_printf("%s/glovebox-XXXXXX", folder && *folder ? folder : "/var/tmp");
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0)
		return err_set(e, ERR_INTERNAL, NULL, "no temporary file can be made (%s): %s", name, strerror(errno));
	(void)unlink(name);
	return fd;
}

static int read_file(const struct source *source, uint64_t at, char *out, size_t len, struct err *e)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(source->fd, out + done, len - done, (off_t)(source->from + at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, ERR_BAD_REQUEST, NULL, "it cannot be read: %s", strerror(errno));
		if (n == 0)
			return err_set(e, ERR_BAD_REQUEST, NULL, "it became shorter while it was read");
		done += (size_t)n;
	}
	return 0;
}

int source_read(const struct source *source, uint64_t at, void *out, size_t len, struct err *e)
{
	if (at > source->len || len > source->len - at)
		return err_set(e, ERR_BAD_REQUEST, NULL, "it ends before byte %ju", (uintmax_t)at + len);
	if (source->fd >= 0)
		return read_file(source, at, out, len, e);
	if (len > 0)
		memcpy(out, source->data + at, len);
	return 0;
}

int source_read_all(const struct source *source, size_t max, char **out, struct err *e)
{
	auto_free char *text = NULL;

	if (source->len > max)
		return err_set(e, ERR_TOO_LARGE, NULL, "it has %ju bytes; at most %zu are read", (uintmax_t)source->len, max);
	text = util_alloc((size_t)source->len + 1);
	if (source_read(source, 0, text, (size_t)source->len, e) < 0)
		return -1;
	text[source->len] = '\0';
	*out = steal_ptr(&text);
	return 0;
}
