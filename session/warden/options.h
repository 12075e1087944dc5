/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of gloveboxd. */
#ifndef WARDEN_OPTIONS_H
#define WARDEN_OPTIONS_H

#include "session/base/err.h"

/* Pointers into argv, or the defaults; NULL where there is none. */
struct options {
	const char *listen, *state, *images, *config, *ceilings;
	enum options_wish { OPTIONS_RUN, OPTIONS_CHECK_CONFIG, OPTIONS_PROBE, OPTIONS_VERSION, OPTIONS_HELP } wish;
};

/* Reads the command line: "--name VALUE" or "--name=VALUE". The last of several holds. -1 for what is
 * unknown or without its value. */
int options_parse(struct options *options, int argc, char **argv, struct err *e);

/* The text of --help. */
extern const char options_help[];

#endif
