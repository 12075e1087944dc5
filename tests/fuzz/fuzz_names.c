/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps */
/* longest: 256 */
/* Titles and classes that windows give themselves, and output of programs: what is made of them is UTF-8 of bounded length, also when it is cut. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "apps/text.h"
#include "session/base/util.h"

static void check(char *text, size_t len, size_t max, bool has_nul)
{
	if (len > max || !util_utf8_valid(text, len) || text[len] != '\0' || (!has_nul && strlen(text) != len))
		DIE("%zu bytes of %zu", len, max);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t rooms[] = {0, 1, 3, 4, 16, 256, 65536};
	const size_t room = rooms[fuzz_pick(data, size) % ARRAY_LEN(rooms)];
	bool cut = false;
	size_t len = 0;
	char *text = text_utf8((const char *)data, size, room, &len, &cut);

	if (!cut && util_utf8_valid((const char *)data, size) && len != size)
		DIE("%zu of %zu bytes, and nothing was left off", len, size);
	check(text, len, room, true);
	for (int latin1 = 0; latin1 < 2; latin1++) {
		text = text_name((const char *)data, size, latin1, room, &len);
		check(text, len, room, false);
	}
	(void)text_has_control((const char *)data, size);
	return 0;
}
