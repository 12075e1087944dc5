/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that several hold. */
#include "session/base/bytes.h"

#include <stdlib.h>

#include "session/base/base64.h"
#include "session/base/util.h"

struct bytes *bytes_create(char *data, size_t len)
{
	struct bytes *bytes = util_zalloc(sizeof(*bytes));

	*bytes = (struct bytes){.n_holders = 1, .data = data, .len = len};
	return bytes;
}

struct bytes *bytes_hold(struct bytes *bytes)
{
	bytes->n_holders++;
	return bytes;
}

void bytes_drop(struct bytes *bytes)
{
	if (!bytes || --bytes->n_holders > 0)
		return;
	free(bytes->data);
	free(bytes->base64);
	free(bytes);
}

const char *bytes_base64(struct bytes *bytes, size_t *len)
{
	if (!bytes->base64)
		bytes->base64 = base64_encode(bytes->data, bytes->len, &bytes->base64_len);
	*len = bytes->base64_len;
	return bytes->base64;
}

size_t bytes_cost(const struct bytes *bytes)
{
	return sizeof(*bytes) + bytes->len + bytes->base64_len;
}
