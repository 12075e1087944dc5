/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values from the warden, rules from the stage, which is not believed: a rule of another form is none. */
#include "sandbox/egress/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/egress/inject_inner.h"
#include "session/base/locked.h"
#include "session/base/util.h"

#define TRUSTED_BYTES (4 * 1024 * 1024)
#define HTTP_PART 206
#define HTTP_DIFFERENCE 226 /* RFC 3229 */

/*
 * Left out of requests, beside the secrets' own: what would have an answer come in pieces, compressed, as a difference or in an alphabet of two bytes, where a value is
 * not found. Request-Range is Range as it was before there was one, which Apache still heeds.
 */
static const char *const DROPPED[] = {"accept-encoding", "accept-charset", "a-im", "range", "request-range", "if-range", "te", "upgrade", "sec-websocket-key", "sec-websocket-version",
                                      "sec-websocket-extensions", "sec-websocket-protocol"};

/* --- files of the session --- */

/* Whole or not at all: others read it at any time. What a process that was killed has left there is written anew. */
static int write_file(const struct inject *inject, const char *name, const char *text, const char *more, struct err *e)
{
	auto_free char *path = util_printf("%s/%s", inject->folder, name), *new = util_printf("%s/%s.new", inject->folder, name);
	auto_fd fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0 || fchmod(fd, 0644) < 0 || util_write_all(fd, text, strlen(text)) < 0 || util_write_all(fd, more, strlen(more)) < 0 ||
	    rename(new, path) < 0)
		return err_sys(e, "writing %s for the session", name);
	return 0;
}

static int write_authority(const struct inject *inject, struct err *e)
{
	auto_free char *pem = ca_pem(inject->ca), *der = ca_base64(inject->ca), *policy = util_printf("{\"CACertificates\": [\"%s\"]}\n", der);

	return write_file(inject, "ca.pem", pem, "", e) < 0 || write_file(inject, "chromium.json", policy, "", e) < 0 ||
	                       write_file(inject, "bundle.pem", inject->trusted, pem, e) < 0
	               ? -1
	               : 0;
}

/* --- life --- */

static int read_trusted(struct inject *inject, const char *path, struct err *e)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || util_read_file(fd, TRUSTED_BYTES, &inject->trusted) < 0)
		return err_sys(e, "reading the certificates that this machine trusts");
	return 0;
}

static void take_ca(struct inject *inject, struct ca *ca)
{
	inject->ca = ca;
	if (ca)
		tls_set_ca(inject->tls, ca);
}

static int begin(struct inject *inject, const char *trusted, struct err *e)
{
	struct ca *ca = NULL;

	inject->tls = tls_create(trusted, e);
	if (!inject->tls || read_trusted(inject, trusted, e) < 0 || (inject->keep >= 0 && ca_load(inject->keep, &ca, e) < 0))
		return -1;
	take_ca(inject, ca);
	return ca ? write_authority(inject, e) : write_file(inject, "bundle.pem", inject->trusted, "", e);
}

struct inject *inject_create(const char *folder, const char *trusted, int keep, struct err *e)
{
	struct inject *inject = util_zalloc(sizeof(*inject));

	inject->folder = util_strdup(folder);
	inject->keep = keep;
	if (begin(inject, trusted, e) == 0)
		return inject;
	inject_destroy(inject);
	return NULL;
}

void inject_destroy(struct inject *inject)
{
	if (!inject)
		return;
	tls_destroy(inject->tls);
	ca_destroy(inject->ca);
	locked_free(inject->memory, sizeof(*inject->memory));
	free(inject->folder);
	free(inject->trusted);
	free(inject);
}

int inject_take(struct inject *inject, const char *name, int taken, struct err *e)
{
	auto_fd fd = taken;
	struct injected *secret = &inject->secrets[inject->n_secrets];
	char *place;
	ssize_t n;

	if (inject->n_secrets == LIMIT_SECRETS || strlen(name) >= SECRET_NAME_SIZE)
		return err_set(e, ERR_INTERNAL, NULL, "a secret of the warden's breaks the form");
	if (!inject->memory)
		inject->memory = locked_alloc(sizeof(*inject->memory));
	place = inject->memory->values[inject->n_secrets];
	n = pread(fd, place, LIMIT_SECRET_BYTES, 0);
	if (n < 0)
		return err_sys(e, "reading a secret");
	if (injection_value_fault(place, (size_t)n))
		return err_set(e, ERR_INTERNAL, NULL, "the secret %s cannot be put into requests", name);
	(void)snprintf(secret->name, sizeof(secret->name), "%s", name);
	secret->value = place;
	secret->len = (size_t)n;
	inject_look_for(inject, secret);
	inject->n_secrets++;
	return 0;
}

/* --- rules --- */

static const struct injected *find(const struct inject *inject, const char *name)
{
	for (size_t i = 0; i < inject->n_secrets; i++)
		if (strcmp(inject->secrets[i].name, name) == 0)
			return &inject->secrets[i];
	return NULL;
}

