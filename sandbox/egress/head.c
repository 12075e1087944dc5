/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that end in CR LF, cut in place. */
#include "sandbox/egress/head.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "session/base/locked.h"
#include "session/base/util.h"

#define TEXT_STEP 8192
#define METHOD_MAX_BYTES 32

ssize_t head_length(const char *data, size_t len)
{
	size_t line = 0;

	for (size_t i = 0; i < len && i < LIMIT_HEAD_BYTES; i++) {
		if (data[i] == '\0' || (data[i] == '\n' && (i == 0 || data[i - 1] != '\r')) || (i > 0 && data[i - 1] == '\r' && data[i] != '\n'))
			return -1;
		if (data[i] != '\n')
			continue;
		if (i + 1 - line == 2)
			return line == 0 ? -1 : (ssize_t)(i + 1);
		line = i + 1;
	}
	return len >= LIMIT_HEAD_BYTES ? -1 : 0;
}

static bool is_token(const char *text)
{
	static const char allowed[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return *text && text[strspn(text, allowed)] == '\0';
}

/* Cuts the first line off: it is terminated, and the text goes on behind it. NULL when the line is empty, the last one. */
static char *take_line(char **text)
{
	char *line = *text, *end = strstr(line, "\r\n");

	if (!end || end == line)
		return NULL;
	*end = '\0';
	*text = end + 2;
	return line;
}

/* Without space and tabs at its ends. */
static char *trim(char *value)
{
	size_t len;

	value += strspn(value, " \t");
	len = strlen(value);
	while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		len--;
	value[len] = '\0';
	return value;
}

static bool is_value(const char *value)
{
	for (; *value; value++)
		if (((unsigned char)*value < ' ' && *value != '\t') || *value == 0x7F)
			return false;
	return true;
}

static const char *read_fields(char *text, struct head *head)
{
	char *line, *colon;

	while ((line = take_line(&text))) {
		if (*line == ' ' || *line == '\t')
			return "a header field goes on in a second line";
		colon = strchr(line, ':');
		if (!colon)
			return "a header field has no colon";
		*colon = '\0';
		if (!is_token(line))
			return "the name of a header field has a character, or a space before its colon, that none has";
		if (!is_value(colon + 1))
			return "a header field has a control character";
		if (head->n_fields == LIMIT_EGRESS_FIELDS)
			return "it has too many header fields";
		head->fields[head->n_fields++] = (struct head_field){line, trim(colon + 1)};
	}
	return NULL;
}

/* "HTTP/1.0" or "HTTP/1.1"; -1 for anything else. */
static int read_version(const char *text)
{
	if (strncmp(text, "HTTP/1.", 7) != 0 || (text[7] != '0' && text[7] != '1') || text[8] != '\0')
		return -1;
	return text[7] - '0';
}

/* `len` bytes end in an empty line: the last byte can hold the NUL. */
static bool terminate(char *text, size_t len)
{
	if (len < 4 || memcmp(text + len - 4, "\r\n\r\n", 4) != 0 || memchr(text, '\0', len))
		return false;
	text[len - 1] = '\0';
	text[len - 2] = '\0';
	return true;
}

const char *head_read_request(char *text, size_t len, struct head *out)
{
	char *line, *target, *version;

	*out = (struct head){.n_fields = 0};
	if (!terminate(text, len) || !(line = take_line(&text)))
		return "it is no request of HTTP";
	target = strchr(line, ' ');
	version = target ? strchr(target + 1, ' ') : NULL;
	if (!version)
		return "its first line is not a method, a target and a version with one space between them";
	*target++ = '\0';
	*version++ = '\0';
	out->minor = read_version(version);
	if (out->minor < 0)
		return "its first line does not end in HTTP/1.1 or HTTP/1.0";
	if (!is_token(line) || strlen(line) > METHOD_MAX_BYTES)
		return "its method is none";
	for (const char *c = target; *c; c++)
		if (*c <= ' ' || *c > '~')
			return "its target has a character that no address has";
	if (!*target)
		return "its target is empty";
	out->method = line;
	out->target = target;
	return read_fields(text, out);
}

static bool is_status(const char *text)
{
	return text[0] >= '1' && text[0] <= '5' && strspn(text, "0123456789") >= 3 && (text[3] == '\0' || text[3] == ' ');
}

const char *head_read_response(char *text, size_t len, struct head *out)
{
	char *line;

	*out = (struct head){.n_fields = 0};
	if (!terminate(text, len) || !(line = take_line(&text)) || strlen(line) < 12 || line[8] != ' ')
		return "it is no response of HTTP";
	line[8] = '\0';
	out->minor = read_version(line);
	if (out->minor < 0 || !is_status(line + 9) || !is_value(line + 9))
		return "its first line is not a version and a status";
	out->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
	out->reason = line[12] ? line + 13 : "";
	return read_fields(text, out);
}

const char *head_value(const struct head *head, const char *name, size_t *n)
{
	const char *value = NULL;

	*n = 0;
	for (size_t i = 0; i < head->n_fields; i++)
		if (strcasecmp(head->fields[i].name, name) == 0) {
			value = value ? value : head->fields[i].value;
			(*n)++;
		}
	return value;
}

static bool list_has(const char *list, const char *token)
{
	size_t len = strlen(token);

	while (*list) {
		const char *end;
		size_t item;

		list += strspn(list, " \t,");
		item = strcspn(list, ",");
		end = list + item;
		while (item > 0 && (list[item - 1] == ' ' || list[item - 1] == '\t'))
			item--;
		if (item == len && strncasecmp(list, token, len) == 0)
			return true;
		list = end;
	}
	return false;
}

bool head_names(const struct head *head, const char *name, const char *token)
{
	for (size_t i = 0; i < head->n_fields; i++)
		if (strcasecmp(head->fields[i].name, name) == 0 && list_has(head->fields[i].value, token))
			return true;
	return false;
}

bool head_is_alike(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (strncasecmp(*a == '_' ? "-" : a, *b == '_' ? "-" : b, 1) != 0)
			return false;
	return *a == *b;
}

void head_drop(struct head *head, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < head->n_fields; i++)
		if (strcasecmp(head->fields[i].name, name) != 0)
			head->fields[kept++] = head->fields[i];
	head->n_fields = kept;
}

