/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stand-in for xkbcomp in the display's root: copies a map that was compiled when the image was built.
 *
 * Xvfb runs  sh -c '"/usr/bin/xkbcomp" -w 1 … -xkm "-" … "/tmp/server-0.xkm"'  at its start, writes the names of a map to our
 * standard input and loads the last argument. The layout is GLOVEBOX_LAYOUT, "us" when that is not set.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define MAPS "/usr/share/glovebox/keymap/"
#define MAX_LAYOUT_LEN 32
#define MAX_MAP_LEN (1024 * 1024)

/* A layout names a file, so it is letters, digits and "-". */
static bool layout_is_name(const char *layout)
{
	size_t len = strspn(layout, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return len > 0 && len <= MAX_LAYOUT_LEN && layout[len] == '\0';
}

/* Reads what the server writes to the end: it must not meet a closed pipe. */
static void drain_stdin(void)
{
	char buf[4096];
	ssize_t n;

	do
		n = read(STDIN_FILENO, buf, sizeof(buf));
	while (n > 0 || (n < 0 && errno == EINTR));
}

static int copy_map(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t n = -1;

	if (in >= 0 && out >= 0) {
		do
			n = sendfile(out, in, NULL, MAX_MAP_LEN);
		while (n > 0);
	}
	return n == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	const char *layout = getenv("GLOVEBOX_LAYOUT");
	char map[sizeof(MAPS) + MAX_LAYOUT_LEN + sizeof(".xkm")];

	if (!layout)
		layout = "us";
	drain_stdin();
	if (argc < 2 || !layout_is_name(layout)) {
		fprintf(stderr, "xkbcomp: there is no layout of this name\n");
		return 1;
	}
	snprintf(map, sizeof(map), MAPS "%s.xkm", layout);
	if (copy_map(map, argv[argc - 1]) < 0) {
		fprintf(stderr, "xkbcomp: %s: %s\n", map, strerror(errno));
		return 1;
	}
	return 0;
}
