/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-egress */
/* longest: 2048 */
/* First messages of TLS: the result of a part is "more", or that of the whole. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "sandbox/egress/hello.h"
#include "session/base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t step = size / 16 + 1;
	struct hello whole, part;
	enum hello_result result = hello_read(data, size, &whole);

	for (size_t n = 0; n < size; n += step) {
		enum hello_result at = hello_read(data, n, &part);

		if (at != HELLO_MORE && at != result)
			DIE("%zu of %zu bytes are %d, all are %d", n, size, at, result);
		if (at == HELLO_READ && strcmp(part.name, whole.name) != 0)
			DIE("what comes behind a hello changes its name");
	}
	if (result == HELLO_READ && strlen(whole.name) >= HELLO_NAME_SIZE)
		DIE("a name is too long");
	return 0;
}
