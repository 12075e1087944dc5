/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view: a link to the console for a person; or a socket of this machine where VNC viewers find the session. Each of them is served by a process of
 * its own, with a ticket and a WebSocket of its own: the server opens no port for RFB.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/secret.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"
#include "session/cli/view_bridge.h"

#define VIEWERS_MAX 16 /* as a session has */
#define PASSWORD_SIGNS 8
#define LOOK_MS 500 /* a signal may come just before the wait */

static const struct arg_option view_options[] = {
	{"role", 0, "ROLE", false, "of the link: viewer or controller (viewer if not given)"},
	{"ttl", 0, "SECONDS", false, "of the link: it ends after this time (3600 if not given)"},
	{"label", 0, "NAME", false, "of the link: what lists call it"},
	{"socket", 0, "PATH", false, "instead of a link, a Unix socket for VNC viewers, which your user alone can open"},
	{"port", 0, "N", false, "instead of a link, a port of 127.0.0.1 for VNC viewers, with a password; 0 picks one. Every user of this machine can reach it"},
	{"look", 0, NULL, false, "with --socket and --port: look only"},
};

/* --- a link --- */

static int read_share(const struct args *args, json_t **out, struct err *e)
{
	const char *role = args_get(args, "role"), *label = args_get(args, "label");
	json_auto_t *share = json_object();

	if (json_object_set_new(share, "role", json_string(role ? role : "viewer")) ||
	    (label && json_object_set_new(share, "label", json_string(label))))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--role and --label must be UTF-8");
	if (cli_put_seconds(share, args, "ttl", "ttl_s", 1, e))
		return -1;
	*out = json_incref(share);
	return 0;
}

/* Link and code are to go different ways: a line each. */
static void show_share(const struct cli *cli, const json_t *share)
{
	printf("%s", cli->client.server);
	show_value(stdout, json_object_get(share, "link"), 0);
	printf("\ncode ");
	show_value(stdout, json_object_get(share, "code"), 0);
	putchar('\n');
	fprintf(stderr, "  who opens the link logs in, or types the code: it is good once; send it by another way than the link\n");
}

static int make_link(struct cli *cli)
{
	json_auto_t *share = NULL;
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (cli_session_path(cli->args.words[0], "/shares", &path, &e) || read_share(&cli->args, &share, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "POST", path, share, &reply);
	if (status != CLI_DONE)
		return status;
	if (cli->json)
		show_json(reply.json);
	else
		show_share(cli, reply.json);
	return CLI_DONE;
}

/* --- a socket --- */

/* Where viewers come. */
struct place {
	int fd;
	const char *path;  /* of a Unix socket, or NULL */
	unsigned int port; /* else */
	char *password;    /* or NULL */
};

static int listen_on(int fd, const struct sockaddr *address, socklen_t len, const char *what, struct err *e)
{
	if (fd < 0 || bind(fd, address, len) < 0 || listen(fd, VIEWERS_MAX) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be listened on: %s", what, strerror(errno));
	return 0;
}

static int open_socket(struct place *place, struct err *e)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t before;
	int rc;

	if (strlen(place->path) >= sizeof(address.sun_path))
		return err_set(e, ERR_BAD_REQUEST, NULL, "the path of --socket is too long");
	memcpy(address.sun_path, place->path, strlen(place->path));
	place->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	before = umask(0177);
	rc = listen_on(place->fd, (const struct sockaddr *)&address, sizeof(address), place->path, e);
	(void)umask(before);
	return rc;
}

static int open_port(struct place *place, struct err *e)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)place->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);

	place->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listen_on(place->fd, (const struct sockaddr *)&address, len, "the port", e) < 0)
		return -1;
	if (getsockname(place->fd, (struct sockaddr *)&address, &len) < 0)
		return err_sys(e, "getsockname");
	place->port = ntohs(address.sin_port);
	place->password = secret_new_code(PASSWORD_SIGNS, PASSWORD_SIGNS);
	return 0;
}

static void show_place(const struct cli *cli, const struct place *place)
{
	json_auto_t *json = json_pack("{s:s*, s:o*, s:s*}", "socket", place->path, "port", place->path ? NULL : json_integer(place->port), "password",
	                              place->password);

	if (cli->json)
		show_json(json);
	else if (place->path)
		printf("%s\n", place->path);
	else
		printf("127.0.0.1:%u\npassword %s\n", place->port, place->password);
	(void)fflush(stdout);
	if (place->password && !cli->json)
		fprintf(stderr, "  RFB takes 8 characters and no more: the password keeps others of this machine out for a while, and nobody else\n");
}

/* Root and the user himself; the mode of the socket says the same. */
static bool is_own(const struct place *place, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !place->path || (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && (peer.uid == 0 || peer.uid == geteuid()));
}

