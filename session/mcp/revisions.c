/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Revisions as a table, and what each request must say. */
#include "session/mcp/revisions.h"

#include <string.h>

#include "session/base/base64.h"
#include "session/base/util.h"

#define SHOWN_MAX 80

const struct revision revisions[] = {
	{.name = "2026-07-28", .modern = true, .urls = true, .structured = true},
	{.name = "2025-11-25", .urls = true, .structured = true},
	{.name = "2025-06-18", .structured = true},
	{.name = "2025-03-26", .batches = true},
};
const size_t revisions_n = ARRAY_LEN(revisions);

const struct revision *revision_find(const char *name)
{
	for (size_t i = 0; name && i < revisions_n; i++)
		if (strcmp(revisions[i].name, name) == 0)
			return &revisions[i];
	return NULL;
}

const struct revision *revision_newest_legacy(void)
{
	size_t i = 0;

	while (revisions[i].modern)
		i++;
	return &revisions[i];
}

const struct revision *revision_assumed(void)
{
	return &revisions[revisions_n - 1];
}

json_t *revisions_list(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < revisions_n; i++)
		(void)json_array_append_new(list, json_string(revisions[i].name));
	return list;
}

static const char *quoted(char out[SHOWN_MAX], const char *text)
{
	return err_quote(out, SHOWN_MAX, text, strlen(text));
}

static int refuse_version(const char *asked, struct mcp_error *e)
{
	char shown[SHOWN_MAX];
	size_t len = util_utf8_prefix(asked, strlen(asked));

	return mcp_refuse(e, MCP_VERSION, true,
	                  json_pack("{s:o,s:o}", "supported", revisions_list(), "requested", json_stringn(asked, len < SHOWN_MAX ? len : 0)),
	                  "the protocol version %s is not spoken here", quoted(shown, asked));
}

/* The bytes between the marks, decoded; NULL when they are no base64 with all its padding, or no text. */
static char *decode(const char *start, size_t len)
{
	size_t n, back;
	auto_free char *bytes = base64_decode(start, len, &n);
	auto_free char *again = bytes ? base64_encode(bytes, n, &back) : NULL;
	char *text;

	if (!again || back != len || memcmp(again, start, len) != 0 || memchr(bytes, '\0', n) || !util_utf8_valid(bytes, n))
		return NULL;
	text = util_alloc(n + 1);
	memcpy(text, bytes, n);
	text[n] = '\0';
	return text;
}

int revision_check_header(const char *field, const char *value, const char *expected, struct mcp_error *e)
{
	static const char before[] = MCP_BASE64_BEFORE, after[] = MCP_BASE64_AFTER;
	const size_t n_before = sizeof(before) - 1, n_after = sizeof(after) - 1;
	const char *start = value ? value + strspn(value, " \t") : NULL;
	size_t len = start ? strlen(start) : 0;
	auto_free char *decoded = NULL;
	char shown[SHOWN_MAX];

	if (!start)
		return mcp_refuse(e, MCP_HEADER, true, NULL, "the header %s is missing", field);
	while (len > 0 && (start[len - 1] == ' ' || start[len - 1] == '\t'))
		len--;
	if (len >= n_before + n_after && memcmp(start, before, n_before) == 0 && memcmp(start + len - n_after, after, n_after) == 0) {
		decoded = decode(start + n_before, len - n_before - n_after);
		if (!decoded)
			return mcp_refuse(e, MCP_HEADER, true, NULL, "the header %s is not base64 of text", field);
		start = decoded;
		len = strlen(decoded);
	}
	if (strlen(expected) == len && memcmp(start, expected, len) == 0)
		return 0;
	return mcp_refuse(e, MCP_HEADER, true, NULL, "the header %s does not say what the body says, which is %s", field,
	                  quoted(shown, expected));
}

static const json_t *meta_of(const struct envelope *envelope)
{
	return json_object_get(envelope->params, "_meta");
}

/* Does the request say so itself? initialize goes by its body alone: a client may send any header with it. */
static bool is_modern(const struct envelope *envelope, const struct mcp_head *head)
{
	const struct revision *named = revision_find(head->version);

	if (json_object_get(meta_of(envelope), MCP_META_VERSION))
		return true;
	if (envelope->method && strcmp(envelope->method, "initialize") == 0)
		return false;
	return (named && named->modern) || (envelope->method && strcmp(envelope->method, "server/discover") == 0);
}

/* Mcp-Method, and Mcp-Name where the method has one. */
static int check_headers(const struct envelope *envelope, const struct mcp_head *head, struct mcp_error *e)
{
	const char *member = mcp_name_member(envelope->method);
	const char *name = member ? json_string_value(json_object_get(envelope->params, member)) : NULL;

	if (revision_check_header("Mcp-Method", head->method, envelope->method, e) < 0)
		return -1;
	return name ? revision_check_header("Mcp-Name", head->name, name, e) : 0;
}

static int check_modern(const struct envelope *envelope, const struct mcp_head *head, const struct revision **out, struct mcp_error *e)
{
	const json_t *meta = meta_of(envelope), *version = json_object_get(meta, MCP_META_VERSION);
	const struct revision *found = revision_find(json_string_value(version));

	if (!json_is_string(version))
		return mcp_refuse(e, MCP_NO_META, true, NULL, "params._meta needs %s, a string", MCP_META_VERSION);
	if (!json_is_object(json_object_get(meta, MCP_META_CAPABILITIES)))
		return mcp_refuse(e, MCP_NO_META, true, NULL, "params._meta needs %s, an object", MCP_META_CAPABILITIES);
	if (revision_check_header("MCP-Protocol-Version", head->version, json_string_value(version), e) < 0)
		return -1;
	if (!found || !found->modern)
		return refuse_version(json_string_value(version), e);
	*out = found;
	return check_headers(envelope, head, e);
}

static int check_legacy(const struct mcp_head *head, const struct revision *of_session, const struct revision **out, struct mcp_error *e)
{
	const struct revision *found = revision_find(head->version);

	if (head->version && !found)
		return refuse_version(head->version, e);
	*out = found ? found : of_session ? of_session : revision_assumed();
	return 0;
}

int revision_of(const struct envelope *envelope, const struct mcp_head *head, const struct revision *of_session,
                const struct revision **out, struct mcp_error *e)
{
	const struct revision *named = revision_find(head->version);

	/* A notification and a response say little of themselves, and nobody answers them. */
	if (envelope->kind != ENVELOPE_REQUEST && named && named->modern) {
		*out = named;
		return 0;
	}
	if (envelope->kind == ENVELOPE_REQUEST && is_modern(envelope, head))
		return check_modern(envelope, head, out, e);
	if (envelope->method && strcmp(envelope->method, "initialize") == 0) {
		*out = revision_newest_legacy();
		return 0;
	}
	return check_legacy(head, of_session, out, e);
}

int revision_of_batch(const struct mcp_head *head, const struct revision *of_session, const struct revision **out, struct mcp_error *e)
{
	if (check_legacy(head, of_session, out, e) < 0)
		return -1;
	if (!(*out)->batches)
		return mcp_refuse(e, MCP_INVALID, (*out)->modern, NULL, "the revision %s takes one message in a body", (*out)->name);
	return 0;
}
