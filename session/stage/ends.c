/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels with descriptors, before anything else happens: no loop runs yet. */
#include "session/stage/ends.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "session/base/ipc.h"
#include "session/base/util.h"

/* Where the descriptor of a label goes. NULL: this version has no use for it. */
static int *place_of(struct ends *ends, uint32_t kind)
{
	switch (kind) {
	case STAGE_INIT:
		return &ends->init_fd;
	case STAGE_PROC:
		return &ends->proc_fd;
	case STAGE_JOURNAL:
		return &ends->journal_fd;
	case STAGE_SESSION_JSON:
		return &ends->session_json_fd;
	default:
		return NULL;
	}
}

static int start(struct ends *ends, const struct stage_label *label, struct err *e)
{
	if (ends->init_fd < 0 || ends->proc_fd < 0 || ends->journal_fd < 0 || ends->session_json_fd < 0)
		return err_set(e, ERR_INTERNAL, NULL, "the warden did not hand over everything");
	if (strnlen(label->session, SESSION_ID_SIZE) != SESSION_ID_LEN)
		return err_set(e, ERR_INTERNAL, NULL, "the warden named no session");
	memcpy(ends->session, label->session, sizeof(ends->session));
	memcpy(ends->cookie, label->cookie, sizeof(ends->cookie));
	ends->has_cookie = true;
	ends->native = (struct space){label->width_px, label->height_px};
	ends->apps_pid = label->apps_pid;
	return 0;
}

/* One label. 1 at STAGE_START. */
static int receive(struct ends *ends, int warden_fd, struct err *e)
{
	struct stage_label label;
	int fds[1];
	size_t n_fds = 0;
	ssize_t n = ipc_recv(warden_fd, &label, sizeof(label), fds, ARRAY_LEN(fds), &n_fds, e);
	auto_fd fd = n > 0 && n_fds > 0 ? fds[0] : -1;
	int *place;

	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	if (n == 0)
		return err_set(e, ERR_INTERNAL, NULL, "the warden is gone");
	if (n != (ssize_t)sizeof(label) || (label.kind == STAGE_START) != (fd < 0))
		return err_set(e, ERR_INTERNAL, NULL, "a label of the warden breaks the form");
	if (label.kind == STAGE_START)
		return start(ends, &label, e) < 0 ? -1 : 1;
	place = place_of(ends, label.kind);
	if (place && *place < 0)
		*place = steal_fd(&fd);
	return 0;
}

int ends_receive(struct ends *ends, int warden_fd, struct err *e)
{
	struct pollfd channel = {.fd = warden_fd, .events = POLLIN};
	int rc;

	*ends = (struct ends){.display = ":0", .init_fd = -1, .proc_fd = -1, .journal_fd = -1, .session_json_fd = -1};
	do {
		if (poll(&channel, 1, -1) < 0 && errno != EINTR) {
			rc = err_sys(e, "waiting for the warden");
			break;
		}
		rc = receive(ends, warden_fd, e);
	} while (rc == 0);
	if (rc < 0)
		ends_close(ends);
	return rc < 0 ? -1 : 0;
}

void ends_close(struct ends *ends)
{
	int *const fds[] = {&ends->init_fd, &ends->proc_fd, &ends->journal_fd, &ends->session_json_fd};

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		if (*fds[i] >= 0) {
			util_close_fd(fds[i]);
			*fds[i] = -1;
		}
}