/* The process of one viewer. */
static _Noreturn void serve_one(struct cli *cli, const struct view_wish *wish, int fd)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct err e = {0};
	int rc;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		(void)signal(signals[i], SIG_DFL);
	rc = view_bridge(&cli->client, wish, fd, &e);
	if (rc < 0) {
		auto_free char *msg = show_visible(e.msg, strlen(e.msg), 0);

		fprintf(stderr, "glovebox: %s\n", msg);
	}
	_exit(rc < 0 ? CLI_REFUSED : CLI_DONE);
}

struct viewers {
	pid_t pids[VIEWERS_MAX];
	size_t n;
};

static void reap(struct viewers *viewers)
{
	for (size_t i = viewers->n; i-- > 0;)
		if (waitpid(viewers->pids[i], NULL, WNOHANG) != 0)
			viewers->pids[i] = viewers->pids[--viewers->n];
}

static void take_one(struct cli *cli, const struct place *place, const struct view_wish *wish, struct viewers *viewers)
{
	auto_fd fd = accept4(place->fd, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid;

	reap(viewers);
	if (fd < 0 || viewers->n == VIEWERS_MAX || !is_own(place, fd))
		return;
	pid = fork();
	if (pid == 0) {
		(void)close(place->fd);
		serve_one(cli, wish, fd);
	}
	if (pid > 0)
		viewers->pids[viewers->n++] = pid;
}

/* Until a signal. */
static void serve(struct cli *cli, const struct place *place, const struct view_wish *wish, const volatile sig_atomic_t *stop)
{
	struct pollfd ready = {.fd = place->fd, .events = POLLIN};
	struct viewers viewers = {.n = 0};

	while (!*stop)
		if (poll(&ready, 1, LOOK_MS) > 0)
			take_one(cli, place, wish, &viewers);
	for (size_t i = 0; i < viewers.n; i++)
		(void)kill(viewers.pids[i], SIGTERM);
}

static int open_place(struct cli *cli, struct place *place, struct err *e)
{
	long port = -1;

	*place = (struct place){.fd = -1, .path = args_get(&cli->args, "socket")};
	if (args_number(&cli->args, "port", 0, UINT16_MAX, &port, e))
		return -1;
	if (place->path && port >= 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "--socket and --port are two ways: choose one");
	place->port = (unsigned int)port;
	return place->path ? open_socket(place, e) : open_port(place, e);
}

/* Is the session there? Better said now than to the first viewer. */
static int look_at_session(struct cli *cli)
{
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};

	if (cli_session_path(cli->args.words[0], "", &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	return cli_call(cli, "GET", path, NULL, &reply);
}

static int serve_viewers(struct cli *cli)
{
	json_auto_t *body = json_object();
	auto_free char *path = NULL;
	struct place place;
	struct err e = {0};
	int status = look_at_session(cli);

	if (status != CLI_DONE)
		return status;
	client_hang_up(&cli->client);
	if (open_place(cli, &place, &e) || cli_session_path(cli->args.words[0], "/rfb", &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	if (args_get(&cli->args, "look"))
		json_object_set_new(body, "controls", json_false());
	if (place.password)
		json_object_set_new(body, "password", json_string(place.password));
	{
		const volatile sig_atomic_t *stop = cli->catch_signals();

		show_place(cli, &place);
		serve(cli, &place, &(struct view_wish){.path = path, .body = body}, stop);
	}
	util_close_fd(&place.fd);
	if (place.path)
		(void)unlink(place.path);
	secret_wipe(place.password);
	return CLI_DONE;
}

static int run_view(struct cli *cli)
{
	static const char *const of_link[] = {"role", "ttl", "label"};
	bool is_served = args_get(&cli->args, "socket") || args_get(&cli->args, "port");
	struct err e = {0};

	if (args_get(&cli->args, "look") && !is_served) {
		err_set(&e, ERR_BAD_REQUEST, NULL, "--look goes with --socket or --port");
		return cli_fail(cli, CLI_USAGE, &e);
	}
	for (size_t i = 0; is_served && i < ARRAY_LEN(of_link); i++) {
		if (args_get(&cli->args, of_link[i])) {
			err_set(&e, ERR_BAD_REQUEST, NULL, "--%s is of a link, and goes with neither --socket nor --port", of_link[i]);
			return cli_fail(cli, CLI_USAGE, &e);
		}
	}
	return is_served ? serve_viewers(cli) : make_link(cli);
}

const struct cli_command view_open = {
	"view", "ID [--role ROLE] | ID --socket PATH | ID --port N", "let a person watch a session: a link with a code, or a socket for VNC viewers",
	view_options, ARRAY_LEN(view_options), 1, 1, ARGS_MAX, run_view,
};
