/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps a session alive while its client is there. */
#include "session/cli/mcp_keep.h"

#include <curl/curl.h>
#include <string.h>

#include "session/base/log.h"
#include "session/base/util.h"

#define ANSWER_MS 10000L

static void put_time(json_t *body, const json_t *session, const char *name, int64_t *shortest_s)
{
	json_int_t seconds = json_integer_value(json_object_get(session, name));

	if (seconds <= 0)
		return;
	(void)json_object_set_new(body, name, json_integer(seconds));
	if (*shortest_s == 0 || seconds < *shortest_s)
		*shortest_s = seconds;
}

void keep_init(struct keep *keep, const struct client *client, const json_t *session, bool ttl, bool idle)
{
	json_auto_t *body = json_object();
	int64_t shortest_s = 0;

	if (ttl)
		put_time(body, session, "ttl_s", &shortest_s);
	if (idle)
		put_time(body, session, "idle_s", &shortest_s);
	if (shortest_s == 0)
		return;
	keep->client = client;
	keep->path = util_printf("%s/v1/sessions/%s", client->base, json_string_value(json_object_get(session, "id")));
	keep->body = json_dumps(body, JSON_COMPACT);
	keep->every_ms = shortest_s * 1000 / 3;
	keep->next_ms = util_now_ms() + keep->every_ms;
}

static void end_transfer(struct keep *keep)
{
	if (!keep->curl)
		return;
	curl_multi_remove_handle(keep->multi, keep->curl);
	curl_easy_cleanup(keep->curl);
	curl_slist_free_all(keep->headers);
	keep->curl = NULL;
	keep->headers = NULL;
}

void keep_finish(struct keep *keep)
{
	end_transfer(keep);
	free(keep->path);
	free(keep->body);
	*keep = (struct keep){0};
}

static size_t pass_over(char *data, size_t size, size_t n, void *arg)
{
	(void)data;
	(void)arg;
	return size * n;
}

static void prolong(struct keep *keep)
{
	auto_free char *token = util_printf("Authorization: Bearer %s", keep->client->token);

	keep->curl = curl_easy_init();
	if (!keep->curl)
		DIE("libcurl does not start");
	keep->headers = curl_slist_append(curl_slist_append(NULL, token), "Content-Type: application/json");
	explicit_bzero(token, strlen(token));
	client_prepare(keep->client, keep->curl, keep->path);
	curl_easy_setopt(keep->curl, CURLOPT_CUSTOMREQUEST, "PATCH");
	curl_easy_setopt(keep->curl, CURLOPT_HTTPHEADER, keep->headers);
	curl_easy_setopt(keep->curl, CURLOPT_POSTFIELDS, keep->body);
	curl_easy_setopt(keep->curl, CURLOPT_TIMEOUT_MS, ANSWER_MS);
	curl_easy_setopt(keep->curl, CURLOPT_WRITEFUNCTION, pass_over);
	if (curl_multi_add_handle(keep->multi, keep->curl) != CURLM_OK)
		DIE("libcurl takes no transfer");
}

int keep_turn(struct keep *keep, void *multi, int max_ms)
{
	int64_t left_ms = keep->next_ms - util_now_ms();

	if (!keep->path || keep->curl)
		return max_ms;
	if (left_ms > 0)
		return left_ms < max_ms ? (int)left_ms : max_ms;
	keep->multi = multi;
	keep->next_ms = util_now_ms() + keep->every_ms;
	prolong(keep);
	return max_ms;
}

bool keep_done(struct keep *keep, void *curl, int curl_code)
{
	long status = 0;

	if (!keep->curl || curl != keep->curl)
		return false;
	curl_easy_getinfo(keep->curl, CURLINFO_RESPONSE_CODE, &status);
	end_transfer(keep);
	if (curl_code == CURLE_OK && status >= 400) {
		log_warn("the session cannot be prolonged any more (status %ld): it ends at its time", status);
		free(keep->path);
		keep->path = NULL;
	}
	return true;
}
