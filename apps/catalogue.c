/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The manifest's rows, and the rules for arguments. */
#include "apps/catalogue.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>

#include "apps/environment.h"
#include "apps/text.h"
#include "session/base/limits.h"
#include "session/base/near.h"
#include "session/base/util.h"

#define NEAR 2 /* changed characters at which a name may have been meant: of four or more */

static const struct {
	const char *name;
	unsigned int args;
} ARGS[] = {
	{"none", CATALOGUE_NONE},
	{"files", CATALOGUE_FILES},
	{"urls", CATALOGUE_URLS},
	{"files_urls", CATALOGUE_FILES | CATALOGUE_URLS},
};

static int bad_row(struct err *e, size_t row, const char *rule)
{
	return err_set(e, ERR_SESSION_FAILED, NULL, "the image's manifest: app %zu: %s", row, rule);
}

static int read_runs(struct catalogue_app *app, const json_t *list, size_t row, struct err *e)
{
	const json_t *item;
	size_t i;

	app->runs = util_zalloc((json_array_size(list) + 1) * sizeof(*app->runs));
	json_array_foreach(list, i, item) {
		if (!json_is_string(item) || json_string_value(item)[0] != '/')
			return bad_row(e, row, "runs must be a list of absolute paths");
		app->runs[i] = json_string_value(item);
	}
	if (list && (!json_is_array(list) || !app->trusted))
		return bad_row(e, row, "runs is a list, of a trusted app");
	return 0;
}

static int read_argv(struct catalogue_app *app, const json_t *list, size_t row, struct err *e)
{
	const json_t *item;
	size_t i;

	app->n_argv = json_array_size(list);
	if (app->n_argv == 0)
		return bad_row(e, row, "argv must be a list with the program");
	app->argv = util_zalloc((app->n_argv + 1) * sizeof(*app->argv));
	json_array_foreach(list, i, item) {
		if (!json_is_string(item) || (i == 0 && json_string_length(item) == 0))
			return bad_row(e, row, "argv must be a list of strings");
		app->argv[i] = json_string_value(item);
	}
	if (app->trusted && (app->terminal || app->argv[0][0] != '/'))
		return bad_row(e, row, "a trusted app is no terminal, and argv begins with its absolute path");
	return 0;
}

static int read_app(struct catalogue_app *app, const json_t *value, size_t row, struct err *e)
{
	const char *args = "none";
	const char *kind = "app";
	int trusted = 0;
	json_t *argv = NULL, *runs = NULL;

	app->class_name = "";
	/* The macro's type may change; json_unpack does not. */
	if (json_unpack((json_t *)(uintptr_t)value, "{s:s, s?s, s:o, s?s, s?b, s?o, s?s, s?s}", "name", &app->name, "title", &app->title, "argv",
	                &argv, "class", &app->class_name, "trusted", &trusted, "runs", &runs, "args", &args, "kind", &kind) < 0)
		return bad_row(e, row, "a field is missing or has another type");
	if (!app->title)
		app->title = app->name;
	app->trusted = trusted;
	app->terminal = strcmp(kind, "terminal") == 0;
	if (!app->terminal && strcmp(kind, "app") != 0)
		return bad_row(e, row, "kind must be app or terminal");
	for (size_t i = 0; i < ARRAY_LEN(ARGS); i++)
		if (strcmp(args, ARGS[i].name) == 0) {
			app->args = ARGS[i].args;
			return read_argv(app, argv, row, e) < 0 ? -1 : read_runs(app, runs, row, e);
		}
	return bad_row(e, row, "args must be none, files, urls or files_urls");
}

int catalogue_create(struct catalogue *out, const json_t *manifest, struct err *e)
{
	const json_t *list = json_object_get(manifest, "apps");
	struct catalogue made = {.session_bus = json_is_true(json_object_get(manifest, "session_bus"))};
	const json_t *value;
	size_t i;

	if (!json_is_array(list))
		return err_set(e, ERR_SESSION_FAILED, NULL, "the image's manifest has no list of apps");
	made.manifest = json_incref((json_t *)(uintptr_t)manifest);
	made.apps = util_zalloc(json_array_size(list) * sizeof(*made.apps));
	json_array_foreach(list, i, value) {
		if (read_app(&made.apps[made.n_apps++], value, i, e) < 0) {
			catalogue_finish(&made);
			return -1;
		}
	}
	*out = made;
	return 0;
}

void catalogue_finish(struct catalogue *catalogue)
{
	for (size_t i = 0; i < catalogue->n_apps; i++) {
		free(catalogue->apps[i].argv);
		free(catalogue->apps[i].runs);
	}
	free(catalogue->apps);
	json_decref(catalogue->manifest);
	*catalogue = (struct catalogue){0};
}

/* Adds "firefox" or ", firefox" to a list in a message. */
static void list_name(char *out, size_t size, const char *name)
{
	size_t len = strlen(out);

	(void)snprintf(out + len, size - len, "%s%s", len > 0 ? ", " : "", name);
}

