/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a fuzz target on each file that is named, and on each in a folder that is. Prints how many there were; none is a failure. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/base/util.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BYTES (16 * 1024 * 1024)
#define MAX_FOLDERS 16

static size_t n_files;

static int run_file(const char *path, const struct stat *info, int type, struct FTW *place)
{
	auto_free char *text = NULL;
	auto_fd fd = -1;
	ssize_t len;

	(void)info;
	(void)place;
	if (type != FTW_F)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : util_read_file(fd, MAX_BYTES, &text);
	if (len < 0) {
		perror(path);
		return -1;
	}
	(void)printf("%s\n", path); /* the last one is at fault */
	(void)fflush(stdout);
	(void)LLVMFuzzerTestOneInput((const uint8_t *)text, (size_t)len);
	n_files++;
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (nftw(argv[i], run_file, MAX_FOLDERS, FTW_PHYS) != 0)
			return 1;
	(void)printf("%zu inputs\n", n_files);
	return n_files > 0 ? 0 : 1;
}
