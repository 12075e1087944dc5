/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A journal by two GETs. */
#include "session/cli/fetch.h"

#include "session/base/limits.h"
#include "session/base/util.h"

/* What a GET answers, in a file without a name. CLI_DONE also when there is none and it need not be. */
static int fetch(struct cli *cli, const char *path, bool required, uint64_t max, struct source *out)
{
	struct err e = {0};
	auto_fd fd = source_temporary(&e);
	const struct client_request request = {.method = "GET", .path = path, .sink = fd, .sink_max = max, .or_none = !required};
	auto_reply reply = {0};
	int status;

	if (fd < 0)
		return cli_fail(cli, CLI_REFUSED, &e);
	status = cli_send(cli, &request, &reply);
	if (status != CLI_DONE)
		return reply.status >= 500 ? CLI_UNREACHABLE : status;
	return source_of_file(steal_fd(&fd), max, out, &e) < 0 ? cli_fail(cli, CLI_REFUSED, &e) : CLI_DONE;
}

static int fetch_parts(struct cli *cli, const char *id, bool with_pictures, struct reader **out)
{
	struct reader_parts parts = {source_none(), source_none(), source_none()};
	auto_free char *journal = NULL, *recording = NULL;
	struct err e = {0};
	int status;

	if (cli_session_path(id, "/journal", &journal, &e) < 0 || cli_session_path(id, "/recording", &recording, &e) < 0) {
		err_set(&e, ERR_BAD_REQUEST, NULL, "%s is no folder, no zip and no id of a session", id);
		return cli_fail(cli, CLI_USAGE, &e);
	}
	status = fetch(cli, journal, true, LIMIT_REPLAY_LINES_BYTES, &parts.lines);
	if (status == CLI_DONE && with_pictures)
		status = fetch(cli, recording, false, LIMIT_FILE_BYTES, &parts.pictures);
	if (status == CLI_DONE && reader_read(&parts, out, &e) < 0)
		status = cli_fail(cli, CLI_USAGE, &e);
	source_finish(&parts.lines);
	source_finish(&parts.pictures);
	return status;
}

int fetch_journal(struct cli *cli, const char *id, struct reader **out)
{
	return fetch_parts(cli, id, true, out);
}

int fetch_lines(struct cli *cli, const char *id, struct reader **out)
{
	return fetch_parts(cli, id, false, out);
}
