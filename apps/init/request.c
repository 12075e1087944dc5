/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the stage's spawn records. */
#include "apps/init/request.h"

#include <string.h>

#include "session/base/util.h"

static int bad(struct err *e, const char *rule)
{
	return err_set(e, ERR_BAD_REQUEST, NULL, "spawn: %s", rule);
}

static int check_head(const struct init_spawn *head, size_t len, size_t n_fds, struct err *e)
{
	if (len > REQUEST_MAX)
		return bad(e, "the record is too long");
	if (head->group >= INIT_N_GROUPS)
		return bad(e, "no such group");
	if (head->flags & ~(unsigned int)(INIT_PIPES | INIT_TRUSTED | INIT_LISTENER))
		return bad(e, "an unknown flag");
	if ((head->flags & INIT_TRUSTED) && head->group != INIT_GROUP_APPS)
		return bad(e, "a trusted program is of the group apps");
	if ((head->flags & INIT_LISTENER) && (head->group != INIT_GROUP_BASE || (head->flags & INIT_PIPE_STDIN)))
		return bad(e, "a program that listens is of the group base, and reads nothing else");
	if (n_fds != (size_t)__builtin_popcount(head->flags & INIT_PIPES))
		return bad(e, "the descriptors do not fit the flags");
	if (head->n_argv == 0)
		return bad(e, "argv is empty");
	if (head->n_argv + head->n_env + head->n_runs > LIMIT_SPAWN_STRINGS)
		return bad(e, "too many strings");
	return 0;
}

/* Cuts text[len] into exactly n strings. */
static int split(char *text, size_t len, char **strings, size_t n, struct err *e)
{
	size_t at = 0;

	if (len == 0 || text[len - 1] != '\0')
		return bad(e, "the last string does not end");
	for (size_t i = 0; i < n; i++) {
		if (at >= len)
			return bad(e, "fewer strings than announced");
		strings[i] = text + at;
		at += strlen(text + at) + 1;
	}
	return at == len ? 0 : bad(e, "more strings than announced");
}

static int check_strings(const struct request *request, struct err *e)
{
	if (request->folder[0] != '/')
		return bad(e, "the working directory is not absolute");
	if (request->argv[0][0] == '\0')
		return bad(e, "the program's name is empty");
	if ((request->flags & INIT_TRUSTED) && request->argv[0][0] != '/')
		return bad(e, "a trusted program's path is not absolute");
	for (char **run = request->runs; *run; run++)
		if ((*run)[0] != '/')
			return bad(e, "a program to execute is not absolute");
	for (char **env = request->env; *env; env++)
		if ((*env)[0] == '=' || !strchr(*env, '='))
			return bad(e, "an environment entry is not NAME=value");
	return 0;
}

int request_parse(char *record, size_t len, size_t n_fds, struct request *out, struct err *e)
{
	struct init_spawn head;
	struct request request;
	auto_free char **strings = NULL;
	auto_free char **lists = NULL;
	size_t n;

	if (len < sizeof(head))
		return bad(e, "the record is too short");
	memcpy(&head, record, sizeof(head));
	if (check_head(&head, len, n_fds, e) < 0)
		return -1;
	n = (size_t)head.n_argv + head.n_env + head.n_runs + 1;
	strings = util_alloc(n * sizeof(*strings));
	if (split(record + sizeof(head), len - sizeof(head), strings, n, e) < 0)
		return -1;
	lists = util_zalloc((n + 2) * sizeof(*lists)); /* without the folder, with three NULL */
	memcpy(lists, strings + 1, head.n_argv * sizeof(*lists));
	memcpy(lists + head.n_argv + 1, strings + 1 + head.n_argv, head.n_env * sizeof(*lists));
	memcpy(lists + head.n_argv + head.n_env + 2, strings + 1 + head.n_argv + head.n_env, head.n_runs * sizeof(*lists));
	request = (struct request){
	        .tag = head.tag,
	        .group = (enum init_group)head.group,
	        .flags = head.flags,
	        .folder = strings[0],
	        .argv = lists,
	        .env = lists + head.n_argv + 1,
	        .runs = lists + head.n_argv + head.n_env + 2,
	        .strings = lists,
	};
	if (check_strings(&request, e) < 0)
		return -1;
	(void)steal_ptr(&lists);
	*out = request;
	return 0;
}

void request_finish(struct request *request)
{
	free(request->strings);
	*request = (struct request){0};
}
