/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose file it is, its sealed copy, and the run of the front that checks it. */
#include "session/warden/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/warden/proto.h"
#include "session/warden/sealed.h"

#define HIGH_FD 64 /* above every number that a descriptor is moved to */
#define EXIT_NOT_RUN 126

static int read_bytes(const char *path, bool secret, char **bytes, size_t *len, struct err *e)
{
	/* Without waiting for a writer, should it be a pipe. */
	auto_fd fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_BAD_FIELD, NULL, "%s is not a file", path);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return err_set(e, ERR_FORBIDDEN, NULL, "%s %s: it says who may do what, so it must be root's, and nobody else may write it", path,
		               st.st_uid != 0 && st.st_uid != geteuid() ? "belongs to another user" : "can be written by others");
	if (secret && (st.st_mode & S_IROTH))
		return err_set(e, ERR_FORBIDDEN, NULL, "%s can be read by every user of this machine, and holds keys: chmod 600 closes it", path);
	n = util_read_file(fd, LIMIT_CONFIG_BYTES, bytes);
	if (n < 0)
		return errno == EFBIG ? err_set(e, ERR_TOO_LARGE, NULL, "%s has more than the %d bytes that are allowed", path, LIMIT_CONFIG_BYTES)
		                      : err_sys(e, "reading %s", path);
	if (n == 0)
		return err_set(e, ERR_BAD_FIELD, NULL, "%s is empty; it must hold a JSON object, {} at least", path);
	*len = (size_t)n;
	return 0;
}

int config_copy(const char *path, bool secret, int *copy, struct err *e)
{
	auto_free char *bytes = NULL;
	size_t len = 0;
	int rc;

	if (path && read_bytes(path, secret, &bytes, &len, e) < 0)
		return -1;
	rc = sealed_copy(path ? path : "no configuration", bytes, len, copy, e);
	if (bytes)
		explicit_bzero(bytes, len);
	return rc;
}

/* In the child: does not return. */
static _Noreturn void become_checker(int copy, const char *path, const char *program_name, int program, uid_t uid, bool quiet)
{
	char name[32], option[] = "--check-config", shown[512], variable[32];
	char *argv[] = {name, option, shown, NULL}, *envp[] = {variable, NULL};
	int high_copy = fcntl(copy, F_DUPFD_CLOEXEC, HIGH_FD), high_program = fcntl(program, F_DUPFD_CLOEXEC, HIGH_FD);
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)snprintf(name, sizeof(name), "%s", program_name);
	(void)snprintf(shown, sizeof(shown), "%s", path);
	(void)snprintf(variable, sizeof(variable), "GLOVEBOX_UID=%u", uid);
	if (uid == 0)
		envp[0] = NULL;
	if (high_copy >= 0 && high_program >= 0 && dup2(nowhere, STDIN_FILENO) >= 0 && (!quiet || dup2(nowhere, STDOUT_FILENO) >= 0) &&
	    dup2(high_copy, CHILD_CONFIG) >= 0)
		(void)execveat(high_program, "", argv, envp, AT_EMPTY_PATH);
	_exit(EXIT_NOT_RUN);
}

int config_check(int copy, const char *path, const char *name, int program, uid_t uid, bool quiet, struct err *e)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0)
		become_checker(copy, path, name, program, uid, quiet);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, "waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return err_set(e, ERR_INTERNAL, NULL, "%s, which checks %s, ended with status %d", name, path, status);
	return WEXITSTATUS(status);
}
