/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a journal: its lines, and the calls that they tell of. */
#include "session/replay/reader.h"

#include <string.h>

#include "session/base/chain.h"
#include "session/base/hash.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/pictures.h"

#define HASH_TAIL (sizeof(",\"hash\":\"\"}") - 1 + CHAIN_HEX_SIZE - 1) /* what stands behind the text that is hashed */

struct reader {
	struct reader_parts parts;
	json_t *lines, *start;
	const json_t *end;
	char *broken;
	struct replay_pictures *pictures; /* NULL: none */
	struct reader_call *calls;
	size_t n_calls, calls_room;
};

/* The hash over the one before and the line without its own. False: the line does not end as one of a chain does. */
static bool link_line(uint8_t hash[HASH_BYTES], const char *line, size_t len, char *scratch)
{
	if (len <= HASH_TAIL || memcmp(line + len - HASH_TAIL, ",\"hash\":\"", 9) != 0)
		return false;
	memcpy(scratch, hash, HASH_BYTES);
	memcpy(scratch + HASH_BYTES, line, len - HASH_TAIL);
	scratch[HASH_BYTES + len - HASH_TAIL] = '}';
	hash_sha256(scratch, HASH_BYTES + len - HASH_TAIL + 1, hash);
	return true;
}

/* Why this is not the line number `seq` of a journal, or NULL. */
static const char *check_line(const json_t *line, int64_t seq, const uint8_t linked[HASH_BYTES])
{
	uint8_t said[HASH_BYTES];

	if (!json_is_object(line) || !json_is_string(json_object_get(line, "event")))
		return "it is no line of a journal";
	if (!json_is_integer(json_object_get(line, "seq")) || json_integer_value(json_object_get(line, "seq")) != seq)
		return "lines before it are missing";
	if (!hash_from_hex(json_string_value(json_object_get(line, "hash")), said) || !hash_same(said, linked))
		return "the chain of hashes is broken: it, or a line before it, was changed";
	return NULL;
}

static int add_line(struct reader *reader, const char *text, size_t len, uint8_t hash[HASH_BYTES], char *scratch)
{
	int64_t seq = (int64_t)json_array_size(reader->lines) + 1;
	const char *why = "it is not JSON, or has no hash";
	json_t *line = NULL;
	struct err e = {0};

	if (link_line(hash, text, len, scratch) && json_parse(text, len, &line, &e) == 0)
		why = check_line(line, seq, hash);
	if (why) {
		json_decref(line);
		reader->broken = util_printf("line %jd: %s", (intmax_t)seq, why);
		return -1;
	}
	return json_array_append_new(reader->lines, line);
}

/* All whole lines, up to the first that is not good. */
static void read_lines(struct reader *reader, const char *text, size_t len)
{
	auto_free char *scratch = util_alloc(HASH_BYTES + len + 1);
	uint8_t hash[HASH_BYTES] = {0};

	reader->lines = json_array();
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);

		if (!end || add_line(reader, text + at, (size_t)(end - text) - at, hash, scratch) < 0)
			return;
		at = (size_t)(end - text) + 1;
	}
}

static uint64_t picture_of(const json_t *line, const char *name)
{
	const json_t *number = json_object_get(line, name);

	return json_is_integer(number) && json_integer_value(number) > 0 ? (uint64_t)json_integer_value(number) : 0;
}

static struct reader_call *add_call(struct reader *reader, const json_t *line)
{
	struct reader_call *call;

	if (reader->n_calls == reader->calls_room) {
		reader->calls_room = reader->calls_room ? 2 * reader->calls_room : 32;
		reader->calls = util_realloc(reader->calls, reader->calls_room * sizeof(*call));
	}
	call = &reader->calls[reader->n_calls++];
	*call = (struct reader_call){.seq = json_integer_value(json_object_get(line, "seq")), .time = form_string(line, "time", ""),
	                             .request = form_string(line, "request", ""), .before = picture_of(line, "before")};
	return call;
}

