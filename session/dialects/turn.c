/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns of models that send calls. */
#include "session/dialects/turn.h"

#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/near.h"
#include "session/base/util.h"
#include "session/dialects/why.h"

#define NOTCHES_MAX 100 /* of one scroll */
#define LOOK_MS 3000    /* that wait_settled takes at most on a screen that does not rest */

/* What stands in the place of the first action that is too many. */
static json_t *too_many(void)
{
	struct err e;

	(void)err_set(&e, ERR_BAD_FIELD, NULL, "a turn may come to %d actions, with two for the picture after each call but the last: ask for less at once",
	              LIMIT_ACTIONS);
	return dialect_fault(&e);
}

/* Into the list, if nothing in it is wrong so far. */
static void append(struct turn *turn, json_t *action)
{
	size_t at = json_array_size(turn->actions);
	bool fits = at < LIMIT_ACTIONS || dialect_fault_of(action);

	if (turn->warning[0]) {
		dialect_warn(action, turn->warning);
		turn->warning[0] = '\0';
	}
	if (!turn->has_fault) {
		turn->owners[at] = (struct turn_owner){turn->n_calls - 1, turn->item};
		json_array_append_new(turn->actions, fits ? json_incref(action) : too_many());
		turn->calls[turn->n_calls - 1].n++;
		turn->has_fault = !fits || dialect_fault_of(action);
	}
	json_decref(action);
}

/* What the call before gets to see. */
static void look(struct turn *turn)
{
	if (turn->has_fault)
		return;
	turn->wait_ms += LOOK_MS;
	append(turn, json_pack("{s:s}", "action", "wait_settled"));
	append(turn, json_pack("{s:s}", "action", "screenshot"));
}

int turn_call(struct turn *turn, const json_t *body, int form, const char *path, struct err *e)
{
	if (turn->n_calls >= turn->kind->max_calls)
		return err_set(e, ERR_BAD_FIELD, path, "there may be at most %zu calls in one turn", turn->kind->max_calls);
	if (turn->n_calls > 0)
		look(turn);
	turn->calls[turn->n_calls++] = (struct turn_call){.body = body, .first = json_array_size(turn->actions), .items = 1, .form = form};
	turn->item = 0;
	return 0;
}

void turn_warn(struct turn *turn, const char *text)
{
	char quoted[TURN_WARNING_BYTES - 60];

	(void)snprintf(turn->warning, sizeof(turn->warning), "the model's safety system says %s", err_quote(quoted, sizeof(quoted), text, strlen(text)));
}

void turn_add(struct turn *turn, json_t *action)
{
	append(turn, action);
}

void turn_fault(struct turn *turn, const struct err *e)
{
	struct err fault = *e;

	if (e->code == ERR_BAD_FIELD && e->path[0] == '/')
		(void)err_set(&fault, e->code, NULL, "%s: %s", e->path + 1, e->msg);
	append(turn, dialect_fault(&fault));
}

void turn_unknown(struct turn *turn, const char *item, const json_t *name, const char *const *names)
{
	const char *asked = json_is_string(name) ? json_string_value(name) : "";
	char quoted[80], near[160] = "";
	size_t used = 0;
	struct err e;

	for (; *names && asked[0]; names++)
		if (near_action(asked, *names) && used + strlen(*names) + 3 < sizeof(near))
			used += (size_t)snprintf(near + used, sizeof(near) - used, "%s%s", used ? ", " : "", *names);
	(void)err_set(&e, ERR_UNKNOWN_ACTION, NULL, "%s is not %s%s%s", err_quote(quoted, sizeof(quoted), asked, json_string_length(name)), item,
	              used ? "; near it: " : "", near);
	turn_fault(turn, &e);
}

/* The wheel has whole notches: the nearest number of them, but never none where some way was asked for. */
static long whole(double notches)
{
	long near = (long)((notches < 0 ? -notches : notches) + 0.5);

	if (notches > 0)
		return MAX(near, 1);
	return notches < 0 ? -MAX(near, 1) : 0;
}

