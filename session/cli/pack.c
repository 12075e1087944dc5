/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders to archives. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/util.h"
#include "session/cli/folder.h"

#define PIECE_BYTES 65536
#define CONFIG_MAX (256 * 1024) /* of a .git/config that is looked into */

struct packing {
	const struct folder_rules *rules;
	int out;
	struct folder_report *report;
	char name[TAR_NAME_SIZE];
	struct err *e;
};

/* What keys and credentials are called. */
static const char *const private_names[] = {
	".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc",
	".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".vault-token", "credentials", "credentials.*", "client_secret*.json",
	"service-account*.json", "secrets.*", "*.tfstate", "*.tfstate.*", ".terraformrc", ".s3cfg", ".boto", "kubeconfig", ".dockercfg", ".aws", ".azure", ".docker", ".gnupg", ".kube", ".ssh",
	"gcloud",
};
static const char *const public_names[] = {".env.example", ".env.sample", ".env.template", "*.pub"};

static bool is_one_of(const char *name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static bool is_named(const struct packing *p)
{
	for (const char *const *named = p->rules->named; named && *named; named++)
		if (strcmp(*named, p->name) == 0)
			return true;
	return false;
}

static void leave_out(const struct packing *p, const char *why)
{
	char shown[TAR_PART_BYTES];
	bool is_text = util_utf8_valid(p->name, strlen(p->name));

	(void)json_array_append_new(p->report->left_out, json_sprintf("%s: %s", is_text ? p->name : err_quote(shown, sizeof(shown), p->name, strlen(p->name)), why));
}

/* In a repository, be it that of the folder, one in it, or that of a submodule: from its .git on; NULL: in none. */
static const char *in_git(const char *name)
{
	for (const char *at = name; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, ".git", 4) == 0 && (!at[4] || at[4] == '/'))
			return at;
	}
	return NULL;
}

/* The settings of a repository, also of a bare one (NAME.git), of one of its submodules (.git/modules/NAME) or of one of its worktrees; a branch may be called so, too. */
static bool is_settings(const char *name)
{
	const char *git = in_git(name), *last = strrchr(name, '/');
	bool is_bare = last && last - name >= 4 && memcmp(last - 4, ".git", 4) == 0;

	return last && (is_bare || (git && !strstr(git, "/logs/refs/"))) && (strcmp(last, "/config") == 0 || strcmp(last, "/config.worktree") == 0);
}

static int write_out(const struct packing *p, const void *data, size_t len)
{
	return util_write_all(p->out, data, len) < 0 ? err_set(p->e, ERR_BAD_REQUEST, NULL, "the archive cannot be written: %s", strerror(errno)) : 0;
}

static int write_head(struct packing *p, enum tar_kind kind, const struct stat *st, const char *target, uint64_t size)
{
	auto_free struct tar_entry *entry = util_zalloc(sizeof(*entry));
	auto_free unsigned char *head = util_alloc(TAR_HEAD_MAX);

	entry->kind = kind;
	entry->mode = st->st_mode & 0777;
	if (p->rules->is_workspace && in_git(p->name))
		entry->mode &= 0555;
	entry->mtime_s = MAX(st->st_mtim.tv_sec, 0);
	entry->size = size;
	(void)snprintf(entry->name, sizeof(entry->name), "%s", p->name);
	(void)snprintf(entry->target, sizeof(entry->target), "%s", target);
	p->report->n++;
	p->report->bytes += size;
	return write_out(p, head, tar_head(entry, head));
}

/* So many bytes, whatever becomes of the file meanwhile. */
static int write_content(struct packing *p, int fd, uint64_t size)
{
	static char piece[PIECE_BYTES];
	uint64_t left = size;

	while (left > 0) {
		ssize_t n = read(fd, piece, (size_t)MIN(left, sizeof(piece)));

		if (n <= 0)
			return err_set(p->e, ERR_BAD_REQUEST, NULL, "%s changed while it was read", p->name);
		if (write_out(p, piece, (size_t)n) < 0)
			return -1;
		left -= (uint64_t)n;
	}
	memset(piece, 0, TAR_BLOCK);
	return write_out(p, piece, tar_padding(size));
}

