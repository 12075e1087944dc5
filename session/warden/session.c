/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of a session: made step by step, ended from any of them the same way. */
#include "session/warden/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/init/proto.h"
#include "display/server/proto.h"
#include "sandbox/confine/confine.h"
#include "sandbox/jail/display_jail.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/egress.h"
#include "session/warden/front.h"
#include "session/warden/parts.h"
#include "session/warden/secrets.h"
#include "session/warden/views.h"

#define MIB (1024 * 1024ULL)
#define DISPLAY_SPARE (224 * MIB) /* of memory, above the address space that Xvfb may have */
#define STAGE_PATIENCE_MS 2000      /* for its last journal lines */
#define GROUPS_RETRY_MS 5
#define GROUPS_PATIENCE_MS 10000

/* What a caller is told of a failure inside: the cause is in the log, since it names what callers must not see. */
static const char *const PART_NAMES[N_PARTS] = {[PART_DISPLAY] = "the display", [PART_APPS] = "the app jail", [PART_STAGE] = "the stage"};
static const enum warden_reason PART_REASONS[N_PARTS] = {
	[PART_DISPLAY] = WARDEN_DISPLAY_DIED, [PART_APPS] = WARDEN_APPS_DIED, [PART_STAGE] = WARDEN_STAGE_DIED};

static struct session *find(const struct warden *warden, const char *id)
{
	struct session *session = warden->sessions;

	while (session && strcmp(session->id, id) != 0)
		session = session->next;
	return session;
}

static unsigned count(const struct warden *warden)
{
	unsigned n = 0;

	for (const struct session *session = warden->sessions; session; session = session->next)
		n++;
	return n;
}

/* The lowest slot that nobody has; there is one while the ceiling is not reached. */
static unsigned free_slot(const struct warden *warden)
{
	for (unsigned slot = 1;; slot++) {
		const struct session *session = warden->sessions;

		while (session && session->slot != slot)
			session = session->next;
		if (!session)
			return slot;
	}
}

static void send_event(const struct session *session, enum warden_op op, uint32_t tag)
{
	struct warden_event event = {.op = (uint32_t)op, .tag = tag, .isolation = session->isolation};

	memcpy(event.session, session->id, sizeof(event.session));
	if (op == WARDEN_FAILED) {
		bool told = session->why.code && session->why.code != ERR_INTERNAL;

		event.code = (uint32_t)(told ? session->why.code : ERR_SESSION_FAILED);
		(void)snprintf(event.path, sizeof(event.path), "%.31s", told ? session->why.path : "");
		(void)snprintf(event.detail, sizeof(event.detail), "%.150s", told ? session->why.msg : session->how);
	} else if (op == WARDEN_ENDED) {
		event.reason = (uint32_t)session->reason;
		(void)snprintf(event.detail, sizeof(event.detail), "%s", session->how);
	}
	front_send(session->warden->front, &event);
}

static void forget(struct session *session)
{
	struct session **place = &session->warden->sessions;

	while (*place != session)
		place = &(*place)->next;
	*place = session->next;
	free(session);
}

static void try_finish(struct session *session);

static void on_groups_retry(void *arg)
{
	struct session *session = arg;

	session->patience = NULL;
	try_finish(session);
}

/* False while a last process is still leaving its group: a timer comes back to it. */
static bool groups_are_gone(struct session *session)
{
	if (!session->has_groups || cgroup_remove_session(session->warden->cgroups, session->id))
		return true;
	if (!session->give_up_ms)
		session->give_up_ms = util_now_ms() + GROUPS_PATIENCE_MS;
	if (util_now_ms() > session->give_up_ms) {
		log_error("the control groups of %s cannot be removed; the next start does it", session->id);
		return true;
	}
	(void)cgroup_kill_session(session->warden->cgroups, session->id, "");
	session->patience = loop_at(session->warden->loop, util_now_ms() + GROUPS_RETRY_MS, on_groups_retry, session);
	return false;
}

/* When the last process is gone: takes away all that is left, says so, frees the session. */
static void try_finish(struct session *session)
{
	struct warden *warden = session->warden;

	for (int i = 0; i < N_PARTS; i++)
		if (session->parts[i].child)
			return;
	if (session->views || egress_runs(session->egress))
		return;
	loop_cancel(session->patience);
	session->patience = NULL;
	if (!groups_are_gone(session))
		return;
	if (session->has_x11)
		state_remove_x11(&warden->state, session->id);
	egress_destroy(session->egress);
	session->egress = NULL;
	if (session->has_run)
		state_remove_run(&warden->state, session->id);
	if (session->has_journal)
		state_give_journal(&warden->state, session->id);
	log_info("session %s has ended: %s", session->id, session->how);
	if (!session->created)
		send_event(session, WARDEN_FAILED, session->tag);
	if (session->created || !session->why.code)
		send_event(session, WARDEN_ENDED, 0);
	forget(session);
	if (warden->stopping)
		warden->settled(warden);
}

