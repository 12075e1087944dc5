/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rules (session/policy) are told of an action: what it does, and where it goes. Owner: the stage; in coroutines.
 */
#ifndef STAGE_JUDGE_H
#define STAGE_JUDGE_H

#include "apps/place.h"
#include "input/keynames.h"
#include "session/policy/policy.h"
#include "session/stage/batch.h"

#define JUDGE_CHORD_BYTES (LIMIT_CHORD_KEYS * (KEYNAMES_LABEL_MAX + 1))

struct stage;

/* A subject and what its texts are in. */
struct judged {
	struct policy_subject subject;
	struct policy_answer answer;
	struct place place;           /* window 0: it goes to none, or nobody asked */
	bool unsure;                  /* it counts as a password field because its app has not answered */
	struct rect target;           /* native pixels: around what it aims at, or the field that has the focus; width 0: none is known */
	char url[LIMIT_NODE_URL_BYTES + 1], role[LIMIT_NODE_ROLE_BYTES + 1];
	char keys[JUDGE_CHORD_BYTES];
	const json_t *warning;        /* set before: of the model's own safety system, as a rule that asks about the step unless another refuses it; or NULL */
};

/*
 * Judges a step as things are now. `out` is filled anew but for its warning. Unless `fresh`, the focus is taken as it was last told, and nothing waits for an app. Errors: those of xconn_reply.
 */
int judge_step(struct stage *stage, const struct batch_step *step, bool fresh, struct judged *out, struct err *e);

/* Is it the typing of a stored secret? */
bool judge_is_secret(const struct batch_step *step);

/* Does it nothing but look? */
bool judge_looks(const struct batch_step *step);

/* The usual names of a chord, modifiers first, as policy_words.chord. */
int judge_chord(const char *keys, const char *path, char *out, size_t size, struct err *e);

/* Is there an action of this name? As policy_words.knows, with a struct stage. */
bool judge_knows(void *stage, const char *action);

/*
 * What "for this session" would hold for beside the rule, malloced: "the program /usr/bin/make", "ctrl+w in firefox", …; NULL where there is no such thing,
 * with the reason in *why.
 */
char *judge_key(const struct batch_step *step, const struct judged *judged, const char **why);

#endif
