/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries are read into rules; a check is reading without keeping. */
#include "session/base/egress/egress_rule.h"

#include <stdio.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define SHOWN_SIZE 80
#define METHOD_MAX_BYTES 32

static const struct field entry_fields[] = {
	{"host", FIELD_STRING, true, 1, EGRESS_HOST_SIZE, NULL, NULL, NULL, NULL, "a name, an address, or *.SUFFIX for all names below a suffix"},
	{"ports", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, "[80,443]", "a list of 1..16 ports"},
	{"methods", FIELD_STRINGS, false, 1, LIMIT_EGRESS_METHODS, NULL, NULL, NULL, NULL, "those of plain or intercepted HTTP that may be used; absent: all"},
	{"paths", FIELD_STRINGS, false, 1, LIMIT_EGRESS_PATHS, NULL, NULL, NULL, NULL, "paths of plain or intercepted HTTP, each with what is below it; absent: all"},
};
const struct form egress_entry_form = {entry_fields, ARRAY_LEN(entry_fields), "an entry with methods or paths opens no tunnel"};

struct rule {
	char *text;               /* as it was written */
	struct egress_host host;  /* of a wildcard, what is behind "*." */
	size_t host_len;
	bool is_wildcard;
	uint16_t ports[LIMIT_EGRESS_PORTS];
	size_t n_ports;
	json_t *methods, *paths;  /* NULL: all */
};

struct egress_rules {
	size_t n;
	struct rule list[];
};

static void rule_finish(struct rule *rule)
{
	free(rule->text);
	json_decref(rule->methods);
	json_decref(rule->paths);
}

/* --- reading --- */

static int refuse(struct err *e, const char *path, const char *text, size_t len, const char *rule)
{
	char shown[SHOWN_SIZE];

	return err_set(e, ERR_BAD_FIELD, path, "%s: %s", err_quote(shown, sizeof(shown), text, len), rule);
}

/* What is wrong with a host that may not be in a list; the most frequent mistakes by their names. */
static const char *fault_of_host(const char *text, size_t len, const struct egress_host *host)
{
	if (host->kind == EGRESS_HOST_ODD)
		return "an address must be in its usual spelling: 192.0.2.1, [2001:db8::1]";
	if (host->kind == EGRESS_HOST_LOCAL)
		return "the session's own loopback is not reached through the way out";
	if (len == 1 && *text == '*')
		return "everything is mode open, not an entry";
	if (memmem(text, len, "://", 3) || memchr(text, '/', len))
		return "it must be a host, without scheme and path";
	if (memchr(text, '@', len))
		return "it must be a host, without a user";
	if (memchr(text, ':', len))
		return "IPv6 is written in brackets";
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return "names of other alphabets must be given as A-labels (xn--…)";
	return "it must be a host: a name of letters, digits and \"-\" between dots, an address, or *.SUFFIX";
}

/* The first `len` bytes of an entry of `shown` bytes. */
static int read_host(struct rule *rule, const char *text, size_t len, size_t shown, const char *path, struct err *e)
{
	bool is_wildcard = len > 2 && text[0] == '*' && text[1] == '.';

	egress_host_read(text + (is_wildcard ? 2 : 0), len - (is_wildcard ? 2 : 0), &rule->host);
	if (rule->host.kind > EGRESS_HOST_V6)
		return refuse(e, path, text, shown, fault_of_host(text, len, &rule->host));
	if (is_wildcard && rule->host.kind != EGRESS_HOST_NAME)
		return refuse(e, path, text, shown, "an address has nothing below it");
	if (is_wildcard && !strchr(rule->host.text, '.'))
		return refuse(e, path, text, shown, "a suffix must have two labels or more (*.example.org)");
	rule->is_wildcard = is_wildcard;
	rule->host_len = strlen(rule->host.text);
	return 0;
}

