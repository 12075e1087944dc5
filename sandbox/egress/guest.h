/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection of a program of the session: SOCKS5, CONNECT, or requests of HTTP with the whole address, one after another, told apart by its first byte. Owner:
 * sandbox/egress. One thread.
 */
#ifndef EGRESS_GUEST_H
#define EGRESS_GUEST_H

#include "sandbox/egress/proxy.h"

/* Takes the socket, and serves it in a coroutine until it ends. It is one of proxy->guests meanwhile. */
void guest_start(struct proxy *proxy, int fd);

/* Ends them all, with what they were connected to. */
void guest_cut_all(struct proxy *proxy);

#endif
