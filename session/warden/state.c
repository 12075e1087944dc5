/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server's folder. Everything in it was made by root, so names in it can be used; links are refused all the same. */
#include "session/warden/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/requests.h"

#define BACKLOG 64
#define PROXY_BACKLOG 256

static const struct folder {
	const char *name;
	mode_t mode;
	bool fronts_uid, fronts_gid;
} FOLDERS[] = {
	{"run", 0750, false, true},    {"journals", 0750, false, true}, {"front", 0700, true, true},
	{"build", 0700, false, false}, {"share", 0700, false, false},  {"cgroup2", 0700, false, false},
	{"secrets", 0700, false, false},
};

char *state_path(const struct state *state, char *out, size_t size, const char *rest, const char *id)
{
	(void)snprintf(out, size, "%s/%s%s%s", state->dir, rest, *id ? "/" : "", id);
	return out;
}

/* FNV-1a: the name only has to differ from other servers' on this host. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xCBF29CE484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001B3;
	return hash;
}

static int open_folder(struct state *state, const char *dir, struct err *e)
{
	auto_free char *real = NULL;
	struct stat st;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "making %s", dir);
	real = realpath(dir, NULL);
	if (!real)
		return err_sys(e, "%s", dir);
	if (strlen(real) >= sizeof(state->dir) - 64)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the path of the state folder is too long");
	(void)snprintf(state->dir, sizeof(state->dir), "%s", real);
	(void)snprintf(state->name, sizeof(state->name), "glovebox-%016" PRIx64, hash_text(real));
	state->fd = open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (state->fd < 0 || fstat(state->fd, &st) < 0)
		return err_sys(e, "%s", real);
	if (st.st_uid != 0)
		return err_set(e, ERR_FORBIDDEN, NULL, "%s is not root's", real);
	return fchmod(state->fd, 0700) < 0 ? err_sys(e, "%s", real) : 0;
}

static int take_lock(struct state *state, struct err *e)
{
	char holder[32] = "";

	state->lock = openat(state->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (state->lock < 0)
		return err_sys(e, "the lock file");
	if (flock(state->lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return err_sys(e, "flock");
		if (pread(state->lock, holder, sizeof(holder) - 1, 0) < 0)
			return err_sys(e, "the lock file");
		return err_set(e, ERR_CONFLICT, NULL, "another gloveboxd (pid %d) uses %s; end it or choose another folder with --state", atoi(holder),
		               state->dir);
	}
	if (ftruncate(state->lock, 0) < 0 || dprintf(state->lock, "%d\n", getpid()) < 0)
		return err_sys(e, "the lock file");
	return 0;
}

int state_open(struct state *state, const char *dir, struct err *e)
{
	*state = (struct state){.fd = -1, .lock = -1, .run = -1, .journals = -1};
	if (open_folder(state, dir, e) == 0 && take_lock(state, e) == 0)
		return 0;
	state_close(state);
	return -1;
}

void state_close(struct state *state)
{
	util_close_fd(&state->run);
	util_close_fd(&state->journals);
	util_close_fd(&state->lock);
	util_close_fd(&state->fd);
}

static int make_folder(const struct state *state, const struct folder *folder, struct err *e)
{
	auto_fd fd = -1;

	if (mkdirat(state->fd, folder->name, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "making %s", folder->name);
	fd = openat(state->fd, folder->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchown(fd, folder->fronts_uid ? state->front : 0, folder->fronts_gid ? state->front : 0) < 0 || fchmod(fd, folder->mode) < 0)
		return err_sys(e, "the folder %s", folder->name);
	return 0;
}

/* Calls fn for each name in the folder that is a session's id. */
static void each_session(const struct state *state, int dir, void (*fn)(const struct state *, const char *))
{
	DIR *stream = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

	for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
		if (requests_id_valid(entry->d_name))
			fn(state, entry->d_name);
	if (stream)
		(void)closedir(stream);
}

