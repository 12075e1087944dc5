/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Refusals where there is no request to answer. Owner: session/front. No threads. */
#ifndef FRONT_REFUSAL_H
#define FRONT_REFUSAL_H

#include "session/base/err.h"

/* Sends a whole HTTP reply to a socket, as far as that takes it at once. */
void refusal_send(int fd, const struct err *e);

#endif
