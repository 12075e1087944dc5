/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which program is which, and reading what the operator wrote. */
#include "session/warden/prepare.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "session/base/util.h"

static const char *const PROGRAM_FILES[N_PROGRAMS] = {[PROGRAM_FRONT] = "glovebox-front", [PROGRAM_STAGE] = "glovebox-stage",
                                                      [PROGRAM_INIT] = "glovebox-init", [PROGRAM_DISPLAY] = "glovebox-display",
                                                      [PROGRAM_VIEW] = "glovebox-view", [PROGRAM_EGRESS] = "glovebox-egress"};

static int read_text(const char *path, char **text, struct err *e)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : util_read_file(fd, 1024 * 1024, text);

	if (len < 0)
		return err_sys(e, "reading %s", path);
	/* What follows it would not be read, and not be missed. */
	if (strlen(*text) != (size_t)len)
		return err_set(e, ERR_BAD_FIELD, NULL, "%s has a NUL byte in it", path);
	return 0;
}

int prepare_ceilings(struct ceilings *ceilings, const char *file, struct err *e)
{
	static const char *const lists[][2] = {{"/etc/passwd", "/etc/subuid"}, {"/etc/group", "/etc/subgid"}};
	auto_free char *text = NULL;

	ceilings_default(ceilings);
	if (file && (read_text(file, &text, e) < 0 || ceilings_parse(ceilings, text, e) < 0))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		auto_free char *names = NULL;
		auto_free char *subids = NULL;

		if (read_text(lists[i][0], &names, e) < 0)
			return -1;
		(void)read_text(lists[i][1], &subids, NULL); /* not every host has one */
		if (ceilings_check_uids(ceilings, names, subids, e) < 0)
			return -1;
	}
	return 0;
}

int prepare_programs(int programs[N_PROGRAMS], int tools[N_STATE_TOOLS], struct err *e)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	auto_fd dir = -1;

	if (len < 0)
		return err_sys(e, "/proc/self/exe");
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	dir = open(self, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < N_PROGRAMS; i++) {
		programs[i] = openat(dir, PROGRAM_FILES[i], O_RDONLY | O_CLOEXEC);
		if (programs[i] < 0)
			return err_sys(e, "%s/%s", self, PROGRAM_FILES[i]);
	}
	for (int i = 0; i < N_STATE_TOOLS; i++)
		tools[i] = openat(dir, STATE_TOOL_FILES[i], O_RDONLY | O_CLOEXEC);
	return 0;
}
