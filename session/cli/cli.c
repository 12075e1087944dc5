/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands have in common: calls, errors, files. */
#include "session/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/show.h"

#define DEFAULT_SERVER "http://127.0.0.1:7070"
#define ID_MAX 64

static void show_refusal(struct cli *cli, const json_t *problem)
{
	if (cli->json)
		show_json(problem);
	else
		show_problem("glovebox", problem);
}

/* What was asked for cannot be done, in one line; it may have names and texts of files that others made. */
static void show_fault(const struct err *e)
{
	auto_free char *path = show_visible(e->path, strlen(e->path), 0), *msg = show_visible(e->msg, strlen(e->msg), 0);

	fprintf(stderr, "glovebox: %s%s%s\n", path, *path ? ": " : "", msg);
}

int cli_fail(struct cli *cli, enum cli_exit status, const struct err *e)
{
	const char *code = status == CLI_UNREACHABLE ? "unreachable" : err_info(e->code)->wire;
	const char *fix = status == CLI_UNREACHABLE ? "operator" : err_info(e->code)->fix;
	json_auto_t *problem = json_pack("{s:s, s:s, s:s, s:s}", "code", code, "detail", e->msg, "pointer", e->path, "fix", fix);

	if (!problem)
		DIE("no memory for an error");
	if (status == CLI_USAGE && !cli->json)
		show_fault(e);
	else
		show_refusal(cli, problem);
	return (int)status;
}

/* What is to be said of an answer that says no: its problem+json, or what can be told of another server's page. */
static void show_answer(struct cli *cli, const struct client_reply *reply)
{
	json_auto_t *unknown = NULL;

	if (json_object_get(reply->json, "code")) {
		show_refusal(cli, reply->json);
	} else {
		auto_free char *text = util_printf("%s answers with status %ld and no reason; is it a Glovebox server?",
		                                   cli->client.server, reply->status);

		unknown = json_pack("{s:s, s:s, s:s}", "code", "bad_answer", "detail", text, "fix", "operator");
		show_refusal(cli, unknown);
	}
	if (reply->status == 401 && !cli->json)
		fprintf(stderr, "  the token is the one in %s\n", cli->client.token_file);
}

/* An option, or else a variable of the environment that is not empty, or else a default. */
static const char *given(const struct cli *cli, const char *option, const char *variable, const char *otherwise)
{
	const char *value = args_get(&cli->args, option);

	if (!value)
		value = getenv(variable);
	return value && *value ? value : otherwise;
}

static int open_client(struct cli *cli, struct err *e)
{
	const struct client_server server = {.url = given(cli, "server", "GLOVEBOX_SERVER", DEFAULT_SERVER),
	                                     .token_file = given(cli, "token-file", "GLOVEBOX_TOKEN_FILE", NULL),
	                                     .cacert = given(cli, "cacert", "GLOVEBOX_CACERT", NULL)};

	return cli->client.curl ? 0 : client_init(&cli->client, &server, e);
}

int cli_open(struct cli *cli)
{
	struct err e = {0};

	return open_client(cli, &e) ? cli_fail(cli, CLI_USAGE, &e) : CLI_DONE;
}

int cli_send(struct cli *cli, const struct client_request *request, struct client_reply *reply)
{
	struct err e = {0};
	int status = cli_open(cli);
	long code;

	if (status != CLI_DONE)
		return status;
	if (client_send(&cli->client, request, reply, &e))
		return cli_fail(cli, e.code == ERR_GONE ? CLI_UNREACHABLE : CLI_REFUSED, &e);
	if (reply->status < 400 || (request->or_none && reply->status == 404))
		return CLI_DONE;
	show_answer(cli, reply);
	code = reply->status;
	client_reply_finish(reply);
	reply->status = code;
	return CLI_REFUSED;
}

int cli_call(struct cli *cli, const char *method, const char *path, const json_t *body, struct client_reply *reply)
{
	const struct client_request request = {.method = method, .path = path, .body = body, .sink = -1};

	return cli_send(cli, &request, reply);
}

