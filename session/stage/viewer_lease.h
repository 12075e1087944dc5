/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What viewers ask of a lease, for as long as there is none: all see, and nobody's hands reach anything. */
#ifndef STAGE_VIEWER_LEASE_H
#define STAGE_VIEWER_LEASE_H

#include <stdbool.h>

#include "session/stage/stage.h"

static inline bool lease_may_input(const struct stage *stage, uint32_t viewer)
{
	(void)stage, (void)viewer;
	return false;
}

static inline bool lease_may_look(const struct stage *stage, uint32_t viewer)
{
	(void)stage, (void)viewer;
	return true;
}

static inline void lease_viewer_gone(struct stage *stage, uint32_t viewer)
{
	(void)stage, (void)viewer;
}

static inline void lease_viewer_here(struct stage *stage, uint32_t viewer, const char *token)
{
	(void)stage, (void)viewer, (void)token;
}

static inline void lease_touch(struct stage *stage)
{
	(void)stage;
}

#endif
