/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures on their way to a file. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include <jansson.h>
#include <stddef.h>

#include "session/base/err.h"

/* ERR_BAD_REQUEST when a picture must not go to this file: "-" is standard output, and that a terminal. */
int picture_check(const char *file, struct err *e);

/* Writes the bytes to a file that picture_check lets through. ERR_BAD_REQUEST. */
int picture_write(const char *file, const void *data, size_t len, struct err *e);

/* The last picture of an act answer, of the observation or of a result: {"format","data"}; borrowed, NULL when there is none. */
const json_t *picture_find(const json_t *answer);

/* Writes the base64 data of a picture object to a file as picture_write does. */
int picture_save(const char *file, const json_t *picture, struct err *e);

#endif
