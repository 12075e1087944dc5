/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How glovebox-display, pid 1 of a session, ends. Its arguments are width and height in pixels, its one descriptor the go pipe on 3. */
#ifndef DISPLAY_SERVER_PROTO_H
#define DISPLAY_SERVER_PROTO_H

/* Exit codes: it ends when one of its two programs ends. */
enum display_exit {
	DISPLAY_EXIT_XVFB = 10,
	DISPLAY_EXIT_WM = 11,
	DISPLAY_EXIT_START = 12,
};

#endif
