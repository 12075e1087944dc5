/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/base */
/* longest: 512 */
/* Hosts with ports, as CONNECT names them: what is taken is a name, an address, or said to be none; written anew, it reads the same. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "session/base/egress/egress_rule.h"
#include "session/base/util.h"

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

static void check_name(const char *text)
{
	size_t label = 0, len = strlen(text);

	insist(len > 0 && len <= 253, "a name's length");
	insist(text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0', "a name's characters");
	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] != '.')
			continue;
		insist(i > label && i - label <= 63, "a label's length");
		label = i + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char authority[EGRESS_AUTHORITY_SIZE];
	struct egress_host host, again;

	egress_host_read((const char *)data, size, &host);
	insist((host.kind == EGRESS_HOST_BAD) == (host.text[0] == '\0'), "a host without a text");
	if (host.kind == EGRESS_HOST_NAME)
		check_name(host.text);
	if (host.kind <= EGRESS_HOST_V6) {
		(void)egress_host_authority(&host, 443, 443, authority);
		egress_host_read(authority, strlen(authority), &again);
		insist(again.kind == host.kind && strcmp(again.text, host.text) == 0 && memcmp(again.address, host.address, sizeof(host.address)) == 0,
		       "a host reads otherwise when it is written anew");
	}
	(void)egress_port_read((const char *)data, size);
	return 0;
}
