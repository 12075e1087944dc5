/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an operation takes in its query. */
#include "session/front/operation.h"

#include <string.h>

#include "session/base/util.h"

bool operation_has_parameter(const struct operation *operation, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < operation->n_query; i++) {
		const char *own = operation->query[i].name;
		size_t n = strlen(own);
		bool is_prefix = own[n - 1] == '*';

		if (is_prefix ? len >= n && memcmp(own, name, n - 1) == 0 : strcmp(own, name) == 0)
			return true;
	}
	return false;
}

char *operation_parameters(const struct operation *operation)
{
	char *names = NULL;

	for (size_t i = 0; i < operation->n_query; i++) {
		char *longer = util_printf("%s%s%s", names ? names : "", names ? " " : "", operation->query[i].name);

		free(names);
		names = longer;
	}
	return names;
}
