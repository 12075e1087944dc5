/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/cli session/replay */
/* longest: 256 */
/* Server-sent events: however a stream is cut into pieces, the same events come of it, or the same refusal of one that is too long. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "session/base/util.h"
#include "session/cli/sse.h"

#define MAX_BYTES 64

static void note_event(void *arg, const char *data, size_t len)
{
	struct buffer *events = arg;

	buffer_add(events, "[", 1);
	buffer_add(events, data, len);
	buffer_add(events, "]", 1);
}

/* The stream in pieces of so many bytes; false when it was refused. */
static bool read_in_pieces(const char *stream, size_t len, size_t piece, struct buffer *events)
{
	struct sse sse = {0};
	bool good = true;

	for (size_t at = 0; good && at < len; at += piece)
		good = sse_take(&sse, stream + at, len - at < piece ? len - at : piece, MAX_BYTES, note_event, events) == 0;
	if (sse.line.len + sse.data.len > 2 * MAX_BYTES)
		DIE("more is kept than may be");
	sse_finish(&sse);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *stream = (const char *)data;
	struct buffer whole = {0}, pieces = {0};
	bool good = read_in_pieces(stream, len, len > 0 ? len : 1, &whole);

	for (size_t piece = 1; piece < 4; piece++) {
		buffer_clear(&pieces);
		if (read_in_pieces(stream, len, piece, &pieces) && good &&
		    (whole.len != pieces.len || memcmp(buffer_text(&whole), buffer_text(&pieces), whole.len) != 0))
			DIE("pieces of %zu bytes make other events", piece);
	}
	buffer_finish(&whole);
	buffer_finish(&pieces);
	return 0;
}
