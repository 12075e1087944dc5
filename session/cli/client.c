/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One server, spoken to over HTTP with libcurl. */
#include "session/cli/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define TOKEN_FILE_MAX 4096
#define CONNECT_MS 5000L
#define RESENDS 4
#define RESEND_MS 200 /* before the first one; each next one waits twice as long */
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

void client_hang_up(struct client *client)
{
	curl_easy_cleanup(client->curl);
	client->curl = curl_easy_init();
	if (!client->curl)
		DIE("libcurl does not start");
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

/* Where the body of an answer goes. */
struct taker {
	const struct client_request *request;
	CURL *curl;
	struct client_reply *reply;
	uint64_t sunk;
};

static bool goes_to_sink(const struct taker *taker)
{
	const char *accept = taker->request->accept, *type = NULL;
	long status = 0;

	curl_easy_getinfo(taker->curl, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(taker->curl, CURLINFO_CONTENT_TYPE, &type);
	return taker->request->sink >= 0 && status == 200 && (!accept || (type && strcmp(type, accept) == 0));
}

/* 0 makes libcurl end the transfer with CURLE_WRITE_ERROR. */
static size_t take_sunk(struct taker *taker, const char *data, size_t len)
{
	if (len > taker->request->sink_max - taker->sunk)
		return 0;
	if (util_write_all(taker->request->sink, data, len) < 0) {
		taker->reply->unwritten = errno;
		return 0;
	}
	taker->sunk += len;
	return len;
}

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
	struct taker *taker = arg;
	struct client_reply *reply = taker->reply;
	size_t len = size * n;

	if (goes_to_sink(taker))
		return take_sunk(taker, data, len);
	if (len > LIMIT_REPLY_BYTES - reply->body_len)
		return 0;
	reply->body = util_realloc(reply->body, reply->body_len + len + 1);
	memcpy(reply->body + reply->body_len, data, len);
	reply->body_len += len;
	reply->body[reply->body_len] = '\0';
	return len;
}

/* Anything but 0 makes libcurl end the transfer. */
static int look_at_stop(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	const struct client *client = arg;

	(void)down_total, (void)down, (void)up_total, (void)up;
	return client->stop && *client->stop;
}

static char *take_header(CURL *curl, const char *name)
{
	struct curl_header *header;

	if (curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return NULL;
	return util_strdup(header->value);
}

static struct curl_slist *add_header(struct curl_slist *headers, const char *name, const char *value)
{
	auto_free char *line = value ? util_printf("%s: %s", name, value) : NULL;

	return line ? curl_slist_append(headers, line) : headers;
}

static struct curl_slist *make_headers(const struct client *client, const struct client_request *request)
{
	auto_free char *token = util_printf("Authorization: Bearer %s", client->token);
	struct curl_slist *headers = curl_slist_append(NULL, token);

	explicit_bzero(token, strlen(token));
	headers = curl_slist_append(headers, "Expect:");
	headers = add_header(headers, "Content-Type", request->bytes || request->has_source ? request->type ? request->type : "application/octet-stream" : request->body ? "application/json" : NULL);
	headers = add_header(headers, "Idempotency-Key", request->key);
	headers = add_header(headers, "Accept", request->accept);
	return add_header(headers, "If-None-Match", request->etag);
}

const char *client_hint(int curl_code)
{
	return curl_code == CURLE_PEER_FAILED_VERIFICATION ? "; --cacert FILE names the certificate to trust" : "";
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

static void set_up(struct client *client, const char *url, struct curl_slist *headers, struct taker *taker)
{
	CURL *curl = client->curl;

	curl_easy_reset(curl);
	client_prepare(client, curl, url);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, taker->request->method);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	/* What is as long as a file takes as long as that. */
	if (taker->request->has_source || taker->request->accept) {
		curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
		curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, ANSWER_MS / 1000);
	} else {
		curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ANSWER_MS);
	}
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, taker);
	if (!client->stop)
		return;
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_at_stop);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, client);
}

