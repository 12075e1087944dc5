/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-egress in its role of webhooks, as the warden sees it: a child with the host's network that is started again whenever it ends,
 * and its socket to the front. It runs only if the operator has a file of webhooks, whose bytes the warden hands to it alone and never
 * reads.
 */
#ifndef WARDEN_HOOKS_H
#define WARDEN_HOOKS_H

#include <stdbool.h>

#include "session/warden/warden.h"

struct hooks;

/*
 * Takes the file, as its sealed copy, and has `program` check it as `uid` (as config_check does), which says what is wrong with it. *hooks is
 * the caller's; NULL when path is NULL: there are no webhooks.
 */
int hooks_create(struct hooks **hooks, const char *path, int program, uid_t uid, bool only_checks, struct err *e);

/* Starts it, and again whenever it ends. NULL is fine. */
void hooks_start(struct hooks *hooks, struct warden *warden);

/* Hands a front that was just started its end of the socket. NULL is fine. */
int hooks_tell(struct hooks *hooks, int front_sock, struct err *e);

/*
 * The front is gone for good: what waits is delivered, within LIMIT_HOOK_LAST_MS, and then the child ends. done(warden) is called at the end
 * of it, at once when there are no webhooks.
 */
void hooks_stop(struct hooks *hooks, struct warden *warden, void (*done)(struct warden *warden));

void hooks_destroy(struct hooks *hooks);

#endif
