/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: input */
/* longest: 512 */
/* What programs put on clipboards: whatever it is, what comes of it is UTF-8 without NUL, of bounded length, and the same when it is read again. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "input/content.h"
#include "session/base/util.h"

static void check(const char *text, size_t len, size_t max)
{
	if (len > max || strlen(text) != len || !util_utf8_valid(text, len))
		DIE("%zu bytes, at most %zu, are no text", len, max);
}

static void check_text(const char *bytes, size_t size, bool is_latin1)
{
	size_t len, latin1_len;
	auto_free char *text = content_text(bytes, size, is_latin1, &len);
	auto_free char *latin1 = content_latin1(text, len, &latin1_len);

	check(text, len, 3 * size);
	if (latin1) {
		size_t again_len;
		auto_free char *again = content_text(latin1, latin1_len, true, &again_len);

		if (again_len != len || memcmp(again, text, len) != 0)
			DIE("ISO 8859-1 does not come back as it was");
	}
}

static void check_html(const char *bytes, size_t size)
{
	size_t len, marked_len, again_len, text_len;
	auto_free char *html = content_html(bytes, size, &len);
	auto_free char *marked = content_html_marked(html, len, &marked_len);
	auto_free char *again = content_html(marked, marked_len, &again_len);
	auto_free char *text = content_html_text(html, len, &text_len);

	check(html, len, 3 * size);
	check(text, text_len, len);
	if (again_len > len || memcmp(again, html + (len - again_len), again_len) != 0)
		DIE("HTML does not come back as it was");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *copy = util_alloc(size + 1);

	memcpy(copy, data, size);
	check_text(copy, size, false);
	check_text(copy, size, true);
	check_html(copy, size);
	(void)content_png_fault(copy, size);
	return 0;
}