static void on_patience(void *arg)
{
	struct session *session = arg;

	session->patience = NULL;
	if (session->parts[PART_STAGE].child) {
		log_warn("the stage of %s does not end by itself", session->id);
		child_kill(session->parts[PART_STAGE].child);
	}
}

static void close_ends(struct session *session)
{
	int *const ends[] = {&session->listen, &session->label, &session->init, &session->proc, &session->store, &session->files[STATE_SESSION_JSON],
	                     &session->files[STATE_JOURNAL], &session->files[STATE_PICTURES]};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		util_close_fd(ends[i]);
}

/* Kills the desk at once; the stage sees its channel end, writes its last lines and goes, or is killed in a while. */
static void begin_end(struct session *session, enum warden_reason reason, const char *how)
{
	struct part *stage = &session->parts[PART_STAGE];

	if (session->state == SESSION_ENDING)
		return;
	session->state = SESSION_ENDING;
	session->reason = reason;
	(void)snprintf(session->how, sizeof(session->how), "%s", how);
	loop_cancel(session->ttl);
	session->ttl = NULL;
	(void)cgroup_kill_session(session->warden->cgroups, session->id, "desk");
	for (int i = 0; i < N_PARTS; i++)
		if (session->parts[i].child && (i != PART_STAGE || !stage->started))
			child_kill(session->parts[i].child);
	views_kill(session);
	egress_end(session->egress);
	close_ends(session);
	if (stage->child)
		session->patience = loop_at(session->warden->loop, util_now_ms() + STAGE_PATIENCE_MS, on_patience, session);
}

static void fail(struct session *session, const struct err *why, const char *how)
{
	if (session->state == SESSION_ENDING)
		return;
	session->why = *why;
	log_err(LOG_ERROR, why, "session %s: %s", session->id, how);
	begin_end(session, WARDEN_ASKED, how);
}

static void on_born(void *arg, const struct child_birth *birth)
{
	struct part *part = arg;
	struct session *session = part->session;

	session->apps_pid = birth->pid_inside;
	session->proc = birth->fd;
	if (session->state == SESSION_ENDING)
		util_close_fd(&session->proc);
}

static void on_ttl(void *arg)
{
	struct session *session = arg;

	session->ttl = NULL;
	begin_end(session, WARDEN_TTL, "its time is over");
	try_finish(session);
}

/* The front ends it tidily when its time is over; this is for a front that does not. */
static void arm_ttl(struct session *session, uint32_t ttl_s)
{
	loop_cancel(session->ttl);
	session->ttl = loop_at(session->warden->loop, util_now_ms() + ttl_s * INT64_C(1000) + LIMIT_END_MS, on_ttl, session);
}

/* Once all parts run, the stage gets its ends and the front its answer. */
static void on_started(void *arg)
{
	struct part *part = arg;
	struct session *session = part->session;
	struct err e = {0};

	part->started = true;
	if (session->state != SESSION_STARTING)
		return;
	for (int i = 0; i < N_PARTS; i++)
		if (!session->parts[i].started)
			return;
	if (parts_hand_over(session, &e) < 0) {
		fail(session, &e, "the stage could not be given its ends");
		return;
	}
	session->state = SESSION_RUNNING;
	session->created = true;
	session->created_ms = util_now_ms();
	arm_ttl(session, session->spec.ttl_s);
	send_event(session, WARDEN_CREATED, session->tag);
}

static void on_failed(void *arg, const struct err *why)
{
	struct part *part = arg;
	char how[96];

	(void)snprintf(how, sizeof(how), "%s could not be started", PART_NAMES[part->kind]);
	fail(part->session, why, how);
}

/* Who of the display ended, as its exit code says. */
static const char *name_part(enum part_kind kind, int status)
{
	if (kind != PART_DISPLAY)
		return PART_NAMES[kind];
	switch (status) {
	case DISPLAY_EXIT_XVFB:
		return "the X server";
	case DISPLAY_EXIT_WM:
		return "the window manager";
	default:
		return PART_NAMES[kind];
	}
}

/* What a session ended of: a stage may end for a part that lives. */
static enum warden_reason reason_of(enum part_kind kind, int status)
{
	if (kind == PART_STAGE && status == STAGE_EXIT_DISPLAY)
		return WARDEN_DISPLAY_DIED;
	if (kind == PART_STAGE && status == STAGE_EXIT_APPS)
		return WARDEN_APPS_DIED;
	return PART_REASONS[kind];
}

