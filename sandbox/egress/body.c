/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lengths and chunks. What chunks say beside their size, and fields behind the last one, is read and left out. */
#include "sandbox/egress/body.h"

#include <string.h>
#include <strings.h>

#define SIZE_DIGITS 12    /* of a chunk, hexadecimal */
#define LINE_BYTES 4096   /* of what is left out, in one line */
#define LENGTH_DIGITS 15

enum state { CHUNK_SIZE, CHUNK_MORE, CHUNK_SIZE_END, CHUNK_DATA, CHUNK_DATA_CR, CHUNK_DATA_LF, LAST_START, LAST_LINE, LAST_LINE_END, LAST_END };

/* "chunked" alone, once; everything else that it might be is refused. */
static const char *read_coding(const struct head *head, bool *is_chunked)
{
	size_t n;
	const char *value = head_value(head, "Transfer-Encoding", &n);

	*is_chunked = n > 0;
	if (n == 0)
		return NULL;
	if (head->minor == 0)
		return "Transfer-Encoding is not for HTTP/1.0";
	return n > 1 || strcasecmp(value, "chunked") != 0 ? "its Transfer-Encoding is not \"chunked\"" : NULL;
}

static const char *read_length(const struct head *head, bool *is_there, uint64_t *length)
{
	size_t n, digits;
	const char *value = head_value(head, "Content-Length", &n);

	*is_there = n > 0;
	*length = 0;
	if (n == 0)
		return NULL;
	digits = strspn(value, "0123456789");
	if (n > 1 || digits == 0 || digits > LENGTH_DIGITS || value[digits])
		return "its Content-Length is not one decimal number";
	for (; *value; value++)
		*length = *length * 10 + (uint64_t)(*value - '0');
	return NULL;
}

static const char *read_both(const struct head *head, struct body *out)
{
	bool is_chunked, has_length;
	uint64_t length;
	const char *fault = read_coding(head, &is_chunked);

	*out = (struct body){.kind = BODY_NONE, .is_over = true};
	if (!fault)
		fault = read_length(head, &has_length, &length);
	if (fault)
		return fault;
	if (is_chunked && has_length)
		return "it has both Transfer-Encoding and Content-Length";
	if (is_chunked)
		*out = (struct body){.kind = BODY_CHUNKED, .state = CHUNK_SIZE};
	else if (has_length)
		*out = (struct body){.kind = BODY_LENGTH, .left = length, .is_over = length == 0};
	return NULL;
}

const char *body_of_request(const struct head *head, struct body *out)
{
	return read_both(head, out);
}

const char *body_of_response(const struct head *head, bool answers_head, struct body *out)
{
	const char *fault = read_both(head, out);

	if (fault)
		return fault;
	if (answers_head || head->status < 200 || head->status == 204 || head->status == 304)
		*out = (struct body){.kind = BODY_NONE, .is_over = true};
	else if (out->kind == BODY_NONE)
		*out = (struct body){.kind = BODY_CLOSE};
	return NULL;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_size(struct body *body, char c)
{
	int value = hex_value(c);

	if (value >= 0) {
		body->left = body->left * 16 + (uint64_t)value;
		return ++body->digits <= SIZE_DIGITS;
	}
	if (body->digits == 0)
		return false;
	body->digits = 0;
	body->state = c == '\r' ? CHUNK_SIZE_END : CHUNK_MORE;
	return c == '\r' || c == ';' || c == ' ' || c == '\t';
}

/* What is in a line that is left out: anything but its end. */
static bool take_line(struct body *body, char c, int next)
{
	if (c == '\r') {
		body->digits = 0;
		body->state = next;
		return true;
	}
	return c != '\n' && c != '\0' && ++body->digits <= LINE_BYTES;
}

static bool take_end(struct body *body, char c, char wanted, int next)
{
	body->state = next;
	return c == wanted;
}

/* One byte of what is around the chunks' content. */
static bool take_byte(struct body *body, char c)
{
	if (body->state >= LAST_START && ++body->trailer > LIMIT_HEAD_BYTES)
		return false;
	switch ((enum state)body->state) {
	case CHUNK_SIZE:
		return take_size(body, c);
	case CHUNK_MORE:
		return take_line(body, c, CHUNK_SIZE_END);
	case CHUNK_SIZE_END:
		return take_end(body, c, '\n', body->left > 0 ? CHUNK_DATA : LAST_START);
	case CHUNK_DATA_CR:
		return take_end(body, c, '\r', CHUNK_DATA_LF);
	case CHUNK_DATA_LF:
		return take_end(body, c, '\n', CHUNK_SIZE);
	case LAST_START:
		body->state = c == '\r' ? LAST_END : LAST_LINE;
		return c != '\n' && c != '\0';
	case LAST_LINE:
		return take_line(body, c, LAST_LINE_END);
	case LAST_LINE_END:
		return take_end(body, c, '\n', LAST_START);
	case LAST_END:
		body->is_over = true;
		return c == '\n';
	case CHUNK_DATA:
		break;
	}
	return false;
}

static size_t take_content(struct body *body, const char *data, size_t len, const char **piece, size_t *piece_len)
{
	size_t n = len < body->left ? len : (size_t)body->left;

	*piece = data;
	*piece_len = n;
	body->left -= n;
	return n;
}

static size_t take_chunks(struct body *body, const char *data, size_t len, const char **piece, size_t *piece_len)
{
	size_t at = 0, n;

	while (at < len && body->state != CHUNK_DATA && !body->is_over)
		if (!take_byte(body, data[at++]))
			return SIZE_MAX;
	if (at == len || body->is_over)
		return at;
	n = take_content(body, data + at, len - at, piece, piece_len);
	if (body->left == 0)
		body->state = CHUNK_DATA_CR;
	return at + n;
}

size_t body_take(struct body *body, const char *data, size_t len, const char **piece, size_t *piece_len)
{
	size_t n;

	*piece = NULL;
	*piece_len = 0;
	if (body->is_over || len == 0)
		return 0;
	switch (body->kind) {
	case BODY_LENGTH:
		n = take_content(body, data, len, piece, piece_len);
		body->is_over = body->left == 0;
		return n;
	case BODY_CHUNKED:
		return take_chunks(body, data, len, piece, piece_len);
	case BODY_CLOSE:
		*piece = data;
		*piece_len = len;
		return len;
	case BODY_NONE:
		break;
	}
	return 0;
}
