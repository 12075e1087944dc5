/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The request: looked up once, to an address that was checked, with nothing of the answer kept but its status. */
#include "sandbox/egress/post.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/egress/resolve.h"
#include "sandbox/egress/sign.h"
#include "session/base/limits.h"
#include "session/base/util.h"

struct post {
	const struct poster *poster;
	const struct target *target;
	CURL *easy;
	size_t reply_bytes;
	const char *refusal; /* of the address that was to be reached last; NULL: none was refused */
};

static const char *const EVENTS[HOOK_N_EVENTS] = {HOOK_EVENTS};

/* Every socket is made here, whatever libcurl took the address from. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *place)
{
	struct post *post = arg;
	const char *refusal = address_refusal(&place->addr, place->addrlen, &post->poster->targets->allowed);

	(void)purpose;
	if (!refusal && post->target->is_plain && !address_is_loopback(&place->addr))
		refusal = "not this machine";
	if (refusal) {
		post->refusal = refusal;
		return CURL_SOCKET_BAD;
	}
	return socket(place->family, place->socktype | SOCK_CLOEXEC, place->protocol);
}

/* What comes back is thrown away; of one that does not end, the rest is not even read. */
static size_t take_nothing(char *data, size_t size, size_t n, void *arg)
{
	struct post *post = arg;

	(void)data;
	post->reply_bytes += size * n;
	return post->reply_bytes <= LIMIT_HOOK_REPLY_BYTES ? size * n : 0;
}

static struct curl_slist *make_headers(const struct target *target, const struct hook_event *event)
{
	struct curl_slist *headers = NULL;
	char line[192], signature[SIGN_SIZE];
	const char *const fixed[] = {"Content-Type: application/json", "Expect:", "Accept:"};

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		headers = curl_slist_append(headers, fixed[i]);
	(void)snprintf(line, sizeof(line), "Glovebox-Event: %s", EVENTS[event->kind]);
	headers = curl_slist_append(headers, line);
	(void)snprintf(line, sizeof(line), "Glovebox-Delivery: %s", event->id);
	headers = curl_slist_append(headers, line);
	(void)snprintf(line, sizeof(line), "Glovebox-Signature: %s",
	               sign_body(target->key, (int64_t)time(NULL), event->body, event->len, signature));
	headers = curl_slist_append(headers, line);
	if (!headers)
		DIE("no memory");
	return headers;
}

static void set_up(struct post *post, const struct hook_event *event, struct curl_slist *headers, int64_t left_ms)
{
	CURL *easy = post->easy;

	(void)curl_easy_setopt(easy, CURLOPT_URL, post->target->url);
	(void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, post->target->is_plain ? "http" : "https");
	(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, event->body);
	(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)event->len);
	(void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "glovebox/" GLOVEBOX_VERSION);
	(void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	(void)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	(void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(left_ms > 1 ? left_ms : 1));
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_nothing);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, post);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_nothing);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, post);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, post);
	(void)curl_easy_setopt(easy, CURLOPT_CAINFO, post->poster->ca);
}

/* Its addresses, as libcurl is told them; NULL for what is numeric already. */
static int look_up(const struct post *post, int64_t deadline_ms, struct curl_slist **known, struct err *e)
{
	const struct target *target = post->target;
	auto_free char *addresses = NULL, *line = NULL;
	uint8_t bytes[16];

	if (inet_pton(AF_INET, target->host, bytes) == 1 || inet_pton(AF_INET6, target->host, bytes) == 1 || strcmp(target->host, "localhost") == 0)
		return 0;
	if (resolve_host(post->poster->loop, target->host, deadline_ms, &addresses, e) < 0)
		return -1;
	line = util_printf("%s:%s:%s", target->host, target->port, addresses);
	*known = curl_slist_append(NULL, line);
	return 0;
}

/* A status that is there counts, however the rest of the answer went. */
static enum post_result judge(const struct post *post, CURLcode code, char *why, size_t size)
{
	long status = 0;

	(void)curl_easy_getinfo(post->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && status < 300)
		return POST_DELIVERED;
	if (status > 0) {
		(void)snprintf(why, size, "it answered %ld%s", status, status >= 300 && status < 400 ? ", which is not followed" : "");
		return status >= 500 || status == 408 || status == 429 ? POST_LATER : POST_REFUSED;
	}
	if (post->refusal) {
		(void)snprintf(why, size, "its address is %s", post->refusal);
		return POST_REFUSED;
	}
	(void)snprintf(why, size, "%.150s", curl_easy_strerror(code));
	return POST_LATER;
}

enum post_result post_event(const struct poster *poster, const struct target *target, const struct hook_event *event, char *why, size_t size)
{
	struct post post = {.poster = poster, .target = target};
	int64_t deadline_ms = util_now_ms() + LIMIT_HOOK_MS;
	struct curl_slist *headers = NULL, *known = NULL;
	enum post_result result;
	struct err e = {0};

	*why = '\0';
	if (look_up(&post, deadline_ms, &known, &e) < 0) {
		(void)snprintf(why, size, "%.150s", e.msg);
		return POST_LATER;
	}
	post.easy = curl_easy_init();
	if (!post.easy)
		DIE("no memory");
	headers = make_headers(target, event);
	set_up(&post, event, headers, deadline_ms - util_now_ms());
	(void)curl_easy_setopt(post.easy, CURLOPT_RESOLVE, known);
	result = judge(&post, transfers_run(poster->transfers, post.easy), why, size);
	curl_easy_cleanup(post.easy);
	curl_slist_free_all(headers);
	curl_slist_free_all(known);
	return result;
}
