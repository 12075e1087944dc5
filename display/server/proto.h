/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What glovebox-display, pid 1 of a session, gets from the warden, and how it ends. Arguments: width and height in pixels. */
#ifndef DISPLAY_SERVER_PROTO_H
#define DISPLAY_SERVER_PROTO_H

/* Descriptors that it finds open beside the go pipe on 3. */
enum display_fd {
	DISPLAY_FD_XVFB_FILTER = 4, /* compiled tables (sandbox/confine) */
	DISPLAY_FD_WM_FILTER = 5,
};

/* Exit codes: it ends when one of its two programs ends. */
enum display_exit {
	DISPLAY_EXIT_XVFB = 10,
	DISPLAY_EXIT_WM = 11,
	DISPLAY_EXIT_START = 12,
};

#endif
