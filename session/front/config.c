/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration as forms, and the rules that rows cannot say. */
#include "session/front/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/hash.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/assets.h"
#include "session/front/hosts.h"
#include "session/front/spec.h"
#include "session/policy/policy.h"

#define NAME_SIGNS "abcdefghijklmnopqrstuvwxyz0123456789-"

/* What a key's sessions may be at most; members have the names that they have in a spec. */
static const struct field key_fields[] = {
	{"name", FIELD_STRING, true, 1, OWNER_SIZE - 1, NULL, NULL, NULL, NULL, "the owner of its sessions: a-z, 0-9 and -"},
	{"token_sha256", FIELD_STRING, true, 0, LIMIT_CONFIG_BYTES, NULL, NULL, NULL, NULL, "SHA-256 of its token in hex, as glovebox token prints it"},
	{"role", FIELD_ENUM, false, 0, 0, "owner operator", NULL, NULL, "\"owner\"", "operator: it may do everything with all sessions"},
	{"sessions", FIELD_INT, false, 0, LIMIT_SESSIONS_MAX, NULL, NULL, NULL, NULL, "sessions at once"},
	{"images", FIELD_STRINGS, false, 0, LIMIT_IMAGES, NULL, NULL, NULL, NULL, "the images it may use"},
	{"isolation", FIELD_STRINGS, false, 1, 3, NULL, NULL, NULL, NULL, "the tiers it may use: jail, vm, external"},
	{"egress", FIELD_ENUM, false, 0, 0, "none allowlist open", NULL, NULL, "\"none\"", "the widest way out"},
	{"secrets", FIELD_STRINGS, false, 0, LIMIT_STORED_SECRETS, NULL, NULL, NULL, NULL, "the stored secrets that its sessions may name; an owner without it: none"},
	{"ttl_s", FIELD_INT, false, 1, LIMIT_TTL_S, NULL, NULL, "s", NULL, "the longest life of a session"},
	{"limits", FIELD_OBJECT, false, 0, 0, NULL, &spec_limits_form, NULL, NULL, "the highest limits of a session"},
};
static const struct form key_form = {key_fields, ARRAY_LEN(key_fields), NULL};

static const struct field config_fields[] = {
	{"keys", FIELD_LIST, false, 0, LIMIT_CONFIG_KEYS, NULL, &key_form, NULL, "[]", "who may use the server beside the operator"},
	{"hosts", FIELD_STRINGS, false, 0, LIMIT_CONFIG_HOSTS, NULL, NULL, NULL, "[]", "names of this server, beside its address"},
	{"public_url", FIELD_STRING, false, 1, 200, NULL, NULL, NULL, NULL, "where people reach the console: https://box.example.org; for links to it"},
	{"defaults", FIELD_OBJECT, false, 0, 0, NULL, &spec_form, NULL, "{}", "what a session is if its caller does not say otherwise"},
	{"approval", FIELD_OBJECT, false, 0, 0, NULL, &policy_operator_form, NULL, "{}", "rules about what a person is asked, before those of a spec"},
};
static const struct form config_form = {config_fields, ARRAY_LEN(config_fields), NULL};

static void refuse(struct faults *faults, const char *path, const char *value, const char *rule)
{
	char shown[80];

	(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%s is not allowed here: %s",
	              err_quote(shown, sizeof(shown), value, strlen(value)), rule);
}

static void check_tiers(const json_t *tiers, size_t at, struct faults *faults)
{
	const json_t *tier;
	char path[64];
	size_t i;

	json_array_foreach(tiers, i, tier) {
		const char *name = json_string_value(tier);

		(void)snprintf(path, sizeof(path), "/keys/%zu/isolation/%zu", at, i);
		if (strcmp(name, "jail") != 0 && strcmp(name, "vm") != 0 && strcmp(name, "external") != 0)
			refuse(faults, path, name, "it must be one of: jail vm external");
	}
}

/* Nothing of a hash is shown: a token that stands there by mistake would be, too. */
static void read_hash(const struct config *config, size_t at, const char *hex, struct faults *faults)
{
	struct config_key *key = &config->keys[at];
	char path[64];

	(void)snprintf(path, sizeof(path), "/keys/%zu/token_sha256", at);
	if (!hash_from_hex(hex, key->hash)) {
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "it must have 64 hexadecimal digits, as glovebox token prints them");
		return;
	}
	for (size_t i = 0; i < at; i++)
		if (memcmp(config->keys[i].hash, key->hash, sizeof(key->hash)) == 0) {
			(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "this hash is also that of the key %s", config->keys[i].name);
			return;
		}
}

