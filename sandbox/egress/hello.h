/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first message of TLS, as far as it says whom it is for (RFC 8446, RFC 6066). Owner: sandbox/egress. No threads. */
#ifndef EGRESS_HELLO_H
#define EGRESS_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/limits.h"

#define HELLO_NAME_SIZE 256

struct hello {
	char name[HELLO_NAME_SIZE]; /* the server's, as it stands there; "" if there is none. One inside an encrypted hello (ECH) nobody outside can tell */
};

enum hello_result { HELLO_MORE, HELLO_READ, HELLO_NONE };

/*
 * Reads a ClientHello from the beginning of a stream, of whatever number of records. HELLO_MORE: it is not all there; HELLO_NONE: it is none, breaks the form, is longer
 * than LIMIT_EGRESS_HELLO_BYTES, or its name is not one name.
 */
enum hello_result hello_read(const void *data, size_t len, struct hello *out);

#endif