/* A copy of the place and the keys of an action. */
static json_t *at_place(const char *name, const json_t *fields, const char *const *members)
{
	json_t *action = json_pack("{s:s}", "action", name);

	for (; *members; members++)
		if (json_object_get(fields, *members))
			json_object_set(action, *members, json_object_get(fields, *members));
	return action;
}

void turn_wheel(struct turn *turn, const json_t *fields, double x_notches, double y_notches)
{
	static const char *const place[] = {"x", "y", NULL}, *const all[] = {"x", "y", "hold", NULL};
	long dx = whole(x_notches), dy = whole(y_notches);

	/* A way of nothing still ends with the pointer at the place. */
	if (dx == 0 && dy == 0 && json_object_get(fields, "x"))
		turn_add(turn, at_place("move", fields, place));
	while (!turn->has_fault && (dx != 0 || dy != 0)) {
		long x = MAX(-NOTCHES_MAX, MIN(dx, NOTCHES_MAX)), y = MAX(-NOTCHES_MAX, MIN(dy, NOTCHES_MAX));
		json_t *action = at_place("scroll", fields, all);

		json_object_set_new(action, "dx", json_integer(x));
		json_object_set_new(action, "dy", json_integer(y));
		turn_add(turn, action);
		dx -= x;
		dy -= y;
	}
}

/* A notch moves what is shown by so many pixels of the display, whatever the size of the pictures. */
void turn_scroll(struct turn *turn, const json_t *fields, double x_px, double y_px)
{
	const struct space *space = &turn->place.space, *native = &turn->place.native;

	turn_wheel(turn, fields, x_px / LIMIT_NOTCH_PX * native->width_px / space->width_px, y_px / LIMIT_NOTCH_PX * native->height_px / space->height_px);
}

static const json_t *picture_of(const json_t *holder)
{
	const json_t *picture = json_object_get(holder, "picture");

	return json_is_string(json_object_get(picture, "data")) ? picture : NULL;
}

/* The picture among the results of call `i`'s own actions. */
static const json_t *own_picture(const struct turn *turn, size_t i, const json_t *reply)
{
	const struct turn_call *call = &turn->calls[i];

	return call->n > 0 ? picture_of(json_array_get(json_object_get(reply, "results"), call->first + call->n - 1)) : NULL;
}

/* The picture after call `i`, that ended so. That at the end of the act is the failed call's or the last one's; many of it would be large. */
static const json_t *picture_after(const struct turn *turn, size_t i, enum turn_end end, const json_t *reply)
{
	const json_t *own = end == TURN_DONE ? own_picture(turn, i, reply) : NULL;
	bool is_at_end = end == TURN_FAILED || (end == TURN_DONE && i + 1 == turn->n_calls);

	if (own || !(is_at_end || turn->kind->always_pictured))
		return own;
	return picture_of(json_object_get(reply, "observation"));
}

/* The number of the result that is a failure, which is the last one; TURN_NONE when there is none. */
static size_t failed_at(const json_t *results)
{
	size_t n = json_array_size(results);
	bool failed = n > 0 && json_is_false(json_object_get(json_array_get(results, n - 1), "ok"));

	return failed ? n - 1 : TURN_NONE;
}

/* How call `i` ended when the action `at` (TURN_NONE: none) is at fault. */
static struct turn_result ended(const struct turn *turn, size_t i, size_t at)
{
	const struct turn_call *call = &turn->calls[i];
	struct turn_result result = {.end = TURN_DONE};

	if (at != TURN_NONE && at < call->first)
		result.end = TURN_NOT_DONE;
	if (at != TURN_NONE && at >= call->first && at < call->first + call->n) {
		result.end = TURN_FAILED;
		result.item = turn->owners[at].item;
	}
	return result;
}