/* HOST or HOST:PORT; a colon in brackets is the address's own. */
static int read_text(struct rule *rule, const json_t *entry, const char *path, struct err *e)
{
	const char *text = json_string_value(entry), *colon;
	size_t len = json_string_length(entry), host_len = len;

	colon = memrchr(text, ':', len);
	if (colon && !memchr(colon, ']', len - (size_t)(colon - text)) && !memmem(text, len, "://", 3)) {
		host_len = (size_t)(colon - text);
		rule->ports[0] = egress_port_read(colon + 1, len - host_len - 1);
		rule->n_ports = 1;
		if (rule->ports[0] == 0)
			return refuse(e, path, text, len, "behind \":\" must be a port, 1 to 65535");
	}
	if (read_host(rule, text, host_len, len, path, e) < 0)
		return -1;
	rule->text = util_strdup(text);
	return 0;
}

static int read_ports(struct rule *rule, const json_t *ports, const char *path, struct err *e)
{
	const json_t *port;
	size_t i;

	if (!ports)
		return 0;
	if (!json_is_array(ports) || json_array_size(ports) < 1 || json_array_size(ports) > LIMIT_EGRESS_PORTS)
		return err_set(e, ERR_BAD_FIELD, path, "ports must be a list of 1 to %d ports", LIMIT_EGRESS_PORTS);
	json_array_foreach(ports, i, port) {
		json_int_t value = json_is_integer(port) ? json_integer_value(port) : 0;

		if (value < 1 || value > UINT16_MAX)
			return err_set(e, ERR_BAD_FIELD, path, "entry %zu is no port, 1 to 65535", i);
		rule->ports[i] = (uint16_t)value;
	}
	rule->n_ports = json_array_size(ports);
	return 0;
}

static bool is_method(const char *text)
{
	size_t len = strlen(text);

	return len >= 1 && len <= METHOD_MAX_BYTES && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == len && strcmp(text, "CONNECT") != 0 && strcmp(text, "TRACE") != 0;
}

static int read_list(const json_t *list, bool (*is)(const char *text), const char *rule, const char *path, json_t **out, struct err *e)
{
	const json_t *text;
	size_t i;

	json_array_foreach(list, i, text)
		if (!is(json_string_value(text)))
			return refuse(e, path, json_string_value(text), json_string_length(text), rule);
	*out = list ? json_deep_copy(list) : NULL;
	return 0;
}

/* "host", with its ports when they were named. */
static char *text_of(const struct rule *rule, const char *host)
{
	char *text = util_strdup(host);

	for (size_t i = 0; i < rule->n_ports; i++) {
		auto_free char *before = text;

		text = util_printf("%s%c%u", before, i == 0 ? ':' : ',', rule->ports[i]);
	}
	return text;
}

/* The path of a member of the object at `path`. */
static const char *at(char out[ERR_PATH_MAX], const char *path, const char *member)
{
	(void)snprintf(out, ERR_PATH_MAX, "%s/%s", path, member);
	return out;
}

static int read_object(struct rule *rule, const json_t *entry, const char *path, struct err *e)
{
	const char *text = json_string_value(json_object_get(entry, "host")), *colon;
	char place[ERR_PATH_MAX];
	size_t len;

	if (form_check(&egress_entry_form, entry, path, NULL, e) < 0)
		return -1;
	len = strlen(text);
	colon = strchr(text, ':');
	if (colon && !strchr(colon + 1, ':') && colon[1] >= '0' && colon[1] <= '9')
		return refuse(e, at(place, path, "host"), text, len, "its ports stand in \"ports\", a list");
	/* Without its brackets IPv6 is clear here, too. */
	if (colon && strchr(colon + 1, ':') && text[0] != '[') {
		auto_free char *bracketed = util_printf("[%s]", text);

		if (read_host(rule, bracketed, len + 2, len + 2, at(place, path, "host"), e) < 0)
			return -1;
	} else if (read_host(rule, text, len, len, at(place, path, "host"), e) < 0) {
		return -1;
	}
	if (read_ports(rule, json_object_get(entry, "ports"), at(place, path, "ports"), e) < 0 ||
	    read_list(json_object_get(entry, "methods"), is_method, "it must be a method in capitals, and neither CONNECT nor TRACE",
	              at(place, path, "methods"), &rule->methods, e) < 0 ||
	    read_list(json_object_get(entry, "paths"), egress_path_is_plain, "it must begin with \"/\", without \"..\", \"//\" and escapes of them",
	              at(place, path, "paths"), &rule->paths, e) < 0)
		return -1;
	rule->text = text_of(rule, text);
	return 0;
}