static void check_name(const struct config *config, size_t at, struct faults *faults)
{
	const char *name = config->keys[at].name;
	char path[64];

	(void)snprintf(path, sizeof(path), "/keys/%zu/name", at);
	if (name[strspn(name, NAME_SIGNS)] != '\0')
		refuse(faults, path, name, "it must be made of a-z, 0-9 and -");
	if (strcmp(name, OWNER_OPERATOR) == 0)
		refuse(faults, path, name, "this is the owner of what the operator's own token makes");
	for (size_t i = 0; i < at; i++)
		if (strcmp(config->keys[i].name, name) == 0) {
			refuse(faults, path, name, "another key has this name");
			return;
		}
}

static void read_key(struct config *config, size_t at, const json_t *row, struct faults *faults)
{
	struct config_key *key = &config->keys[at];
	const char *hex = form_string(row, "token_sha256", "");
	const json_t *limits = json_object_get(row, "limits");

	*key = (struct config_key){.name = form_string(row, "name", ""), .row = row};
	key->role = strcmp(form_string(row, "role", "owner"), "operator") == 0 ? ROLE_OPERATOR : ROLE_OWNER;
	key->usual = config->defaults ? json_deep_copy(config->defaults) : json_object();
	if (!json_object_get(key->usual, "limits"))
		(void)json_object_set_new(key->usual, "limits", json_object());
	spec_lower(&spec_limits_form, json_object_get(key->usual, "limits"), limits);
	spec_lower(&spec_form, key->usual, row);
	check_name(config, at, faults);
	read_hash(config, at, hex, faults);
	check_tiers(json_object_get(row, "isolation"), at, faults);
}

static void read_keys(struct config *config, struct faults *faults)
{
	const json_t *rows = json_object_get(config->document, "keys"), *row;
	size_t i;

	config->keys = util_zalloc((json_array_size(rows) + 1) * sizeof(*config->keys));
	json_array_foreach(rows, i, row) {
		config->n_keys = i + 1;
		read_key(config, i, row, faults);
	}
}

static void check_hosts(const json_t *hosts, struct faults *faults)
{
	const json_t *host;
	char path[32];
	size_t i;

	json_array_foreach(hosts, i, host) {
		(void)snprintf(path, sizeof(path), "/hosts/%zu", i);
		if (!hosts_is_name(json_string_value(host)))
			refuse(faults, path, json_string_value(host), "it must be the name or the numeric address of a host, without a port");
	}
}

/* The defaults must make a whole spec by themselves. */
static void check_defaults(const json_t *defaults, struct faults *faults)
{
	static const char *const dependent[] = {"max_width", "max_height"};
	json_auto_t *nothing = json_object(), *spec = NULL;
	size_t before = faults->n;

	for (size_t i = 0; i < ARRAY_LEN(dependent); i++)
		if (json_object_get(json_object_get(defaults, "display"), dependent[i]))
			(void)err_set(faults_next(faults), ERR_UNSUPPORTED, "/display", "%s has no default of its own: it follows the size",
			              dependent[i]);
	(void)spec_complete_all(nothing, defaults, &spec, faults);
	for (size_t i = before; i < faults->n; i++)
		err_prefix(&faults->list[i], "/defaults");
}

/* Links are this, a slash and a fragment. */
static void check_public_url(const char *url, struct faults *faults)
{
	const char *rest = url ? strstr(url, "://") : NULL;

	if (url && (!rest || (strncmp(url, "https://", 8) != 0 && strncmp(url, "http://", 7) != 0) || url[strlen(url) - 1] == '/' ||
	            url[strcspn(url, " \t\"<>#?@\\")] != '\0'))
		refuse(faults, "/public_url", url, "it must be http(s)://HOST, with a port or a path if there is one, and without a slash at its end");
}

static bool is_action(const json_t *actions, const char *name)
{
	const json_t *action;
	size_t i;

	if (strcmp(name, "connect") == 0) /* of the session's programs, not of a caller */
		return true;
	json_array_foreach(actions, i, action)
		if (strcmp(form_string(action, "name", ""), name) == 0)
			return true;
	return false;
}

/* Names of actions in a rule; patterns may be for any. */
static void check_actions(const json_t *rule, size_t at, const json_t *actions, struct faults *faults)
{
	const json_t *name;
	char path[96], shown[80];
	size_t i;

	json_array_foreach(json_object_get(rule, "actions"), i, name) {
		const char *text = json_string_value(name);

		(void)snprintf(path, sizeof(path), "/approval/rules/%zu/actions/%zu", at, i);
		if (!text[strcspn(text, "*?")] && !is_action(actions, text))
			(void)err_set(faults_next(faults), ERR_UNKNOWN_ACTION, path, "no action has the name %s", err_quote(shown, sizeof(shown), text, strlen(text)));
	}
}

