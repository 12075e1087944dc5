/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file as forms, and the rules that rows cannot say. */
#include "sandbox/egress/targets.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/egress/hook.h"
#include "session/base/json.h"
#include "session/base/util.h"

#define KEY_MIN 16
#define PATH_SIZE 64

static const char *const EVENTS[HOOK_N_EVENTS] = {HOOK_EVENTS};

static const struct field target_fields[] = {
	{"url", FIELD_STRING, true, 0, LIMIT_CONFIG_BYTES, NULL, NULL, NULL, NULL, "where events go: https://…, or http://… of this machine"},
	{"key", FIELD_STRING, true, 0, LIMIT_CONFIG_BYTES, NULL, NULL, NULL, NULL, "the secret that signs them"},
	{"events", FIELD_STRINGS, false, 1, HOOK_N_EVENTS, NULL, NULL, NULL, NULL, "those that it gets: lease, approval, session"},
};
static const struct form target_form = {target_fields, ARRAY_LEN(target_fields), NULL};

static const struct field file_fields[] = {
	{"webhooks", FIELD_LIST, true, 1, LIMIT_HOOKS, NULL, &target_form, NULL, NULL, "the receivers"},
	{"allow", FIELD_STRINGS, false, 0, LIMIT_HOOK_ADDRESSES, NULL, NULL, NULL, "[]", "addresses that are not of the Internet and may be reached all the same"},
	{"ca", FIELD_STRING, false, 1, LIMIT_CONFIG_BYTES, NULL, NULL, NULL, NULL, "certificates in PEM, instead of the host's"},
	{"tries", FIELD_INT, false, 1, LIMIT_HOOK_TRIES, NULL, NULL, NULL, "6", "of one delivery"},
};
static const struct form file_form = {file_fields, ARRAY_LEN(file_fields), NULL};

static const char *path_of(char path[PATH_SIZE], size_t at, const char *member)
{
	(void)snprintf(path, PATH_SIZE, "/webhooks/%zu/%s", at, member);
	return path;
}

/* Takes the address apart; NULL, or what is wrong with it, without the address. */
static const char *take_parts(struct target *target, char *scheme, char *host, char *port)
{
	if (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0)
		return "it must begin with https://";
	for (const char *c = host; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == '%')
			return "its host must be a name in ASCII (xn--…) or a numeric address";
	if (strlen(host) >= sizeof(target->host))
		return "its host is too long";
	target->is_plain = strcmp(scheme, "http") == 0;
	/* IPv6 comes in brackets. */
	(void)snprintf(target->host, sizeof(target->host), "%s", *host == '[' ? host + 1 : host);
	if (*host == '[')
		target->host[strcspn(target->host, "]")] = '\0';
	(void)snprintf(target->port, sizeof(target->port), "%s", port);
	return NULL;
}

static const char *split_url(struct target *target, const char *text)
{
	CURLU *url = curl_url();
	char *scheme = NULL, *host = NULL, *port = NULL, *unwanted = NULL;
	const char *fault = NULL;

	if (!url)
		DIE("no memory");
	if (curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK || curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK)
		fault = "it must be an address that begins with https://";
	else if (curl_url_get(url, CURLUPART_USER, &unwanted, 0) == CURLUE_OK || curl_url_get(url, CURLUPART_FRAGMENT, &unwanted, 0) == CURLUE_OK)
		fault = "it must be without a name of a user and without a fragment";
	else
		fault = take_parts(target, scheme, host, port);
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_free(unwanted);
	curl_url_cleanup(url);
	return fault;
}

/* The numeric address that a host is; false for a name. localhost is one wherever it is asked for. */
static bool read_numeric(const char *host, struct sockaddr_storage *out, socklen_t *len)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)out;

	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		*len = sizeof(*v4);
		return true;
	}
	v6->sin6_family = AF_INET6;
	*len = sizeof(*v6);
	return inet_pton(AF_INET6, host, &v6->sin6_addr) == 1;
}

static void check_place(const struct targets *targets, const struct target *target, const char *path, struct faults *faults)
{
	struct sockaddr_storage address;
	socklen_t len;
	bool numeric = read_numeric(target->host, &address, &len);
	const char *refusal = numeric ? address_refusal((struct sockaddr *)&address, len, &targets->allowed) : NULL;

	if (target->is_plain && (!numeric || !address_is_loopback((struct sockaddr *)&address)))
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%s: http is for 127.0.0.1 and [::1] alone; others by https", target->name);
	else if (refusal)
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%s is %s: it must be named in allow", target->name, refusal);
}

