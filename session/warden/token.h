/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operator's token and the one-use code of the console. The warden keeps their hashes only. */
#ifndef WARDEN_TOKEN_H
#define WARDEN_TOKEN_H

#include <stdint.h>

#include "session/base/err.h"

#define TOKEN_SIZE (4 + 64 + 1)
#define TOKEN_CODE_SIZE 9 /* 8 letters and digits; shown with a dash after the fourth */

/* Reads the token of the file in folder `state`, or makes it (root, 0600): "gbx_" and 64 hex digits. A file that others may read is refused. */
int token_load(int state, char token[TOKEN_SIZE], struct err *e);

/*
 * Under sudo: writes the token to ~/.config/glovebox/token of the user that ran it, as that user, so that no link of theirs is
 * followed as root. Nothing to do (0) when SUDO_UID is not set or is root.
 */
int token_give_to_sudo_user(const char *token, struct err *e);

/* The same file in the home of the ordinary user who started the server (HOME). */
int token_give_to_caller(const char *token, struct err *e);

/* Makes a code of capital letters and digits that cannot be mistaken for one another. */
void token_make_code(char code[TOKEN_CODE_SIZE]);

/* SHA-256 of a text. */
int token_hash(const char *text, uint8_t hash[32], struct err *e);

#endif