static int read_entry(struct rule *rule, const json_t *entry, const char *path, struct err *e)
{
	int rc;

	*rule = (struct rule){.n_ports = 0};
	if (json_is_string(entry))
		rc = read_text(rule, entry, path, e);
	else if (json_is_object(entry))
		rc = read_object(rule, entry, path, e);
	else
		rc = err_set(e, ERR_BAD_FIELD, path, "it must be a host, or an object with one");
	if (rc < 0) {
		rule_finish(rule);
		return -1;
	}
	if (rule->n_ports == 0) {
		rule->ports[0] = 80;
		rule->ports[1] = 443;
		rule->n_ports = 2;
	}
	return 0;
}

int egress_rules_check(const json_t *allow, const char *path, struct faults *faults)
{
	char place[ERR_PATH_MAX];
	const json_t *entry;
	int rc = 0;
	size_t i;

	if (allow && (!json_is_array(allow) || json_array_size(allow) > LIMIT_EGRESS_ENTRIES))
		return err_set(faults_next(faults), ERR_BAD_FIELD, path, "it must be a list of at most %d entries", LIMIT_EGRESS_ENTRIES);
	json_array_foreach(allow, i, entry) {
		struct rule rule;
		struct err e;

		(void)snprintf(place, sizeof(place), "%s/%zu", path, i);
		if (read_entry(&rule, entry, place, &e) == 0) {
			rule_finish(&rule);
			continue;
		}
		faults_add(faults, &e, "");
		rc = -1;
		if (faults_full(faults))
			break;
	}
	return rc;
}

int egress_rules_create(const json_t *allow, struct egress_rules **out, struct err *e)
{
	struct egress_rules *rules;
	char place[ERR_PATH_MAX];
	const json_t *entry;
	size_t i;

	if (allow && (!json_is_array(allow) || json_array_size(allow) > LIMIT_EGRESS_ENTRIES))
		return err_set(e, ERR_BAD_FIELD, "/allow", "it must be a list of at most %d entries", LIMIT_EGRESS_ENTRIES);
	rules = util_zalloc(sizeof(*rules) + json_array_size(allow) * sizeof(rules->list[0]));
	json_array_foreach(allow, i, entry) {
		(void)snprintf(place, sizeof(place), "/allow/%zu", i);
		if (read_entry(&rules->list[i], entry, place, e) < 0) {
			egress_rules_destroy(rules);
			return -1;
		}
		rules->n++;
	}
	*out = rules;
	return 0;
}

void egress_rules_destroy(struct egress_rules *rules)
{
	for (size_t i = 0; rules && i < rules->n; i++)
		rule_finish(&rules->list[i]);
	free(rules);
}

/* --- judging --- */

/* How far an entry goes towards what is wanted: the one that goes farthest says what is missing. */
enum step { STEP_HOST, STEP_PORT, STEP_TUNNEL, STEP_METHOD, STEP_PATH, STEP_OTHER, STEP_ALL };

static const char *const MISSING[] = {
	[STEP_HOST] = "no entry of the allow list names this host",
	[STEP_PORT] = "the entry for this host is for other ports",
	[STEP_TUNNEL] = "the entry for this host is for certain methods or paths, which cannot be seen in a tunnel",
	[STEP_METHOD] = "the entry for this host is for other methods",
	[STEP_PATH] = "the entry for this host is for other paths",
	[STEP_OTHER] = "the entry for this host is for certain methods or paths, and a header field of the request names another one",
};

static bool is_for_host(const struct rule *rule, const struct egress_host *host, size_t len)
{
	size_t behind;

	if (rule->host.kind != host->kind)
		return false;
	if (!rule->is_wildcard)
		return rule->host_len == len && memcmp(rule->host.text, host->text, len) == 0;
	if (len <= rule->host_len + 1)
		return false;
	behind = len - rule->host_len;
	return host->text[behind - 1] == '.' && memcmp(rule->host.text, host->text + behind, rule->host_len) == 0;
}