/* The call that a line belongs to: the last one, if that has its request. */
static struct reader_call *call_of(const struct reader *reader, const json_t *line)
{
	struct reader_call *last = reader->n_calls > 0 ? &reader->calls[reader->n_calls - 1] : NULL;

	return last && strcmp(last->request, form_string(line, "request", "")) == 0 ? last : NULL;
}

static void take_call(struct reader *reader, const json_t *line)
{
	struct reader_call *call = add_call(reader, line);
	const json_t *asked = json_object_get(line, "actions");

	call->line = line;
	call->n_asked = json_is_integer(asked) && json_integer_value(asked) > 0 ? (size_t)json_integer_value(asked) : 0;
}

static void take_intent(struct reader *reader, const json_t *line)
{
	struct reader_call *call = call_of(reader, line);
	struct reader_action *action;

	if (!json_is_object(json_object_get(line, "action")))
		return;
	if (!call || call->n_actions >= LIMIT_ACTIONS)
		call = add_call(reader, line);
	call->actions = util_realloc(call->actions, (call->n_actions + 1) * sizeof(*action));
	action = &call->actions[call->n_actions++];
	*action = (struct reader_action){.action = json_object_get(line, "action"), .intent = line, .before = picture_of(line, "before")};
	if (call->n_asked < call->n_actions)
		call->n_asked = call->n_actions;
	if (!call->before && call->n_actions == 1)
		call->before = action->before;
}

static void take_result(struct reader *reader, const json_t *line)
{
	struct reader_call *call = call_of(reader, line);
	struct reader_action *action = call && call->n_actions > 0 ? &call->actions[call->n_actions - 1] : NULL;

	if (!action || action->result)
		return;
	action->result = line;
	action->after = picture_of(line, "after");
	call->after = action->after;
}

static void take_observation(struct reader *reader, const json_t *line)
{
	struct reader_call *call = call_of(reader, line);

	if (!call)
		return;
	call->observation = line;
	if (picture_of(line, "after"))
		call->after = picture_of(line, "after");
}

static void take_picture(struct reader *reader, const json_t *line)
{
	if (reader->pictures)
		replay_pictures_note(reader->pictures, picture_of(line, "picture"), form_string(line, "digest", ""));
}

static void take_start(struct reader *reader, const json_t *line)
{
	if (!reader->start)
		reader->start = json_copy((json_t *)(uintptr_t)line);
}

static void take_end(struct reader *reader, const json_t *line)
{
	reader->end = line;
}

static void take_line(struct reader *reader, const json_t *line)
{
	static const struct {
		const char *event;
		void (*take)(struct reader *reader, const json_t *line);
	} rows[] = {
		{"start", take_start}, {"call", take_call}, {"intent", take_intent}, {"result", take_result},
		{"observation", take_observation}, {"picture", take_picture}, {"end", take_end}, {"failed", take_end},
	};
	const char *event = form_string(line, "event", "");

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].event, event) == 0)
			rows[i].take(reader, line);
}

/* What the line `start` does not tell. */
static int add_session(struct reader *reader, struct err *e)
{
	json_auto_t *session = NULL;
	auto_free char *text = NULL;
	struct err why = {0};

	if (!reader->start)
		reader->start = json_object();
	if (reader->parts.session.len == 0)
		return 0;
	if (source_read_all(&reader->parts.session, LIMIT_BODY_BYTES, &text, &why) < 0 ||
	    json_parse(text, (size_t)reader->parts.session.len, &session, &why) < 0 || !json_is_object(session))
		return err_set(e, ERR_BAD_REQUEST, NULL, "session.json cannot be read: %s", *why.msg ? why.msg : "it is no object");
	json_object_update_missing(reader->start, session);
	return 0;
}

