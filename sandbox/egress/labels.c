/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels with descriptors, before anything else happens: no loop runs yet. */
#include "sandbox/egress/labels.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/ipc.h"
#include "session/base/util.h"

#define PERMIT "permit = "

static int broken(struct err *e)
{
	return err_set(e, ERR_INTERNAL, NULL, "a label of the warden breaks the form");
}

int labels_read_settings(const char *text, struct address_list *permitted, struct err *e)
{
	char line[sizeof(PERMIT) + 64];

	for (; *text; text += *text == '\n') {
		size_t len = strcspn(text, "\n");

		if (len >= sizeof(line) || strncmp(text, PERMIT, strlen(PERMIT)) != 0)
			return err_set(e, ERR_INTERNAL, NULL, "a line of the settings is not \"permit = PREFIX\"");
		memcpy(line, text, len);
		line[len] = '\0';
		permitted->list = util_realloc(permitted->list, (permitted->n + 1) * sizeof(*permitted->list));
		if (!address_read_prefix(line + strlen(PERMIT), &permitted->list[permitted->n]))
			return err_set(e, ERR_INTERNAL, NULL, "a prefix of the settings is none");
		permitted->n++;
		text += len;
	}
	return 0;
}

/* The offset of the descriptor is shared with those that ran before: it is not used. */
static int take_settings(struct labels *labels, int fd, struct err *e)
{
	auto_free char *text = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size > LIMIT_CONFIG_BYTES)
		return broken(e);
	text = util_zalloc((size_t)st.st_size + 1);
	if (pread(fd, text, (size_t)st.st_size, 0) != st.st_size)
		return err_sys(e, "reading the settings");
	return labels_read_settings(text, &labels->permitted, e);
}

static int take_secret(struct labels *labels, const struct egress_label *label, int *fd, struct err *e)
{
	if (labels->n_secrets == LIMIT_SECRETS || strnlen(label->name, SECRET_NAME_SIZE) == SECRET_NAME_SIZE)
		return broken(e);
	memcpy(labels->secrets[labels->n_secrets].name, label->name, SECRET_NAME_SIZE);
	labels->secrets[labels->n_secrets++].fd = steal_fd(fd);
	return 0;
}

static int take(int *place, int *fd, struct err *e)
{
	if (*place >= 0)
		return broken(e);
	*place = steal_fd(fd);
	return 0;
}

static int start(struct labels *labels, const struct egress_label *label, struct err *e)
{
	if (labels->listen < 0 || labels->stage < 0)
		return err_set(e, ERR_INTERNAL, NULL, "the warden did not hand over everything");
	if (strnlen(label->session, SESSION_ID_SIZE) != SESSION_ID_LEN || label->ceiling > EGRESS_OPEN)
		return broken(e);
	memcpy(labels->session, label->session, sizeof(labels->session));
	labels->ceiling = label->ceiling;
	return 1;
}

/* Kinds that this version has no use for are closed. */
static int place(struct labels *labels, const struct egress_label *label, int *fd, struct err *e)
{
	switch (label->kind) {
	case EGRESS_LISTEN:
		return take(&labels->listen, fd, e);
	case EGRESS_STAGE:
		return take(&labels->stage, fd, e);
	case EGRESS_KEEP:
		return take(&labels->keep, fd, e);
	case EGRESS_SECRET:
		return take_secret(labels, label, fd, e);
	case EGRESS_SETTINGS:
		return take_settings(labels, *fd, e);
	default:
		return 0;
	}
}

/* One label. 1 at EGRESS_START. */
static int receive(struct labels *labels, int warden_fd, struct err *e)
{
	struct egress_label label;
	int fds[1];
	size_t n_fds = 0;
	ssize_t n = ipc_recv(warden_fd, &label, sizeof(label), fds, ARRAY_LEN(fds), &n_fds, e);
	auto_fd fd = n > 0 && n_fds > 0 ? fds[0] : -1;

	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	if (n == 0)
		return err_set(e, ERR_INTERNAL, NULL, "the warden is gone");
	if (n != (ssize_t)sizeof(label) || (label.kind == EGRESS_START) != (fd < 0))
		return broken(e);
	return label.kind == EGRESS_START ? start(labels, &label, e) : place(labels, &label, &fd, e);
}

int labels_receive(struct labels *labels, int warden_fd, struct err *e)
{
	struct pollfd channel = {.fd = warden_fd, .events = POLLIN};
	int rc;

	*labels = (struct labels){.listen = -1, .stage = -1, .keep = -1};
	do {
		if (poll(&channel, 1, -1) < 0 && errno != EINTR) {
			rc = err_sys(e, "waiting for the warden");
			break;
		}
		rc = receive(labels, warden_fd, e);
	} while (rc == 0);
	if (rc < 0)
		labels_finish(labels);
	return rc < 0 ? -1 : 0;
}

void labels_finish(struct labels *labels)
{
	util_close_fd(&labels->listen);
	util_close_fd(&labels->stage);
	util_close_fd(&labels->keep);
	for (size_t i = 0; i < labels->n_secrets; i++)
		util_close_fd(&labels->secrets[i].fd);
	labels->n_secrets = 0;
	free(steal_ptr(&labels->permitted.list));
	labels->permitted.n = 0;
}
