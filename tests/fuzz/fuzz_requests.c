/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: gloveboxd */
/* longest: 4400 */
/*
 * Records of the front, as the warden takes them: the whole bytes of a request or, behind a first byte that is odd, of a secret. What passes has texts that end within
 * their places and hold no byte that could be of a path, numbers within the ceilings, and nothing in what its kind does not use.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "session/base/util.h"
#include "session/warden/requests.h"

static void check_text(const char *text, size_t size, const char *signs)
{
	if (!memchr(text, '\0', size))
		DIE("a text without an end");
	if (strspn(text, signs) != strlen(text) || strstr(text, ".."))
		DIE("a text %s", text);
}

static void check_create(const struct warden_create *create, const struct ceilings *ceilings)
{
	check_text(create->image, sizeof(create->image), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
	check_text(create->image_hash, sizeof(create->image_hash), "0123456789abcdef");
	if (create->memory_mb > ceilings->memory_mb || create->pids > ceilings->pids || create->disk_mb > ceilings->disk_mb || create->cpu_milli > ceilings->cpu_milli ||
	    create->ttl_s > ceilings->ttl_s || create->egress > ceilings->egress)
		DIE("beyond the ceilings");
	if (create->width_px < 64 || create->height_px < 64 || create->width_px > 4096 || create->height_px > 4096)
		DIE("a display of %u x %u", create->width_px, create->height_px);
}

static void try_request(const uint8_t *data, size_t size, const struct ceilings *ceilings)
{
	struct warden_request request = {0};
	struct err e = {0};

	memcpy(&request, data, size < sizeof(request) ? size : sizeof(request));
	if (requests_check(&request, size, ceilings, &e) < 0) {
		if (e.code == ERR_NONE || !util_utf8_valid(e.msg, strlen(e.msg)))
			DIE("refused without a text: %d \"%s\"", (int)e.code, e.msg);
		return;
	}
	if (size != sizeof(request))
		DIE("a record of %zu bytes", size);
	if (request.session[0] && !requests_id_valid(request.session))
		DIE("a session %.16s", request.session);
	if (request.op == WARDEN_CREATE)
		check_create(&request.create, ceilings);
	if (request.op == WARDEN_ADD_VIEWER && !memchr(request.viewer.password, '\0', sizeof(request.viewer.password)))
		DIE("a password without an end");
}

static void try_secret(const uint8_t *data, size_t size)
{
	struct warden_secret secret = {0};
	struct err e = {0};

	memcpy(&secret, data, size < sizeof(secret) ? size : sizeof(secret));
	if (requests_check_secret(&secret, size, &e) == 0) {
		check_text(secret.name, sizeof(secret.name), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
		if (secret.len > sizeof(secret.value))
			DIE("a value of %u bytes", secret.len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ceilings ceilings;

	ceilings_default(&ceilings);
	if (size > 0 && data[0] % 2)
		try_secret(data + 1, size - 1);
	else if (size > 0)
		try_request(data + 1, size - 1, &ceilings);
	return 0;
}
