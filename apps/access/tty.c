/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Terminals of the programs that a terminal emulator runs. Echo off and line by line is how programs ask for a password; shells and editors,
 * which echo by themselves, take key by key.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "apps/access/desk.h"
#include "session/base/util.h"

#define PROCESSES 4096
#define PTS_MAJOR 136
#define PTS_MAX 256 /* minor numbers of that major */

struct line {
	int pid, parent, tty;
};

/* "PID (name) state parent group session tty …"; the name may have anything in it. */
static bool read_stat(int proc, const char *pid, struct line *out)
{
	char path[32], text[512];
	const char *after;
	auto_fd fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%.16s/stat", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (n = read(fd, text, sizeof(text) - 1)) <= 0)
		return false;
	text[n] = '\0';
	after = strrchr(text, ')');
	out->pid = atoi(pid);
	return after && sscanf(after, ") %*c %d %*d %*d %d", &out->parent, &out->tty) == 2;
}

static size_t read_all(struct line *list)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	if (!dir)
		return 0;
	while (n < PROCESSES && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) && read_stat(dirfd(dir), entry->d_name, &list[n]))
			n++;
	(void)closedir(dir);
	return n;
}

static bool descends(const struct line *list, size_t n, const struct line *line, int pid)
{
	int up = line->parent;

	for (int steps = 0; steps < 64 && up > 1; steps++) {
		size_t i = 0;

		if (up == pid)
			return true;
		while (i < n && list[i].pid != up)
			i++;
		if (i == n)
			return false;
		up = list[i].parent;
	}
	return false;
}

static bool asks_for_password(int number)
{
	char path[32];
	struct termios terms;
	auto_fd fd = -1;

	(void)snprintf(path, sizeof(path), "/dev/pts/%d", number);
	fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && tcgetattr(fd, &terms) == 0 && !(terms.c_lflag & ECHO) && (terms.c_lflag & ICANON);
}

void tty_look(int pid, bool *terminal, bool *prompt)
{
	auto_free struct line *list = util_alloc(PROCESSES * sizeof(*list));
	bool met[PTS_MAX] = {false};
	size_t n = read_all(list);

	*terminal = *prompt = false;
	for (size_t i = 0; i < n; i++) {
		int number = (list[i].tty & 0xFF) | ((list[i].tty >> 12) & 0xFFF00);

		if (((list[i].tty >> 8) & 0xFFF) != PTS_MAJOR || number >= PTS_MAX || met[number] || !descends(list, n, &list[i], pid))
			continue;
		met[number] = true;
		*terminal = true;
		*prompt |= asks_for_password(number);
	}
}