static size_t read_source(char *out, size_t size, size_t n, void *arg)
{
	const struct client_request *request = arg;
	ssize_t got = read(request->source, out, size * n);

	return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

/* One try. */
static CURLcode perform(struct client *client, const struct client_request *request, const char *text, struct client_reply *reply)
{
	auto_free char *url = util_printf("%s%s", client->base, request->path);
	struct taker taker = {.request = request, .curl = client->curl, .reply = reply};
	struct curl_slist *headers = make_headers(client, request);
	CURLcode code;

	set_up(client, url, headers, &taker);
	if (text) {
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, text);
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(text));
	}
	if (request->bytes) {
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, request->bytes);
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->n_bytes);
	}
	if (request->has_source) {
		curl_easy_setopt(client->curl, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(client->curl, CURLOPT_READFUNCTION, read_source);
		curl_easy_setopt(client->curl, CURLOPT_READDATA, (void *)(uintptr_t)request);
		curl_easy_setopt(client->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->source_len);
	}
	code = curl_easy_perform(client->curl);
	curl_slist_free_all(headers);
	return code;
}

/* What a keyed request is sent again after: the answer was lost, or there was no way to the server for a moment. */
static bool is_lost(CURLcode code)
{
	return code == CURLE_COULDNT_CONNECT || code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
	       code == CURLE_PARTIAL_FILE;
}

static int fail(const struct client *client, const struct client_request *request, const struct client_reply *reply, CURLcode code, struct err *e)
{
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return err_set(e, ERR_CANCELLED, NULL, "interrupted");
	if (code == CURLE_WRITE_ERROR && reply->unwritten)
		return err_set(e, ERR_BAD_REQUEST, NULL, "what comes cannot be written here: %s", strerror(reply->unwritten));
	if (code == CURLE_WRITE_ERROR && request->sink >= 0)
		return err_set(e, ERR_TOO_LARGE, NULL, "the answer is larger than %ju bytes", (uintmax_t)request->sink_max);
	if (code == CURLE_WRITE_ERROR)
		return err_set(e, ERR_TOO_LARGE, NULL, "the answer is larger than %d bytes", LIMIT_REPLY_BYTES);
	return err_set(e, ERR_GONE, NULL, "no answer from %s: %s%s", client->server, curl_easy_strerror(code), client_hint((int)code));
}

/* A front that died is there again within a second. */
static CURLcode perform_again(struct client *client, const struct client_request *request, const char *text, struct client_reply *reply)
{
	CURLcode code = perform(client, request, text, reply);

	for (int again = 0; (request->key || request->again) && is_lost(code) && again < RESENDS && !(client->stop && *client->stop); again++) {
		client_reply_finish(reply);
		(void)poll(NULL, 0, RESEND_MS << again);
		code = perform(client, request, text, reply);
	}
	return code;
}

int client_send(struct client *client, const struct client_request *request, struct client_reply *reply, struct err *e)
{
	auto_free char *text = request->body ? json_dumps(request->body, JSON_COMPACT) : NULL;
	struct client_reply got = {0};
	CURLcode code = perform_again(client, request, text, &got);

	if (code != CURLE_OK) {
		(void)fail(client, request, &got, code, e);
		client_reply_finish(&got);
		return -1;
	}
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &got.status);
	got.etag = take_header(client->curl, "ETag");
	got.at = take_header(client->curl, "Glovebox-At");
	got.space = take_header(client->curl, "Glovebox-Space");
	got.size = take_header(client->curl, "Glovebox-Size");
	got.region = take_header(client->curl, "Glovebox-Region");
	got.covered = take_header(client->curl, "Glovebox-Covered");
	got.fallback = take_header(client->curl, "Glovebox-Fallback");
	got.skipped = take_header(client->curl, "Glovebox-Skipped");
	got.masked = take_header(client->curl, "Glovebox-Masked");
	if (got.body)
		got.json = json_loadb(got.body, got.body_len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	*reply = got;
	return 0;
}

int client_call(struct client *client, const char *method, const char *path, const json_t *body, struct client_reply *reply,
                struct err *e)
{
	const struct client_request request = {.method = method, .path = path, .body = body, .sink = -1};

	return client_send(client, &request, reply, e);
}

void client_reply_finish(struct client_reply *reply)
{
	free(reply->body);
	free(reply->etag);
	free(reply->at);
	free(reply->space);
	free(reply->size);
	free(reply->region);
	free(reply->covered);
	free(reply->fallback);
	free(reply->skipped);
	free(reply->masked);
	json_decref(reply->json);
	*reply = (struct client_reply){0};
}
