/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One server, spoken to over HTTP with libcurl. */
#include "session/cli/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define TOKEN_FILE_MAX 4096
#define CONNECT_MS 5000L
#define ANSWER_MS (LIMIT_CALL_MS + 30000L) /* the longest call, and something for the way */

/* Reads the one line of a token file. 0 with *token, or -1 with errno. */
static int read_token(const char *path, char **token)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;

	if (fd < 0 || util_read_file(fd, TOKEN_FILE_MAX, &text) < 0)
		return -1;
	text[strcspn(text, "\r\n")] = '\0';
	for (const char *c = text; *c; c++) {
		if (*c <= ' ' || *c > '~') {
			errno = EINVAL;
			return -1;
		}
	}
	*token = steal_ptr(&text);
	return 0;
}

static int find_token(struct client *client, struct err *e)
{
	const char *home = getenv("HOME");
	auto_free char *own = util_printf("%s/.config/glovebox/token", home ? home : "");
	const char *places[] = {own, "/var/lib/glovebox/operator.token"};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		if (read_token(places[i], &client->token) == 0) {
			client->token_file = util_strdup(places[i]);
			return 0;
		}
	}
	return err_set(e, ERR_BAD_REQUEST, NULL,
	               "no token can be read in %s or %s; start the server with `sudo make run`, or name a file with --token-file",
	               places[0], places[1]);
}

static int take_token(struct client *client, const char *path, struct err *e)
{
	if (!path)
		return find_token(client, e);
	if (read_token(path, &client->token))
		return err_set(e, ERR_BAD_REQUEST, NULL, "the token file %s cannot be used: %s", path, strerror(errno));
	client->token_file = util_strdup(path);
	return 0;
}

static int check_server(const char *server, struct err *e)
{
	CURLU *url = curl_url();
	char *scheme = NULL, quoted[128];
	bool good = url && curl_url_set(url, CURLUPART_URL, server, 0) == CURLUE_OK &&
	            curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	            (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);

	curl_free(scheme);
	curl_url_cleanup(url);
	if (!good && strncmp(server, "unix:/", 6) != 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the server is %s; it must be an http:// or https:// URL, or unix:/PATH",
		               err_quote(quoted, sizeof(quoted), server, strlen(server)));
	return 0;
}

static int check_cacert(const char *path, struct err *e)
{
	return path && access(path, R_OK) < 0 ? err_set(e, ERR_BAD_REQUEST, NULL, "the file %s of --cacert cannot be read: %s", path, strerror(errno))
	                                      : 0;
}

int client_init(struct client *client, const struct client_server *server, struct err *e)
{
	struct client made = {0};

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		DIE("libcurl does not start");
	if (check_server(server->url, e) || check_cacert(server->cacert, e) || take_token(&made, server->token_file, e))
		return -1;
	made.server = util_strdup(server->url);
	for (size_t len = strlen(made.server); len > 0 && made.server[len - 1] == '/'; len--)
		made.server[len - 1] = '\0';
	if (strncmp(made.server, "unix:", 5) == 0)
		made.socket = util_strdup(made.server + 5);
	made.base = util_strdup(made.socket ? "http://localhost" : made.server);
	made.cacert = server->cacert ? util_strdup(server->cacert) : NULL;
	made.curl = curl_easy_init();
	if (!made.curl)
		DIE("libcurl does not start");
	*client = made;
	return 0;
}

void client_finish(struct client *client)
{
	if (client->token)
		explicit_bzero(client->token, strlen(client->token));
	free(client->server);
	free(client->base);
	free(client->socket);
	free(client->cacert);
	free(client->token);
	free(client->token_file);
	curl_easy_cleanup(client->curl);
	*client = (struct client){0};
}

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
	struct client_reply *reply = arg;
	size_t len = size * n;

	if (len > LIMIT_REPLY_BYTES - reply->body_len)
		return 0; /* libcurl ends the transfer with CURLE_WRITE_ERROR */
	reply->body = util_realloc(reply->body, reply->body_len + len + 1);
	memcpy(reply->body + reply->body_len, data, len);
	reply->body_len += len;
	reply->body[reply->body_len] = '\0';
	return len;
}

static char *take_header(CURL *curl, const char *name)
{
	struct curl_header *header;

	if (curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return NULL;
	return util_strdup(header->value);
}

static struct curl_slist *make_headers(const struct client *client, const json_t *body)
{
	auto_free char *token = util_printf("Authorization: Bearer %s", client->token);
	struct curl_slist *headers = curl_slist_append(NULL, token);

	explicit_bzero(token, strlen(token));
	headers = curl_slist_append(headers, "Expect:");
	if (body)
		headers = curl_slist_append(headers, "Content-Type: application/json");
	return headers;
}

void client_prepare(const struct client *client, void *curl, const char *url)
{
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	if (client->socket)
		curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, client->socket);
	if (client->cacert)
		curl_easy_setopt(curl, CURLOPT_CAINFO, client->cacert);
	if (strncmp(url, "http://", 7) == 0)
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
}

static CURLcode perform(const struct client *client, const char *method, const char *url, struct curl_slist *headers, const char *text,
                        struct client_reply *reply)
{
	CURL *curl = client->curl;

	curl_easy_reset(curl);
	client_prepare(client, curl, url);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ANSWER_MS);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
	if (text) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, text);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(text));
	}
	return curl_easy_perform(curl);
}

int client_call(struct client *client, const char *method, const char *path, const json_t *body, struct client_reply *reply,
                struct err *e)
{
	auto_free char *url = util_printf("%s%s", client->base, path);
	auto_free char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	struct curl_slist *headers = make_headers(client, body);
	struct client_reply got = {0};
	CURLcode code = perform(client, method, url, headers, text, &got);

	curl_slist_free_all(headers);
	if (code != CURLE_OK) {
		client_reply_finish(&got);
		if (code == CURLE_WRITE_ERROR)
			return err_set(e, ERR_TOO_LARGE, NULL, "the answer is larger than %d bytes", LIMIT_REPLY_BYTES);
		return err_set(e, ERR_GONE, NULL, "no answer from %s: %s%s", client->server, curl_easy_strerror(code),
		               code == CURLE_PEER_FAILED_VERIFICATION ? "; --cacert FILE names the certificate to trust" : "");
	}
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &got.status);
	got.at = take_header(client->curl, "Glovebox-At");
	got.space = take_header(client->curl, "Glovebox-Space");
	got.fallback = take_header(client->curl, "Glovebox-Fallback");
	if (got.body)
		got.json = json_loadb(got.body, got.body_len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	*reply = got;
	return 0;
}

void client_reply_finish(struct client_reply *reply)
{
	free(reply->body);
	free(reply->at);
	free(reply->space);
	free(reply->fallback);
	json_decref(reply->json);
	*reply = (struct client_reply){0};
}
