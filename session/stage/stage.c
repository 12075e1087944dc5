/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session from open to its end. */
#include "session/stage/stage.h"

#include <string.h>

#include "session/base/layer.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/space.h"
#include "session/base/util.h"
#include "session/stage/act.h"
#include "session/stage/rows.h"
#include "session/stage/secret_typing.h"
#include "session/stage/setup.h"
#include "session/stage/silence.h"
#include "session/stage/spec.h"

#define CONNECT_EVERY_MS 5
#define FIRST_QUIET_MS 300
#define FIRST_SETTLE_MS 3000

static void join_rows(struct stage *stage)
{
	const struct action_set sets[] = {
		{input_rows, input_n_rows, stage->input},
		{rows_own, rows_n_own, &stage->own},
		{display_rows, display_n_rows, stage->display},
		{apps_rows, apps_n_rows, stage->apps},
		{access_rows, access_n_rows, stage->apps},
	};

	memcpy(stage->sets, sets, sizeof(sets));
	stage->n_sets = ARRAY_LEN(sets);
}

struct stage *stage_create(struct loop *loop, struct ends *ends)
{
	struct stage *stage = util_zalloc(sizeof(*stage));

	*stage = (struct stage){.loop = loop, .ends = *ends, .native = ends->maximum, .space = ends->maximum, .epoch = 1, .episode = 1};
	stage->own = (struct rows_home){.request_human = lease_ask, .arg = stage};
	stage->apps_started = json_array();
	stage->records = records_create();
	stage->readers = (struct readers){.heartbeat_ms = LIMIT_EVENT_HEARTBEAT_MS, .patience_ms = LIMIT_SEND_MS};
	stage->events = events_create(&stage->readers);
	stage->journal = journal_create(loop, steal_fd(&stage->ends.journal_fd));
	journal_watch(stage->journal, events_add, stage->events);
	journal_filter(stage->journal, gate_line, stage);
	return stage;
}

void stage_destroy(struct stage *stage)
{
	if (!stage)
		return;
	lease_end(stage);
	egress_finish(stage);
	recording_stop(stage);
	spots_finish(stage);
	apps_destroy(stage->apps);
	input_destroy(stage->input);
	display_destroy(stage->display);
	xconn_close(&stage->x_untrusted);
	xconn_close(&stage->x);
	recording_end(stage);
	journal_destroy(stage->journal);
	records_destroy(stage->records);
	events_destroy(stage->events);
	approvals_finish(stage);
	ends_close(&stage->ends);
	secrets_finish(&stage->secrets);
	json_decref(stage->operators);
	json_decref(stage->spec);
	json_decref(stage->image);
	json_decref(stage->apps_started);
	json_decref(stage->setup);
	free(stage);
}