/* The settings of a repository may have a password in an address, a header, or by itself: then it goes without. */
static bool has_credentials(int fd)
{
	static const char *const words[] = {"extraheader", "pass", "token", "secret", "cookie"};
	auto_free char *text = NULL;
	const char *at;

	if (util_read_file(fd, CONFIG_MAX, &text) < 0)
		return true;
	(void)lseek(fd, 0, SEEK_SET);
	for (at = strstr(text, "://"); at; at = strstr(at + 3, "://"))
		if (memchr(at + 3, '@', strcspn(at + 3, "/\n")))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

static int pack_file(struct packing *p, int fd, const struct stat *st)
{
	static const char plain[] = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";

	if (p->rules->is_workspace && is_settings(p->name) && !is_named(p) && has_credentials(fd)) {
		char padding[TAR_BLOCK] = {0};

		leave_out(p, "it may hold credentials; a plain one is in its place");
		if (write_head(p, TAR_FILE, st, "", strlen(plain)) < 0 || write_out(p, plain, strlen(plain)) < 0)
			return -1;
		return write_out(p, padding, tar_padding(strlen(plain)));
	}
	return write_head(p, TAR_FILE, st, "", (uint64_t)st->st_size) < 0 ? -1 : write_content(p, fd, (uint64_t)st->st_size);
}

static int pack_link(struct packing *p, int folder, const char *name, const struct stat *st)
{
	char target[TAR_NAME_SIZE];
	ssize_t n = readlinkat(folder, name, target, sizeof(target) - 1);

	target[MAX(n, 0)] = '\0';
	if (n <= 0 || tar_target_fault(p->name, target)) {
		leave_out(p, "a link that leads out of the folder");
		return 0;
	}
	return write_head(p, TAR_LINK, st, target, 0);
}

static int pack_content(struct packing *p, int folder, size_t len, size_t depth);

/* Why it stays here; NULL: it does not. */
static const char *stays(const struct packing *p, const char *name)
{
	const char *git = in_git(p->name);

	if (!p->rules->is_workspace || is_named(p))
		return NULL;
	if (git && strcmp(git, ".git/hooks") == 0)
		return "hooks of the repository";
	if (!git && is_one_of(name, private_names, ARRAY_LEN(private_names)) && !is_one_of(name, public_names, ARRAY_LEN(public_names)))
		return "looks like a key or credentials; --include takes it";
	return NULL;
}

static int pack_entry(struct packing *p, int folder, const char *name, size_t len, size_t depth)
{
	const char *why = stays(p, name);
	struct stat st;
	auto_fd fd = -1;

	if (!why && tar_name_fault(p->name, strlen(p->name)))
		why = "its name is none for an archive";
	if (!why && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		why = strerror(errno);
	if (!why && S_ISLNK(st.st_mode))
		return pack_link(p, folder, name, &st);
	if (!why && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		why = "no file, folder or link";
	if (!why && p->rules->is_workspace && strcmp(p->name, ".git") == 0 && !S_ISDIR(st.st_mode))
		why = "the repository itself is elsewhere";
	if (!why) {
		fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		why = fd < 0 || fstat(fd, &st) < 0 ? strerror(errno) : NULL;
	}
	if (why) {
		leave_out(p, why);
		return 0;
	}
	if (S_ISREG(st.st_mode))
		return pack_file(p, fd, &st);
	return write_head(p, TAR_FOLDER, &st, "", 0) < 0 ? -1 : pack_content(p, fd, len, depth + 1);
}

static int pack_content(struct packing *p, int folder, size_t len, size_t depth)
{
	struct dirent **names;
	int n = depth < TAR_DEPTH ? scandirat(folder, ".", &names, NULL, alphasort) : -1, rc = 0;

	if (n < 0)
		return err_set(p->e, ERR_BAD_REQUEST, NULL, "the folder %s cannot be listed, or is too deep", p->name);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		size_t part = strlen(name);

		if (rc == 0 && len + part + 2 >= TAR_NAME_SIZE) {
			leave_out(p, "a name in it is too long");
		} else if (rc == 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			(void)snprintf(p->name + len, TAR_NAME_SIZE - len, "%s%s", len > 0 ? "/" : "", name);
			rc = pack_entry(p, folder, name, len + part + (len > 0), depth);
			p->name[len] = '\0';
		}
		free(names[i]);
	}
	free(names);
	return rc;
}

int folder_pack(const char *folder, const struct folder_rules *rules, int out, struct folder_report *report, struct err *e)
{
	static const char end[TAR_END_BYTES];
	auto_free struct packing *p = util_zalloc(sizeof(*p));
	auto_fd fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*report = (struct folder_report){.left_out = json_array()};
	*p = (struct packing){.rules = rules, .out = out, .report = report, .e = e};
	if (fd < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the folder %s cannot be read: %s", folder, strerror(errno));
	return pack_content(p, fd, 0, 0) < 0 ? -1 : write_out(p, end, sizeof(end));
}