static bool is_near(const char *known, const char *name)
{
	size_t len = strlen(name);

	return strcasecmp(known, name) == 0 || (len > 2 && strstr(known, name)) ||
	       (len >= 4 && near_distance(known, name) <= MIN(NEAR, len / 3));
}

const struct catalogue_app *catalogue_find(const struct catalogue *catalogue, const char *name, struct err *e)
{
	char near[100] = "";
	char all[160] = "";
	char quoted[70];

	for (size_t i = 0; i < catalogue->n_apps; i++) {
		const char *known = catalogue->apps[i].name;

		if (strcmp(known, name) == 0)
			return &catalogue->apps[i];
		if (is_near(known, name))
			list_name(near, sizeof(near), known);
		list_name(all, sizeof(all), known);
	}
	(void)err_set(e, ERR_BAD_FIELD, "/app", "%s is not an app of this image.%s%s%s Its apps: %s",
	              err_quote(quoted, sizeof(quoted), name, strlen(name)), near[0] ? " Did you mean " : "", near, near[0] ? "?" : "",
	              all[0] ? all : "none");
	return NULL;
}

/* The length of "scheme:" at the start, or 0. */
static size_t scheme_len(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

	return n > 0 && text[n] == ':' ? n + 1 : 0;
}

static bool is_url(const char *text)
{
	static const char *const SCHEMES[] = {"http://", "https://", "file:///"};

	for (size_t i = 0; i < ARRAY_LEN(SCHEMES); i++)
		if (strncasecmp(text, SCHEMES[i], strlen(SCHEMES[i])) == 0)
			return text[strlen(SCHEMES[i])] != '\0' && !strchr(text, ' ');
	return strcasecmp(text, "about:blank") == 0;
}

/* A path has no part "..", so that a name below the home folder stays below it, and no "~", which only a shell would know. */
static bool is_file(const char *text, bool schemes_are_urls)
{
	size_t len = strlen(text);

	if (len == 0 || text[0] == '~' || strcmp(text, "..") == 0 || strncmp(text, "../", 3) == 0 || strstr(text, "/../") ||
	    (len > 3 && strcmp(text + len - 3, "/..") == 0))
		return false;
	return text[0] == '/' || !schemes_are_urls || scheme_len(text) == 0;
}

static const char *rule_of(unsigned int args)
{
	if (args == CATALOGUE_FILES)
		return "an absolute path, or a name below " ENVIRONMENT_HOME;
	if (args == CATALOGUE_URLS)
		return "an http:, https: or file: URL, or about:blank";
	return "an http:, https: or file: URL, about:blank, an absolute path, or a name below " ENVIRONMENT_HOME;
}

/* The argument as the program gets it (malloced), or NULL with the rule that it breaks. */
static char *take_argument(const struct catalogue_app *app, const char *text, const char **rule)
{
	*rule = rule_of(app->args);
	if (text[0] == '-')
		*rule = "an argument must not begin with \"-\"";
	else if (strlen(text) > LIMIT_LAUNCH_ARG_BYTES)
		*rule = "an argument has at most 4096 bytes";
	else if (text_has_control(text, strlen(text)))
		*rule = "an argument must not have control characters";
	else if ((app->args & CATALOGUE_URLS) && is_url(text))
		return util_strdup(text);
	else if ((app->args & CATALOGUE_FILES) && is_file(text, app->args & CATALOGUE_URLS))
		return text[0] == '/' ? util_strdup(text) : util_printf(ENVIRONMENT_HOME "/%s", text);
	return NULL;
}

int catalogue_argv(const struct catalogue_app *app, const json_t *args, char ***out, struct err *e)
{
	size_t n = json_array_size(args);
	char **argv;
	const json_t *item;
	size_t i;

	if (n > LIMIT_LAUNCH_ARGS)
		return err_set(e, ERR_BAD_FIELD, "/args", "%zu arguments; at most %d", n, LIMIT_LAUNCH_ARGS);
	if (n > 0 && app->args == CATALOGUE_NONE)
		return err_set(e, ERR_BAD_FIELD, "/args", "%s takes no arguments", app->name);
	argv = util_zalloc((app->n_argv + n + 1) * sizeof(*argv));
	for (i = 0; i < app->n_argv; i++)
		argv[i] = util_strdup(app->argv[i]);
	json_array_foreach(args, i, item) {
		const char *text = json_is_string(item) ? json_string_value(item) : "";
		const char *rule = NULL;
		char path[32];
		char quoted[90];

		argv[app->n_argv + i] = take_argument(app, text, &rule);
		if (argv[app->n_argv + i])
			continue;
		(void)snprintf(path, sizeof(path), "/args/%zu", i);
		catalogue_free_argv(argv);
		return err_set(e, ERR_BAD_FIELD, path, "%s is no argument for %s: %s", err_quote(quoted, sizeof(quoted), text, strlen(text)),
		               app->name, rule);
	}
	if (out)
		*out = argv;
	else
		catalogue_free_argv(argv);
	return 0;
}

void catalogue_free_argv(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}