static void on_gone(void *arg, const char *how, int status)
{
	struct part *part = arg;
	struct session *session = part->session;
	const struct child *display = session->parts[PART_DISPLAY].child;
	struct err why = {0};
	char text[96];

	part->child = NULL;
	/* The display's end takes the app jail along, and is seen after it: it is the cause. */
	if (part->kind == PART_APPS && display && session->state != SESSION_ENDING && child_is_ending(display))
		return;
	(void)snprintf(text, sizeof(text), "%s ended (%s)", name_part(part->kind, status), how);
	if (session->state == SESSION_STARTING) {
		(void)err_set(&why, ERR_SESSION_FAILED, NULL, "%s while it started", text);
		fail(session, &why, text);
	} else {
		begin_end(session, reason_of(part->kind, status), text);
	}
	try_finish(session);
}

static void on_view_gone(struct session *session)
{
	if (session->state == SESSION_ENDING)
		try_finish(session);
}

static void on_egress_gone(struct session *session)
{
	try_finish(session);
}

static const struct child_ops PART_OPS = {.born = on_born, .started = on_started, .failed = on_failed, .gone = on_gone};

/* A limit that the host cannot give is missed by nobody until it is too late, so the operator must have said that it may be missing. */
static int check_limits(const struct session *session, struct err *e)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} limits[] = {{ISOLATION_MEMORY, "memory"}, {ISOLATION_PIDS, "pids"}, {ISOLATION_CPU, "cpu"}};
	char missing[40] = "";

	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		if (!(session->isolation & limits[i].bit))
			err_list(missing, sizeof(missing), ", ", limits[i].name);
	if (!missing[0] || session->warden->ceilings.unlimited)
		return 0;
	return err_set(e, ERR_UNSUPPORTED, NULL, "this host cannot limit %s of a session (glovebox doctor says why); the operator accepts that by "
	               "unlimited = 1 in the file of --ceilings", missing);
}

static int start(struct session *session, struct err *e)
{
	struct warden *warden = session->warden;
	const struct cgroup_limits limits = {.memory_bytes = session->spec.memory_mb * MIB, .display_bytes = session->spec.x_mb * MIB + DISPLAY_SPARE,
	                                     .pids = session->spec.pids, .cpu_milli = session->spec.cpu_milli};

	util_random(session->cookie, sizeof(session->cookie));
	if (state_make_journal(&warden->state, session->id, warden_uid(warden, session->slot, SLOT_STAGE), session->files, e) < 0)
		return -1;
	session->has_journal = true;
	session->has_run = true;
	if (state_make_run(&warden->state, session->id, &session->listen, e) < 0)
		return -1;
	session->has_x11 = true;
	if (state_make_x11(&warden->state, session->id, e) < 0)
		return -1;
	session->has_groups = true;
	if (cgroup_make_session(warden->cgroups, session->id, &limits, &session->isolation, e) < 0 || check_limits(session, e) < 0)
		return -1;
	session->isolation |= ISOLATION_DISK | ISOLATION_SECCOMP | (warden->user.ordinary ? ISOLATION_ROOTLESS : 0);
	if (confine_landlock_abi() >= INIT_LANDLOCK_ABI)
		session->isolation |= ISOLATION_HANDOVER;
	if (confine_landlock_abi() >= CONFINE_PORTS_ABI)
		session->isolation |= ISOLATION_LANDLOCK_PORTS;
	if (confine_landlock_abi() >= CONFINE_SCOPES_ABI)
		session->isolation |= ISOLATION_LANDLOCK_SCOPES;
	if (egress_create(session, e) < 0 || parts_start_display(session, &PART_OPS, e) < 0 || parts_start_apps(session, &PART_OPS, e) < 0)
		return -1;
	return parts_start_stage(session, &PART_OPS, e) < 0 ? -1 : egress_start(session->egress, e);
}

/* What forbids a session at all. */
static int check_room(const struct warden *warden, const char *id, struct err *e)
{
	if (warden->stopping)
		return err_set(e, ERR_BUSY, NULL, "the server is ending");
	if (find(warden, id))
		return err_set(e, ERR_CONFLICT, NULL, "there is a session %s already", id);
	if (count(warden) >= warden->ceilings.sessions)
		return err_set(e, ERR_LIMIT, NULL, "%u sessions are running, which is the most that the operator allows", warden->ceilings.sessions);
	return 0;
}