static void note(struct stage *stage, const char *event, json_t *fields)
{
	struct err e;

	if (journal_add(stage->journal, event, fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
}

static void on_failed_long(void *arg)
{
	struct stage *stage = arg;

	stage_end(stage, stage->reason);
	loop_stop(stage->loop);
}

void stage_fail(struct stage *stage, const char *reason)
{
	if (stage->state == STAGE_IS_FAILED || stage->state == STAGE_IS_ENDED)
		return;
	log_warn("the session has failed: %s", reason);
	stage->state = STAGE_IS_FAILED;
	(void)snprintf(stage->reason, sizeof(stage->reason), "%s", reason);
	note(stage, "failed", json_pack("{s:s}", "reason", reason));
	journal_sync(stage->journal);
	(void)act_cancel(stage); /* those that wait are refused when their turn comes */
	lease_end(stage);
	approvals_withdraw(stage, reason);
	co_signal(&stage->readers.news);
	(void)loop_at(stage->loop, util_now_ms() + LIMIT_FAILED_MS, on_failed_long, stage);
}

/* The first part that fails is the cause. */
static void lose_part(struct stage *stage, enum stage_exit status, const char *reason)
{
	if (!stage->exit_status)
		stage->exit_status = (int)status;
	stage_fail(stage, reason);
}

static void on_display_lost(void *arg)
{
	struct stage *stage = arg;

	meters_look(stage);
	lose_part(stage, STAGE_EXIT_DISPLAY,
	          stage->meters.of[METER_X].counted > 0 ? "the display is gone: its memory was used up (limits.x_mb)" : "the display is gone");
}

static void on_init_gone(void *arg)
{
	struct stage *stage = arg;

	meters_look(stage);
	lose_part(stage, STAGE_EXIT_APPS,
	          stage->meters.of[METER_MEMORY].counted > 0 ? "the processes of the app jail are gone: its memory was used up (limits.memory_mb)"
	                                                     : "the processes of the app jail are gone");
}

/* The spec for the journal: of the environment only the names. */
static json_t *spec_to_keep(const json_t *spec)
{
	return journal_action(spec, JOURNAL_TEXT_KEPT);
}

/* All that it takes to make such a session again. */
static json_t *start_fields(const struct stage *stage)
{
	return json_pack("{s:s,s:i,s:i,s:s,s:O*,s:O*,s:o,s:o,s:s,s:o}", "session", stage->ends.session, "epoch", (int)stage->epoch, "episode",
	                 (int)stage->episode, "version", GLOVEBOX_VERSION, "image", json_object_get(stage->image, "name"), "image_hash",
	                 json_object_get(stage->image, "hash"), "native", space_json(stage->native), "space", space_json(stage->space),
	                 "guard", stage->guard.last ? "last" : "off", "spec", spec_to_keep(stage->spec));
}

static int write_start(struct stage *stage, struct err *e)
{
	char time[32];
	json_t *kept = json_pack("{s:s,s:s,s:s,s:O*,s:O*,s:o}", "id", stage->ends.session, "started_at", util_wall_time(time, sizeof(time)),
	                         "version", GLOVEBOX_VERSION, "image", json_object_get(stage->image, "name"), "image_hash",
	                         json_object_get(stage->image, "hash"), "spec", spec_to_keep(stage->spec));
	int rc = journal_write_session(stage->ends.session_json_fd, kept, e);

	json_decref(kept);
	if (rc < 0)
		return -1;
	return journal_add(stage->journal, "start", start_fields(stage), e);
}

/* The X server starts beside the stage, and only a connection shows that it accepts one: so it is tried until it does. */
static int open_display(struct stage *stage, int64_t deadline_ms, struct err *e)
{
	const uint8_t *cookie = stage->ends.has_cookie ? stage->ends.cookie : NULL;

	while (xconn_open(&stage->x, stage->loop, stage->ends.display, cookie, on_display_lost, stage, e) < 0) {
		if (e->code != ERR_SESSION_FAILED || util_now_ms() >= deadline_ms)
			return -1;
		if (co_wait_until(util_now_ms() + CONNECT_EVERY_MS, e) < 0)
			return -1;
	}
	return 0;
}

static void on_untrusted_lost(void *arg)
{
	(void)arg;
	log_warn("the connection among the untrusted apps is lost: clipboards are not carried any more");
}

/* Both connections are there before any app is. */
static int open_untrusted(struct stage *stage, struct err *e)
{
	if (stage->ends.trusted != 0 && xsecurity_trust_group(&stage->x, stage->ends.trusted, e) < 0)
		return -1;
	if (xsecurity_untrusted_cookie(&stage->x, stage->untrusted_cookie, e) < 0)
		return -1;
	return xconn_open_untrusted(&stage->x_untrusted, stage->loop, stage->ends.display, stage->untrusted_cookie, on_untrusted_lost, stage, e);
}

static int look(void *arg, uint64_t *frame, struct err *e)
{
	struct display *display = ((struct stage *)arg)->display;

	if (display_update(display, e) < 0)
		return -1;
	*frame = display_frame(display);
	return 0;
}

static int wait_quiet(void *arg, int quiet_ms, int64_t since_ms, int64_t deadline_ms, bool *is_quiet, struct err *e)
{
	const struct display_quiet quiet = {.quiet_ms = quiet_ms, .since_ms = since_ms};

	return display_settle(((struct stage *)arg)->display, &quiet, deadline_ms, is_quiet, e);
}

static bool changed(void *arg, struct rect rect, uint64_t since)
{
	return display_changed(((struct stage *)arg)->display, rect, since);
}

static void on_resized(void *arg, struct space native)
{
	struct stage *stage = arg;

	if (stage->space_follows)
		stage->space = space_for_models(native);
	stage->native = native;
}

static int part_of(void *arg, uint32_t window, struct part *out, struct err *e)
{
	const struct stage *stage = arg;

	return apps_part(stage->apps, stage->native, window, out, e);
}

static int type_over(void *arg, const char *text, int64_t deadline_ms, struct err *e)
{
	return input_type_over(((struct stage *)arg)->input, text, deadline_ms, e);
}

static int open_parts(struct stage *stage, struct err *e)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_START_MS;
	const struct apps_ops ops = {
		.init_gone = on_init_gone, .type_over = type_over, .arg = stage, .exec_ms = form_int(json_object_get(stage->spec, "limits"), "exec_ms", 0),
		.accessibility = form_bool(stage->spec, "accessibility", true), .way_out = stage->ends.egress_fd >= 0};
	const struct input_ops input_ops = {.look = look, .wait_quiet = wait_quiet, .changed = changed, .before_press = nodes_wait, .has_secret = secret_typing_has,
	                                    .secret_begin = secret_typing_begin, .secret_end = secret_typing_end, .arg = stage};

	if (open_display(stage, deadline_ms, e) < 0 || open_untrusted(stage, e) < 0 ||
	    display_create(&stage->display, &stage->x, stage->ends.maximum, stage->native, e) < 0 ||
	    display_wait_ready(stage->display, deadline_ms, e) < 0 || input_create(&stage->input, &stage->x, &input_ops, e) < 0 ||
	    input_carry(stage->input, &stage->x_untrusted, e) < 0)
		return -1;
	meters_begin(stage, stage->ends.proc_fd);
	if (apps_create(&stage->apps, &stage->x, steal_fd(&stage->ends.init_fd), steal_fd(&stage->ends.proc_fd), stage->ends.apps_pid,
	                stage->image, json_object_get(stage->spec, "env"),
	                layer_is_off("display trust") ? stage->ends.cookie : stage->untrusted_cookie, &ops, e) < 0)
		return -1;
	display_on_resize(stage->display, on_resized, stage);
	display_use_windows(stage->display, part_of, stage);
	stage->x.on_silent = silence_begin;
	display_use_blanks(stage->display, spots_where, stage);
	join_rows(stage);
	if (approvals_begin(stage, json_object_get(stage->spec, "approval"), stage->operators, e) < 0 || egress_begin(stage, deadline_ms, e) < 0)
		return -1;
	recording_begin(stage);
	return 0;
}

int stage_open(struct stage *stage, const char *body, size_t len, struct err *e)
{
	if (stage->opened)
		return err_set(e, ERR_CONFLICT, NULL, "the session was opened before");
	stage->opened = true;
	if (spec_read(stage, body, len, e) < 0 || write_start(stage, e) < 0 || open_parts(stage, e) < 0) {
		stage_fail(stage, e->msg);
		return -1;
	}
	stage->is_open = true;
	return 0;
}

static int start_app(struct stage *stage, const char *name, int64_t deadline_ms, struct err *e)
{
	json_t *result = json_pack("{s:s}", "app", name);
	int rc = apps_launch(stage->apps, name, NULL, deadline_ms, result, e);

	if (rc == 0)
		json_array_append(stage->apps_started, result);
	json_decref(result);
	return rc;
}

/* A window that is mapped is not painted yet, and what is typed then is lost. Bounded: some apps never rest. */
static int settle(struct stage *stage, struct err *e)
{
	bool is_quiet;

	return wait_quiet(stage, FIRST_QUIET_MS, 0, util_now_ms() + FIRST_SETTLE_MS, &is_quiet, e);
}

static int start_apps(struct stage *stage, struct err *e)
{
	const json_t *app;
	size_t i;

	json_array_foreach(json_object_get(stage->spec, "apps"), i, app)
		if (start_app(stage, json_string_value(app), util_now_ms() + LIMIT_LAUNCH_MS, e) < 0)
			return -1;
	return i > 0 ? settle(stage, e) : 0;
}

int stage_start(struct stage *stage, struct err *e)
{
	int64_t after;

	if (!stage->is_open || stage->state != STAGE_IS_STARTING)
		return err_set(e, ERR_CONFLICT, NULL, "the session cannot be started now");
	if (setup_run(stage, e) < 0 || start_apps(stage, e) < 0) {
		stage_fail(stage, e->msg);
		return -1;
	}
	after = recording_take(stage); /* of all of the screen: the first act has less to do then */
	if (stage->state != STAGE_IS_STARTING)
		return stage_check_ready(stage, e);
	stage->state = STAGE_IS_READY;
	stage->acted_ms = util_now_ms();
	if (journal_add(stage->journal, "ready", after > 0 ? json_pack("{s:I}", "after", (json_int_t)after) : NULL, e) < 0)
		return -1;
	if (strcmp(form_string(stage->spec, "lease", "agent"), "human") == 0)
		lease_begin_held(stage);
	return 0;
}

void stage_stop(struct stage *stage)
{
	if (stage->state == STAGE_IS_ENDED)
		return;
	if (stage->state != STAGE_IS_FAILED)
		(void)snprintf(stage->reason, sizeof(stage->reason), "the session has ended");
	stage->state = STAGE_IS_ENDED;
	(void)act_cancel(stage);
	lease_end(stage);
	approvals_withdraw(stage, stage->reason);
	co_signal(&stage->approvals.changed);
}

void stage_end(struct stage *stage, const char *reason)
{
	if (stage->finished)
		return;
	stage->finished = true;
	(void)snprintf(stage->end_reason, sizeof(stage->end_reason), "%s", reason);
	stage_stop(stage);
	viewers_end(stage);
	egress_finish(stage);
	if (stage->input)
		input_release(stage->input);
	meters_end(stage);
	note(stage, "end", json_pack("{s:s}", "reason", reason));
	journal_sync(stage->journal);
}

int stage_check_ready(const struct stage *stage, struct err *e)
{
	if (stage->state == STAGE_IS_READY) {
		if (silence_check(stage, e) < 0)
			return -1;
		if (connections_queued(stage->connections) <= LIMIT_STAGE_QUEUED_BYTES)
			return 0;
		return err_set(e, ERR_BUSY, NULL, "earlier answers of this session are not read yet");
	}
	if (stage->state == STAGE_IS_STARTING)
		return err_set(e, ERR_NOT_READY, NULL, "the session is still starting");
	if (stage->state == STAGE_IS_PAUSED)
		return err_set(e, ERR_PAUSED, NULL, "the session is paused, until somebody who may resumes it");
	return err_set(e, ERR_GONE, NULL, "%s", stage->reason);
}

struct batch_place stage_place(const struct stage *stage)
{
	return (struct batch_place){stage->space, stage->native, stage->space_follows, false};
}

json_t *stage_at(const struct stage *stage, uint64_t frame)
{
	if (frame == 0)
		frame = lease_frame(stage);
	return json_pack("{s:I,s:I,s:I}", "frame", (json_int_t)frame, "epoch", (json_int_t)stage->epoch, "episode",
	                 (json_int_t)stage->episode);
}

static const char *state_name(const struct stage *stage)
{
	static const char *const names[] = {"starting", "ready", "paused", "ended", "failed"};

	return names[stage->state];
}

json_t *stage_describe(struct stage *stage)
{
	json_t *held = stage->input ? input_held(stage->input) : json_pack("{s:[],s:[]}", "keys", "buttons");
	json_t *state = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:O,s:o}", "state", state_name(stage), "display", space_json(stage->native),
	                          "space", space_json(stage->space), "at", stage_at(stage, 0), "held", held, "focus", nodes_focus(stage), "apps",
	                          stage->apps_started, "lease", lease_json(stage, NULL));

	if (stage->egress.is_there)
		json_object_set_new(state, "egress", egress_describe(stage));
	if (stage->meters.begun_ms)
		json_object_set_new(state, "limits", meters_json(stage));
	if (stage->setup)
		json_object_set(state, "setup", stage->setup);
	if (stage->reason[0])
		json_object_set_new(state, "reason", json_string(stage->reason));
	return state;
}

/* In a hold nothing that moves, to those who are not the person's own kind. */
json_t *stage_show(struct stage *stage, const struct call *call)
{
	json_t *state = stage_describe(stage);

	json_object_set_new(state, "lease", lease_json(stage, call));
	if (!lease_is_private(stage) || !(call->role & (ROLE_AGENT | ROLE_VIEWER)))
		return state;
	json_object_set_new(state, "held", json_pack("{s:[],s:[]}", "keys", "buttons"));
	(void)json_object_del(state, "focus");
	(void)json_object_del(state, "egress");
	(void)json_object_del(state, "limits");
	json_object_set_new(state, "display", space_json(stage->lease.native));
	json_object_set_new(state, "space", space_json(stage->lease.space));
	return state;
}

json_t *stage_hello(const struct stage *stage)
{
	return json_pack("{s:s,s:I,s:I,s:s,s:s,s:[],s:o}", "session", stage->ends.session, "episode", (json_int_t)stage->episode, "epoch",
	                 (json_int_t)stage->epoch, "state", state_name(stage), "holder", lease_holder_name(stage->lease.holder), "parked", "running",
	                 records_running(stage->records));
}
