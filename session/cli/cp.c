/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cp: files and folders between this machine and a session. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/files.h"
#include "session/cli/folder.h"
#include "session/cli/show.h"

bool files_is_remote(const char *word)
{
	size_t len = strcspn(word, ":/");

	return len > 1 && word[len] == ':';
}

int files_path(const char *word, char **out, struct err *e)
{
	const char *colon = strchr(word, ':'), *at;
	auto_free char *id = colon ? util_printf("%.*s", (int)(colon - word), word) : NULL, *path = NULL;

	if (!files_is_remote(word))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%.60s is no place in a session: that is ID:PATH, such as %.20s:notes.txt", word, word);
	at = colon + 1;
	if (cli_session_path(id, *at == '/' || *at == '~' ? "/files" : "/files/~", &path, e))
		return -1;
	while (*at) {
		size_t len = strcspn(at, "/");
		auto_free char *part = util_printf("%.*s", (int)len, at), *safe = cli_encode(part);
		char *longer = len > 0 ? util_printf("%s/%s", path, safe) : NULL;

		if (longer) {
			free(path);
			path = longer;
		}
		at += len + (at[len] == '/');
	}
	*out = steal_ptr(&path);
	return 0;
}

int files_temporary(int *fd, struct err *e)
{
	const char *folder = getenv("TMPDIR");

	*fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return *fd < 0 ? err_set(e, ERR_BAD_REQUEST, NULL, "no file can be made in %s: %s", folder && *folder ? folder : "/tmp", strerror(errno)) : 0;
}

int files_fetch_folder(struct cli *cli, const char *path, int archive)
{
	const struct client_request request = {.method = "GET", .path = path, .accept = "application/x-tar", .sink = archive, .sink_max = UINT64_MAX};
	auto_reply reply = {0};
	int status = cli_send(cli, &request, &reply);

	if (status == CLI_DONE && reply.skipped && strtoul(reply.skipped, NULL, 10) > 0)
		fprintf(stderr, "left out in the session: %lu (links that lead out, files with several names, and what is neither file nor folder)\n",
		        strtoul(reply.skipped, NULL, 10));
	return status;
}

int files_send_folder(struct cli *cli, const char *path, int archive, struct client_reply *reply)
{
	const struct client_request request = {.method = "PUT", .path = path, .has_source = true, .source = archive, .source_len = lseek(archive, 0, SEEK_END),
	                                       .type = "application/x-tar", .sink = -1};

	(void)lseek(archive, 0, SEEK_SET);
	return cli_send(cli, &request, reply);
}

void files_show_left_out(const json_t *left_out)
{
	const json_t *line;
	size_t i;

	json_array_foreach(left_out, i, line) {
		fputs(i == 0 ? "left out:\n  " : "  ", stderr);
		show_value(stderr, line, 0);
		fputc('\n', stderr);
	}
}

