/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool of MCP that is a command in the jail. */
#include <sys/param.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/dialects/mcp.h"
#include "session/mcp/forms.h"
#include "session/mcp/result.h"

#define COMMAND_MS 30000      /* of exec, unless its timeout_ms says another */
#define TURN_MS 60000         /* and waiting for a turn before it */

int mcp_command_ask(const json_t *arguments, json_t **act, struct err *e)
{
	json_auto_t *asked = json_copy((json_t *)(uintptr_t)arguments);
	const json_t *argv = json_object_get(asked, "argv"), *command = json_object_get(asked, "command");

	if (argv)
		(void)json_object_set_new(asked, "argv", mcp_unwrap(argv));
	if (form_check(&mcp_command_form, asked, "", NULL, e) < 0)
		return -1;
	if (!argv == !command)
		return err_set(e, ERR_BAD_FIELD, "/command", "give either command, a line for sh, or argv, a program with its arguments");
	if (command)
		(void)json_object_set_new(asked, "argv", json_pack("[s,s,O]", "sh", "-c", (json_t *)(uintptr_t)command));
	(void)json_object_del(asked, "command");
	(void)json_object_set_new(asked, "action", json_string("exec"));
	*act = json_pack("{s:[O],s:I}", "actions", asked, "timeout_ms", (json_int_t)MIN(form_int(asked, "timeout_ms", COMMAND_MS) + TURN_MS, LIMIT_CALL_MS));
	return 0;
}

json_t *mcp_command_answer(const json_t *arguments, const json_t *reply)
{
	static const char *const members[] = {"exit_code", "signal", "stdout", "stderr", "timed_out", "truncated", "limits"};
	const json_t *result = json_array_get(json_object_get(reply, "results"), 0);
	json_t *failure = mcp_failure(result), *out;

	(void)arguments;
	if (failure)
		return failure;
	out = json_object();
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		json_t *value = json_object_get(result, members[i]);

		if (value && !json_is_null(value))
			(void)json_object_set(out, members[i], value);
	}
	return result_of(out);
}
