/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The setup phase: commands of the spec that run before its apps are started and anybody has a token, with secrets in their environment and a way out of their
 * own. When it ends, what they have started is killed and what they have open outside is cut. Owner: the stage.
 */
#ifndef STAGE_SETUP_H
#define STAGE_SETUP_H

#include "session/base/err.h"

struct stage;

/* Runs them one after another until one fails; stage->setup is then what became of them. In a coroutine. ERR_SETUP at /setup/commands/N, and those of a
 * program that does not start. */
int setup_run(struct stage *stage, struct err *e);

#endif
