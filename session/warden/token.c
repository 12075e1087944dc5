/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens. */
#include "session/warden/token.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/base/util.h"

#define TOKEN_FILE "operator.token"

/* Writes a new file beside the old one and puts it in its place. */
static int write_token(int dir, const char *name, const char *token)
{
	auto_fd fd = -1;

	if (unlinkat(dir, ".token.new", 0) < 0 && errno != ENOENT)
		return -1;
	fd = openat(dir, ".token.new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || util_write_all(fd, token, strlen(token)) < 0 || util_write_all(fd, "\n", 1) < 0 || fsync(fd) < 0)
		return -1;
	return renameat(dir, ".token.new", dir, name);
}

static bool is_token(const char *text)
{
	return strncmp(text, "gbx_", 4) == 0 && strlen(text) == TOKEN_SIZE - 1 && strspn(text + 4, "0123456789abcdef") == 64;
}

static int make_token(int state, char token[TOKEN_SIZE], struct err *e)
{
	uint8_t random[32];

	util_random(random, sizeof(random));
	memcpy(token, "gbx_", 4);
	util_hex(token + 4, random, sizeof(random));
	return write_token(state, TOKEN_FILE, token) < 0 ? err_sys(e, "writing %s", TOKEN_FILE) : 0;
}

int token_load(int state, char token[TOKEN_SIZE], struct err *e)
{
	auto_fd fd = openat(state, TOKEN_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	auto_free char *text = NULL;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return make_token(state, token, e);
	if (fd < 0 || fstat(fd, &st) < 0 || util_read_file(fd, 4096, &text) < 0)
		return err_sys(e, "reading %s", TOKEN_FILE);
	if (!S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 077))
		return err_set(e, ERR_FORBIDDEN, NULL, "%s can be read or written by others than root: others may have the token. Remove it; a new one is made",
		               TOKEN_FILE);
	text[strcspn(text, "\r\n")] = '\0';
	if (!is_token(text))
		return err_set(e, ERR_BAD_FIELD, NULL, "%s does not hold a token; remove it, a new one is made", TOKEN_FILE);
	memcpy(token, text, TOKEN_SIZE);
	explicit_bzero(text, strlen(text));
	return 0;
}

/* In a process that is the user. Links in the user's own home lead where the user may write anyway. 0, or an errno value. */
static int write_at_home(const char *path, const char *token)
{
	auto_fd home = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd config = -1;
	auto_fd dir = -1;

	if (home < 0 || (mkdirat(home, ".config", 0700) < 0 && errno != EEXIST))
		return errno;
	config = openat(home, ".config", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (config < 0 || (mkdirat(config, "glovebox", 0700) < 0 && errno != EEXIST))
		return errno;
	dir = openat(config, "glovebox", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 || write_token(dir, "token", token) < 0 ? errno : 0;
}

static int write_as_user(const struct passwd *user, const char *token)
{
	if (initgroups(user->pw_name, user->pw_gid) < 0 || setresgid(user->pw_gid, user->pw_gid, user->pw_gid) < 0 ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid) < 0)
		return errno;
	return write_at_home(user->pw_dir, token);
}

int token_give_to_caller(const char *token, struct err *e)
{
	const char *home = getenv("HOME");

	errno = home ? write_at_home(home, token) : ENOENT;
	return errno ? err_sys(e, "writing the token to %s/.config/glovebox/token", home ? home : "~") : 0;
}

int token_give_to_sudo_user(const char *token, struct err *e)
{
	const char *text = getenv("SUDO_UID");
	const struct passwd *user;
	char *end = NULL;
	unsigned long uid = text ? strtoul(text, &end, 10) : 0;
	int status = 0;
	pid_t pid;

	if (!text || end == text || *end || uid == 0)
		return 0;
	user = getpwuid((uid_t)uid);
	if (!user)
		return err_set(e, ERR_NOT_FOUND, NULL, "there is no user %lu, whom SUDO_UID names", uid);
	pid = fork();
	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0)
		_exit(write_as_user(user, token));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, "waitpid");
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
	return errno ? err_sys(e, "writing the token to %s/.config/glovebox/token", user->pw_dir) : 0;
}

void token_make_code(char code[TOKEN_CODE_SIZE])
{
	static const char signs[] = "ABCDEFGHJKMNPQRSTVWXYZ23456789";
	const unsigned n_signs = sizeof(signs) - 1;
	uint8_t random;

	for (size_t i = 0; i < TOKEN_CODE_SIZE - 1;) {
		util_random(&random, 1);
		/* The numbers above the last multiple would make some signs more likely. */
		if (random < 256 / n_signs * n_signs)
			code[i++] = signs[random % n_signs];
	}
	code[TOKEN_CODE_SIZE - 1] = '\0';
}

int token_hash(const char *text, uint8_t hash[32], struct err *e)
{
	int error = gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), hash);

	return error < 0 ? err_set(e, ERR_INTERNAL, NULL, "hashing: %s", gnutls_strerror(error)) : 0;
}
