/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what the X server answers about a window to struct window. Owner: apps. No threads, no requests but for the atoms. */
#ifndef APPS_WINDOWS_READ_H
#define APPS_WINDOWS_READ_H

#include "apps/windows.h"

/* What is asked for each window, in this order. */
enum windows_question { ASK_NET_NAME, ASK_NAME, ASK_CLASS, ASK_STATE, ASK_KIND, ASK_PARENT, ASK_ABOVE, ASK_SIZE, ASK_PLACE, ASK_CLIENT, N_QUESTIONS };

#define WINDOWS_N_STATES 10
#define WINDOWS_N_KINDS (WINDOW_DESKTOP + 1)

struct windows_atoms {
	xcb_atom_t name, state, kind;
	xcb_atom_t states[WINDOWS_N_STATES]; /* one per bit of enum window_state */
	xcb_atom_t kinds[WINDOWS_N_KINDS];   /* by enum window_kind */
};

/* Errors as xconn_atom. */
int windows_read_atoms(struct xconn *x, struct windows_atoms *atoms, struct err *e);

/*
 * Reads the replies, each NULL where the server had none: the window has vanished, or never was. They are as long as they say, and nothing else of them
 * is believed. `window` is zero but for its id; its texts are malloced, ended by windows_finish of its list.
 */
void windows_read(struct window *window, const struct windows_atoms *atoms, void *const replies[N_QUESTIONS]);

#endif
