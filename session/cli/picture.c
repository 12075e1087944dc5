/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures on their way to a file. */
#include "session/cli/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "session/base/base64.h"
#include "session/base/util.h"
#include "session/cli/cli.h"

int picture_check(const char *file, struct err *e)
{
	if (strcmp(file, "-") == 0 && isatty(STDOUT_FILENO))
		return err_set(e, ERR_BAD_REQUEST, NULL, "a picture does not go to a terminal; use -o FILE or a pipe");
	return strcmp(file, "-") == 0 ? 0 : cli_can_write(file, e);
}

int picture_write(const char *file, const void *data, size_t len, struct err *e)
{
	bool is_output = strcmp(file, "-") == 0;
	auto_fd fd = is_output ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
	                       : open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (picture_check(file, e))
		return -1;
	if (fd < 0 || util_write_all(fd, data, len))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", is_output ? "standard output" : file,
		               strerror(errno));
	return 0;
}

const json_t *picture_find(const json_t *answer)
{
	const json_t *picture = json_object_get(json_object_get(answer, "observation"), "picture");
	const json_t *results = json_object_get(answer, "results");

	for (size_t i = json_array_size(results); i-- > 0 && !json_is_object(picture);)
		picture = json_object_get(json_array_get(results, i), "picture");
	return json_is_object(picture) ? picture : NULL;
}

int picture_save(const char *file, const json_t *picture, struct err *e)
{
	const json_t *data = json_object_get(picture, "data");
	size_t len;
	auto_free void *bytes = json_is_string(data) ? base64_decode(json_string_value(data), json_string_length(data), &len) : NULL;

	if (!bytes)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the picture in the answer cannot be read");
	return picture_write(file, bytes, len, e);
}
