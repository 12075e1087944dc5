/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allow list of variables, and what may be put over it. */
#include "apps/environment.h"

#include <string.h>

#include "apps/init/proto.h"
#include "apps/relay/proto.h"
#include "session/base/util.h"
#include "session/base/variable.h"

static const struct {
	const char *name, *value;
} BASE[] = {
	{"PATH", "/usr/local/bin:/usr/bin:/bin"},
	{"HOME", ENVIRONMENT_HOME},
	{"USER", "user"},
	{"LOGNAME", "user"},
	{"SHELL", "/bin/bash"},
	{"LANG", "C.UTF-8"},
	{"TERM", "xterm-256color"},
	{"DISPLAY", ":0"},
	{"XAUTHORITY", INIT_AUTHORITY_FILE},
	{"XDG_RUNTIME_DIR", ENVIRONMENT_RUNTIME},
	{"DBUS_SESSION_BUS_ADDRESS", ENVIRONMENT_BUS},
};
/* What makes each toolkit build its accessibility tree. */
static const char *const ACCESSIBLE[] = {"GNOME_ACCESSIBILITY", "ACCESSIBILITY_ENABLED", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON"};
/* And what keeps them from it, and from starting its bus. */
static const struct {
	const char *name, *value;
} INACCESSIBLE[] = {{"NO_AT_BRIDGE", "1"}, {"GTK_A11Y", "none"}, {"GNOME_ACCESSIBILITY", "0"}};
/* The display knows a trusted program by its gid; what it is told by settings and caches is its own. */
static const struct {
	const char *name, *value;
} TRUSTED[] = {
	{"XAUTHORITY", "/dev/null"},
	{"HOME", INIT_TRUSTED_FOLDER},
	{"XDG_CACHE_HOME", INIT_TRUSTED_FOLDER "/.cache"},
	{"XDG_CONFIG_HOME", INIT_TRUSTED_FOLDER "/.config"},
	{"XDG_DATA_HOME", INIT_TRUSTED_FOLDER "/.local/share"},
};
/* What is of this host stays here. curl takes the small names alone, others the large ones. A scheme of SOCKS under all_proxy would keep
 * programs from starting that have no library for it. */
#define INSIDE "localhost,127.0.0.1,::1"
#define BUNDLE "/run/egress/bundle.pem"
static const struct {
	const char *name, *value;
} WAY_OUT[] = {
	{"http_proxy", RELAY_URL},       {"HTTP_PROXY", RELAY_URL},
	{"https_proxy", RELAY_URL},      {"HTTPS_PROXY", RELAY_URL},
	{"all_proxy", RELAY_URL},        {"ALL_PROXY", RELAY_URL},
	{"no_proxy", INSIDE},            {"NO_PROXY", INSIDE},
	{"NODE_USE_ENV_PROXY", "1"},
	/* The host's certificates, and that of the session itself: glovebox-egress writes it. */
	{"SSL_CERT_FILE", BUNDLE},       {"CURL_CA_BUNDLE", BUNDLE},
	{"REQUESTS_CA_BUNDLE", BUNDLE},  {"PIP_CERT", BUNDLE},
	{"GIT_SSL_CAINFO", BUNDLE},      {"NPM_CONFIG_CAFILE", BUNDLE},
	{"NODE_EXTRA_CA_CERTS", BUNDLE},
};
#define ACCESS_BUS "AT_SPI_BUS_ADDRESS"

/* Where the variable is; behind the last one if it is not there. */
static size_t place_of(const struct environment *environment, const char *name)
{
	size_t len = strlen(name);
	size_t at = 0;

	while (at < environment->n && !(strncmp(environment->list[at], name, len) == 0 && environment->list[at][len] == '='))
		at++;
	return at;
}

/* Puts the variable at its place, or at the end. */
static void put(struct environment *environment, const char *name, const char *value)
{
	size_t at = place_of(environment, name);

	if (at == environment->n) {
		environment->list = util_realloc(environment->list, (environment->n + 2) * sizeof(*environment->list));
		environment->list[++environment->n] = NULL;
		environment->list[at] = NULL;
	}
	free(environment->list[at]);
	environment->list[at] = util_printf("%s=%s", name, value);
}

static int put_all(struct environment *environment, const json_t *more, int (*check)(const char *name, struct err *e), struct err *e)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)more, name, value) {
		auto_free char *path = util_printf("/env/%s", name);

		if (check(name, e) < 0)
			return -1;
		if (!json_is_string(value))
			return err_set(e, ERR_BAD_FIELD, path, "the value of a variable must be a string");
		put(environment, name, json_string_value(value));
	}
	return 0;
}

int environment_create(struct environment *out, const json_t *spec, struct err *e)
{
	struct environment made = {0};

	for (size_t i = 0; i < ARRAY_LEN(BASE); i++)
		put(&made, BASE[i].name, BASE[i].value);
	if (put_all(&made, spec, variable_check_session, e) < 0) {
		environment_finish(&made);
		return -1;
	}
	*out = made;
	return 0;
}

void environment_without_accessibility(struct environment *environment)
{
	for (size_t i = 0; i < ARRAY_LEN(INACCESSIBLE); i++)
		if (place_of(environment, INACCESSIBLE[i].name) == environment->n)
			put(environment, INACCESSIBLE[i].name, INACCESSIBLE[i].value);
}

void environment_accessible(struct environment *environment, const char *bus)
{
	for (size_t i = 0; i < ARRAY_LEN(ACCESSIBLE); i++)
		if (place_of(environment, ACCESSIBLE[i]) == environment->n)
			put(environment, ACCESSIBLE[i], "1");
	put(environment, ACCESS_BUS, bus);
}

void environment_way_out(struct environment *environment)
{
	for (size_t i = 0; i < ARRAY_LEN(WAY_OUT); i++)
		if (place_of(environment, WAY_OUT[i].name) == environment->n)
			put(environment, WAY_OUT[i].name, WAY_OUT[i].value);
}

static struct environment copy(const struct environment *base)
{
	struct environment made = {.n = base->n};

	made.list = util_zalloc((base->n + 1) * sizeof(*made.list));
	for (size_t i = 0; i < base->n; i++)
		made.list[i] = util_strdup(base->list[i]);
	return made;
}

int environment_extend(struct environment *out, const struct environment *base, const json_t *more, struct err *e)
{
	struct environment made = copy(base);

	if (put_all(&made, more, variable_check, e) < 0) {
		environment_finish(&made);
		return -1;
	}
	*out = made;
	return 0;
}

void environment_trust(struct environment *out, const struct environment *base)
{
	*out = copy(base);
	for (size_t i = 0; i < ARRAY_LEN(TRUSTED); i++)
		put(out, TRUSTED[i].name, TRUSTED[i].value);
}

void environment_finish(struct environment *environment)
{
	for (size_t i = 0; i < environment->n; i++)
		free(environment->list[i]);
	free(environment->list);
	*environment = (struct environment){0};
}
