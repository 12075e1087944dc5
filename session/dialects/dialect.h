/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dialects: what models of other vendors send, as acts of ours, and what comes of them, as these vendors want it told.
 *
 * A dialect is a row of functions without I/O, state or X: the same body at the same place is always the same act. The stage's computer.c
 * runs them. Each is in a file of its own; dialects.c has the table. Owner: session/dialects. No threads.
 *
 * Whose fault it is decides how it is told. What a *harness* wrote wrong (no JSON, an envelope that is none) is a refusal of `ask`, with a
 * pointer into the body: a problem 4xx. What a *model* wrote wrong (an unknown action, a place off the screen, an unknown key) is an answer
 * 200 in the form in which its vendor tells errors, so that the model can mend it.
 */
#ifndef DIALECTS_DIALECT_H
#define DIALECTS_DIALECT_H

#include "session/base/json.h"

/* Where the act will be done. */
struct dialect_place {
	struct space space;  /* of the session: its pictures, and coordinates without a space of their own */
	struct space native; /* the display */
	bool asks;           /* a person, about what the model's own safety system warns of: else the harness has to */
};

struct dialect {
	const char *name; /* of ?dialect=NAME */
	const char *doc;  /* one line */

	/* For its functions, which may be those of several rows: each is given its row. */
	const void *own;

	/* Recognises a body by its shape; NULL: it must be named. */
	bool (*is)(const struct dialect *dialect, const json_t *body);

	/*
	 * What happens to a list with a model's fault in it. False: nothing of it is done, and `refuse` is asked. True: the actions before the
	 * fault are done, as the vendor's own loop does, and `answer` is given them with the fault as one more result, that of the action at fault.
	 */
	bool runs_until_fault;

	/* It takes members of an act over as they are sent: what is wrong with them is found when the act is checked, and `refuse` is asked. */
	bool passes;

	/* Its answers have a picture of the whole screen, also that to a fault of the model's: where the reply or the problem has none in its
	 * "observation", one of now is put there. */
	bool needs_picture;

	/*
	 * The body of an act (design of POST …/act) in *act, the caller's reference. A fault of the model is put into the list in the place of its
	 * action by dialect_fault; what stands behind it is never looked at. An action that the place is to ask about is marked by dialect_warn.
	 * -1 with *e is a fault of the harness.
	 */
	int (*ask)(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, json_t **act, struct err *e);

	/*
	 * Their JSON for the reply of that act (ok or not); the caller's reference. The results are those of the act's actions, as many as were
	 * begun. What is sent again under an Idempotency-Key may come without its pictures: `"picture": null` where one was.
	 */
	json_t *(*answer)(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *reply);

	/*
	 * Their JSON for an act that was refused with this problem object, so that nothing happened; the caller's reference. NULL, also as the
	 * function: the problem is the harness's to see, as it is.
	 */
	json_t *(*refuse)(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *problem);
};

extern const struct dialect *const dialects[];
extern const size_t dialects_n;

/*
 * The dialect with this name, or without one (NULL) that which recognises the body. NULL with *e: ERR_BAD_FIELD at /dialect, which is the
 * query's, or at the body's root.
 */
const struct dialect *dialect_find(const char *name, const json_t *body, struct err *e);

/* What stands in a list of actions for one that the model wrote wrong: its code, and a text for the model. *e's path does not count. A new
 * reference. */
json_t *dialect_fault(const struct err *e);

/* Marks an action with what the model's safety system says of it, before which a person is asked. */
void dialect_warn(json_t *action, const char *text);

/* That mark, which is taken off; NULL: there is none. The caller's reference. */
json_t *dialect_take_warning(json_t *action);

/* The fault that stands in this place, or NULL if it is an action: {"code","detail"}; borrowed. */
const json_t *dialect_fault_of(const json_t *action);

#endif
