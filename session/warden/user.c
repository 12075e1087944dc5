/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an ordinary user to root of namespaces of the server's own: three processes.
 *
 *   the caller   stays outside, maps the ids, passes signals on
 *   pid 1        of the new namespaces: reaps what loses its parent, passes signals on
 *   the server   the program, executed anew: what the kernel lets others do to a process depends on where its program was executed
 */
#include "session/warden/user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/base/util.h"
#include "session/warden/ceilings.h"
#include "session/warden/prepare.h"

#define SUBIDS_MAX (1024 * 1024)
#define NUMBER 12 /* decimal uint32_t with its NUL */

/* Ids inside [inside, inside + many) are the user's subordinate ones from `uids` and `gids` on. */
struct map {
	uint32_t inside, many, uids, gids;
};

/* The user's first range in a file of the form of /etc/subuid that is long enough; the longest one's length is stored for the refusal. */
static bool find_range(const char *file, const struct passwd *who, uint32_t many, uint32_t *first, unsigned long long *longest)
{
	auto_free char *text = NULL;
	auto_fd fd = open(file, O_RDONLY | O_CLOEXEC);
	char *rest = fd >= 0 && util_read_file(fd, SUBIDS_MAX, &text) >= 0 ? text : NULL;
	char number[NUMBER];
	const char *line;

	(void)snprintf(number, sizeof(number), "%u", who->pw_uid);
	while ((line = strsep(&rest, "\n")) != NULL) {
		size_t len = strcspn(line, ":");
		unsigned long long start, count;

		if ((strlen(who->pw_name) != len || strncmp(line, who->pw_name, len) != 0) && (strlen(number) != len || strncmp(line, number, len) != 0))
			continue;
		if (sscanf(line + len, ":%llu:%llu", &start, &count) != 2 || start == 0 || start + count > UINT32_MAX)
			continue;
		if (count > *longest)
			*longest = count;
		if (count >= many) {
			*first = (uint32_t)start;
			return true;
		}
	}
	return false;
}

static int find_ids(struct map *map, const struct options *options, struct err *e)
{
	const struct passwd *who = getpwuid(getuid());
	struct ceilings ceilings;
	unsigned long long longest = 0;

	if (!who)
		return err_set(e, ERR_NOT_FOUND, NULL, "uid %u has no line in the list of users: start the server as a user with a name, or as root", getuid());
	if (prepare_ceilings(&ceilings, options->ceilings, e) < 0)
		return -1;
	map->inside = ceilings.uid_base;
	map->many = CEILINGS_SLOT_UIDS * (ceilings.sessions + 1);
	if (find_range("/etc/subuid", who, map->many, &map->uids, &longest) && find_range("/etc/subgid", who, map->many, &map->gids, &longest))
		return 0;
	return err_set(e, ERR_UNSUPPORTED, NULL,
	               "%s has %llu subordinate ids in a row, and %u sessions take %u. As root: usermod --add-subuids FIRST-LAST --add-subgids FIRST-LAST %s, with a "
	               "range that nobody has; or start the server as root",
	               who->pw_name, longest, ceilings.sessions, map->many, who->pw_name);
}

/* TOOL PID 0 OWN 1 INSIDE OUTSIDE MANY, as newuidmap and newgidmap take it. */
static int map_ids(char *tool, pid_t pid, uint32_t own, const struct map *map, uint32_t outside, struct err *e)
{
	char numbers[5][NUMBER];
	char zero[] = "0", one[] = "1";
	char *argv[] = {tool, numbers[0], zero, numbers[1], one, numbers[2], numbers[3], numbers[4], NULL};
	const uint32_t values[] = {(uint32_t)pid, own, map->inside, outside, map->many};
	int status, error;
	pid_t child;

	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		(void)snprintf(numbers[i], sizeof(numbers[i]), "%u", values[i]);
	error = posix_spawnp(&child, tool, NULL, NULL, argv, environ);
	if (error)
		return err_set(e, ERR_UNSUPPORTED, NULL, "%s (%s): as root: apt install uidmap", tool, strerror(error));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, "waitpid");
	return status == 0 ? 0 : err_set(e, ERR_UNSUPPORTED, NULL, "%s did not map the ids %u..%u", tool, outside, outside + map->many - 1);
}

/* Until the child ends, however; its exit status. Signals are blocked. */
static int pass_on(pid_t child, const sigset_t *signals)
{
	int signo, status;
	pid_t pid;

	for (;;) {
		if (sigwait(signals, &signo) != 0)
			continue;
		if (signo != SIGCHLD)
			(void)kill(child, signo);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == child)
				return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

/* The last change of rights clears the parent-death signal; whoever died before it was armed has closed the other end of `life`. */
static int live_with_parent(int life, struct err *e)
{
	struct pollfd end = {.fd = life};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(e, "the parent-death signal");
	if (poll(&end, 1, 0) < 0 || end.revents & POLLHUP)
		_exit(EXIT_FAILURE);
	return 0;
}

/* Goes on as the server: the same command line, with what cannot be found out in there. */
static int execute_again(char **argv, const struct user *user, struct err *e)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t n = 0;
	auto_free char *entered = util_printf("--entered=%u", user->host_root);
	auto_free char **words = NULL;

	if (len < 0)
		return err_sys(e, "/proc/self/exe");
	self[len] = '\0';
	while (argv[n])
		n++;
	words = util_zalloc((n + 2) * sizeof(*words));
	memcpy(words, argv, n * sizeof(*words));
	words[n] = entered;
	(void)execv(self, words);
	return err_sys(e, "executing the server in its namespaces");
}

