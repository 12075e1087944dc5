/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Header fields: which may stand once, which bytes they may have, and what frames the body. */
#include "session/front/head.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "session/base/util.h"

#define SHOWN_MAX 80
#define PARAM MCP_PARAM_FIELD
#define HOST_SIZE 256 /* of a name, with its NUL */

/* Fields that may stand once. */
struct single {
	const char *name;
	size_t place;
};

static const struct single singles[] = {
	{"Host", offsetof(struct head, host)},
	{"Origin", offsetof(struct head, origin)},
	{"Authorization", offsetof(struct head, authorization)},
	{"Content-Type", offsetof(struct head, content_type)},
	{"Content-Length", offsetof(struct head, content_length)},
	{"Transfer-Encoding", offsetof(struct head, transfer_encoding)},
	{"Idempotency-Key", offsetof(struct head, idempotency_key)},
	{"Last-Event-ID", offsetof(struct head, last_event_id)},
	{"If-None-Match", offsetof(struct head, if_none_match)},
	{"If-Match", offsetof(struct head, if_match)},
	{"Content-Encoding", offsetof(struct head, content_encoding)},
	{"Content-Range", offsetof(struct head, content_range)},
	{"Range", offsetof(struct head, range)},
	{"If-Range", offsetof(struct head, if_range)},
	{"Expect", offsetof(struct head, expect)},
	{"Upgrade", offsetof(struct head, upgrade)},
	{"Sec-WebSocket-Key", offsetof(struct head, websocket_key)},
	{"Sec-WebSocket-Version", offsetof(struct head, websocket_version)},
	{"Sec-WebSocket-Protocol", offsetof(struct head, websocket_protocol)},
	{"MCP-Protocol-Version", offsetof(struct head, mcp.version)},
	{"Mcp-Method", offsetof(struct head, mcp.method)},
	{"Mcp-Name", offsetof(struct head, mcp.name)},
	{"Mcp-Session-Id", offsetof(struct head, mcp.session)},
};

static bool is_token_char(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_token_char(text[i]))
			return false;
	return len > 0;
}

static bool is_value(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
			return false;
	return true;
}

/* Mcp-Param-NAME: what an argument of a tool says, again. Each of them may stand once. */
static int add_param(struct mcp_head *mcp, const char *name, const char *value, struct err *e)
{
	for (size_t i = 0; i < mcp->n_params; i++)
		if (strcasecmp(mcp->params[i].name, name) == 0)
			return err_set(e, ERR_BAD_REQUEST, NULL, "the header " PARAM "%.40s is given twice; it may stand once", name);
	if (mcp->n_params == LIMIT_MCP_PARAMS)
		return err_set(e, ERR_BAD_REQUEST, NULL, "there are more than %d headers " PARAM "…", LIMIT_MCP_PARAMS);
	mcp->params[mcp->n_params++] = (struct mcp_param){name, value};
	return 0;
}

bool head_list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list && *list) {
		list += strspn(list, " \t,");
		size_t n = strcspn(list, " \t,");

		if (n == len && strncasecmp(list, word, len) == 0)
			return true;
		list += n;
	}
	return false;
}

int head_add(struct head *head, const char *name, size_t name_len, const char *value, size_t value_len, struct err *e)
{
	char shown[SHOWN_MAX];

	if (!is_token(name, name_len))
		return err_set(e, ERR_BAD_REQUEST, NULL, "the header name %s is refused: it must be a token",
		               err_quote(shown, sizeof(shown), name, name_len));
	if (!is_value(value, value_len))
		return err_set(e, ERR_BAD_REQUEST, NULL, "the value of the header %.40s has a control character", name);
	for (size_t i = 0; i < ARRAY_LEN(singles); i++) {
		const char **place = (const char **)(void *)((char *)head + singles[i].place);

		if (strcasecmp(singles[i].name, name) != 0)
			continue;
		if (*place)
			return err_set(e, ERR_BAD_REQUEST, NULL, "the header %s is given twice; it may stand once", singles[i].name);
		*place = value;
	}
	if (strcasecmp(name, "Connection") == 0 && head_list_has(value, "upgrade"))
		head->connection_upgrade = true;
	if (strcasecmp(name, "Accept") == 0)
		accept_add(&head->accept, value);
	return strncasecmp(name, PARAM, strlen(PARAM)) == 0 ? add_param(&head->mcp, name + strlen(PARAM), value, e) : 0;
}

