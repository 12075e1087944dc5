/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of a list, put together. */
#include "session/cli/list.h"

#include "session/base/json.h"
#include "session/base/util.h"

int list_filter(const struct args *args, char **path, struct err *e)
{
	const char *image = args_get(args, "image"), *pair;
	size_t at = 0;

	if (image)
		cli_add_parameter(path, "", "image", image);
	while ((pair = args_next(args, "label", &at))) {
		auto_free char *name = NULL;
		const char *value;

		if (cli_read_pair(pair, "label", &name, &value, e) < 0)
			return -1;
		cli_add_parameter(path, "label.", name, value);
	}
	return 0;
}

int list_sessions(struct cli *cli, const char *path, json_t **sessions)
{
	json_auto_t *all = json_array();
	auto_free char *page = util_strdup(path);

	*sessions = NULL;
	while (page) {
		auto_reply reply = {0};
		const char *next;
		int status = cli_call(cli, "GET", page, NULL, &reply);

		if (status != CLI_DONE)
			return status;
		(void)json_array_extend(all, json_object_get(reply.json, "sessions"));
		next = form_string(reply.json, "next", NULL);
		free(page);
		page = next ? util_strdup(path) : NULL;
		if (next)
			cli_add_parameter(&page, "", "after", next);
	}
	*sessions = json_incref(all);
	return CLI_DONE;
}
