/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines read by rows. */
#include "session/cli/args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/base/util.h"

#define NAMES_MAX 200

static const struct arg_option *find_option(const struct arg_options *sets, size_t n_sets, const char *text, size_t len)
{
	for (size_t s = 0; s < n_sets; s++) {
		for (size_t i = 0; i < sets[s].n_rows; i++) {
			const struct arg_option *row = &sets[s].rows[i];
			bool is_short = len == 2 && row->letter == text[1];
			bool is_long = len > 2 && strlen(row->name) == len - 2 && memcmp(text, "--", 2) == 0 &&
			               memcmp(row->name, text + 2, len - 2) == 0;

			if (is_short || is_long)
				return row;
		}
	}
	return NULL;
}

static int refuse_unknown(const struct arg_options *sets, size_t n_sets, const char *text, struct err *e)
{
	char valid[NAMES_MAX] = "", quoted[64];

	for (size_t s = 0; s < n_sets; s++) {
		for (size_t i = 0; i < sets[s].n_rows; i++) {
			auto_free char *name = util_printf("--%s", sets[s].rows[i].name);

			err_list(valid, sizeof(valid), " ", name);
		}
	}
	return err_set(e, ERR_BAD_REQUEST, NULL, "there is no option %s here; the options are %s", err_quote(quoted, sizeof(quoted), text, strlen(text)), valid);
}

static int add_given(struct args *args, const struct arg_option *option, const char *value, struct err *e)
{
	if (!option->many && args_get(args, option->name))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--%s is given twice", option->name);
	if (args->n_given == ARGS_MAX)
		return err_set(e, ERR_BAD_REQUEST, NULL, "more than %d options", ARGS_MAX);
	args->given[args->n_given++] = (struct arg_given){option, value};
	return 0;
}

/* Takes the option at argv[*i], and its value from argv[*i + 1] when it stands there. */
static int take_option(struct args *args, const struct arg_options *sets, size_t n_sets, int argc, const char *const *argv, int *i,
                       struct err *e)
{
	const char *text = argv[*i];
	const char *equals = text[1] == '-' ? strchr(text, '=') : NULL;
	const struct arg_option *option = find_option(sets, n_sets, text, equals ? (size_t)(equals - text) : strlen(text));
	const char *value = equals ? equals + 1 : NULL;

	if (!option)
		return refuse_unknown(sets, n_sets, text, e);
	if (!option->value && value)
		return err_set(e, ERR_BAD_REQUEST, NULL, "--%s takes no value", option->name);
	if (option->value && !value) {
		if (*i + 1 == argc)
			return err_set(e, ERR_BAD_REQUEST, NULL, "--%s needs a value: %s", option->name, option->value);
		value = argv[++*i];
	}
	return add_given(args, option, value, e);
}

int args_parse(struct args *args, const struct arg_options *sets, size_t n_sets, size_t stop_after, int argc,
               const char *const *argv, struct err *e)
{
	bool options = true;

	for (int i = 0; i < argc; i++) {
		bool is_option = options && argv[i][0] == '-' && argv[i][1] != '\0';

		if (is_option && strcmp(argv[i], "--") == 0) {
			options = false;
		} else if (is_option) {
			if (take_option(args, sets, n_sets, argc, argv, &i, e))
				return -1;
		} else if (args->n_words == ARGS_MAX) {
			return err_set(e, ERR_BAD_REQUEST, NULL, "more than %d words", ARGS_MAX);
		} else {
			options = options && args->n_words < stop_after;
			args->words[args->n_words++] = argv[i];
		}
	}
	return 0;
}

const char *args_next(const struct args *args, const char *name, size_t *at)
{
	while (*at < args->n_given) {
		const struct arg_given *given = &args->given[(*at)++];

		if (strcmp(given->option->name, name) == 0)
			return given->value ? given->value : "";
	}
	return NULL;
}

const char *args_get(const struct args *args, const char *name)
{
	size_t at = 0;

	return args_next(args, name, &at);
}

int args_number(const struct args *args, const char *name, long min, long max, long *out, struct err *e)
{
	const char *text = args_get(args, name);
	char *end, quoted[64];
	long value;

	if (!text)
		return 0;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max || text[0] == ' ' || text[0] == '+')
		return err_set(e, ERR_BAD_REQUEST, NULL, "--%s is %s; allowed are whole numbers %ld..%ld", name,
		               err_quote(quoted, sizeof(quoted), text, strlen(text)), min, max);
	*out = value;
	return 0;
}