void session_create(struct warden *warden, const struct warden_request *request)
{
	struct session *session = util_zalloc(sizeof(*session));
	struct err e = {0};

	*session = (struct session){.warden = warden, .tag = request->tag, .spec = request->create, .listen = -1, .label = -1, .init = -1,
	                            .files = {-1, -1, -1}, .proc = -1, .store = -1, .view_gone = on_view_gone, .egress_gone = on_egress_gone};
	memcpy(session->id, request->session, sizeof(session->id));
	for (int i = 0; i < N_PARTS; i++)
		session->parts[i] = (struct part){.session = session, .kind = (enum part_kind)i};
	if (check_room(warden, session->id, &e) < 0 || secrets_check(&warden->state, &session->spec, &e) < 0) {
		session->why = e;
		send_event(session, WARDEN_FAILED, session->tag);
		free(session);
		return;
	}
	session->slot = free_slot(warden);
	session->next = warden->sessions;
	warden->sessions = session;
	if (start(session, &e) < 0) {
		fail(session, &e, "it could not be started");
		try_finish(session);
	}
}

void session_seal(struct warden *warden, const char *id)
{
	struct session *session = find(warden, id);
	struct err e = {0};

	if (!session || session->state != SESSION_RUNNING)
		return;
	/* A display that cannot be sealed would be weaker than said. */
	if (display_jail_seal(child_pidfd(session->parts[PART_DISPLAY].child), &e) < 0) {
		log_err(LOG_ERROR, &e, "session %s", id);
		begin_end(session, WARDEN_DISPLAY_DIED, "the display could not be sealed");
		try_finish(session);
	}
}

/* A ceiling that every new request moved on would be none: it is for the whole life. */
static int set_ttl(struct session *session, uint32_t ttl_s, const struct ceilings *ceilings, struct err *e)
{
	int64_t lived_s;

	if (!session || session->state != SESSION_RUNNING)
		return err_set(e, ERR_GONE, NULL, "the session does not run");
	lived_s = (util_now_ms() - session->created_ms) / 1000;
	if (lived_s + ttl_s > ceilings->ttl_s)
		return err_set(e, ERR_BAD_FIELD, "/ttl_s", "it has lived %lld s, and %u more are over the %u that this server allows",
		               (long long)lived_s, ttl_s, ceilings->ttl_s);
	arm_ttl(session, ttl_s);
	return 0;
}

void session_set_ttl(struct warden *warden, const struct warden_request *request)
{
	struct err e = {0};
	int rc = set_ttl(find(warden, request->session), request->create.ttl_s, &warden->ceilings, &e);

	front_answer(warden->front, request->tag, request->session, rc, &e);
}

void session_drop_journal(struct warden *warden, const struct warden_request *request)
{
	struct err e = {0};
	int rc;

	if (find(warden, request->session))
		rc = err_set(&e, ERR_CONFLICT, NULL, "the session has not ended: its journal is still being written");
	else
		rc = state_drop_journal(&warden->state, request->session, &e);
	if (rc < 0 && e.code == ERR_INTERNAL)
		log_err(LOG_ERROR, &e, "session %s", request->session);
	front_answer(warden->front, request->tag, request->session, rc, &e);
}

static int add_viewer(struct session *session, const struct warden_viewer *viewer, int *stream, struct err *e)
{
	if (!session || session->state != SESSION_RUNNING)
		return err_set(e, ERR_GONE, NULL, "the session does not run");
	return views_add(session, viewer, stream, e);
}

void session_add_viewer(struct warden *warden, const struct warden_request *request)
{
	struct warden_event event = {.op = WARDEN_VIEWER_ADDED, .tag = request->tag};
	struct err e = {0};
	auto_fd stream = -1;

	if (add_viewer(find(warden, request->session), &request->viewer, &stream, &e) < 0) {
		if (e.code == ERR_INTERNAL)
			log_err(LOG_ERROR, &e, "session %s: a viewer", request->session);
		front_answer(warden->front, request->tag, request->session, -1, &e);
		return;
	}
	memcpy(event.session, request->session, sizeof(event.session));
	front_send_with(warden->front, &event, &stream);
}

void session_end(struct warden *warden, const char *id)
{
	struct session *session = find(warden, id);

	if (session) {
		begin_end(session, WARDEN_ASKED, session->created ? "as it was asked to" : "it was ended while it started");
		try_finish(session);
	} else {
		struct warden_event event = {.op = WARDEN_ENDED, .reason = WARDEN_ASKED, .detail = "it had ended before"};

		(void)snprintf(event.session, sizeof(event.session), "%s", id);
		front_send(warden->front, &event);
	}
}

void session_end_all(struct warden *warden, bool starting_only)
{
	struct session *next;

	for (struct session *session = warden->sessions; session; session = next) {
		next = session->next;
		if (starting_only && session->state != SESSION_STARTING)
			continue;
		begin_end(session, WARDEN_ASKED, starting_only ? "the front ended while it started" : "the server is ending");
		try_finish(session);
	}
}