static bool is_for_port(const struct rule *rule, uint16_t port)
{
	for (size_t i = 0; i < rule->n_ports; i++)
		if (rule->ports[i] == port)
			return true;
	return false;
}

static bool has_method(const json_t *methods, const char *method)
{
	const json_t *text;
	size_t i;

	json_array_foreach(methods, i, text)
		if (strcmp(json_string_value(text), method) == 0)
			return true;
	return methods == NULL;
}

/* "/a" is for /a and /a/b, not for /ab; "/a/" for what is in it. */
static bool is_below(const char *path, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(path, prefix, len) == 0 && (prefix[len - 1] == '/' || path[len] == '\0' || path[len] == '/');
}

static bool has_path(const json_t *paths, const char *path)
{
	const json_t *text;
	size_t i;

	if (!paths)
		return true;
	if (!egress_path_is_plain(path))
		return false;
	json_array_foreach(paths, i, text)
		if (is_below(path, json_string_value(text)))
			return true;
	return false;
}

static enum step go(const struct rule *rule, const struct egress_want *want, size_t host_len)
{
	if (!is_for_host(rule, want->host, host_len))
		return STEP_HOST;
	if (!is_for_port(rule, want->port))
		return STEP_PORT;
	if (!want->method)
		return want->is_read || (!rule->methods && !rule->paths) ? STEP_ALL : STEP_TUNNEL;
	if (!has_method(rule->methods, want->method))
		return STEP_METHOD;
	if (!has_path(rule->paths, want->path))
		return STEP_PATH;
	return want->says_other && (rule->methods || rule->paths) ? STEP_OTHER : STEP_ALL;
}

const char *egress_rules_find(const struct egress_rules *rules, const struct egress_want *want, const char **why)
{
	size_t host_len = strlen(want->host->text);
	enum step farthest = STEP_HOST;

	for (size_t i = 0; i < rules->n && want->host->kind <= EGRESS_HOST_V6; i++) {
		enum step step = go(&rules->list[i], want, host_len);

		if (step == STEP_ALL)
			return rules->list[i].text;
		if (step > farthest)
			farthest = step;
	}
	*why = MISSING[farthest];
	return NULL;
}

bool egress_rules_names(const struct egress_rules *rules, const char *host, uint16_t port)
{
	struct egress_host read;
	const struct egress_want want = {.host = &read, .port = port, .is_read = true};
	const char *why;

	egress_host_read(host, strlen(host), &read);
	return egress_rules_find(rules, &want, &why) != NULL;
}

/* --- paths --- */

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_plain_escape(const char *at_percent)
{
	/* c0 and c1 begin what was a dot or a slash to decoders of old. */
	static const char *const tricks[] = {"2e", "2f", "5c", "25", "3b", "00", "c0", "c1"};

	if (!is_hex(at_percent[1]) || !is_hex(at_percent[2]))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(tricks); i++)
		if (strncasecmp(at_percent + 1, tricks[i], 2) == 0)
			return false;
	/* The same in three and four bytes: in UTF-8 these never stand together. */
	return strncasecmp(at_percent, "%e0%8", 5) != 0 && strncasecmp(at_percent, "%e0%9", 5) != 0 && strncasecmp(at_percent, "%f0%8", 5) != 0;
}

/* Behind ";" are parameters of a segment, which some servers take off. */
static bool is_plain_segment(const char *segment, size_t len, bool is_last)
{
	size_t name = 0;

	while (name < len && segment[name] != ';')
		name++;
	if (name == 0)
		return len == 0 && is_last;
	return !(segment[0] == '.' && (name == 1 || (name == 2 && segment[1] == '.')));
}

bool egress_path_is_plain(const char *path)
{
	if (*path != '/')
		return false;
	for (const char *c = path; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == '\\' || *c == '?' || *c == '#' || (*c == '%' && !is_plain_escape(c)))
			return false;
	while (*path) {
		size_t len = strcspn(++path, "/");

		if (!is_plain_segment(path, len, path[len] == '\0'))
			return false;
		path += len;
	}
	return true;
}