int state_prepare(struct state *state, uid_t front, struct err *e)
{
	state->front = front;
	for (size_t i = 0; i < ARRAY_LEN(FOLDERS); i++)
		if (make_folder(state, &FOLDERS[i], e) < 0)
			return -1;
	state->run = openat(state->fd, "run", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	state->journals = openat(state->fd, "journals", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (state->run < 0 || state->journals < 0)
		return err_sys(e, "the state folder");
	each_session(state, state->run, state_remove_run);
	each_session(state, state->journals, state_give_journal);
	return 0;
}

/* Jails get copies: a bound file would show its path on the host in their mountinfo. */
static int copy_program(int program, const char *path, struct err *e)
{
	auto_fd out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	off_t at = 0;
	ssize_t n;

	if (out < 0 || fchmod(out, 0755) < 0)
		return err_sys(e, "a program for the jails");
	while ((n = sendfile(out, program, &at, 1 << 24)) > 0)
		;
	return n < 0 ? err_sys(e, "copying a program for the jails") : 0;
}

const char *const STATE_TOOL_FILES[N_STATE_TOOLS] = {[STATE_TOOL_LAUNCH] = "glovebox-launch", [STATE_TOOL_ACCESS] = "glovebox-access",
                                                      [STATE_TOOL_RELAY] = "glovebox-relay", [STATE_TOOL_BATTERY] = "glovebox-battery", [STATE_TOOL_FILES_HELPER] = "glovebox-files"};

int state_mount_share(const struct state *state, const int tools[N_STATE_TOOLS], struct err *e)
{
	static const char *const folders[] = {"share/x11", "share/egress", "share/bin"};
	char path[600];

	if (mount("share", state_path(state, path, sizeof(path), "share", ""), "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,nr_inodes=4096,mode=755") < 0)
		return err_sys(e, "mounting %s", path);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (mkdir(state_path(state, path, sizeof(path), folders[i], ""), 0755) < 0 || chmod(path, 0755) < 0)
			return err_sys(e, "making %s", path);
	for (int i = 0; i < N_STATE_TOOLS; i++)
		if (tools[i] >= 0 && copy_program(tools[i], state_path(state, path, sizeof(path), "share/bin", STATE_TOOL_FILES[i]), e) < 0)
			return -1;
	return 0;
}

/* Binds a socket to a name in a folder, whose own path may be longer than an address holds. */
static int bind_in(int sock, int dir, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir, name);
	return bind(sock, (const struct sockaddr *)&address, sizeof(address));
}

int state_make_run(const struct state *state, const char *id, int *out, struct err *e)
{
	auto_fd dir = -1;
	auto_fd sock = -1;

	if (mkdirat(state->run, id, 0700) < 0)
		return err_sys(e, "making the session's folder");
	dir = openat(state->run, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fchown(dir, 0, state->front) < 0 || fchmod(dir, 0750) < 0)
		return err_sys(e, "the session's folder");
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0 || bind_in(sock, dir, "stage.sock") < 0 || fchownat(dir, "stage.sock", state->front, state->front, AT_SYMLINK_NOFOLLOW) < 0 ||
	    listen(sock, BACKLOG) < 0)
		return err_sys(e, "the stage's socket");
	*out = steal_fd(&sock);
	return 0;
}

