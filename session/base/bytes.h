/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that several hold: a picture that is kept and sent more than once. They never change. Owner: session/base. No threads.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stddef.h>

struct bytes {
	size_t n_holders;
	char *data;
	size_t len;
	char *base64; /* made when it is first asked for */
	size_t base64_len;
};

/* Takes `data`, which is malloced. The caller holds it. */
struct bytes *bytes_create(char *data, size_t len);

/* One more holder; returns `bytes`. */
struct bytes *bytes_hold(struct bytes *bytes);

/* One holder less: the last one frees it. NULL is fine. */
void bytes_drop(struct bytes *bytes);

/* The same in Base64, NUL-terminated, *len characters; as long as it is held. */
const char *bytes_base64(struct bytes *bytes, size_t *len);

/* What holding it costs: in memory, with the Base64 if that was asked for. */
size_t bytes_cost(const struct bytes *bytes);

#endif
