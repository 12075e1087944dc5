/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-egress */
/* longest: 512 */
/* Greetings and requests of SOCKS5: a shorter one is not taken for a whole one, and more behind it changes nothing. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "sandbox/egress/socks.h"
#include "session/base/util.h"

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t answer[SOCKS_GREETING_BYTES];
	struct egress_host host, again;
	enum socks_reply fault;
	uint16_t port = 0, port_again = 0;
	ssize_t len = socks_greeting(data, size, answer);

	insist(len <= (ssize_t)size, "a greeting is longer than what there is");
	insist(len <= 0 || socks_greeting(data, (size_t)len - 1, answer) == 0, "a shorter greeting is whole");
	len = socks_request(data, size, &host, &port, &fault);
	insist(len <= (ssize_t)size, "a request is longer than what there is");
	if (len > 0) {
		insist(host.kind != EGRESS_HOST_BAD && port > 0, "a request without a host");
		for (size_t n = 0; n < (size_t)len; n++)
			insist(socks_request(data, n, &again, &port_again, &fault) <= 0, "a shorter request is whole");
		insist(socks_request(data, (size_t)len, &again, &port_again, &fault) == len && port == port_again && strcmp(host.text, again.text) == 0,
		       "what comes behind a request changes it");
	}
	return 0;
}
