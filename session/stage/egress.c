/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage's end of the link. */
#include "session/stage/egress.h"

#include <string.h>

#include "sandbox/egress/link.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

#define HOST_BYTES 255
#define WORD_BYTES 300
#define HELD_MAX 256
#define RATE_MS 500   /* a rate is measured over no less */
#define RATE_FULL 0.9 /* of the cap: then connections wait for it */
#define FAR ((double)(INT64_C(1) << 52)) /* bytes: whole numbers of JSON go so far */

static const struct field decision_fields[] = {
	{"verdict", FIELD_ENUM, true, 0, 0, "allow deny ask", NULL, NULL, NULL, "what became of it"},
	{"rule", FIELD_STRING, false, 0, WORD_BYTES, NULL, NULL, NULL, NULL, "the entry of the list"},
	{"host", FIELD_STRING, false, 0, HOST_BYTES, NULL, NULL, NULL, NULL, "as it was asked for; absent where nobody could tell"},
	{"port", FIELD_INT, false, 0, 65535, NULL, NULL, NULL, NULL, "as it was asked for"},
	{"address", FIELD_STRING, false, 0, 64, NULL, NULL, NULL, NULL, "that was found"},
	{"reason", FIELD_STRING, false, 0, WORD_BYTES, NULL, NULL, NULL, NULL, "in a few words"},
	{"method", FIELD_STRING, false, 0, 32, NULL, NULL, NULL, NULL, "of a request that can be read"},
	{"secret", FIELD_STRING, false, 0, WORD_BYTES, NULL, NULL, NULL, NULL, "names of what was added"},
};
static const struct form decision_form = {decision_fields, ARRAY_LEN(decision_fields), NULL};
#define BYTES(name) {name, FIELD_INT, true, 0, FAR, NULL, NULL, "bytes", NULL, "that went by"}
#define NUMBER(name) {name, FIELD_INT, true, 0, FAR, NULL, NULL, NULL, NULL, "since it runs"}
static const struct field closed_fields[] = {
	{"host", FIELD_STRING, true, 0, HOST_BYTES, NULL, NULL, NULL, NULL, "as it was asked for"},
	{"port", FIELD_INT, true, 0, 65535, NULL, NULL, NULL, NULL, "as it was asked for"},
	BYTES("up"), BYTES("down"),
	{"ms", FIELD_INT, true, 0, FAR, NULL, NULL, "ms", NULL, "from its decision"},
};
static const struct form closed_form = {closed_fields, ARRAY_LEN(closed_fields), NULL};
static const struct field usage_fields[] = {NUMBER("connections"), BYTES("up"), BYTES("down"), NUMBER("allowed"), NUMBER("denied")};
static const struct form usage_form = {usage_fields, ARRAY_LEN(usage_fields), NULL};
static const struct field ready_fields[] = {
	{"ready", FIELD_BOOL, true, 0, 0, NULL, NULL, NULL, NULL, "the policy holds"},
	{"ca", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, NULL, "with a certificate of the session's own"},
};
static const struct form ready_form = {ready_fields, ARRAY_LEN(ready_fields), NULL};
static const struct field ask_fields[] = {
	{"id", FIELD_INT, true, 0, FAR, NULL, NULL, NULL, NULL, "its own number"},
	{"host", FIELD_STRING, true, 1, HOST_BYTES, NULL, NULL, NULL, NULL, "to be reached"},
	{"port", FIELD_INT, true, 1, 65535, NULL, NULL, NULL, NULL, "there"},
	{"method", FIELD_STRING, false, 0, 32, NULL, NULL, NULL, NULL, "of the request, or CONNECT"},
};
static const struct field left_fields[] = {
	{"id", FIELD_INT, true, 0, FAR, NULL, NULL, NULL, NULL, "of the question that nobody waits for"},
};
static const struct form left_form = {left_fields, ARRAY_LEN(left_fields), NULL};
static const struct form ask_form = {ask_fields, ARRAY_LEN(ask_fields), NULL};

/* --- what it says --- */

