/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/base */
/* longest: 512 */
/*
 * JSON beside jansson's own reader: what is taken that one takes too, and reads the same; what only that one takes breaks one of the rules that are ours
 * (depth, duplicate keys, a byte order mark). A refusal has an offset within the text, and what was read is written and read again as it was.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/util.h"

static void check_taken(const json_t *value, const json_t *theirs)
{
	size_t len;
	auto_free char *text = json_text(value, &len);
	json_auto_t *again = NULL;
	struct err e = {0};

	if (!theirs || !json_equal(value, theirs))
		DIE("jansson reads another value");
	if (json_parse(text, len, &again, &e) < 0 || !json_equal(value, again))
		DIE("what was written reads differently: %s", e.msg);
}

/* Rules that jansson does not have by these flags all have words of their own. */
static bool is_ours(const struct err *e)
{
	static const char *const words[] = {"may be nested", "a byte order mark", "a number is too large", "a key must not contain a NUL"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(e->msg, words[i]))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_auto_t *value = NULL;
	json_auto_t *theirs = json_loadb((const char *)data, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	struct err e = {0};

	if (json_parse((const char *)data, size, &value, &e) == 0) {
		check_taken(value, theirs);
		return 0;
	}
	if (e.offset < 0 || (size_t)e.offset > size)
		DIE("refused at %ld of %zu", (long)e.offset, size);
	/* jansson takes a NUL behind a number for its end. */
	if (theirs && !is_ours(&e) && !memchr(data, '\0', size))
		DIE("refused: %s", e.msg);
	return 0;
}
