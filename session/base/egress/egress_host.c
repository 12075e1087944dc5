/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names by their characters and labels; what ends in a number is an address or nothing, as browsers have it. */
#include "session/base/egress/egress_host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"

#define NAME_MAX_BYTES 253
#define LABEL_MAX_BYTES 63
#define PORT_DIGITS 5
#define PORT_MAX 65535

static bool is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_label(const char *label, size_t len)
{
	if (len < 1 || len > LABEL_MAX_BYTES || label[0] == '-' || label[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_letter(label[i]) && !is_digit(label[i]) && label[i] != '-' && label[i] != '_')
			return false;
	return true;
}

static bool is_name(const char *text)
{
	for (const char *label = text;; label++) {
		size_t len = strcspn(label, ".");

		if (!is_label(label, len))
			return false;
		label += len;
		if (!*label)
			return true;
	}
}

/* All digits, or 0x and hexadecimal ones. */
static bool is_number(const char *label)
{
	if (label[0] == '0' && label[1] == 'x')
		return label[2 + strspn(label + 2, "0123456789abcdef")] == '\0';
	return label[strspn(label, "0123456789")] == '\0';
}

static bool is_below_localhost(const char *text)
{
	static const char local[] = "localhost";
	size_t len = strlen(text), local_len = strlen(local);

	return len >= local_len && strcmp(text + len - local_len, local) == 0 && (len == local_len || text[len - local_len - 1] == '.');
}

static enum egress_host_kind judge_name(struct egress_host *host)
{
	const char *last = strrchr(host->text, '.');

	if (inet_pton(AF_INET, host->text, host->address) == 1)
		return EGRESS_HOST_V4;
	if (!is_name(host->text))
		return EGRESS_HOST_BAD;
	if (is_number(last ? last + 1 : host->text))
		return EGRESS_HOST_ODD;
	return is_below_localhost(host->text) ? EGRESS_HOST_LOCAL : EGRESS_HOST_NAME;
}

/* What is between brackets; of a zone it is no usual spelling. */
static enum egress_host_kind judge_v6(struct egress_host *host)
{
	if (inet_pton(AF_INET6, host->text, host->address) == 1)
		return inet_ntop(AF_INET6, host->address, host->text, sizeof(host->text)) ? EGRESS_HOST_V6 : EGRESS_HOST_BAD;
	return host->text[0] && host->text[strspn(host->text, "0123456789abcdef:.%abcdefghijklmnopqrstuvwxyz-_")] == '\0' ? EGRESS_HOST_ODD
	                                                                                                              : EGRESS_HOST_BAD;
}

/* In lower case; false for a byte that is in no host. */
static bool copy_lower(const char *text, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] <= ' ' || text[i] > '~')
			return false;
		out[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
	}
	out[len] = '\0';
	return true;
}

void egress_host_read(const char *text, size_t len, struct egress_host *out)
{
	bool has_brackets = len >= 2 && text[0] == '[' && text[len - 1] == ']';

	*out = (struct egress_host){.kind = EGRESS_HOST_BAD};
	if (has_brackets) {
		text++;
		len -= 2;
	} else if (len > 1 && text[len - 1] == '.') {
		len--;
	}
	if (len >= 1 && len <= NAME_MAX_BYTES && copy_lower(text, len, out->text))
		out->kind = has_brackets ? judge_v6(out) : judge_name(out);
	if (out->kind == EGRESS_HOST_BAD)
		memset(out->text, 0, sizeof(out->text));
}

void egress_host_of_address(const uint8_t *bytes, size_t len, struct egress_host *out)
{
	*out = (struct egress_host){.kind = len == 4 ? EGRESS_HOST_V4 : EGRESS_HOST_V6};
	memcpy(out->address, bytes, len);
	if (!inet_ntop(len == 4 ? AF_INET : AF_INET6, bytes, out->text, sizeof(out->text)))
		DIE("an address of %zu bytes", len);
}

const char *egress_host_authority(const struct egress_host *host, uint16_t port, uint16_t usual, char out[EGRESS_AUTHORITY_SIZE])
{
	const char *open = host->kind == EGRESS_HOST_V6 ? "[" : "", *close = host->kind == EGRESS_HOST_V6 ? "]" : "";

	if (port == usual)
		(void)snprintf(out, EGRESS_AUTHORITY_SIZE, "%s%s%s", open, host->text, close);
	else
		(void)snprintf(out, EGRESS_AUTHORITY_SIZE, "%s%s%s:%u", open, host->text, close, port);
	return out;
}

uint16_t egress_port_read(const char *text, size_t len)
{
	unsigned value = 0;

	if (len < 1 || len > PORT_DIGITS || text[0] == '0')
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (!is_digit(text[i]))
			return 0;
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	return value <= PORT_MAX ? (uint16_t)value : 0;
}