static int read_parts(struct reader *reader, struct err *e)
{
	auto_free char *text = NULL;
	const json_t *line;
	size_t i;

	if (source_read_all(&reader->parts.lines, LIMIT_REPLAY_LINES_BYTES, &text, e) < 0)
		return -1;
	read_lines(reader, text, (size_t)reader->parts.lines.len);
	if (json_array_size(reader->lines) == 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "this is no journal: %s", reader->broken ? reader->broken : "it has no whole line");
	if (reader->parts.pictures.len > 0)
		reader->pictures = replay_pictures_open(&reader->parts.pictures);
	json_array_foreach(reader->lines, i, line) {
		if (reader->n_calls >= LIMIT_REPLAY_CALLS)
			return err_set(e, ERR_TOO_LARGE, NULL, "this journal has more than %d calls", LIMIT_REPLAY_CALLS);
		take_line(reader, line);
	}
	return add_session(reader, e);
}

int reader_read(struct reader_parts *parts, struct reader **out, struct err *e)
{
	struct reader *reader = util_zalloc(sizeof(*reader));

	reader->parts = *parts;
	*parts = (struct reader_parts){source_none(), source_none(), source_none()};
	if (read_parts(reader, e) < 0) {
		reader_close(reader);
		return -1;
	}
	*out = reader;
	return 0;
}

void reader_close(struct reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->n_calls; i++)
		free(reader->calls[i].actions);
	free(reader->calls);
	replay_pictures_close(reader->pictures);
	json_decref(reader->start);
	json_decref(reader->lines);
	free(reader->broken);
	source_finish(&reader->parts.lines);
	source_finish(&reader->parts.pictures);
	source_finish(&reader->parts.session);
	free(reader);
}

const char *reader_broken(const struct reader *reader)
{
	return reader->broken;
}

const json_t *reader_lines(const struct reader *reader)
{
	return reader->lines;
}

const json_t *reader_start(const struct reader *reader)
{
	return reader->start;
}

json_t *reader_session(const json_t *start)
{
	static const char *const members[] = {"version", "image", "image_hash", "spec"};
	json_t *session = json_pack("{s:O*,s:O*}", "id", json_object_get(start, "session"), "started_at", json_object_get(start, "time"));

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_get(start, members[i]))
			json_object_set(session, members[i], json_object_get(start, members[i]));
	return session;
}

const json_t *reader_end(const struct reader *reader)
{
	return reader->end;
}

int64_t reader_ms(const json_t *line)
{
	json_int_t ms = json_integer_value(json_object_get(line, "mono_ms"));

	return ms >= 0 && ms <= LIMIT_FRAME ? (int64_t)ms : 0;
}

size_t reader_n_calls(const struct reader *reader)
{
	return reader->n_calls;
}

const struct reader_call *reader_call(const struct reader *reader, size_t index)
{
	return &reader->calls[index];
}

bool reader_has_pictures(const struct reader *reader)
{
	return reader->pictures && replay_pictures_n(reader->pictures) > 0;
}

int reader_picture(struct reader *reader, uint64_t number, const struct pixels **out, struct err *e)
{
	if (!reader->pictures)
		return err_set(e, ERR_NOT_FOUND, NULL, "this journal has no pictures");
	return replay_pictures_get(reader->pictures, number, out, e);
}

const struct reader_parts *reader_parts(const struct reader *reader)
{
	return &reader->parts;
}

struct space reader_resized(const struct reader_action *action, struct space native)
{
	const long width = form_int(action->action, "width", 0), height = form_int(action->action, "height", 0);
	bool is_size = width >= 1 && width <= LIMIT_SIDE_MAX_PX && height >= 1 && height <= LIMIT_SIDE_MAX_PX;

	if (strcmp(form_string(action->action, "action", ""), "resize_display") != 0 || !is_size || !json_is_true(json_object_get(action->result, "ok")))
		return native;
	return (struct space){(int)width, (int)height};
}
