/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HMAC-SHA256 by GnuTLS. */
#include "sandbox/egress/sign.h"

#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "session/base/hash.h"
#include "session/base/util.h"

char *sign_body(const char *key, int64_t seconds, const char *body, size_t len, char out[SIGN_SIZE])
{
	char time[24], hex[2 * HASH_BYTES + 1];
	uint8_t mac[HASH_BYTES];
	gnutls_hmac_hd_t hmac;

	(void)snprintf(time, sizeof(time), "%" PRId64 ".", seconds);
	if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, key, strlen(key)) < 0 || gnutls_hmac(hmac, time, strlen(time)) < 0 ||
	    gnutls_hmac(hmac, body, len) < 0)
		DIE("no HMAC-SHA256");
	gnutls_hmac_deinit(hmac, mac);
	util_hex(hex, mac, sizeof(mac));
	(void)snprintf(out, SIGN_SIZE, "t=%" PRId64 ",v1=%s", seconds, hex);
	return out;
}
