/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection from inside: what xconn.c, which waits and hands out, and xconn_ask.c, which asks, have in common. */
#ifndef BASE_XCONN_INNER_H
#define BASE_XCONN_INNER_H

#include "session/base/x/xconn.h"

/* The connection is lost: -1 and ERR_GONE. */
int xconn_gone(struct err *e);

/* Frees what xconn_atom has kept. */
void xconn_forget_atoms(struct xconn *x);

#endif