static int fetch_folder(struct cli *cli, const char *path, const char *folder)
{
	struct folder_report report = {0};
	struct err e = {0};
	auto_fd archive = -1;
	int status;

	if (files_temporary(&archive, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = files_fetch_folder(cli, path, archive);
	if (status != CLI_DONE)
		return status;
	if (folder_unpack(archive, folder, NULL, NULL, &report, &e))
		status = cli_fail(cli, CLI_REFUSED, &e);
	files_show_left_out(report.left_out);
	json_decref(report.left_out);
	return status;
}

static int send_folder(struct cli *cli, const char *folder, const char *path)
{
	const struct folder_rules rules = {.is_workspace = false};
	struct folder_report report = {0};
	auto_reply reply = {0};
	struct err e = {0};
	auto_fd archive = -1;
	int status = CLI_DONE;

	if (files_temporary(&archive, &e) || folder_pack(folder, &rules, archive, &report, &e))
		status = cli_fail(cli, CLI_USAGE, &e);
	else
		status = files_send_folder(cli, path, archive, &reply);
	files_show_left_out(report.left_out);
	json_decref(report.left_out);
	if (status == CLI_DONE && cli->json)
		show_json(reply.json);
	return status;
}

static char *temporary_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	char digits[17];
	uint8_t random[8];

	util_random(random, sizeof(random));
	util_hex(digits, random, sizeof(random));
	return util_printf("%.*s.glovebox-%s", slash ? (int)(slash + 1 - file) : 0, file, digits);
}

/* It has another name until all of it is here: one that nobody has, and nobody could guess. A device or a pipe is written to. */
static int fetch_file(struct cli *cli, const char *path, const char *file)
{
	struct stat there;
	bool is_out = strcmp(file, "-") == 0, is_place = !is_out && (stat(file, &there) < 0 || S_ISREG(there.st_mode));
	auto_free char *temporary = is_place ? temporary_of(file) : util_strdup(file);
	auto_fd fd = is_out ? dup(STDOUT_FILENO) : open(temporary, O_WRONLY | O_CLOEXEC | (is_place ? O_CREAT | O_EXCL : 0), 0666);
	const struct client_request request = {.method = "GET", .path = path, .accept = "application/octet-stream", .sink = fd, .sink_max = UINT64_MAX};
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (fd < 0)
		return cli_fail(cli, CLI_USAGE, (err_set(&e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", temporary, strerror(errno)), &e));
	status = cli_send(cli, &request, &reply);
	if (status == CLI_DONE && json_object_get(reply.json, "entries"))
		status = cli_fail(cli, CLI_REFUSED, (err_set(&e, ERR_BAD_REQUEST, NULL, "it is a folder; -r copies it with all that is in it"), &e));
	if (status == CLI_DONE && is_place && rename(temporary, file) < 0)
		status = cli_fail(cli, CLI_REFUSED, (err_set(&e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", file, strerror(errno)), &e));
	if (status == CLI_DONE && reply.masked)
		fputs("something in it looked like a secret, and is [masked]\n", stderr);
	if (status != CLI_DONE && is_place)
		(void)unlink(temporary);
	return status;
}

static int send_file(struct cli *cli, const char *file, const char *path)
{
	auto_fd fd = strcmp(file, "-") == 0 ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC);
	struct client_request request = {.method = "PUT", .path = path, .has_source = true, .source = fd, .source_len = -1, .sink = -1};
	auto_free char *with_mode = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	struct stat st;
	int status;

	if (fd < 0 || fstat(fd, &st) < 0)
		return cli_fail(cli, CLI_USAGE, (err_set(&e, ERR_BAD_REQUEST, NULL, "%s cannot be read: %s", file, strerror(errno)), &e));
	if (S_ISDIR(st.st_mode))
		return cli_fail(cli, CLI_USAGE, (err_set(&e, ERR_BAD_REQUEST, NULL, "%s is a folder; -r copies it with all that is in it", file), &e));
	if (S_ISREG(st.st_mode)) {
		request.source_len = st.st_size;
		with_mode = util_strdup(path);
		if (st.st_mode & 0111)
			cli_add_parameter(&with_mode, "", "mode", "755");
		request.path = with_mode;
	}
	status = cli_send(cli, &request, &reply);
	if (status == CLI_DONE && cli->json)
		show_json(reply.json);
	return status;
}

/* Into a folder a file goes by the name that it has. */
static char *destination(const char *from, const char *to, bool is_from)
{
	size_t len = strlen(to), before = is_from ? strcspn(from, ":") + 1 : 0;
	const char *slash = strrchr(from + before, '/'), *name = slash ? slash + 1 : from + before;
	bool ends = len > 0 && (to[len - 1] == '/' || (!is_from && to[len - 1] == ':'));
	struct stat st;

	if (!ends && (!is_from || stat(to, &st) < 0 || !S_ISDIR(st.st_mode)))
		return util_strdup(to);
	return util_printf("%s%s%s", to, ends ? "" : "/", strcmp(from, "-") == 0 ? "" : name);
}

static const struct arg_option cp_options[] = {
	{"recursive", 'r', NULL, false, "a folder with all that is in it; here it must be a new one"},
	{"parents", 'p', NULL, false, "into a session: make the folders on the way to it"},
};

static int run_cp(struct cli *cli)
{
	const char *from = cli->args.words[0];
	bool is_from = files_is_remote(from), is_whole = args_get(&cli->args, "recursive");
	auto_free char *path = NULL, *to = is_whole ? util_strdup(cli->args.words[1]) : destination(from, cli->args.words[1], is_from);
	struct err e = {0};

	if (is_from == files_is_remote(to))
		(void)err_set(&e, ERR_BAD_REQUEST, NULL, "one of the two must be a place in a session: ID:PATH");
	if (e.code != ERR_NONE || files_path(is_from ? from : to, &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	if (!is_from && args_get(&cli->args, "parents"))
		cli_add_parameter(&path, "", "parents", "true");
	if (is_whole)
		return is_from ? fetch_folder(cli, path, to) : send_folder(cli, from, path);
	return is_from ? fetch_file(cli, path, to) : send_file(cli, from, path);
}

const struct cli_command cp_file = {
	"cp", "[-r] ID:PATH FILE | [-r] [-p] FILE ID:PATH", "copy a file or folder out of a session, or into it", cp_options, ARRAY_LEN(cp_options), 2, 2, ARGS_MAX, run_cp,
};
