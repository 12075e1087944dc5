/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-files VERB PATH [OPTION]…: reads, writes and deletes files of the session for the stage (proto.h), in the app jail, for one call. init starts it with
 * the rights of the session's programs; before it looks at a path it gives up all but the home and /tmp, and most system calls. Exit status 0: it has answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apps/files/files.h"
#include "sandbox/confine/confine.h"
#include "session/base/log.h"
#include "session/base/util.h"

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITES \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)
#define NEVER \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK)
#define ABI_REFER 2
#define ABI_TRUNCATE 3

static int allow(int ruleset, const char *path, uint64_t rights, struct err *e)
{
	auto_fd fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};

	if (fd < 0 || syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return err_sys(e, "a rule of the domain");
	return 0;
}

/* Nothing but the two folders, and there only what this verb does. */
static int enter_domain(bool writes, struct err *e)
{
	int abi = confine_landlock_abi();
	uint64_t rights = READS | (writes ? WRITES : 0), truncate = abi >= ABI_TRUNCATE ? LANDLOCK_ACCESS_FS_TRUNCATE : 0;
	struct landlock_ruleset_attr attr = {.handled_access_fs = READS | WRITES | NEVER | truncate};
	auto_fd ruleset = -1;

	if (abi < ABI_REFER)
		return 0; /* the session says so: its jail has no domains */
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return err_sys(e, "a domain");
	if (writes)
		rights |= truncate;
	if (allow(ruleset, FILES_HOME, rights, e) < 0 || allow(ruleset, FILES_TMP, rights, e) < 0)
		return -1;
	return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? err_sys(e, "entering a domain") : 0;
}

static int confine(bool writes, struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(e, "prctl");
	return enter_domain(writes, e) < 0 ? -1 : confine_load(&confine_files, e);
}

static enum files_fault run_get(int argc, char **argv, char why[ERR_MSG_MAX])
{
	(void)why;
	return get_run(argv[2], argc > 3 && strcmp(argv[3], "head") == 0);
}

static enum files_fault run_pack(int argc, char **argv, char why[ERR_MSG_MAX])
{
	(void)argc;
	(void)why;
	return pack_run(argv[2]);
}

static bool has_option(int argc, char **argv, const char *name)
{
	for (int i = 3; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return false;
}

static enum files_fault run_put(int argc, char **argv, char why[ERR_MSG_MAX])
{
	int mode = -1;

	(void)why;
	for (int i = 3; i < argc; i++)
		if (strncmp(argv[i], "mode=", 5) == 0)
			mode = (int)strtol(argv[i] + 5, NULL, 8) & 0777;
	return put_run(argv[2], mode, has_option(argc, argv, "parents"));
}

static enum files_fault run_unpack(int argc, char **argv, char why[ERR_MSG_MAX])
{
	return unpack_run(argv[2], has_option(argc, argv, "parents"), why);
}

static enum files_fault run_drop(int argc, char **argv, char why[ERR_MSG_MAX])
{
	(void)why;
	return drop_run(argv[2], has_option(argc, argv, "tree"));
}

static const struct verb {
	const char *name;
	bool writes;
	enum files_fault (*run)(int argc, char **argv, char why[ERR_MSG_MAX]);
} verbs[] = {{"get", false, run_get}, {"pack", false, run_pack}, {"put", true, run_put}, {"unpack", true, run_unpack}, {"drop", true, run_drop}};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct verb *verb = argc > 2 ? find_verb(argv[1]) : NULL;
	struct files_refusal refusal;
	char why[ERR_MSG_MAX] = "";
	struct err e;

	log_init("glovebox-files", NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	if (!verb) {
		log_error("usage: glovebox-files get|pack|put|unpack|drop PATH [OPTION]...");
		return 2;
	}
	if (confine(verb->writes, &e) < 0) {
		log_err(LOG_ERROR, &e, "not started");
		return 1;
	}
	refusal.fault = (uint32_t)verb->run(argc, argv, why);
	if (refusal.fault)
		(void)talk_send(FILES_FAULT, &refusal, sizeof(refusal), why, strlen(why));
	return 0;
}
