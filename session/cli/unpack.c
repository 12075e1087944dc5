/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Archives to folders. */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/base/hash.h"
#include "session/base/util.h"
#include "session/cli/folder.h"

#define PIECE_BYTES 65536
#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS)

struct unpacking {
	int folder, fd;
	folder_wants_fn *wants;
	void *arg;
	struct folder_report *report;
};

/* Signs that some file systems do not tell apart, or leave out: Apple's leaves out those of no width, and the others points and blanks at the end. */
bool folder_is_git(const char *part, size_t len)
{
	char plain[64];
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < sizeof(plain);) {
		uint32_t sign;
		size_t width = util_utf8_decode(part + i, len - i, &sign);

		if (width == 0)
			return true;
		if (sign < 0x80)
			plain[n++] = (char)sign;
		else if (!((sign >= 0x200B && sign <= 0x200F) || (sign >= 0x202A && sign <= 0x202E) || (sign >= 0x2060 && sign <= 0x206F) || sign == 0xFEFF))
			plain[n++] = '?';
		i += width;
	}
	plain[n] = '\0';
	plain[strcspn(plain, ":")] = '\0'; /* a stream of NTFS */
	n = strlen(plain);
	while (n > 0 && (plain[n - 1] == ' ' || plain[n - 1] == '.'))
		plain[--n] = '\0';
	return strcasecmp(plain, ".git") == 0 || strncasecmp(plain, "git~", 4) == 0;
}

const char *folder_git_end(const char *path)
{
	for (const char *at = path;; at++) {
		size_t len = strcspn(at, "/");

		if (folder_is_git(at, len))
			return at + len;
		at += len;
		if (!*at)
			return NULL;
	}
}

bool folder_has_git(const char *path)
{
	return folder_git_end(path);
}

static int at(int folder, const char *path, int flags, unsigned int mode)
{
	const struct open_how how = {.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC), .mode = mode, .resolve = BENEATH};

	return (int)syscall(SYS_openat2, folder, *path ? path : ".", &how, sizeof(how));
}

