/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels with descriptors, before anything else happens: no loop runs yet. */
#include "session/stage/ends.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

#include "session/base/ipc.h"
#include "session/base/util.h"

/* The labels that this version has a use for, and where their descriptors go. */
static const struct place {
	enum stage_label_kind kind;
	const char *name;
	size_t at; /* in struct ends */
	bool required;
} places[] = {
	{STAGE_INIT, "", offsetof(struct ends, init_fd), true},
	{STAGE_PROC, "", offsetof(struct ends, proc_fd), true},
	{STAGE_JOURNAL, "", offsetof(struct ends, journal_fd), true},
	{STAGE_SESSION_JSON, "", offsetof(struct ends, session_json_fd), true},
	{STAGE_PICTURES, "", offsetof(struct ends, pictures_fd), true},
	{STAGE_EGRESS, "", offsetof(struct ends, egress_fd), false},
	{STAGE_SWITCH, "jail/freeze", offsetof(struct ends, freeze_fd), false},
	{STAGE_SWITCH, "jail/events", offsetof(struct ends, frozen_fd), false},
	{STAGE_SWITCH, "agent/freeze", offsetof(struct ends, agent_freeze_fd), false},
	{STAGE_SWITCH, "agent/kill", offsetof(struct ends, agent_kill_fd), false},
	{STAGE_SWITCH, "apps/kill", offsetof(struct ends, apps_kill_fd), false},
	{STAGE_SWITCH, "agent/events", offsetof(struct ends, agent_events_fd), false},
	{STAGE_METER, "jail/memory", offsetof(struct ends, meter_fds[END_JAIL_MEMORY]), false},
	{STAGE_METER, "jail/memory_peak", offsetof(struct ends, meter_fds[END_JAIL_MEMORY_PEAK]), false},
	{STAGE_METER, "jail/oom", offsetof(struct ends, meter_fds[END_JAIL_OOM]), false},
	{STAGE_METER, "jail/pids", offsetof(struct ends, meter_fds[END_JAIL_PIDS]), false},
	{STAGE_METER, "jail/pids_refused", offsetof(struct ends, meter_fds[END_JAIL_PIDS_REFUSED]), false},
	{STAGE_METER, "jail/disk", offsetof(struct ends, meter_fds[END_JAIL_DISK]), false},
	{STAGE_METER, "desk/cpu_us", offsetof(struct ends, meter_fds[END_DESK_CPU_US]), false},
	{STAGE_METER, "desk/cpu_ns", offsetof(struct ends, meter_fds[END_DESK_CPU_NS]), false},
	{STAGE_METER, "desk/throttled", offsetof(struct ends, meter_fds[END_DESK_THROTTLED]), false},
	{STAGE_METER, "display/oom", offsetof(struct ends, meter_fds[END_DISPLAY_OOM]), false},
};

static int *fd_at(struct ends *ends, const struct place *place)
{
	return (int *)(void *)((char *)ends + place->at);
}

static int *place_of(struct ends *ends, const struct stage_label *label)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if ((uint32_t)places[i].kind == label->kind && strncmp(places[i].name, label->name, sizeof(label->name)) == 0)
			return fd_at(ends, &places[i]);
	return NULL;
}

/* In its own list; *fd is taken. */
static int take_secret(struct ends *ends, const struct stage_label *label, int *fd, struct err *e)
{
	if (ends->n_secrets == LIMIT_SECRETS || strnlen(label->name, SECRET_NAME_SIZE) == SECRET_NAME_SIZE)
		return err_set(e, ERR_INTERNAL, NULL, "a label of the warden breaks the form");
	memcpy(ends->secrets[ends->n_secrets].name, label->name, SECRET_NAME_SIZE);
	ends->secrets[ends->n_secrets++].fd = steal_fd(fd);
	return 0;
}

static int start(struct ends *ends, const struct stage_label *label, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (places[i].required && *fd_at(ends, &places[i]) < 0)
			return err_set(e, ERR_INTERNAL, NULL, "the warden did not hand over everything");
	if (strnlen(label->session, SESSION_ID_SIZE) != SESSION_ID_LEN)
		return err_set(e, ERR_INTERNAL, NULL, "the warden named no session");
	memcpy(ends->session, label->session, sizeof(ends->session));
	memcpy(ends->cookie, label->cookie, sizeof(ends->cookie));
	ends->has_cookie = true;
	ends->maximum = (struct space){label->width_px, label->height_px};
	ends->apps_pid = label->apps_pid;
	ends->trusted = label->trusted;
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
	if (label.kind == STAGE_SECRET)
		return take_secret(ends, &label, &fd, e);
	place = place_of(ends, &label);
	if (place && *place < 0)
		*place = steal_fd(&fd);
	return 0;
}

int ends_receive(struct ends *ends, int warden_fd, struct err *e)
{
	struct pollfd channel = {.fd = warden_fd, .events = POLLIN};
	int rc;

	*ends = (struct ends){.display = ":0"};
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		*fd_at(ends, &places[i]) = -1;
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
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		util_close_fd(fd_at(ends, &places[i]));
	while (ends->n_secrets > 0)
		util_close_fd(&ends->secrets[--ends->n_secrets].fd);
}
