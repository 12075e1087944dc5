/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An Xauthority file with one MIT-MAGIC-COOKIE-1 that fits any display and host name. */
#ifndef BASE_XAUTH_H
#define BASE_XAUTH_H

#include <stdint.h>

#define XAUTH_COOKIE_LEN 16
#define XAUTH_SIZE (2 + 2 + 2 + 2 + 18 + 2 + XAUTH_COOKIE_LEN)

/* Writes the whole file. */
void xauth_entry(uint8_t out[XAUTH_SIZE], const uint8_t cookie[XAUTH_COOKIE_LEN]);

#endif