static void read_events(struct target *target, const json_t *names, const char *path, struct faults *faults)
{
	const json_t *name;
	char shown[80];
	size_t n, which;

	target->events = names ? 0 : (1U << HOOK_N_EVENTS) - 1;
	json_array_foreach(names, n, name) {
		const char *text = json_string_value(name);

		for (which = 0; which < HOOK_N_EVENTS && strcmp(text, EVENTS[which]) != 0; which++)
			;
		if (which == HOOK_N_EVENTS)
			(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%s is no event; there are: lease approval session",
			              err_quote(shown, sizeof(shown), text, strlen(text)));
		target->events |= 1U << which;
	}
}

static void read_target(struct targets *targets, size_t at, const json_t *row, struct faults *faults)
{
	struct target *target = &targets->list[at];
	char path[PATH_SIZE];
	const char *fault;

	*target = (struct target){.url = form_string(row, "url", ""), .key = form_string(row, "key", "")};
	fault = split_url(target, target->url);
	(void)snprintf(target->name, sizeof(target->name), "webhook %zu (%.90s)", at + 1, target->host);
	if (fault)
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, path_of(path, at, "url"), "%s", fault);
	else
		check_place(targets, target, path_of(path, at, "url"), faults);
	if (strlen(target->key) < KEY_MIN)
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, path_of(path, at, "key"), "it must have at least %d bytes", KEY_MIN);
	read_events(target, json_object_get(row, "events"), path_of(path, at, "events"), faults);
}

static void read_allowed(struct targets *targets, const json_t *texts, struct faults *faults)
{
	const json_t *text;
	char path[PATH_SIZE], shown[80];
	size_t i;

	targets->allowed.list = util_zalloc((json_array_size(texts) + 1) * sizeof(*targets->allowed.list));
	json_array_foreach(texts, i, text) {
		(void)snprintf(path, sizeof(path), "/allow/%zu", i);
		if (address_read_prefix(json_string_value(text), &targets->allowed.list[targets->allowed.n]))
			targets->allowed.n++;
		else
			(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%s is not allowed here: it must be a numeric address, or the first one of a network with its bits (10.0.0.0/8)",
			              err_quote(shown, sizeof(shown), json_string_value(text), json_string_length(text)));
	}
}

static int read_document(struct targets *targets, struct faults *faults)
{
	const json_t *rows, *row;
	size_t before = faults->n, i;

	if (form_check_all(&file_form, targets->document, "", NULL, faults) < 0)
		return -1;
	rows = json_object_get(targets->document, "webhooks");
	targets->list = util_zalloc(json_array_size(rows) * sizeof(*targets->list));
	targets->ca = form_string(targets->document, "ca", NULL);
	targets->tries = (int)form_int(targets->document, "tries", LIMIT_HOOK_TRIES);
	read_allowed(targets, json_object_get(targets->document, "allow"), faults);
	json_array_foreach(rows, i, row) {
		targets->n = i + 1;
		read_target(targets, i, row, faults);
	}
	return faults->n > before ? -1 : 0;
}

/* The offset of the descriptor is shared with those that ran before: it is not used. */
static char *read_text(int fd, size_t *len)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st) < 0 || st.st_size > LIMIT_CONFIG_BYTES)
		return NULL;
	text = util_zalloc((size_t)st.st_size + 1);
	*len = (size_t)st.st_size;
	if (pread(fd, text, *len, 0) == st.st_size)
		return text;
	free(text);
	return NULL;
}

int targets_read(int fd, struct targets *targets, struct faults *faults)
{
	struct targets read = {.document = NULL};
	struct err e = {0};
	size_t len = 0;
	auto_free char *text = read_text(fd, &len);

	if (!text || json_parse(text, len, &read.document, &e) < 0) {
		if (!text)
			(void)err_set(&e, ERR_INTERNAL, NULL, "the file of webhooks cannot be read");
		faults_add(faults, &e, "");
		return -1;
	}
	explicit_bzero(text, len);
	if (read_document(&read, faults) < 0) {
		targets_finish(&read);
		return -1;
	}
	*targets = read;
	return 0;
}

void targets_finish(struct targets *targets)
{
	free(targets->list);
	free(targets->allowed.list);
	json_decref(targets->document);
	*targets = (struct targets){.document = NULL};
}

int targets_check_only(int fd, const char *name)
{
	struct targets targets;
	struct err list[LIMIT_FAULTS] = {{0}};
	struct faults faults = {.list = list, .max = ARRAY_LEN(list)};

	if (targets_read(fd, &targets, &faults) < 0) {
		for (size_t i = 0; i < faults.n; i++)
			fprintf(stderr, "%s: %s%s%s\n", name, list[i].path, *list[i].path ? ": " : "", list[i].msg);
		return EXIT_FAILURE;
	}
	printf("%s is in order: %zu webhook%s\n", name, targets.n, targets.n == 1 ? "" : "s");
	targets_finish(&targets);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
