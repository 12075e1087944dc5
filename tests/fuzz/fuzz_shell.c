/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/policy */
/* longest: 256 */
/* Command lines: whatever is in one, the list of its commands is bounded and each has a word, and a line that is quoted whole is one word of one command. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/policy/shell.h"

static void check_commands(const json_t *commands)
{
	const json_t *words;
	size_t i;

	json_array_foreach(commands, i, words)
		if (json_array_size(words) == 0)
			DIE("a command without words");
	/* Each shell inside may add as many. */
	if (json_array_size(commands) > (size_t)LIMIT_SHELL_COMMANDS * (LIMIT_SHELL_COMMANDS + 1))
		DIE("%zu commands", json_array_size(commands));
}

static void check_quoted(const char *line, size_t len)
{
	auto_free char *quoted = util_printf("run '%s'", line);
	json_auto_t *commands = NULL;
	bool sure;

	if (memchr(line, '\'', len) || !util_utf8_valid(line, len))
		return;
	commands = shell_split(quoted, &sure);
	if (!sure || json_array_size(commands) != 1 || strcmp(json_string_value(json_array_get(json_array_get(commands, 0), 1)), line) != 0)
		DIE("a quoted line is not one word");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	auto_free char *line = util_zalloc(len + 1);
	json_auto_t *commands = NULL;
	bool sure;

	if (len > 4096)
		return 0;
	memcpy(line, data, len);
	commands = shell_split(line, &sure);
	check_commands(commands);
	check_quoted(line, strlen(line));
	return 0;
}
