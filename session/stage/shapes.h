/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a stage says, as rows: its replies, its events, the lines of its journal. A member that code adds to one of these gets its row here: a
 * reply with a member that has none fails the tests.
 * Owner: the stage; the program that prints the schemas links it, too. No threads.
 */
#ifndef STAGE_SHAPES_H
#define STAGE_SHAPES_H

#include "session/base/shape.h"

extern const struct shape shapes_stage[];
extern const size_t shapes_n_stage;

#endif
