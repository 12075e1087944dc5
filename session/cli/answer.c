/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Acts as they are written down, and their answers as they are shown. */
#include "session/cli/answer.h"

#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/cli/show.h"

json_t *answer_act(json_t *actions)
{
	if (json_is_array(actions))
		return json_pack("{s:O}", "actions", actions);
	if (json_is_object(actions) && !json_object_get(actions, "actions"))
		return json_pack("{s:[O]}", "actions", actions);
	return json_incref(actions);
}

bool answer_has_screenshot(const json_t *body)
{
	const json_t *action;
	size_t i;

	json_array_foreach(json_object_get(body, "actions"), i, action) {
		const char *name = json_string_value(json_object_get(action, "action"));

		if (name && strcmp(name, "screenshot") == 0)
			return true;
	}
	return false;
}

/* "1 ok  12 ms  x=640 y=400" */
static void show_result(size_t number, json_t *result)
{
	const char *name;
	json_t *value;
	bool ok = json_is_true(json_object_get(result, "ok"));

	printf("%zu %s", number, ok ? "ok" : "failed");
	json_object_foreach(result, name, value) {
		if (strcmp(name, "ok") == 0 || strcmp(name, "error") == 0 || strcmp(name, "picture") == 0)
			continue;
		auto_free char *visible = show_visible(name, strlen(name), 0);

		printf("  %s=", visible);
		show_value(stdout, value, 0);
	}
	putchar('\n');
	if (!ok) {
		auto_free char *who = util_printf("glovebox: action %zu", number);

		fflush(stdout);
		show_problem(who, json_object_get(result, "error"));
	}
}

void answer_show(const json_t *answer)
{
	const json_t *observation = json_object_get(answer, "observation");
	json_t *result;
	size_t i;

	json_array_foreach(json_object_get(answer, "results"), i, result)
		show_result(i + 1, result);
	if (json_is_object(observation)) {
		printf("%s after ", json_is_true(json_object_get(observation, "settled")) ? "settled" : "not settled");
		show_value(stdout, json_object_get(observation, "elapsed_ms"), 0);
		puts(" ms");
	}
}
