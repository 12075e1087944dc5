/* SPDX-License-Identifier: GPL-2.0-or-later */
/* New tokens. Owner: session/base. No threads. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

/* A token: the prefix, which tells its kind ("gbk_"), and 32 random bytes in base64url. Malloced, the caller's, and to be wiped. */
char *secret_new_token(const char *prefix);

/* Wipes and frees a text. NULL is fine. */
void secret_wipe(char *text);

#endif