static int read_length(struct head *head, struct err *e)
{
	char shown[SHOWN_MAX];
	const char *text = head->content_length;
	uint64_t length = 0;

	for (const char *at = text; *at; at++)
		if (!isdigit((unsigned char)*at) || __builtin_mul_overflow(length, 10, &length) ||
		    __builtin_add_overflow(length, (uint64_t)(*at - '0'), &length))
			return err_set(e, ERR_BAD_REQUEST, NULL, "Content-Length %s is refused: it must be a number of bytes",
			               err_quote(shown, sizeof(shown), text, strlen(text)));
	if (!*text)
		return err_set(e, ERR_BAD_REQUEST, NULL, "Content-Length is empty; it must be a number of bytes");
	head->length = length;
	return 0;
}

int head_finish(struct head *head, struct err *e)
{
	char shown[SHOWN_MAX];
	const char *coding = head->transfer_encoding;

	if (coding && head->content_length)
		return err_set(e, ERR_BAD_REQUEST, NULL, "Content-Length and Transfer-Encoding are given together; send one of them");
	if (coding && strcasecmp(coding, "chunked") != 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "Transfer-Encoding %s is refused: only \"chunked\" is known",
		               err_quote(shown, sizeof(shown), coding, strlen(coding)));
	if (head->content_length && read_length(head, e) < 0)
		return -1;
	head->chunked = coding;
	head->has_body = coding || head->length > 0;
	return 0;
}

const char *head_bearer(const struct head *head)
{
	const char *text = head->authorization;

	if (!text || strncasecmp(text, "Bearer ", 7) != 0)
		return NULL;
	text += strspn(text + 6, " ") + 6;
	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("-._~+/=", *at))
			return NULL;
	return *text ? text : NULL;
}

/* The text of a quoted string of structured fields (RFC 9651), which ends the value. NULL when it is none. */
static const char *unquote(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (text++; *text && *text != '"'; text++) {
		if (*text == '\\' && *++text != '"' && *text != '\\')
			return NULL;
		if (n + 1 < size)
			out[n++] = *text;
		else
			return NULL;
	}
	out[n] = '\0';
	return text[0] == '"' && text[1 + strspn(text + 1, " \t")] == '\0' ? out : NULL;
}

int head_key(const struct head *head, char out[LIMIT_KEY_CHARS + 1], struct err *e)
{
	char read[LIMIT_KEY_CHARS + 2], shown[SHOWN_MAX];
	const char *text = head->idempotency_key;

	out[0] = '\0';
	if (!text)
		return 0;
	if (text[0] == '"')
		text = unquote(text, read, sizeof(read));
	for (const char *at = text; at && *at; at++)
		if (*at < ' ' || *at > '~' || at - text >= LIMIT_KEY_CHARS)
			text = NULL;
	if (!text || !*text)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the Idempotency-Key %s is refused: it must be 1 to %d printable ASCII characters",
		               err_quote(shown, sizeof(shown), head->idempotency_key, strlen(head->idempotency_key)), LIMIT_KEY_CHARS);
	memcpy(out, text, strlen(text) + 1);
	return 0;
}

/* Skips blanks, then `word` in any case; NULL when it is not there. */
static const char *skip_word(const char *text, const char *word)
{
	text += strspn(text, " \t");
	return strncasecmp(text, word, strlen(word)) == 0 ? text + strlen(word) : NULL;
}

bool head_is_json(const struct head *head)
{
	const char *at = head->content_type ? skip_word(head->content_type, "application/json") : NULL;

	if (!at)
		return false;
	at += strspn(at, " \t");
	if (*at == ';') {
		at = skip_word(at + 1, "charset=");
		if (!at)
			return false;
		at = skip_word(at, *at == '"' ? "\"utf-8\"" : "utf-8");
	}
	return at && at[strspn(at, " \t")] == '\0';
}

static bool is_type(const struct head *head, const char *type)
{
	const char *at = head->content_type ? skip_word(head->content_type, type) : NULL;

	return at && at[strspn(at, " \t")] == '\0';
}

bool head_is_bytes(const struct head *head)
{
	return is_type(head, "application/octet-stream");
}

bool head_is_tar(const struct head *head)
{
	return is_type(head, "application/x-tar");
}
