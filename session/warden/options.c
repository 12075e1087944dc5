/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: a row per option. */
#include "session/warden/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "session/base/util.h"

const char options_help[] =
	"usage: gloveboxd [OPTION…]\n"
	"  --listen ADDR:PORT  where the API is served (127.0.0.1:7070; port 0 picks a free one)\n"
	"  --state DIR         the server's own folder (/var/lib/glovebox)\n"
	"  --images DIR        the images (STATE/images)\n"
	"  --config FILE       keys with their quotas, names of hosts, defaults: JSON, see README.md\n"
	"  --check-config      check the file of --config, and do nothing else\n"
	"  --ceilings FILE     limits that no session gets past, lines of \"key = value\"\n"
	"  --probe             look what this host can and cannot do, for `glovebox doctor`, and do nothing else\n"
	"  --version, --help\n"
	"It stays in the foreground, prints READY and its address when it serves, and ends with everything in it at SIGTERM or SIGINT.\n";

static const struct option_row {
	const char *name;
	bool takes_value;
	size_t place;               /* in struct options, of a value */
	enum options_wish wish;     /* of the others */
} ROWS[] = {
	{"--listen", true, offsetof(struct options, listen), OPTIONS_RUN},
	{"--state", true, offsetof(struct options, state), OPTIONS_RUN},
	{"--images", true, offsetof(struct options, images), OPTIONS_RUN},
	{"--config", true, offsetof(struct options, config), OPTIONS_RUN},
	{"--check-config", false, 0, OPTIONS_CHECK_CONFIG},
	{"--ceilings", true, offsetof(struct options, ceilings), OPTIONS_RUN},
	{"--probe", false, 0, OPTIONS_PROBE},
	{"--version", false, 0, OPTIONS_VERSION},
	{"--help", false, 0, OPTIONS_HELP},
};

static const struct option_row *find_row(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		if (strlen(ROWS[i].name) == len && strncmp(ROWS[i].name, word, len) == 0)
			return &ROWS[i];
	return NULL;
}

int options_parse(struct options *options, int argc, char **argv, struct err *e)
{
	*options = (struct options){.wish = OPTIONS_RUN};
	for (int i = 1; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		size_t len = value ? (size_t)(value - argv[i]) : strlen(argv[i]);
		const struct option_row *row = find_row(argv[i], len);
		const char **place;
		char shown[80];

		err_quote(shown, sizeof(shown), argv[i], len);
		if (!row || (value && !row->takes_value))
			return err_set(e, ERR_BAD_REQUEST, NULL, "unknown option %s", shown);
		if (!row->takes_value) {
			options->wish = row->wish;
			continue;
		}
		value = value ? value + 1 : argv[++i];
		place = (const char **)(void *)((char *)options + row->place);
		if (!value || !*value)
			return err_set(e, ERR_BAD_REQUEST, NULL, "option %s takes a value", shown);
		*place = value;
	}
	if (options->wish == OPTIONS_CHECK_CONFIG && !options->config)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the option --check-config needs --config FILE");
	if (!options->listen)
		options->listen = "127.0.0.1:7070";
	if (!options->state)
		options->state = "/var/lib/glovebox";
	return 0;
}
