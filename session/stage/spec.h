/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a stage acts on of the spec that the front hands it. Owner: the stage. One thread. */
#ifndef STAGE_SPEC_H
#define STAGE_SPEC_H

#include "session/stage/stage.h"

/*
 * Reads the body of `open`, {"spec", "image", "approval", "secrets"}, into the stage: its sizes, what it guards and keeps, its secrets and its lease. Called
 * once. Sets ERR_BAD_REQUEST, and what breaks a rule, with its pointer behind /spec.
 */
int spec_read(struct stage *stage, const char *body, size_t len, struct err *e);

#endif