int head_set(struct head *head, const char *name, const char *value)
{
	head_drop(head, name);
	if (head->n_fields == LIMIT_EGRESS_FIELDS)
		return -1;
	head->fields[head->n_fields++] = (struct head_field){name, value};
	return 0;
}

void head_drop_hop(struct head *head)
{
	static const char *const names[] = {"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE", "Trailer",
	                                    "Transfer-Encoding", "Upgrade", "Host", "Content-Length", "Expect"};
	size_t kept = 0;

	for (size_t i = 0; i < head->n_fields; i++)
		if (!head_names(head, "Connection", head->fields[i].name) || strcasecmp(head->fields[i].name, "Connection") == 0)
			head->fields[kept++] = head->fields[i];
	head->n_fields = kept;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		head_drop(head, names[i]);
}

static void grow(struct head_text *text, size_t least)
{
	size_t size = (least / TEXT_STEP + 1) * TEXT_STEP;
	char *larger = locked_alloc(size);

	memcpy(larger, text->data ? text->data : "", text->len);
	locked_free(text->data, text->size);
	text->data = larger;
	text->size = size;
}

void head_text_add(struct head_text *text, const char *format, ...)
{
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		DIE("a head cannot be written");
	if (text->len + (size_t)len + 1 > text->size)
		grow(text, text->len + (size_t)len + 1);
	(void)vsnprintf(text->data + text->len, (size_t)len + 1, format, again);
	va_end(again);
	text->len += (size_t)len;
}

void head_text_add_fields(struct head_text *text, const struct head *head)
{
	for (size_t i = 0; i < head->n_fields; i++)
		head_text_add(text, "%s: %s\r\n", head->fields[i].name, head->fields[i].value);
}

void head_text_finish(struct head_text *text)
{
	locked_free(text->data, text->size);
	*text = (struct head_text){.len = 0};
}
