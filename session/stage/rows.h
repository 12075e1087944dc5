/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage's own rows of the action table: wait. Home: struct stage *.
 */
#ifndef STAGE_ROWS_H
#define STAGE_ROWS_H

#include "session/base/action.h"

extern const struct action_row rows_own[];
extern const size_t rows_n_own;

#endif