static int read_rules(struct inject *inject, const json_t *rules, struct err *e)
{
	const json_t *row;
	size_t i;

	if (json_array_size(rules) > LIMIT_SECRETS)
		return err_set(e, ERR_BAD_FIELD, "/inject", "there are more rules than secrets");
	json_array_foreach(rules, i, row) {
		struct inject_rule *rule = &inject->rules[i];
		const char *name;

		if (injection_read(row, &name, &rule->injection, e) < 0)
			return -1;
		rule->secret = find(inject, name);
		if (!rule->secret)
			return err_set(e, ERR_BAD_FIELD, "/inject", "a secret that is to be put into requests did not come");
		rule->text = inject->memory->texts[i];
		(void)snprintf(inject->memory->texts[i], sizeof(inject->memory->texts[i]), "%s%s", rule->injection.prefix, rule->secret->value);
		inject->n_rules = i + 1;
	}
	return 0;
}

/* The hosts whose TLS is taken apart, each once. */
static size_t list_hosts(const struct inject *inject, const char *hosts[LIMIT_SECRETS])
{
	size_t n = 0, k;

	for (size_t i = 0; i < inject->n_rules; i++) {
		const struct injection *injection = &inject->rules[i].injection;

		for (k = 0; k < n && strcmp(hosts[k], injection->host) != 0; k++)
			;
		if (!injection->is_plain && k == n)
			hosts[n++] = injection->host;
	}
	return n;
}

/* It is made once: what trusts it has read it by then. */
static int prepare_ca(struct inject *inject, struct err *e)
{
	const char *hosts[LIMIT_SECRETS];
	size_t n = list_hosts(inject, hosts);

	if (n > 0 && !inject->ca) {
		struct ca *ca = ca_create(hosts, n, e);

		if (!ca)
			return -1;
		take_ca(inject, ca);
		if ((inject->keep >= 0 && ca_save(ca, inject->keep, e) < 0) || write_authority(inject, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (!ca_covers(inject->ca, hosts[i]))
			return err_set(e, ERR_BAD_FIELD, "/inject", "the session's certificate authority is not for %s", hosts[i]);
	return 0;
}

int inject_set(struct inject *inject, const json_t *rules, struct err *e)
{
	inject->n_rules = 0;
	if (read_rules(inject, rules, e) == 0 && prepare_ca(inject, e) == 0)
		return 0;
	inject->n_rules = 0;
	return -1;
}

bool inject_has_ca(const struct inject *inject)
{
	return inject->ca != NULL;
}

struct tls *inject_tls(const struct inject *inject)
{
	return inject->tls;
}

static bool is_of(const struct inject_rule *rule, const struct inject_origin *origin)
{
	return rule->injection.port == origin->port && rule->injection.is_plain == origin->is_plain && strcmp(rule->injection.host, origin->host) == 0;
}

bool inject_is_for(const struct inject *inject, const struct inject_origin *origin)
{
	for (size_t i = 0; i < inject->n_rules; i++)
		if (is_of(&inject->rules[i], origin))
			return true;
	return false;
}

char *inject_names(const struct inject *inject, const struct inject_origin *origin)
{
	char names[LIMIT_SECRETS * (SECRET_NAME_SIZE + 2)] = "";

	for (size_t i = 0; i < inject->n_rules; i++)
		if (is_of(&inject->rules[i], origin))
			err_list(names, sizeof(names), ", ", inject->rules[i].secret->name);
	return util_strdup(names);
}

/* --- requests --- */

const char *inject_method_fault(const char *method)
{
	return strcasecmp(method, "TRACE") == 0 || strcasecmp(method, "TRACK") == 0 || strcasecmp(method, "CONNECT") == 0
	               ? "this method is not for an origin whose requests get a secret"
	               : NULL;
}

static bool is_dropped(const struct inject *inject, const struct inject_origin *origin, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(DROPPED); i++)
		if (head_is_alike(DROPPED[i], name))
			return true;
	for (size_t i = 0; i < inject->n_rules; i++)
		if (is_of(&inject->rules[i], origin) && head_is_alike(inject->rules[i].injection.header, name))
			return true;
	return false;
}

int inject_fields(const struct inject *inject, const struct inject_origin *origin, struct head *request)
{
	size_t n = 0;

	for (size_t i = 0; i < request->n_fields; i++)
		if (!is_dropped(inject, origin, request->fields[i].name))
			request->fields[n++] = request->fields[i];
	request->n_fields = n;
	for (size_t i = 0; i < inject->n_rules; i++)
		if (is_of(&inject->rules[i], origin) && head_set(request, inject->rules[i].injection.header, inject->rules[i].text) < 0)
			return -1;
	return head_set(request, "Accept-Encoding", "identity");
}

const char *inject_status_fault(int status)
{
	return status == HTTP_PART || status == HTTP_DIFFERENCE ? "the answer is a part of one, although that was not asked for, and cannot be looked through" : NULL;
}

const char *inject_answer_fault(const char *name, const char *value)
{
	return strcasecmp(name, "content-encoding") == 0 && *value && strcasecmp(value, "identity") != 0
	               ? "the answer is compressed, although that was not asked for, and cannot be looked through"
	               : NULL;
}
