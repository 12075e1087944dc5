/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding, making and sweeping the server's folder in each hierarchy of control groups. */
#include "sandbox/jail/hierarchy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/log.h"
#include "session/base/util.h"

#define PROC_FILE_MAX (1024 * 1024)
#define SWEEP_ROUNDS 200
#define SWEEP_WAIT_MS 20
#define WARDEN_LEAF "warden"

static const struct {
	const char *name;
	enum controller bit;
} CONTROLLERS[] = {{"memory", CONTROLLER_MEMORY}, {"pids", CONTROLLER_PIDS}, {"cpu", CONTROLLER_CPU}};

int hierarchy_write(int dir, const char *path, const char *text)
{
	auto_fd fd = openat(dir, path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : util_write_all(fd, text, strlen(text));
}

static char *read_text(int dir, const char *path)
{
	auto_fd fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;

	return fd < 0 || util_read_file(fd, PROC_FILE_MAX, &text) < 0 ? NULL : text;
}

/* The bits of the controllers named in a list that is separated by commas or spaces. */
static unsigned controllers_in(const char *list)
{
	unsigned bits = 0;

	while (*list) {
		size_t len = strcspn(list, ", \n");

		for (size_t i = 0; i < ARRAY_LEN(CONTROLLERS); i++)
			if (strlen(CONTROLLERS[i].name) == len && strncmp(CONTROLLERS[i].name, list, len) == 0)
				bits |= (unsigned)CONTROLLERS[i].bit;
		list += len;
		list += strspn(list, ", \n");
	}
	return bits;
}

/* Copies our own group in the hierarchy that has one of these controllers (0: v2) to path: "/user.slice/…". */
static bool own_group(const char *cgroup_text, unsigned controllers, char *path, size_t size)
{
	const char *line = cgroup_text;

	while (line && *line) {
		const char *names = strchr(line, ':');
		const char *group = names ? strchr(names + 1, ':') : NULL;
		const char *end = strchr(line, '\n');
		char list[256];

		if (!group)
			return false;
		(void)snprintf(list, sizeof(list), "%.*s", (int)(group - names - 1), names + 1);
		if (controllers ? (controllers_in(list) & controllers) != 0 : list[0] == '\0') {
			(void)snprintf(path, size, "%.*s", (int)(end ? end - group - 1 : (long)strlen(group + 1)), group + 1);
			return true;
		}
		line = end ? end + 1 : NULL;
	}
	return false;
}

/* A mount shows the part of its hierarchy below `root`: our group's place under the mount point. */
static void place_under(char *out, size_t size, const char *mount_point, const char *root, const char *group)
{
	size_t root_len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	bool below = strncmp(group, root, root_len) == 0 && (group[root_len] == '/' || group[root_len] == '\0');

	(void)snprintf(out, size, "%s%s", mount_point, below && strcmp(group + root_len, "/") != 0 ? group + root_len : "");
}

/* One line of mountinfo: "id parent major:minor root mount-point options … - type source super-options". */
static bool parse_mount(char *line, struct hierarchy *h, const char *cgroup_text)
{
	char root[512], point[512], type[32], options[512], group[512];
	const char *rest = strstr(line, " - ");

	if (!rest || sscanf(line, "%*s %*s %*s %511s %511s", root, point) != 2 ||
	    sscanf(rest, " - %31s %*s %511s", type, options) != 2)
		return false;
	*h = (struct hierarchy){.dir = -1};
	if (strcmp(type, "cgroup2") == 0) {
		h->version = 2;
	} else if (strcmp(type, "cgroup") == 0) {
		h->version = 1;
		h->controllers = controllers_in(options);
		if (!h->controllers)
			return false;
	} else {
		return false;
	}
	if (!own_group(cgroup_text, h->controllers, group, sizeof(group)))
		return false;
	place_under(h->base, sizeof(h->base), point, root, group);
	(void)snprintf(h->top, sizeof(h->top), "%s", point);
	return true;
}

static void add_hierarchy(struct hierarchy *all, int max, int *n, const struct hierarchy *found)
{
	for (int i = 0; i < *n; i++)
		if (all[i].version == found->version && all[i].controllers == found->controllers)
			return; /* mounted twice */
	if (*n < max)
		all[(*n)++] = *found;
}

int hierarchy_parse(struct hierarchy *all, int max, const char *mountinfo, const char *cgroup)
{
	auto_free char *lines = util_strdup(mountinfo);
	char *save = NULL;
	int n = 0;

	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct hierarchy h;

		if (parse_mount(line, &h, cgroup))
			add_hierarchy(all, max, &n, &h);
	}
	return n;
}

