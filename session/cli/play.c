/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session that a command plays on. */
#include "session/cli/play.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/reader.h"

#define EXIT_SIGNAL 128 /* and the signal's number, as shells */

int play_begin(struct play *play, struct cli *cli)
{
	unsigned char random[16];
	int status = cli_open(cli);

	if (status != CLI_DONE)
		return status;
	*play = (struct play){.cli = cli, .stop = cli->catch_signals()};
	util_random(random, sizeof(random));
	util_hex(play->key, random, sizeof(random));
	cli->client.stop = play->stop;
	return CLI_DONE;
}

static char *next_key(struct play *play)
{
	return util_printf("%s-%u", play->key, ++play->n_keys);
}

int play_create(struct play *play, const json_t *spec, struct client_reply *reply)
{
	auto_free char *key = next_key(play);
	const struct client_request request = {.method = "POST", .path = "/v1/sessions", .body = spec, .key = key, .sink = -1};
	int status = cli_send(play->cli, &request, reply);
	const char *id = json_string_value(json_object_get(reply->json, "id"));
	auto_free char *path = NULL;
	struct err e = {0};

	if (status != CLI_DONE)
		return status;
	if (!id || cli_session_path(id, "", &path, &e) < 0) {
		err_set(&e, ERR_INTERNAL, NULL, "the server's answer names no session");
		return cli_fail(play->cli, CLI_REFUSED, &e);
	}
	play->id = util_strdup(id);
	play->is_own = true;
	return CLI_DONE;
}

int play_on(struct play *play, const char *id, struct err *e)
{
	auto_free char *path = NULL;

	if (cli_session_path(id, "", &path, e) < 0)
		return -1;
	play->id = util_strdup(id);
	return 0;
}

static int act(struct play *play, const json_t *body, const char *key, struct client_reply *reply)
{
	auto_free char *path = util_printf("/v1/sessions/%s/act", play->id);
	const struct client_request request = {.method = "POST", .path = path, .body = body, .key = key, .sink = -1};

	return cli_send(play->cli, &request, reply);
}

int play_act(struct play *play, const json_t *body, json_t **answer)
{
	auto_free char *key = next_key(play);
	auto_reply reply = {0};
	int status = act(play, body, key, &reply);

	if (status == CLI_DONE)
		*answer = json_incref(reply.json);
	return status;
}

int play_check(struct play *play, const json_t *body)
{
	json_auto_t *check = json_copy((json_t *)(uintptr_t)body);
	auto_reply reply = {0};

	json_object_set_new(check, "check_only", json_true());
	return act(play, check, NULL, &reply);
}

int play_send(struct play *play, const char *method, const char *rest, const json_t *body, bool is_keyed, struct client_reply *reply, struct err *e)
{
	auto_free char *path = util_printf("/v1/sessions/%s%s", play->id, rest), *key = is_keyed ? next_key(play) : NULL;
	const struct client_request request = {.method = method, .path = path, .body = body, .key = key, .sink = -1};

	return client_send(&play->cli->client, &request, reply, e);
}

/* Makes the folder and those above it, whatever is missing of them; -1: errno says why. */
static int make_folders(const char *folder)
{
	auto_free char *path = util_strdup(folder);

	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (*path && mkdir(path, 0777) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return mkdir(path, 0777);
}

int play_make_folder(const char *folder, struct err *e)
{
	struct stat st;

	if (make_folders(folder) == 0 || (errno == EEXIST && stat(folder, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	return err_set(e, ERR_BAD_REQUEST, NULL, "the folder %s cannot be made: %s", folder, errno == EEXIST ? "it is a file" : strerror(errno));
}

/* What a GET answers, in a file of the folder. An empty file where there is nothing: the session has no pictures. */
static int save_file(struct play *play, const char *rest, const char *folder, const char *name, bool required, struct err *e)
{
	auto_free char *path = util_printf("/v1/sessions/%s%s", play->id, rest), *file = util_printf("%s/%s", folder, name);
	auto_fd fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	const struct client_request request = {.method = "GET", .path = path, .sink = fd, .sink_max = LIMIT_FILE_BYTES};
	auto_reply reply = {0};

	if (fd < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", file, strerror(errno));
	if (client_send(&play->cli->client, &request, &reply, e) < 0)
		return -1;
	if (reply.status == 200)
		return 0;
	if (!required && reply.status == 404 && unlink(file) == 0)
		return 0;
	return err_set(e, ERR_BAD_REQUEST, NULL, "the server does not give the %s of session %s: status %ld", name, play->id, reply.status);
}

/* What the line `start` tells, as the server's own session.json has it. */
static int save_session(const char *folder, struct err *e)
{
	auto_free char *lines = util_printf("%s/journal.jsonl", folder), *file = util_printf("%s/session.json", folder), *text = NULL, *out = NULL;
	auto_fd from = open(lines, O_RDONLY | O_CLOEXEC), to = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	json_auto_t *start = NULL, *session = NULL;

	if (from < 0 || to < 0 || util_read_file(from, LIMIT_REPLAY_LINES_BYTES, &text) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", file, strerror(errno));
	start = json_loadb(text, strcspn(text, "\n"), 0, NULL);
	session = reader_session(start);
	out = json_dumps(session, JSON_INDENT(2));
	if (!out || util_write_all(to, out, strlen(out)) < 0 || util_write_all(to, "\n", 1) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", file, strerror(errno));
	return 0;
}

int play_save(struct play *play, const char *folder, struct err *e)
{
	if (play_make_folder(folder, e) < 0 || save_file(play, "/journal", folder, "journal.jsonl", true, e) < 0 ||
	    save_file(play, "/recording", folder, "pictures", false, e) < 0)
		return -1;
	return save_session(folder, e);
}

bool play_end(struct play *play)
{
	const volatile sig_atomic_t *stop = play->cli->client.stop;
	auto_reply reply = {0};
	struct err e = {0};
	bool ended;

	if (!play->id || !play->is_own)
		return true;
	/* A second signal, too, waits for this. */
	play->cli->client.stop = NULL;
	ended = play_send(play, "DELETE", "", NULL, false, &reply, &e) == 0 && (reply.status < 400 || reply.status == 404);
	play->cli->client.stop = stop;
	play->is_own = false;
	if (!ended)
		fprintf(stderr, "glovebox: session %s could not be ended: %s\n", play->id, *e.msg ? e.msg : "the server refused it");
	return ended;
}

bool play_finish(struct play *play)
{
	bool ended = play_end(play);

	play->cli->client.stop = NULL;
	free(play->id);
	play->id = NULL;
	return ended;
}

int play_status(const struct play *play, int status)
{
	return *play->stop ? EXIT_SIGNAL + (int)*play->stop : status;
}