/* The action that a problem is about: of "/actions/3/x" the fourth. A problem of the list as a whole is told with its first action. */
static size_t pointed_at(const struct turn *turn, const json_t *problem)
{
	static const char list[] = "/actions/";
	const char *pointer = form_string(problem, "pointer", "");
	size_t at = strncmp(pointer, list, sizeof(list) - 1) == 0 ? strtoul(pointer + sizeof(list) - 1, NULL, 10) : 0;

	return at < json_array_size(turn->actions) ? at : 0;
}

struct turn_result turn_result(const struct turn *turn, size_t i, const json_t *reply, bool refused)
{
	const json_t *results = json_object_get(reply, "results");
	size_t at = refused ? pointed_at(turn, reply) : failed_at(results);
	struct turn_result result = ended(turn, i, at);

	if (refused && result.end == TURN_DONE)
		result.end = TURN_NOT_DONE; /* what comes before the fault was not done either */
	if (result.end == TURN_FAILED)
		result.detail = why_text(refused ? reply : json_object_get(json_array_get(results, at), "error"));
	result.picture = picture_after(turn, i, result.end, reply);
	return result;
}

int turn_bad(struct err *e, enum err_code code, const char *path, const char *inside, const char *member, const char *text)
{
	char at[ERR_PATH_MAX];

	(void)snprintf(at, sizeof(at), "%s", path);
	if (inside)
		(void)form_pointer_add(at, inside);
	(void)form_pointer_add(at, member);
	return err_set(e, code, at, "%s", text);
}

const char *turn_media_type(const json_t *picture)
{
	const char *format = form_string(picture, "format", "png");

	return strcmp(format, "jpeg") == 0 ? "image/jpeg" : strcmp(format, "webp") == 0 ? "image/webp" : "image/png";
}

/* 12.0 as 12; anything else as it is. A new reference. */
static json_t *whole_number(json_t *value)
{
	double number = json_real_value(value);

	bool is_safe = json_is_real(value) && number >= -(double)LIMIT_FRAME && number <= (double)LIMIT_FRAME;

	if (is_safe && (double)(json_int_t)number == number)
		return json_integer((json_int_t)number);
	return json_incref(value);
}

json_t *turn_fields(const json_t *object)
{
	json_t *fields = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)object, key, value)
		if (!json_is_null(value))
			json_object_set_new(fields, key, whole_number(value));
	return fields;
}

static void free_turn(struct turn *turn)
{
	if (!turn)
		return;
	json_decref(turn->actions);
	free(turn);
}

/* On the heap, since coroutines have small stacks. NULL with *e when the body is refused. */
static struct turn *read_turn(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, struct err *e)
{
	struct turn *turn = util_zalloc(sizeof(*turn));

	turn->kind = dialect->own;
	turn->place = *place;
	turn->actions = json_array();
	if (turn->kind->read(turn, body, e) == 0)
		return turn;
	free_turn(turn);
	return NULL;
}

int turn_ask(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, json_t **act, struct err *e)
{
	struct turn *turn = read_turn(dialect, body, place, e);

	if (!turn)
		return -1;
	*act = json_pack("{s:O,s:b,s:i}", "actions", turn->actions, "observe", 1, "timeout_ms",
	                 (int)MIN(LIMIT_CALL_DEFAULT_MS + turn->wait_ms, LIMIT_CALL_MS));
	free_turn(turn);
	return 0;
}

static json_t *tell(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *reply, bool refused)
{
	struct turn *turn = read_turn(dialect, body, place, NULL);
	json_t *told = turn ? turn->kind->render(turn, body, reply, refused) : NULL;

	free_turn(turn);
	return told;
}

json_t *turn_answer(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *reply)
{
	return tell(dialect, body, place, reply, false);
}

json_t *turn_refuse(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *problem)
{
	return why_is_models(problem) ? tell(dialect, body, place, problem, true) : NULL;
}