static bool mount_v2(const char *place, const char *cgroup_text, struct hierarchy *h)
{
	char group[512];

	if (!own_group(cgroup_text, 0, group, sizeof(group)) || mount("cgroup2", place, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return false;
	*h = (struct hierarchy){.version = 2, .dir = -1};
	place_under(h->base, sizeof(h->base), place, "/", group);
	(void)snprintf(h->top, sizeof(h->top), "%s", place);
	return true;
}

int hierarchy_find(struct hierarchy *all, int max, const char *name, const char *v2_place)
{
	auto_free char *mounts = read_text(AT_FDCWD, "/proc/self/mountinfo");
	auto_free char *groups = read_text(AT_FDCWD, "/proc/self/cgroup");
	bool has_v2 = false;
	int n;

	if (!mounts || !groups)
		return 0;
	n = hierarchy_parse(all, max, mounts, groups);
	for (int i = 0; i < n; i++)
		has_v2 = has_v2 || all[i].version == 2;
	if (!has_v2 && n < max && mount_v2(v2_place, groups, &all[n]))
		n++;
	for (int i = 0; i < n; i++) {
		(void)snprintf(all[i].path, sizeof(all[i].path), "%.400s/%.100s", all[i].base, name);
		(void)snprintf(all[i].top_path, sizeof(all[i].top_path), "%.400s/%.100s", all[i].top, name);
	}
	return n;
}

void hierarchy_hand_down(const struct hierarchy *h, const char *path)
{
	char file[512];
	char word[16];

	if (h->version != 2)
		return;
	(void)snprintf(file, sizeof(file), "%s/cgroup.subtree_control", path);
	for (size_t i = 0; i < ARRAY_LEN(CONTROLLERS); i++)
		if (h->controllers & (unsigned)CONTROLLERS[i].bit) {
			(void)snprintf(word, sizeof(word), "+%s", CONTROLLERS[i].name);
			if (hierarchy_write(h->dir, file, word) < 0)
				log_debug("%s of %s: %s", word, file, strerror(errno));
		}
}

/* The controllers that group `base` hands down now, after it was asked to hand down all that it has. */
static unsigned take_controllers(int base)
{
	auto_free char *has = read_text(base, "cgroup.controllers");
	auto_free char *down = NULL;
	unsigned wanted = has ? controllers_in(has) : 0;
	char word[16];

	for (size_t i = 0; i < ARRAY_LEN(CONTROLLERS); i++)
		if (wanted & (unsigned)CONTROLLERS[i].bit) {
			(void)snprintf(word, sizeof(word), "+%s", CONTROLLERS[i].name);
			(void)hierarchy_write(base, "cgroup.subtree_control", word);
		}
	down = read_text(base, "cgroup.subtree_control");
	return down ? controllers_in(down) & wanted : 0;
}

/* Reads the numbers of the processes in a group and the groups below it. */
static int pids_below(int dir, pid_t *pids, int max)
{
	auto_free char *text = read_text(dir, "cgroup.procs");
	DIR *stream = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	char *save = NULL;
	int n = 0;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && n < max; line = strtok_r(NULL, "\n", &save))
		if (atoi(line) > 0 && atoi(line) != getpid())
			pids[n++] = atoi(line);
	for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
			auto_fd child = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

			if (child >= 0)
				n += pids_below(child, pids + n, max - n);
		}
	if (stream)
		(void)closedir(stream);
	return n;
}

/* Kills what is in the group and waits a moment for each; the number that was there. */
static int kill_below(int dir)
{
	pid_t pids[256];
	struct pollfd ends[ARRAY_LEN(pids)];
	int n;

	(void)hierarchy_write(dir, "cgroup.kill", "1");
	n = pids_below(dir, pids, (int)ARRAY_LEN(pids));
	for (int i = 0; i < n; i++) {
		ends[i] = (struct pollfd){.fd = pidfd_open(pids[i], 0), .events = POLLIN};
		if (ends[i].fd >= 0)
			(void)pidfd_send_signal(ends[i].fd, SIGKILL, NULL, 0);
	}
	for (int i = 0; i < n; i++) {
		(void)poll(&ends[i], 1, SWEEP_WAIT_MS);
		util_close_fd(&ends[i].fd);
	}
	return n;
}

