/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sessions use, as their control groups count it. Owner: the warden. One thread. */
#ifndef WARDEN_USAGE_H
#define WARDEN_USAGE_H

#include "session/warden/warden.h"

/* Answers WARDEN_USAGE. Asked again too soon it refuses: reading the groups takes the warden's time, which is everybody's. */
void usage_answer(struct warden *warden, const struct warden_request *request);

#endif
