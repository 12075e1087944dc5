/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps */
/* The manifest's rows, what an app takes, and the environment that it gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "apps/catalogue.h"
#include "apps/environment.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define MANIFEST                                                                                                                       \
	"{\"session_bus\":true,\"apps\":["                                                                                             \
	"{\"name\":\"firefox\",\"title\":\"Firefox\",\"argv\":[\"/usr/bin/firefox-esr\",\"--new-window\"],\"class\":\"firefox-esr\","  \
	"\"trusted\":true,\"args\":\"files_urls\",\"kind\":\"app\"},"                                                                  \
	"{\"name\":\"terminal\",\"argv\":[\"xterm\"],\"class\":\"XTerm\",\"kind\":\"terminal\"},"                                      \
	"{\"name\":\"editor\",\"argv\":[\"mousepad\"],\"args\":\"files\"},"                                                            \
	"{\"name\":\"viewer\",\"argv\":[\"viewer\"],\"args\":\"urls\"}]}"

static int load(void **state)
{
	struct catalogue *catalogue = util_zalloc(sizeof(*catalogue));
	json_auto_t *manifest = json_loads(MANIFEST, 0, NULL);

	assert_non_null(manifest);
	assert_int_equal(catalogue_create(catalogue, manifest, NULL), 0);
	*state = catalogue;
	return 0;
}

static int unload(void **state)
{
	catalogue_finish(*state);
	free(*state);
	return 0;
}

static void rows(void **state)
{
	const struct catalogue *catalogue = *state;
	const struct catalogue_app *app = catalogue_find(catalogue, "firefox", NULL);

	assert_int_equal(catalogue->n_apps, 4);
	assert_true(catalogue->session_bus);
	assert_string_equal(app->title, "Firefox");
	assert_string_equal(app->class_name, "firefox-esr");
	assert_true(app->trusted);
	assert_false(app->terminal);
	app = catalogue_find(catalogue, "terminal", NULL);
	assert_true(app->terminal);
	assert_false(app->trusted);
	assert_string_equal(app->title, "terminal");
	assert_int_equal(app->args, CATALOGUE_NONE);
}

static void unknown_names(void **state)
{
	struct err e;

	assert_null(catalogue_find(*state, "fierfox", &e));
	assert_int_equal(e.code, ERR_BAD_FIELD);
	assert_string_equal(e.path, "/app");
	assert_string_equal(e.msg, "\"fierfox\" is not an app of this image. Did you mean firefox? Its apps: firefox, terminal, editor, viewer");
	assert_null(catalogue_find(*state, "xyzzy\n", &e));
	assert_string_equal(e.msg, "\"xyzzy\\n\" is not an app of this image. Its apps: firefox, terminal, editor, viewer");
	assert_null(catalogue_find(*state, "nope", &e));
	assert_null(strstr(e.msg, "mean"));
	assert_null(catalogue_find(*state, "Editor", &e));
	assert_non_null(strstr(e.msg, "Did you mean editor?"));
}

static void check(void **state, const char *app, const char *argument, const char *expected)
{
	json_auto_t *args = json_pack("[s]", argument);
	const struct catalogue_app *row = catalogue_find(*state, app, NULL);
	char **argv = NULL;
	struct err e = {0};
	int rc = catalogue_argv(row, args, &argv, &e);

	if (!expected) {
		if (rc == 0)
			fail_msg("%s takes %s", app, argument);
		assert_int_equal(e.code, ERR_BAD_FIELD);
		return;
	}
	if (rc != 0)
		fail_msg("%s does not take %s: %s", app, argument, e.msg);
	assert_string_equal(argv[row->n_argv], expected);
	assert_null(argv[row->n_argv + 1]);
	catalogue_free_argv(argv);
}

static void arguments(void **state)
{
	static const struct {
		const char *argument, *file, *url, *both; /* what the program gets, or NULL */
	} table[] = {
		{"/tmp/a b", "/tmp/a b", NULL, "/tmp/a b"},
		{"notes.txt", "/home/user/notes.txt", NULL, "/home/user/notes.txt"},
		{"a/b c", "/home/user/a/b c", NULL, "/home/user/a/b c"},
		{"http://localhost/", "/home/user/http://localhost/", "http://localhost/", "http://localhost/"},
		{"HTTPS://x/?a=b&c#d", "/home/user/HTTPS://x/?a=b&c#d", "HTTPS://x/?a=b&c#d", "HTTPS://x/?a=b&c#d"},
		{"file:///etc/hosts", "/home/user/file:///etc/hosts", "file:///etc/hosts", "file:///etc/hosts"},
		{"about:blank", "/home/user/about:blank", "about:blank", "about:blank"},
		{"about:config", "/home/user/about:config", NULL, NULL},
		{"javascript:alert(1)", "/home/user/javascript:alert(1)", NULL, NULL},
		{"data:text/html,x", "/home/user/data:text/html,x", NULL, NULL},
		{"chrome://x", "/home/user/chrome://x", NULL, NULL},
		{"http://", "/home/user/http://", NULL, NULL},
		{"http://a b", "/home/user/http://a b", NULL, NULL},
		{"$(id)`id`;'\"", "/home/user/$(id)`id`;'\"", NULL, "/home/user/$(id)`id`;'\""},
		{"-x", NULL, NULL, NULL},
		{"--no-sandbox", NULL, NULL, NULL},
		{"", NULL, NULL, NULL},
		{"../etc/passwd", NULL, NULL, NULL},
		{"a/../../b", NULL, NULL, NULL},
		{"a/..", NULL, NULL, NULL},
		{"..", NULL, NULL, NULL},
		{"..a", "/home/user/..a", NULL, "/home/user/..a"},
		{"~/a", NULL, NULL, NULL},
		{"a\nb", NULL, NULL, NULL},
		{"a\x7F", NULL, NULL, NULL},
		{"a\xC2\x85", NULL, NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		check(state, "editor", table[i].argument, table[i].file);
		check(state, "viewer", table[i].argument, table[i].url);
		check(state, "firefox", table[i].argument, table[i].both);
		check(state, "terminal", table[i].argument, NULL);
	}
}