static void write_line(void *arg, const char *event, json_t *fields)
{
	struct stage *stage = arg;
	struct err e;

	if (journal_add(stage->journal, event, fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
}

static void on_fold_time(void *arg)
{
	struct stage *stage = arg;

	stage->egress.fold_timer = NULL;
	egress_folds_flush(&stage->egress.folds, write_line, stage);
}

void egress_flush(struct stage *stage)
{
	loop_cancel(stage->egress.fold_timer);
	on_fold_time(stage);
}

/* Where a person went is told neither when it ends. Once there are too many of these, every end is taken for one. */
static bool is_of_a_hold(struct stage *stage, const char *event, const json_t *said)
{
	struct egress *egress = &stage->egress;
	auto_free char *place = util_printf("%s:%ld", form_string(said, "host", ""), form_int(said, "port", 0));

	if (strcmp(event, "egress") == 0) {
		if (!lease_is_private(stage))
			return false;
		if (!egress->held)
			egress->held = json_object();
		if (json_object_size(egress->held) < HELD_MAX)
			json_object_set_new(egress->held, place, json_true());
		return true;
	}
	return egress->held && (json_object_get(egress->held, place) || json_object_size(egress->held) == HELD_MAX);
}

void egress_note(struct stage *stage, const char *event, const json_t *said)
{
	struct egress *egress = &stage->egress;
	json_t *fields = json_copy((json_t *)(uintptr_t)said);
	int64_t at_ms;

	if (is_of_a_hold(stage, event, said))
		json_object_set_new(fields, "private", json_true());
	at_ms = egress_folds_add(&egress->folds, event, fields, util_now_ms(), write_line, stage);

	if (!egress->fold_timer)
		egress->fold_timer = loop_at(stage->loop, at_ms, on_fold_time, stage);
}

static json_int_t number(const json_t *said, const char *name)
{
	return json_integer_value(json_object_get(said, name));
}

/* A cap of the policy, or what holds without; 0: none does. */
static double cap_of(const struct egress *egress, const char *name)
{
	json_int_t cap = number(json_object_get(egress->policy, "caps"), name);

	return cap == 0 && strcmp(name, "connections") == 0 ? LIMIT_EGRESS_CONNECTIONS : (double)cap;
}

/* Of all processes. */
static json_int_t bytes_of(const struct egress *egress)
{
	return egress->before.up + egress->before.down + egress->now.up + egress->now.down;
}

/* A refusal by a cap is a limit that was met. */
static void note_cap(struct stage *stage, const char *reason)
{
	static const struct {
		const char *reason, *cap;
		enum meter meter;
	} caps[] = {{"cap: connections", "connections", METER_EGRESS_CONNECTIONS}, {"cap: bytes", "bytes", METER_EGRESS_BYTES}};
	const struct egress *egress = &stage->egress;

	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		if (strcmp(caps[i].reason, reason) == 0)
			meters_hit(stage, caps[i].meter, cap_of(egress, caps[i].cap),
			           (double)(caps[i].meter == METER_EGRESS_BYTES ? bytes_of(egress) : egress->connections));
}

static void take_decision(struct stage *stage, const json_t *said)
{
	/* Most questions are answered by rules: those that a person gets are noted with their card. */
	if (form_is(json_object_get(said, "verdict"), "ask"))
		return;
	egress_note(stage, "egress", said);
	note_cap(stage, form_string(said, "reason", ""));
	if (strncmp(form_string(said, "reason", ""), EGRESS_RETURNED, strlen(EGRESS_RETURNED)) == 0)
		alarms_add(stage, ALARM_RETURNED, 1);
}

static void take_closed(struct stage *stage, const json_t *said)
{
	egress_note(stage, "egress_closed", said);
}

/* A cap on the rate refuses nothing: what goes as fast as that has met it. */
static void note_rate(struct stage *stage, int64_t now_ms)
{
	struct egress *egress = &stage->egress;
	double cap = cap_of(egress, "bytes_s"), used = (double)(bytes_of(egress) - egress->rated) * 1000 / (double)(now_ms - egress->rated_ms);

	if (egress->rated_ms && cap > 0)
		meters_use(stage, METER_EGRESS_RATE, cap, used, used >= cap * RATE_FULL);
	egress->rated = bytes_of(egress);
	egress->rated_ms = now_ms;
}

static void note_use(struct stage *stage)
{
	const struct egress *egress = &stage->egress;
	int64_t now_ms = util_now_ms();

	meters_use(stage, METER_EGRESS_CONNECTIONS, cap_of(egress, "connections"), (double)egress->connections, false);
	if (cap_of(egress, "bytes") > 0)
		meters_use(stage, METER_EGRESS_BYTES, cap_of(egress, "bytes"), (double)bytes_of(egress), false);
	/* However often it says so. */
	if (now_ms - egress->rated_ms < RATE_MS)
		return;
	note_rate(stage, now_ms);
	watch_note(stage);
}

static void take_usage(struct stage *stage, const json_t *said)
{
	stage->egress.connections = number(said, "connections");
	stage->egress.now = (struct egress_totals){number(said, "up"), number(said, "down"), number(said, "allowed"), number(said, "denied")};
	note_use(stage);
}

static void take_ready(struct stage *stage, const json_t *said)
{
	(void)said;
	if (stage->egress.n_sent > 0)
		stage->egress.n_sent--;
	co_signal(&stage->egress.changed);
}

static int on_frame(void *arg, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct stage *stage = arg;
	static const struct {
		const struct form *form;
		void (*take)(struct stage *stage, const json_t *said);
	} kinds[] = {
		[EGRESS_ASK] = {&ask_form, egress_ask},           [EGRESS_DECISION] = {&decision_form, take_decision},
		[EGRESS_CLOSED] = {&closed_form, take_closed},    [EGRESS_USAGE] = {&usage_form, take_usage},
		[EGRESS_READY] = {&ready_form, take_ready},       [EGRESS_LEFT] = {&left_form, egress_left},
	};
	json_auto_t *said = NULL;
	struct err e;

	if (kind >= ARRAY_LEN(kinds) || !kinds[kind].form || flags != 0)
		return -1;
	/* One that asks and asks, and reads no answer. */
	if (ipc_stream_queued(stage->egress.link) > LIMIT_EGRESS_POLICY_BYTES + LIMIT_EGRESS_QUEUED_BYTES) {
		log_warn("egress does not read what it is told");
		return -1;
	}
	if (json_parse(data, len, &said, &e) < 0 || form_check(kinds[kind].form, said, "", NULL, &e) < 0) {
		log_err(LOG_WARN, &e, "a word of egress");
		return -1;
	}
	kinds[kind].take(stage, said);
	return 0;
}

/* --- the link --- */

static void lose_link(struct stage *stage)
{
	struct egress *egress = &stage->egress;

	ipc_stream_destroy(egress->link);
	egress->link = NULL;
	egress->n_sent = 0;
	egress->connections = 0;
	egress->before = (struct egress_totals){egress->before.up + egress->now.up, egress->before.down + egress->now.down,
	                                        egress->before.allowed + egress->now.allowed, egress->before.denied + egress->now.denied};
	egress->now = (struct egress_totals){0};
	egress_forget_asks(stage);
	co_signal(&egress->changed);
}

static void on_closed(void *arg, const char *why)
{
	struct stage *stage = arg;

	log_warn("the link to egress is lost%s%s", why ? ": " : "", why ? why : "");
	lose_link(stage);
	write_line(stage, "egress_lost", NULL);
}

void egress_tell(struct stage *stage, uint16_t kind, json_t *taken)
{
	json_auto_t *value = taken;
	auto_free char *text = json_dumps(value, JSON_COMPACT);
	size_t len = strlen(text);

	for (size_t at = 0; stage->egress.link && at < len;) {
		size_t n = len - at < LIMIT_FRAME_BYTES ? len - at : LIMIT_FRAME_BYTES;

		ipc_stream_send(stage->egress.link, kind, at + n < len ? EGRESS_MORE : 0, text + at, n);
		at += n;
	}
}

/* What the processes before have used is not to be had again. No bytes at all would be no cap. */
static void lower_cap(const struct egress *egress, json_t *policy)
{
	json_t *caps = json_object_get(policy, "caps");
	json_int_t bytes = number(caps, "bytes"), left = bytes - egress->before.up - egress->before.down;

	if (bytes > 0)
		json_object_set_new(caps, "bytes", json_integer(left > 0 ? left : 1));
}

/* A new process is told what its predecessor was, which needs no cutting. */
static void tell_policy(struct stage *stage, bool cut)
{
	json_t *policy = json_deep_copy(stage->egress.policy);

	lower_cap(&stage->egress, policy);
	if (cut)
		json_object_set_new(policy, "cut", json_true());
	stage->egress.n_sent += stage->egress.link != NULL;
	egress_tell(stage, EGRESS_POLICY, policy);
}

void egress_take(struct stage *stage, int fd)
{
	static const struct ipc_stream_ops ops = {.frame = on_frame, .closed = on_closed};
	struct egress *egress = &stage->egress;

	if (egress->link)
		lose_link(stage);
	egress->is_there = true;
	egress->link = ipc_stream_create(stage->loop, fd, &ops, stage);
	if (egress->policy)
		tell_policy(stage, false);
}

/* --- the policy --- */

static int set_policy(struct stage *stage, const json_t *wanted, bool cut, int64_t deadline_ms, struct err *e)
{
	struct egress *egress = &stage->egress;
	const json_t *caps = json_object_get(wanted, "caps"), *allow = json_object_get(wanted, "allow");
	struct err why;

	json_decref(egress->policy);
	egress->policy = json_pack("{s:s,s:o,s:o,s:b,s:O?}", "mode", form_string(wanted, "mode", "none"), "allow",
	                           allow ? json_deep_copy(allow) : json_array(), "caps", caps ? json_deep_copy(caps) : json_object(), "ask",
	                           egress_asks(stage), "inject", stage->secrets.injections);
	tell_policy(stage, cut);
	/* A process that was started meanwhile may have been sent the one before, too. */
	while (!egress->link || egress->n_sent > 0)
		if (co_wait_event(&egress->changed, deadline_ms, &why) < 0)
			return why.code == ERR_CANCELLED ? err_set(e, ERR_CANCELLED, NULL, "%s", why.msg)
			                                 : err_set(e, ERR_SESSION_FAILED, NULL, "the way out does not answer");
	return 0;
}

int egress_begin(struct stage *stage, int64_t deadline_ms, struct err *e)
{
	if (stage->ends.egress_fd < 0)
		return 0;
	egress_take(stage, steal_fd(&stage->ends.egress_fd));
	return set_policy(stage, json_object_get(stage->spec, "egress"), false, deadline_ms, e);
}

int egress_setup_begin(struct stage *stage, const json_t *wanted, int64_t deadline_ms, struct err *e)
{
	stage->egress.in_setup = true;
	return stage->egress.is_there ? set_policy(stage, wanted, true, deadline_ms, e) : 0;
}

int egress_setup_end(struct stage *stage, int64_t deadline_ms, struct err *e)
{
	stage->egress.in_setup = false;
	return stage->egress.is_there ? set_policy(stage, json_object_get(stage->spec, "egress"), true, deadline_ms, e) : 0;
}

json_t *egress_describe(const struct stage *stage)
{
	const struct egress *egress = &stage->egress;

	if (!egress->is_there)
		return NULL;
	return json_pack("{s:s,s:b,s:I,s:I,s:I,s:I,s:I}", "mode", form_string(egress->policy, "mode", "none"), "up", egress->link != NULL, "connections",
	                 egress->connections, "allowed", egress->before.allowed + egress->now.allowed, "denied", egress->before.denied + egress->now.denied,
	                 "bytes_up", egress->before.up + egress->now.up, "bytes_down", egress->before.down + egress->now.down);
}

void egress_finish(struct stage *stage)
{
	struct egress *egress = &stage->egress;

	egress_flush(stage);
	json_decref(egress->held);
	egress->held = NULL;
	if (egress->link)
		lose_link(stage);
	json_decref(egress->policy);
	egress->policy = NULL;
}