/* The folder of an entry, made where an archive does not name it; *name is what it is called in it. */
static int parent_of(int root, const char *path, const char **name)
{
	auto_fd folder = at(root, "", O_PATH | O_DIRECTORY, 0);

	for (;;) {
		size_t len = strcspn(path, "/");
		auto_free char *part = util_printf("%.*s", (int)len, path);
		int next;

		if (!path[len]) {
			*name = path;
			return steal_fd(&folder);
		}
		(void)mkdirat(folder, part, 0755);
		next = at(folder, part, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (next < 0)
			return -1;
		util_close_fd(&folder);
		folder = next;
		path += len + 1;
	}
}

static int make(struct unpacking *u, const struct tar_entry *entry)
{
	const char *name;
	auto_fd parent = parent_of(u->folder, entry->name, &name);
	mode_t mode = (entry->mode & 0111 ? 0777 : 0666) & 0777;

	if (parent < 0)
		return -1;
	if (entry->kind == TAR_FOLDER)
		return mkdirat(parent, name, 0755) < 0 && errno != EEXIST ? -1 : 0;
	if (entry->kind == TAR_LINK)
		return symlinkat(entry->target, parent, name);
	u->fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return u->fd < 0 ? -1 : 0;
}

/* A repository is named once, not with all that is in it. */
static void leave_out(const struct unpacking *u, const struct tar_entry *entry)
{
	const char *slash = strrchr(entry->name, '/');
	auto_free char *folder = slash ? util_printf("%.*s", (int)(slash - entry->name), entry->name) : NULL;

	if (!folder || !folder_has_git(folder))
		(void)json_array_append_new(u->report->left_out, json_sprintf("%s: it would be a repository's", entry->name));
}

static int take_entry(void *arg, const struct tar_entry *entry, struct err *e)
{
	struct unpacking *u = arg;

	util_close_fd(&u->fd);
	if (!*entry->name || (u->wants && !u->wants(u->arg, entry)))
		return 0;
	if (folder_has_git(entry->name) || (entry->kind == TAR_LINK && folder_has_git(entry->target))) {
		leave_out(u, entry);
		return 0;
	}
	if (make(u, entry) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be made: %s", entry->name, strerror(errno));
	u->report->n++;
	u->report->bytes += entry->size;
	return 0;
}

static int take_data(void *arg, const void *data, size_t len, struct err *e)
{
	const struct unpacking *u = arg;

	return u->fd >= 0 && util_write_all(u->fd, data, len) < 0 ? err_set(e, ERR_BAD_REQUEST, NULL, "a file cannot be written: %s", strerror(errno)) : 0;
}

int folder_read(int archive, const struct tar_ops *ops, struct err *e)
{
	auto_free struct tar_reader *reader = util_zalloc(sizeof(*reader));
	auto_free char *piece = util_alloc(PIECE_BYTES);
	off_t from = 0;
	ssize_t n;
	int rc = 0;

	tar_reader_init(reader, ops);
	while (rc == 0 && (n = pread(archive, piece, PIECE_BYTES, from)) > 0) {
		rc = tar_reader_feed(reader, piece, (size_t)n, e);
		from += n;
	}
	if (rc == 0)
		rc = tar_reader_end(reader, e);
	tar_reader_finish(reader);
	return rc;
}

int folder_unpack(int archive, const char *folder, folder_wants_fn *wants, void *arg, struct folder_report *report, struct err *e)
{
	struct unpacking u = {.folder = -1, .fd = -1, .wants = wants, .arg = arg, .report = report};
	const struct tar_ops ops = {.entry = take_entry, .data = take_data, .arg = &u};
	int rc;

	*report = (struct folder_report){.left_out = json_array()};
	if (mkdir(folder, 0755) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the folder %s cannot be made: %s", folder, strerror(errno));
	u.folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rc = u.folder < 0 ? err_set(e, ERR_BAD_REQUEST, NULL, "the folder %s cannot be opened", folder) : folder_read(archive, &ops, e);
	util_close_fd(&u.fd);
	util_close_fd(&u.folder);
	return rc;
}

/* --- what is in one --- */

struct digesting {
	json_t *entries;
	char name[TAR_NAME_SIZE];
	gnutls_hash_hd_t hash; /* of the present file, or NULL */
	uint64_t left;
	unsigned int mode;
};

static void end_file(struct digesting *d)
{
	char hex[2 * HASH_BYTES + 1];
	uint8_t digest[HASH_BYTES];

	gnutls_hash_deinit(d->hash, digest);
	d->hash = NULL;
	util_hex(hex, digest, sizeof(digest));
	(void)json_object_set_new(d->entries, d->name, json_sprintf("file %s %s", d->mode & 0111 ? "x" : "-", hex));
}

static int digest_entry(void *arg, const struct tar_entry *entry, struct err *e)
{
	struct digesting *d = arg;

	(void)e;
	if (!*entry->name || entry->kind == TAR_FOLDER)
		return 0;
	(void)snprintf(d->name, sizeof(d->name), "%s", entry->name);
	if (entry->kind == TAR_LINK) {
		(void)json_object_set_new(d->entries, entry->name, json_sprintf("link %s", entry->target));
		return 0;
	}
	if (gnutls_hash_init(&d->hash, GNUTLS_DIG_SHA256) < 0)
		DIE("there is no SHA-256");
	d->left = entry->size;
	d->mode = entry->mode;
	if (d->left == 0)
		end_file(d);
	return 0;
}

static int digest_data(void *arg, const void *data, size_t len, struct err *e)
{
	struct digesting *d = arg;

	(void)e;
	if (gnutls_hash(d->hash, data, len) < 0)
		DIE("no SHA-256 of a file");
	d->left -= len;
	if (d->left == 0)
		end_file(d);
	return 0;
}

int folder_digest(int archive, json_t **entries, struct err *e)
{
	auto_free struct digesting *d = util_zalloc(sizeof(*d));
	const struct tar_ops ops = {.entry = digest_entry, .data = digest_data, .arg = d};
	json_auto_t *made = json_object();

	d->entries = made;
	if (folder_read(archive, &ops, e) < 0) {
		if (d->hash)
			gnutls_hash_deinit(d->hash, NULL);
		return -1;
	}
	*entries = json_incref(made);
	return 0;
}