void state_remove_run(const struct state *state, const char *id)
{
	auto_fd dir = openat(state->run, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return;
	if ((unlinkat(dir, "stage.sock", 0) < 0 && errno != ENOENT) || unlinkat(state->run, id, AT_REMOVEDIR) < 0)
		log_warn("run/%s could not be removed: %s", id, strerror(errno));
}

static int make_journal_file(int dir, const char *name, uid_t stage, uid_t front, int *out, struct err *e)
{
	auto_fd fd = openat(dir, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fchown(fd, stage, front) < 0 || fchmod(fd, 0640) < 0)
		return err_sys(e, "making %s", name);
	*out = steal_fd(&fd);
	return 0;
}

static const char *const journal_files[N_STATE_FILES] = {
	[STATE_SESSION_JSON] = "session.json", [STATE_JOURNAL] = "journal.jsonl", [STATE_PICTURES] = "pictures"};

int state_make_journal(const struct state *state, const char *id, uid_t stage, int files[N_STATE_FILES], struct err *e)
{
	auto_fd dir = -1;

	if (mkdirat(state->journals, id, 0700) < 0)
		return errno == EEXIST ? err_set(e, ERR_CONFLICT, NULL, "there was a session %s already", id) : err_sys(e, "making the journal");
	dir = openat(state->journals, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fchown(dir, stage, state->front) < 0 || fchmod(dir, 02750) < 0)
		return err_sys(e, "the journal's folder");
	for (int i = 0; i < N_STATE_FILES; i++)
		if (make_journal_file(dir, journal_files[i], stage, state->front, &files[i], e) < 0)
			return -1;
	return 0;
}

/* A session that failed before it began has written nothing: nothing of it stays. */
static bool drop_empty_journal(const struct state *state, int dir, const char *id)
{
	struct stat file;

	for (int i = 0; i < N_STATE_FILES; i++)
		if (fstatat(dir, journal_files[i], &file, AT_SYMLINK_NOFOLLOW) < 0 ? errno != ENOENT : file.st_size > 0)
			return false;
	for (int i = 0; i < N_STATE_FILES; i++)
		(void)unlinkat(dir, journal_files[i], 0);
	return unlinkat(state->journals, id, AT_REMOVEDIR) == 0;
}

void state_give_journal(const struct state *state, const char *id)
{
	auto_fd dir = openat(state->journals, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = dir < 0 ? NULL : fdopendir(dup(dir));
	bool right = stream != NULL;

	if (dir >= 0 && drop_empty_journal(state, dir, id)) {
		if (stream)
			(void)closedir(stream);
		return;
	}
	for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
		if (entry->d_name[0] != '.' && fchownat(dir, entry->d_name, state->front, state->front, AT_SYMLINK_NOFOLLOW) < 0)
			right = false;
	if (stream)
		(void)closedir(stream);
	if (!right || fchown(dir, state->front, state->front) < 0)
		log_warn("journals/%s could not be given to the front: %s", id, strerror(errno));
}

int state_drop_journal(const struct state *state, const char *id, struct err *e)
{
	auto_fd dir = openat(state->journals, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = dir < 0 ? NULL : fdopendir(dup(dir));
	int rc = 0;

	if (dir < 0 && errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND, NULL, "this session has no journal");
	if (!stream)
		return err_sys(e, "opening the journal's folder");
	for (struct dirent *entry = readdir(stream); entry && rc == 0; entry = readdir(stream))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = unlinkat(dir, entry->d_name, 0);
	if (rc < 0 || unlinkat(state->journals, id, AT_REMOVEDIR) < 0)
		rc = err_sys(e, "removing the journal");
	(void)closedir(stream);
	return rc;
}

/* One tmpfs a session: who fills it harms himself alone. */
static int mount_own(const struct state *state, const char *folder, const char *id, const char *options, struct err *e)
{
	char path[600];

	state_path(state, path, sizeof(path), folder, id);
	if (mkdir(path, 0755) < 0)
		return err_sys(e, "a session's folder in %s", folder);
	if (mount("session", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) < 0)
		return err_sys(e, "mounting a session's folder in %s", folder);
	return 0;
}

static void unmount_own(const struct state *state, const char *folder, const char *id)
{
	char path[600];

	state_path(state, path, sizeof(path), folder, id);
	(void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
	if (rmdir(path) < 0 && errno != ENOENT)
		log_warn("%s/%s could not be removed: %s", folder, id, strerror(errno));
}

int state_make_x11(const struct state *state, const char *id, struct err *e)
{
	/* X wants the folder to be root's and sticky. */
	return mount_own(state, "share/x11", id, "size=64k,nr_inodes=16,mode=1777", e);
}

void state_remove_x11(const struct state *state, const char *id)
{
	unmount_own(state, "share/x11", id);
}

int state_make_egress(const struct state *state, const char *id, uid_t uid, int *out, struct err *e)
{
	char path[600];
	auto_fd dir = -1;
	auto_fd sock = -1;

	if (mount_own(state, "share/egress", id, "size=1m,nr_inodes=16,mode=755", e) < 0)
		return -1;
	dir = open(state_path(state, path, sizeof(path), "share/egress", id), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (dir < 0 || sock < 0 || bind_in(sock, dir, "proxy.sock") < 0 || fchmodat(dir, "proxy.sock", 0666, 0) < 0 || listen(sock, PROXY_BACKLOG) < 0 ||
	    fchown(dir, uid, uid) < 0)
		return err_sys(e, "the socket of a session's way out");
	*out = steal_fd(&sock);
	return 0;
}

void state_remove_egress(const struct state *state, const char *id)
{
	unmount_own(state, "share/egress", id);
}