/* pid 1, once its ids are mapped. Returns 0 in its child, which becomes the server. */
static int begin_inside(int life, const sigset_t *signals, const sigset_t *before, struct err *e)
{
	pid_t pid;

	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_sys(e, "root of a user namespace");
	if (live_with_parent(life, e) < 0)
		return -1;
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 || mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return err_sys(e, "/proc of the server's own processes");
	pid = fork();
	if (pid < 0)
		return err_sys(e, "fork");
	if (pid > 0)
		_exit(pass_on(pid, signals));
	if (sigprocmask(SIG_SETMASK, before, NULL) < 0)
		return err_sys(e, "sigprocmask");
	return live_with_parent(life, e);
}

/* The caller's side. The mapped child is told by a byte; the pipe stays open as long as this process lives. */
static int begin_outside(pid_t child, int go, const struct map *map, struct err *e)
{
	char uid_tool[] = "newuidmap", gid_tool[] = "newgidmap";

	if (map_ids(uid_tool, child, getuid(), map, map->uids, e) == 0 && map_ids(gid_tool, child, getgid(), map, map->gids, e) == 0 &&
	    util_write_all(go, "", 1) == 0)
		return 0;
	util_close_fd(&go); /* its end is how the child learns of it */
	(void)waitpid(child, NULL, 0);
	return -1;
}

static bool roots_alone(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && st.st_uid == 0 && !(st.st_mode & 022);
}

static uid_t unmapped_uid(void)
{
	auto_fd fd = open("/proc/sys/kernel/overflowuid", O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;

	return fd >= 0 && util_read_file(fd, NUMBER, &text) > 0 ? (uid_t)strtoul(text, NULL, 10) : 65534;
}

int user_enter(struct user *user, const struct options *options, char **argv, struct err *e)
{
	struct map map;
	sigset_t signals, before;
	int go[2];
	long pid;
	char byte;

	*user = (struct user){.ordinary = options->entered, .host_root = options->entered ? (uid_t)strtoul(options->entered, NULL, 10) : 0};
	if (geteuid() == 0)
		return 0;
	if (roots_alone(options->images))
		user->host_root = unmapped_uid();
	if (find_ids(&map, options, e) < 0)
		return -1;
	(void)sigemptyset(&signals);
	for (size_t i = 0; i < 4; i++)
		(void)sigaddset(&signals, ((const int[]){SIGTERM, SIGINT, SIGHUP, SIGCHLD})[i]);
	if (pipe2(go, O_CLOEXEC) < 0 || sigprocmask(SIG_BLOCK, &signals, &before) < 0)
		return err_sys(e, "an ordinary user's start");
	pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		return err_sys(e, "a user namespace (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)");
	if (pid > 0) {
		util_close_fd(&go[0]);
		if (begin_outside((pid_t)pid, go[1], &map, e) < 0)
			return -1;
		_exit(pass_on((pid_t)pid, &signals));
	}
	util_close_fd(&go[1]);
	if (read(go[0], &byte, 1) != 1)
		_exit(EXIT_FAILURE); /* the caller says why */
	return begin_inside(go[0], &signals, &before, e) < 0 ? -1 : execute_again(argv, user, e);
}

char *user_state_folder(void)
{
	static const char *const below[] = {".local", ".local/share", ".local/share/glovebox"};
	const char *data = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");
	auto_free char *path = NULL;

	if (data && *data == '/')
		return util_printf("%s/glovebox", data);
	for (size_t i = 0; i < ARRAY_LEN(below); i++) {
		util_free(&path);
		path = util_printf("%s/%s", home ? home : "", below[i]);
		(void)mkdir(path, 0700); /* what is in the way is found by whoever opens the folder */
	}
	return util_strdup(path);
}

bool user_look(const struct options *options, char *value, size_t size)
{
	struct map map;
	struct err e = {0};
	bool good = geteuid() == 0 || find_ids(&map, options, &e) == 0;

	if (!good)
		(void)snprintf(value, size, "%s", e.msg);
	else if (geteuid() == 0)
		(void)snprintf(value, size, options->entered ? "this user's, mapped" : "none are needed: root starts it");
	else
		(void)snprintf(value, size, "%u of %u..%u", map.many, map.uids, map.uids + map.many - 1);
	return good;
}
