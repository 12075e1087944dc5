/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display/view */
/* longest: 1024 */
/* What a viewer may say: messages end where their heads say so and never beyond what a view has room for, and a text that is taken is one. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "display/view/clip.h"
#include "display/view/framer.h"
#include "session/base/limits.h"
#include "session/base/util.h"

static void try_text(char *text, size_t len)
{
	if (!text)
		return;
	if (len > LIMIT_CUT_BYTES || !util_utf8_valid(text, len) || text[len] != '\0')
		DIE("a text of %zu bytes", len);
	free(text);
}

static void try_texts(const uint8_t *message, size_t n)
{
	size_t len = 0;
	char *text = n >= 12 ? clip_read(message + 12, n - 12, framer_u32(message + 8), &len) : NULL;

	try_text(text, len);
	text = clip_read_latin1(message + 8, n - 8, &len);
	try_text(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = framer_length(FRAMER_NORMAL, data + at, size - at);

		if (n > FRAMER_MESSAGE_MAX)
			DIE("a message of %zd bytes", n);
		if (n <= 0 || (size_t)n > size - at)
			break;
		if (data[at] == FRAMER_CUT_TEXT)
			try_texts(data + at, (size_t)n);
		at += (size_t)n;
	}
	return 0;
}
