/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A turn of a model that sends calls: which actions of the act each call becomes, and afterwards what became of each call.
 *
 * turn_ask builds it and takes the act out of it; turn_answer and turn_refuse build the same one again from the same body. Every call gets a look
 * at the screen after its actions: the last one by the observation of the act, those before it by a wait_settled and a screenshot among the
 * actions. Owner: session/dialects. No threads.
 */
#ifndef DIALECTS_TURN_H
#define DIALECTS_TURN_H

#include "session/base/limits.h"
#include "session/dialects/dialect.h"

#define TURN_NONE SIZE_MAX
#define TURN_WARNING_BYTES 400

/* One call. Its body is borrowed from the request. */
struct turn_call {
	const json_t *body;
	size_t first, n;   /* its actions in the act, looks included */
	size_t items;      /* actions that the vendor's call has: it may have a list of its own */
	int form;          /* the user's: how the answer has to look */
};

/* Whose action an action of the act is. */
struct turn_owner {
	size_t call, item;
};

struct turn;

/* What a vendor does with its turns: the own of its dialects. */
struct turn_kind {
	/* Takes the calls of a body, each by turn_call and turn_add. -1: a fault of the harness. */
	int (*read)(struct turn *turn, const json_t *body, struct err *e);
	/* The answer to the turn that was read from this body. `reply` is that of the act, or the problem with which it was refused. */
	json_t *(*render)(const struct turn *turn, const json_t *body, const json_t *reply, bool refused);
	size_t max_calls;     /* LIMIT_TURN_CALLS at most */
	bool always_pictured; /* no call may be answered without a picture, whatever has become of its own */
	int set;              /* the vendor's: which of its dialects it is */
};

struct turn {
	const struct turn_kind *kind;
	struct dialect_place place;
	json_t *actions;
	struct turn_call calls[LIMIT_TURN_CALLS];
	size_t n_calls;
	struct turn_owner owners[LIMIT_ACTIONS + 1]; /* of those actions that can be done at all */
	size_t item;      /* of the call at work */
	long wait_ms;     /* that its actions wait of themselves, looks included */
	bool has_fault;   /* nothing is added any more */
	char warning[TURN_WARNING_BYTES]; /* of the model's safety system, for the next action; "": none */
};

/* What became of a call. */
enum turn_end {
	TURN_DONE,
	TURN_FAILED, /* one of its actions; also a fault of the model's in it */
	TURN_NOT_DONE,
};

struct turn_result {
	enum turn_end end;
	size_t item;           /* of the call, that failed */
	const char *detail;    /* why_text of it; borrowed from the reply or the problem */
	const json_t *picture; /* {"format","data",…} after it, borrowed; NULL: none. That of the act's end stands once, unless the kind is always_pictured */
};

/* The functions of a dialect whose own is a struct turn_kind. */
int turn_ask(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, json_t **act, struct err *e);
json_t *turn_answer(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *reply);
json_t *turn_refuse(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *problem);

/* Begins a call; -1 when it is one too many: then *e is at `path`, the call's. */
int turn_call(struct turn *turn, const json_t *body, int form, const char *path, struct err *e);

/* Adds an action (a reference that is taken) to the call at work, as one of its item `turn->item`. */
void turn_add(struct turn *turn, json_t *action);

/* What the model's safety system says of the call at work: a person is asked before its first action, and reads it quoted, and cut where it is too long. */
void turn_warn(struct turn *turn, const char *text);

/* The model's fault, in the place of an action. What is wrong is *e's text, with the field's name before it where the text needs one. */
void turn_fault(struct turn *turn, const struct err *e);

/* The fault of a name that is none: "click_on is not ITEM; near it: click". `names` ends with NULL. */
void turn_unknown(struct turn *turn, const char *item, const json_t *name, const char *const *names);

/* The wheel for a distance in pixels of the place's space, to the right and down, at x and y of `fields` if it has these; keys of "hold" are held. */
void turn_scroll(struct turn *turn, const json_t *fields, double x_px, double y_px);

/* The same in notches. */
void turn_wheel(struct turn *turn, const json_t *fields, double x_notches, double y_notches);

/* What became of call `i`, by the reply of the act, or by the problem with which it was refused. */
struct turn_result turn_result(const struct turn *turn, size_t i, const json_t *reply, bool refused);

/* Refuses the envelope, which is the harness's: *e is at `member`, of the member `inside` (NULL: none) of what is at `path`. -1. */
int turn_bad(struct err *e, enum err_code code, const char *path, const char *inside, const char *member, const char *text);

/* "image/png" of a picture. */
const char *turn_media_type(const json_t *picture);

/* A copy of an object without its nulls and with whole numbers for those of the form 12.0, which some encoders make; the caller's. */
json_t *turn_fields(const json_t *object);

#endif