static bool remove_below(int parent, const char *name)
{
	auto_fd dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = dir < 0 ? NULL : fdopendir(dup(dir));

	for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			(void)remove_below(dir, entry->d_name);
	if (stream)
		(void)closedir(stream);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

static bool sweep(const char *path)
{
	for (int round = 0; round < SWEEP_ROUNDS; round++) {
		auto_fd dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (dir < 0)
			return errno == ENOENT;
		if (kill_below(dir) == 0) {
			if (remove_below(AT_FDCWD, path))
				return true;
			/* A process that has ended but left its group a moment later. */
			(void)poll(NULL, 0, SWEEP_WAIT_MS);
		}
	}
	log_warn("the group %s could not be removed: %s", path, strerror(errno));
	return false;
}

static int make_folder(struct hierarchy *h)
{
	(void)sweep(h->path);
	if (mkdir(h->path, 0755) < 0)
		return -1;
	h->dir = open(h->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return h->dir < 0 ? -1 : 0;
}

/* Moves the server's folder to the top of the hierarchy. */
static int move_to_top(struct hierarchy *h, int base)
{
	(void)hierarchy_write(base, "cgroup.procs", "0");
	h->moved = false;
	util_close_fd(&h->dir);
	(void)sweep(h->path);
	(void)snprintf(h->base, sizeof(h->base), "%s", h->top);
	(void)snprintf(h->path, sizeof(h->path), "%s", h->top_path);
	return make_folder(h);
}

/*
 * Controllers are handed down only by groups without processes. We step aside into a leaf of our own; where that is not enough,
 * since others are in our group too (a login shell) or the group itself has fewer controllers than the host, the folder
 * moves to the top of the hierarchy, where that rule does not hold.
 */
static int settle_v2(struct hierarchy *h)
{
	auto_fd base = open(h->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd top = open(h->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_free char *has = top < 0 ? NULL : read_text(top, "cgroup.controllers");
	unsigned wanted = has ? controllers_in(has) : 0;

	h->can_kill = faccessat(h->dir, "cgroup.kill", W_OK, 0) == 0 && faccessat(h->dir, "cgroup.freeze", W_OK, 0) == 0;
	if (!wanted)
		return 0; /* all of use are in v1 */
	if (mkdirat(h->dir, WARDEN_LEAF, 0755) < 0)
		return -1;
	h->moved = hierarchy_write(h->dir, WARDEN_LEAF "/cgroup.procs", "0") == 0;
	h->controllers = take_controllers(base);
	if (h->controllers != wanted && strcmp(h->base, h->top) != 0) {
		if (move_to_top(h, base) < 0)
			return -1;
		h->controllers = take_controllers(top);
	}
	hierarchy_hand_down(h, ".");
	return 0;
}

int hierarchy_make(struct hierarchy *h)
{
	if (make_folder(h) < 0)
		return -1;
	return h->version == 2 ? settle_v2(h) : 0;
}

bool hierarchy_remove(struct hierarchy *h)
{
	auto_fd base = open(h->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char word[16];

	/* Back to where we came from, which takes that the group hands nothing down any more. */
	for (size_t i = 0; h->moved && i < ARRAY_LEN(CONTROLLERS); i++) {
		(void)snprintf(word, sizeof(word), "-%s", CONTROLLERS[i].name);
		(void)hierarchy_write(h->dir, "cgroup.subtree_control", word);
		(void)hierarchy_write(base, "cgroup.subtree_control", word);
	}
	if (h->moved)
		(void)hierarchy_write(base, "cgroup.procs", "0");
	util_close_fd(&h->dir);
	return sweep(h->path);
}

int hierarchy_record(const char *file, const struct hierarchy *all, int n, struct err *e)
{
	auto_fd fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(e, "%s", file);
	for (int i = 0; i < n; i++)
		if (dprintf(fd, "%s\n", all[i].path) < 0 || (all[i].version == 2 && dprintf(fd, "%s\n", all[i].top_path) < 0))
			return err_sys(e, "writing %s", file);
	return 0;
}

void hierarchy_sweep_recorded(const char *file)
{
	auto_free char *text = read_text(AT_FDCWD, file);
	char *save = NULL;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		(void)sweep(line);
}
