/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an action goes: the window that has the keys, or that is under a point, and whose it is. Title and class are the window's own words. One
 * thread; in coroutines.
 */
#ifndef APPS_PLACE_H
#define APPS_PLACE_H

#include "apps/apps.h"
#include "session/base/limits.h"
#include "session/base/space.h"

struct place {
	uint32_t window;  /* 0: none, or it is gone; nothing else is filled in then */
	int pid;          /* in the app jail, or 0 */
	const char *app;  /* name of the catalogue's app that was launched as this process, or NULL. Of the catalogue */
	char title[LIMIT_TITLE_BYTES + 1], class_name[LIMIT_TITLE_BYTES + 1], instance[LIMIT_TITLE_BYTES + 1]; /* valid UTF-8 */
	struct rect rect; /* native pixels of the root */
};

/* Of a window; 0 is the active one. Errors of xconn_reply. */
int place_of(struct apps *apps, uint32_t window, struct place *out, struct err *e);

/* Of the app's window that shows at a point. */
int place_at(struct apps *apps, int x, int y, struct place *out, struct err *e);

#endif