int cli_can_write(const char *file, struct err *e)
{
	const char *slash = strrchr(file, '/');
	auto_free char *folder = slash ? util_printf("%.*s", (int)(slash - file) + 1, file) : util_strdup(".");
	bool is_there = access(file, F_OK) == 0;
	struct stat st;

	if (is_there && stat(file, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be written: it is a folder", file);
	if (access(is_there ? file : folder, W_OK) == 0)
		return 0;
	return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", file, strerror(errno));
}

int cli_session_path(const char *id, const char *rest, char **path, struct err *e)
{
	size_t len = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789");
	char quoted[80];

	if (len == 0 || id[len] != '\0' || len > ID_MAX)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the session is %s; an id has lower-case letters and digits (see glovebox ls)",
		               err_quote(quoted, sizeof(quoted), id, strlen(id)));
	*path = util_printf("/v1/sessions/%s%s", id, rest);
	return 0;
}

int cli_read_file(const char *file, size_t max, char **text, size_t *len, struct err *e)
{
	bool is_input = strcmp(file, "-") == 0;
	auto_fd fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : util_read_file(fd, max, text);

	if (n < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be read: %s", is_input ? "standard input" : file, strerror(errno));
	*len = (size_t)n;
	return 0;
}

char *cli_last_part(const char *path)
{
	size_t len = strlen(path);
	const char *slash;

	while (len > 1 && path[len - 1] == '/')
		len--;
	slash = len > 1 ? memrchr(path, '/', len) : NULL;
	return slash ? util_printf("%.*s", (int)(path + len - slash - 1), slash + 1) : util_printf("%.*s", (int)len, path);
}

char *cli_folder_name(const char *path)
{
	auto_free char *name = cli_last_part(path);
	size_t len = strlen(name);

	if (len > 4 && strcmp(name + len - 4, ".zip") == 0)
		name[len - 4] = '\0';
	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c) && (*c != '.' || c == name))
			*c = '_';
	return util_strdup(strspn(name, "_") == strlen(name) ? "journal" : name);
}

int cli_put_seconds(json_t *body, const struct args *args, const char *option, const char *field, long min, struct err *e)
{
	long value = -1;

	if (args_number(args, option, min, LIMIT_TTL_S, &value, e))
		return -1;
	if (value >= 0)
		json_object_set_new(body, field, json_integer(value));
	return 0;
}

int cli_read_pair(const char *pair, const char *option, char **name, const char **value, struct err *e)
{
	const char *equals = strchr(pair, '=');

	if (!equals || equals == pair)
		return err_set(e, ERR_BAD_REQUEST, NULL, "--%s takes NAME=VALUE", option);
	*name = util_printf("%.*s", (int)(equals - pair), pair);
	*value = equals + 1;
	return 0;
}

char *cli_encode(const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	static const char hex[] = "0123456789ABCDEF";
	char *out = util_alloc(strlen(text) * 3 + 1);
	size_t len = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (strchr(plain, *text)) {
			out[len++] = *text;
			continue;
		}
		out[len++] = '%';
		out[len++] = hex[c >> 4];
		out[len++] = hex[c & 15];
	}
	out[len] = '\0';
	return out;
}

void cli_add_parameter(char **path, const char *prefix, const char *name, const char *value)
{
	auto_free char *safe_name = cli_encode(name), *safe_value = cli_encode(value);
	char *longer = util_printf("%s%c%s%s=%s", *path, strchr(*path, '?') ? '&' : '?', prefix, safe_name, safe_value);

	free(*path);
	*path = longer;
}

int cli_beside(const char *rest, char **path, struct err *e)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *slash;

	if (len < 0)
		return err_sys(e, "this program's own folder cannot be found");
	self[len] = '\0';
	slash = strrchr(self, '/');
	*path = util_printf("%.*s/%s", slash ? (int)(slash - self) : 0, self, rest);
	return 0;
}
