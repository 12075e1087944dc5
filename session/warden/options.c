/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: a row per option. */
#include "session/warden/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/base/util.h"
#include "session/warden/user.h"

#define REQUEST_MIN_MS 100
#define REQUEST_MAX_MS 3600000

const char options_help[] =
	"usage: gloveboxd [OPTION…]\n"
	"  --listen PLACE      where the API is served: ADDR:PORT (127.0.0.1:7070; port 0 picks a free one) or unix:PATH;\n"
	"                      may be given again\n"
	"  --tls-cert FILE     certificate with its chain, and\n"
	"  --tls-key FILE      its key, in PEM: every ADDR:PORT is served by TLS\n"
	"  --host NAME         a name that clients may call this server by: NAME or NAME:PORT; may be given again\n"
	"  --insecure-plain-http  serve addresses that others can reach without TLS: tokens and screens can be read on the way\n"
	"  --request-timeout-ms N  time for a request to arrive and for the next one to begin; a reply has half of it, and more by its\n"
	"                      size (30000)\n"
	"  --state DIR         the server's own folder (/var/lib/glovebox; ~/.local/share/glovebox of an ordinary user)\n"
	"  --images DIR        the images (STATE/images)\n"
	"  --config FILE       keys with their quotas, names of hosts, defaults: JSON, see docs/operating.md\n"
	"  --webhooks FILE     receivers of webhooks and the keys that sign them: JSON, see docs/network.md\n"
	"  --check-config      check the files of --config and --webhooks, and do nothing else\n"
	"  --ceilings FILE     limits that no session gets past, lines of \"key = value\"\n"
	"  --probe             look what this host can and cannot do, for `glovebox doctor`, and do nothing else\n"
	"  --version, --help\n"
	"It stays in the foreground, prints READY and its address when it serves, and ends with everything in it at SIGTERM or SIGINT.\n";

enum kind { KIND_VALUE, KIND_LIST, KIND_FLAG, KIND_WISH };

static const struct option_row {
	const char *name;
	enum kind kind;
	size_t place;               /* in struct options, of all but wishes */
	enum options_wish wish;
	size_t max;                 /* of a list */
} ROWS[] = {
	{"--listen", KIND_LIST, offsetof(struct options, listen), OPTIONS_RUN, LIMIT_LISTENERS},
	{"--tls-cert", KIND_VALUE, offsetof(struct options, tls_cert), OPTIONS_RUN, 0},
	{"--tls-key", KIND_VALUE, offsetof(struct options, tls_key), OPTIONS_RUN, 0},
	{"--host", KIND_LIST, offsetof(struct options, hosts), OPTIONS_RUN, LIMIT_HOSTS},
	{"--insecure-plain-http", KIND_FLAG, offsetof(struct options, insecure), OPTIONS_RUN, 0},
	{"--request-timeout-ms", KIND_VALUE, offsetof(struct options, request_timeout), OPTIONS_RUN, 0},
	{"--state", KIND_VALUE, offsetof(struct options, state), OPTIONS_RUN, 0},
	{"--images", KIND_VALUE, offsetof(struct options, images), OPTIONS_RUN, 0},
	{"--config", KIND_VALUE, offsetof(struct options, config), OPTIONS_RUN, 0},
	{"--webhooks", KIND_VALUE, offsetof(struct options, webhooks), OPTIONS_RUN, 0},
	{"--check-config", KIND_WISH, 0, OPTIONS_CHECK_CONFIG, 0},
	{"--ceilings", KIND_VALUE, offsetof(struct options, ceilings), OPTIONS_RUN, 0},
	{"--entered", KIND_VALUE, offsetof(struct options, entered), OPTIONS_RUN, 0},
	{"--probe", KIND_WISH, 0, OPTIONS_PROBE, 0},
	{"--version", KIND_WISH, 0, OPTIONS_VERSION, 0},
	{"--help", KIND_WISH, 0, OPTIONS_HELP, 0},
};

static const struct option_row *find_row(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		if (strlen(ROWS[i].name) == len && strncmp(ROWS[i].name, word, len) == 0)
			return &ROWS[i];
	return NULL;
}

static int store(struct options *options, const struct option_row *row, const char *value, struct err *e)
{
	void *place = (char *)options + row->place;
	struct options_list *list = place;

	if (row->kind == KIND_WISH) {
		options->wish = row->wish;
	} else if (row->kind == KIND_FLAG) {
		*(bool *)place = true;
	} else if (row->kind == KIND_VALUE) {
		*(const char **)place = value;
	} else {
		if (list->n == row->max)
			return err_set(e, ERR_BAD_REQUEST, NULL, "option %s may be given %zu times", row->name, row->max);
		list->items[list->n++] = value;
	}
	return 0;
}

static int read_words(struct options *options, int argc, char **argv, struct err *e)
{
	for (int i = 1; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		size_t len = value ? (size_t)(value - argv[i]) : strlen(argv[i]);
		const struct option_row *row = find_row(argv[i], len);
		bool takes_value = row && row->kind <= KIND_LIST;
		char shown[80];

		err_quote(shown, sizeof(shown), argv[i], len);
		if (!row || (value && !takes_value))
			return err_set(e, ERR_BAD_REQUEST, NULL, "unknown option %s", shown);
		if (takes_value) {
			value = value ? value + 1 : argv[++i];
			if (!value || !*value)
				return err_set(e, ERR_BAD_REQUEST, NULL, "option %s takes a value", shown);
		}
		if (store(options, row, value, e) < 0)
			return -1;
	}
	return 0;
}

static int check_timeout(struct options *options, struct err *e)
{
	const char *text = options->request_timeout;
	char shown[80];
	unsigned long ms;

	options->request_ms = LIMIT_REQUEST_MS;
	if (!text)
		return 0;
	ms = strtoul(text, NULL, 10);
	if (strspn(text, "0123456789") != strlen(text) || ms < REQUEST_MIN_MS || ms > REQUEST_MAX_MS)
		return err_set(e, ERR_BAD_REQUEST, NULL, "option --request-timeout-ms is %s; allowed %d..%d",
		               err_quote(shown, sizeof(shown), text, strlen(text)), REQUEST_MIN_MS, REQUEST_MAX_MS);
	options->request_ms = (uint32_t)ms;
	return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct err *e)
{
	*options = (struct options){.wish = OPTIONS_RUN};
	if (read_words(options, argc, argv, e) < 0 || check_timeout(options, e) < 0)
		return -1;
	if (!options->tls_cert != !options->tls_key)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the options --tls-cert and --tls-key go together");
	if (options->wish == OPTIONS_CHECK_CONFIG && !options->config && !options->webhooks)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the option --check-config needs --config FILE or --webhooks FILE");
	if (options->listen.n == 0)
		options->listen.items[options->listen.n++] = "127.0.0.1:7070";
	if (!options->state)
		options->state = geteuid() == 0 && !options->entered ? "/var/lib/glovebox" : user_state_folder();
	return 0;
}
