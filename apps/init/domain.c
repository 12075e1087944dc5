/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rulesets of Landlock: rights on folders, all that is not named in one is refused. */
#include "apps/init/domain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apps/init/proto.h"
#include "sandbox/confine/confine.h"
#include "session/base/layer.h"
#include "session/base/util.h"

/* Reading is what the home of trusted programs asks for. Renaming between folders is refused by any domain that does not name it. */
#define PLACE_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_REFER)

/* The kernel's struct landlock_ruleset_attr as of SCOPES_ABI, which is younger than the headers that this is built with. */
struct ruleset_attr {
	uint64_t files, ports, scopes;
};

#define SCOPES_ABI 6
#define SCOPE_ABSTRACT_SOCKETS (1U << 0)
#define SCOPE_SIGNALS (1U << 1)

/* The kernel opens it for each program. */
#define LOADER "/lib64/ld-linux-x86-64.so.2"

static int add_place(struct domains *domains, int folder, const char *name, struct err *e)
{
	auto_fd fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "a place that programs may read");
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return 0; /* links lead to other places */
	if (domains->n == DOMAIN_PLACES)
		return err_set(e, ERR_LIMIT, NULL, "the root has more than %d entries", DOMAIN_PLACES);
	domains->places[domains->n++] = steal_fd(&fd);
	return 0;
}

/* All entries of a folder but one, which is looked into next. A folder that is not there has none. */
static int add_entries(struct domains *domains, const char *path, const char *but, struct err *e)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		return errno == ENOENT ? 0 : err_sys(e, "listing %s", path);
	while (rc == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && strcmp(entry->d_name, but) != 0)
			rc = add_place(domains, dirfd(dir), entry->d_name, e);
	(void)closedir(dir);
	return rc;
}

int domains_open(struct domains *out, struct err *e)
{
	out->n = 0;
	out->there = false;
	out->abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (out->abi < INIT_LANDLOCK_ABI || layer_is_off("landlock"))
		return 0;
	out->there = true;
	if (add_entries(out, "/", "run", e) < 0 || add_entries(out, "/run", "glovebox", e) < 0)
		return -1;
	return add_entries(out, "/run/glovebox", "trusted", e);
}

static int allow(int ruleset, int place, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = place};
	struct stat st;

	if (fstat(place, &st) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access &= ~(uint64_t)LANDLOCK_ACCESS_FS_REFER;
	return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static int allow_path(int ruleset, const char *path, uint64_t rights)
{
	auto_fd fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -1 : allow(ruleset, fd, rights);
}

static int allow_trusted(int ruleset, const char *program, char *const *runs)
{
	if (allow_path(ruleset, INIT_TRUSTED_FOLDER, PLACE_RIGHTS) < 0 && errno != ENOENT)
		return -1;
	for (; *runs; runs++)
		if (allow_path(ruleset, *runs, LANDLOCK_ACCESS_FS_EXECUTE) < 0 && errno != ENOENT)
			return -1;
	if (allow_path(ruleset, program, LANDLOCK_ACCESS_FS_EXECUTE) < 0 && errno != ENOENT)
		return -1;
	return allow_path(ruleset, LOADER, LANDLOCK_ACCESS_FS_EXECUTE);
}

static int restrict_files(const struct domains *domains, const char *trusted, char *const *runs)
{
	const struct ruleset_attr attr = {
		.files = PLACE_RIGHTS | (trusted ? LANDLOCK_ACCESS_FS_EXECUTE : 0), .scopes = trusted ? SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS : 0};
	auto_fd ruleset = -1;

	/* An older kernel knows less of the structure. */
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, domains->abi >= SCOPES_ABI ? sizeof(attr) : sizeof(attr.files), 0);
	if (ruleset < 0)
		return -1;
	for (size_t i = 0; i < domains->n; i++)
		if (allow(ruleset, domains->places[i], PLACE_RIGHTS) < 0)
			return -1;
	if (trusted && allow_trusted(ruleset, trusted, runs) < 0)
		return -1;
	return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}

int domain_enter(const struct domains *domains, const char *trusted, char *const *runs)
{
	if (domains->there && restrict_files(domains, trusted, runs) < 0)
		return -1;
	return trusted || layer_is_off("filters") ? 0 : confine_load(&confine_app_alone, NULL);
}