static void check_approval(const json_t *approval, struct faults *faults)
{
	const struct asset *asset = assets_find("/v1/actions");
	json_auto_t *document = policy_document(approval), *known = json_loadb(asset->start, (size_t)(asset->end - asset->start), 0, NULL);
	const json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(approval, "rules"), i, rule)
		check_actions(rule, i, json_object_get(known, "actions"), faults);

	policy_check_rules(json_object_get(approval, "rules"), json_object_get(document, "places"), "/approval/rules", faults);
}

static int check_document(struct config *config, struct faults *faults)
{
	size_t before = faults->n;

	if (form_check_all(&config_form, config->document, "", NULL, faults) < 0)
		return -1;
	config->hosts = json_object_get(config->document, "hosts");
	config->defaults = json_object_get(config->document, "defaults");
	config->public_url = form_string(config->document, "public_url", NULL);
	check_public_url(config->public_url, faults);
	config->approval = json_object_get(config->document, "approval");
	check_approval(config->approval, faults);
	check_hosts(config->hosts, faults);
	check_defaults(config->defaults, faults);
	read_keys(config, faults);
	return faults->n > before ? -1 : 0;
}

/* The offset of the descriptor is shared with earlier fronts: it is not used. */
static ssize_t read_all(int fd, char **text, struct err *e)
{
	struct stat st;
	size_t len = 0;
	ssize_t n = 1;

	if (fstat(fd, &st) < 0 || st.st_size > LIMIT_CONFIG_BYTES)
		return err_set(e, ERR_INTERNAL, NULL, "the configuration cannot be read");
	*text = util_zalloc((size_t)st.st_size + 1);
	while (n > 0 && len < (size_t)st.st_size) {
		n = pread(fd, *text + len, (size_t)st.st_size - len, (off_t)len);
		len += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? err_sys(e, "reading the configuration") : (ssize_t)len;
}

static int read_config(int fd, struct config *config, struct faults *faults)
{
	auto_free char *text = NULL;
	struct err e;
	ssize_t len = read_all(fd, &text, &e);
	struct config read = {.document = NULL};
	uint8_t hash[STORE_HASH_BYTES];

	if (len < 0)
		faults_add(faults, &e, "");
	if (len <= 0) {
		*config = len == 0 ? read : *config;
		return (int)len;
	}
	hash_sha256(text, (size_t)len, hash);
	util_hex(read.sha256, hash, sizeof(hash));
	if (json_parse(text, (size_t)len, &read.document, &e) < 0)
		faults_add(faults, &e, "");
	else if (check_document(&read, faults) == 0) {
		*config = read;
		return 0;
	}
	config_finish(&read);
	return -1;
}

int config_read(int fd, struct config *config, struct err *e)
{
	struct faults one = {.list = e, .max = 1};

	return read_config(fd, config, &one);
}

void config_finish(struct config *config)
{
	for (size_t i = 0; i < config->n_keys; i++)
		json_decref(config->keys[i].usual);
	free(config->keys);
	json_decref(config->document);
	*config = (struct config){.document = NULL};
}

const struct config_key *config_find_key(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_keys; i++)
		if (strcmp(config->keys[i].name, name) == 0)
			return &config->keys[i];
	return NULL;
}

json_t *config_describe_key(const struct config_key *key)
{
	json_t *row = key ? json_deep_copy(key->row) : json_null();

	if (key)
		(void)json_object_del(row, "token_sha256");
	return row;
}

char *config_summary(const struct config *config, char *out, size_t size)
{
	size_t n_hosts = json_array_size(config->hosts);

	(void)snprintf(out, size, "%zu key%s, %zu host name%s, %s", config->n_keys, config->n_keys == 1 ? "" : "s", n_hosts,
	               n_hosts == 1 ? "" : "s", json_object_size(config->defaults) ? "defaults" : "no defaults");
	return out;
}

int config_check_only(int fd, const char *name)
{
	struct config config;
	struct err list[LIMIT_FAULTS] = {{0}};
	struct faults faults = {.list = list, .max = ARRAY_LEN(list)};
	char text[96];

	if (read_config(fd, &config, &faults) < 0) {
		/* Faults of JSON have their place in the text. */
		for (size_t i = 0; i < faults.n; i++)
			fprintf(stderr, "%s: %s%s%s\n", name, list[i].path, *list[i].path ? ": " : "", list[i].msg);
		return EXIT_FAILURE;
	}
	printf("%s is in order: %s\n", name, config_summary(&config, text, sizeof(text)));
	config_finish(&config);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
