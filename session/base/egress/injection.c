/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a request may be set by a rule, and what never. */
#include "session/base/egress/injection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "session/base/egress/egress_host.h"
#include "session/base/json.h"
#include "session/base/origin.h"
#include "session/base/util.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define TOKEN_CHARS LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "!#$%&'*+-.^_`|~" /* RFC 9110 part 5.6.2 */
#define ORIGIN_RULE "it is https://host or https://host:port of a name, in lower case and with nothing behind it (or http://, where the value goes out unencrypted)"
#define LOCAL_RULE "localhost, and any name below it, is the session itself: its requests to that never go out, where a secret could be put into them"

/* What says where a request goes, how long it is, and what may be done to it on the way. */
static const char *const NOT_SET[] = {
	"accept-encoding", "connection", "content-encoding", "content-length", "content-range", "expect",  "host",    "if-range", "keep-alive",
	"max-forwards",    "range",      "te",               "trailer",        "transfer-encoding", "upgrade", "via",
};

const char *injection_read_origin(const char *origin, struct injection *out)
{
	bool is_plain = strncmp(origin, "http://", 7) == 0;
	struct egress_host read;
	const char *host;
	size_t len;

	if (!origin_is(origin))
		return ORIGIN_RULE;
	host = origin + (is_plain ? strlen("http://") : strlen("https://"));
	len = strcspn(host, ":");
	egress_host_read(host, len, &read);
	if (read.kind == EGRESS_HOST_LOCAL)
		return LOCAL_RULE;
	/* As it is written: no dot at its end. */
	if (read.kind != EGRESS_HOST_NAME || strlen(read.text) != len)
		return ORIGIN_RULE;
	memcpy(out->host, read.text, len + 1);
	out->is_plain = is_plain;
	out->port = host[len] == ':' ? (uint16_t)strtoul(host + len + 1, NULL, 10) : is_plain ? 80 : 443;
	return NULL;
}

const char *injection_header_fault(const char *name)
{
	if (!*name || strlen(name) >= INJECTION_HEADER_SIZE || name[strspn(name, TOKEN_CHARS)])
		return "it is the name of a header, such as Authorization";
	for (size_t i = 0; i < ARRAY_LEN(NOT_SET); i++)
		if (strcasecmp(name, NOT_SET[i]) == 0)
			return "this header says how a request is sent; none that does can hold a secret";
	return strncasecmp(name, "proxy-", 6) == 0 || strncasecmp(name, "sec-", 4) == 0 ? "no header of proxies or of browsers' own can hold a secret" : NULL;
}

static bool is_printable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

const char *injection_prefix_fault(const char *prefix)
{
	size_t len = strlen(prefix);

	return len < INJECTION_PREFIX_SIZE && is_printable(prefix, len) && *prefix != ' '
	               ? NULL
	               : "it has at most 63 characters of ASCII, the first of them no blank";
}

const char *injection_value_fault(const void *value, size_t len)
{
	const char *text = value;

	if (len < INJECTION_VALUE_MIN_BYTES)
		return "a secret that is put into requests has at least 8 bytes, since answers are looked through for it";
	return is_printable(text, len) && text[0] != ' ' && text[len - 1] != ' '
	               ? NULL
	               : "a secret that is put into requests has no characters but those of ASCII (and no end of a line), no blank first or last";
}

json_t *injection_list(const json_t *rules)
{
	json_t *list = json_array();
	const json_t *rule;
	size_t i;

	json_array_foreach(rules, i, rule) {
		struct injection injection;

		if (injection_read_origin(form_string(rule, "inject", ""), &injection) == NULL)
			(void)json_array_append_new(list, json_pack("{s:s,s:s,s:i,s:b,s:s,s:s}", "secret", form_string(rule, "name", ""), "host", injection.host,
			                                            "port", (int)injection.port, "plain", (int)injection.is_plain, "header",
			                                            form_string(rule, "header", ""), "prefix", form_string(rule, "prefix", "")));
	}
	return list;
}

int injection_read(const json_t *row, const char **secret, struct injection *out, struct err *e)
{
	const char *host = form_string(row, "host", ""), *header = form_string(row, "header", ""), *prefix = form_string(row, "prefix", "");
	json_int_t port = json_integer_value(json_object_get(row, "port"));
	bool is_plain = json_is_true(json_object_get(row, "plain"));
	auto_free char *origin = NULL;

	if (port < 1 || port > 65535 || strlen(host) >= sizeof(out->host) || injection_header_fault(header) || injection_prefix_fault(prefix))
		return err_set(e, ERR_BAD_FIELD, "/inject", "a rule of a secret breaks the form");
	origin = port == (is_plain ? 80 : 443) ? util_printf("%s://%s", is_plain ? "http" : "https", host)
	                                       : util_printf("%s://%s:%d", is_plain ? "http" : "https", host, (int)port);
	if (injection_read_origin(origin, out))
		return err_set(e, ERR_BAD_FIELD, "/inject", "a rule of a secret breaks the form");
	(void)snprintf(out->header, sizeof(out->header), "%s", header);
	(void)snprintf(out->prefix, sizeof(out->prefix), "%s", prefix);
	*secret = form_string(row, "secret", "");
	return 0;
}
