/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of this folder, for its own files. Owner: input. */
#ifndef INPUT_INNER_H
#define INPUT_INNER_H

#include "input/carry.h"
#include "input/copied.h"
#include "input/drag.h"
#include "input/focus.h"
#include "input/fresh.h"
#include "input/input.h"
#include "input/keyboard.h"
#include "input/pointer.h"
#include "input/remote.h"

struct input {
	struct xconn *x;
	struct input_ops ops;
	struct hands hands;
	struct keyboard keyboard;
	struct pointer pointer;
	struct drags drags;
	struct focus focus;
	struct fresh fresh;
	struct carry carry;
	struct remote remote;
	struct copied copied;
};

/* type_secret.c: the check and the run of that row. */
int type_secret_check(void *home, const json_t *args, struct err *e);
int type_secret_run(struct action_run *run, struct err *e);

#endif