static void argument_bounds(void **state)
{
	char text[LIMIT_LAUNCH_ARG_BYTES + 2];
	json_auto_t *args = json_array();
	struct err e;

	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[LIMIT_LAUNCH_ARG_BYTES] = '\0';
	check(state, "editor", text, text);
	text[LIMIT_LAUNCH_ARG_BYTES] = 'a';
	text[LIMIT_LAUNCH_ARG_BYTES + 1] = '\0';
	check(state, "editor", text, NULL);
	for (int i = 0; i < LIMIT_LAUNCH_ARGS; i++)
		json_array_append_new(args, json_string("/x"));
	assert_int_equal(catalogue_argv(catalogue_find(*state, "editor", NULL), args, NULL, NULL), 0);
	json_array_set_new(args, 5, json_string("-x"));
	assert_int_equal(catalogue_argv(catalogue_find(*state, "editor", NULL), args, NULL, &e), -1);
	assert_string_equal(e.path, "/args/5");
	json_array_append_new(args, json_string("/x"));
	assert_int_equal(catalogue_argv(catalogue_find(*state, "editor", NULL), args, NULL, &e), -1);
	assert_string_equal(e.path, "/args");
}

static void broken_manifests(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{\"apps\":{}}",
		"{\"apps\":[1]}",
		"{\"apps\":[{}]}",
		"{\"apps\":[{\"name\":\"a\"}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":[]}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":\"sh\"}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":[1]}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":[\"\"]}]}",
		"{\"apps\":[{\"name\":1,\"argv\":[\"a\"]}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":[\"a\"],\"args\":\"all\"}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":[\"a\"],\"kind\":\"game\"}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":[\"a\"],\"trusted\":\"yes\"}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":[\"a\"],\"trusted\":true}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":[\"/a\"],\"trusted\":true,\"kind\":\"terminal\"}]}",
		"{\"apps\":[{\"name\":\"a\",\"argv\":[\"a\"]},{\"name\":\"b\",\"argv\":[]}]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		json_auto_t *manifest = json_loads(texts[i], 0, NULL);
		struct catalogue catalogue;
		struct err e = {0};

		assert_non_null(manifest);
		if (catalogue_create(&catalogue, manifest, &e) != -1)
			fail_msg("taken: %s", texts[i]);
		assert_int_equal(e.code, ERR_SESSION_FAILED);
	}
}

static const char *value_of(const struct environment *environment, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < environment->n; i++)
		if (strncmp(environment->list[i], name, len) == 0 && environment->list[i][len] == '=')
			return environment->list[i] + len + 1;
	return NULL;
}

static void environments(void **state)
{
	json_auto_t *spec = json_pack("{s:s,s:s}", "HTTP_PROXY", "http://x", "LANG", "de_DE.UTF-8");
	json_auto_t *more = json_pack("{s:s,s:s,s:s}", "DISPLAY", ":7", "A", "", "HTTP_PROXY", "y=z");
	struct environment base, command;

	(void)state;
	(void)setenv("AWS_SECRET_ACCESS_KEY", "canary", 1);
	assert_int_equal(environment_create(&base, spec, NULL), 0);
	assert_int_equal(environment_extend(&command, &base, more, NULL), 0);
	assert_null(value_of(&base, "AWS_SECRET_ACCESS_KEY"));
	assert_string_equal(value_of(&base, "DISPLAY"), ":0");
	assert_string_equal(value_of(&base, "HTTP_PROXY"), "http://x");
	assert_string_equal(value_of(&base, "LANG"), "de_DE.UTF-8");
	assert_null(value_of(&base, "NO_AT_BRIDGE"));
	assert_string_equal(value_of(&command, "DISPLAY"), ":7");
	assert_string_equal(value_of(&command, "A"), "");
	assert_string_equal(value_of(&command, "HTTP_PROXY"), "y=z");
	assert_int_equal(command.n, base.n + 1);
	assert_null(command.list[command.n]);
	environment_finish(&base);
	environment_finish(&command);
}

static void refused_variables(void **state)
{
	static const char *const bad[] = {"", "1A", "A-B", "A=B", "A B", "Ä", "A\n"};
	static const char *const ours[] = {"DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "HOME", "USER"};
	struct environment base, made;
	struct err e;

	(void)state;
	assert_int_equal(environment_create(&base, NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		json_auto_t *more = json_pack("{s:s}", bad[i], "x");

		assert_int_equal(environment_extend(&made, &base, more, &e), -1);
		assert_int_equal(e.code, ERR_BAD_FIELD);
	}
	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		json_auto_t *spec = json_pack("{s:s}", ours[i], "x");

		assert_int_equal(environment_create(&made, spec, &e), -1);
		assert_int_equal(e.code, ERR_BAD_FIELD);
		assert_non_null(strstr(e.path, ours[i]));
	}
	environment_finish(&base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(unknown_names),
		cmocka_unit_test(arguments),
		cmocka_unit_test(argument_bounds),
		cmocka_unit_test(broken_manifests),
		cmocka_unit_test(environments),
		cmocka_unit_test(refused_variables),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
