/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the first byte to who serves it. */
#include "sandbox/egress/guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/egress/exchange.h"
#include "sandbox/egress/hello.h"
#include "sandbox/egress/socks.h"
#include "sandbox/egress/tunnel.h"
#include "session/base/co.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define HTTPS_PORT 443
#define TEXT_SIZE 640
#define LINGER_MS 1000
#define LINGER_BYTES (256 * 1024)

struct guest {
	struct guest *next;
	struct proxy *proxy;
	struct co *co;
	struct wire *wire;
	struct inbox inbox;
};

/* --- what is said to it --- */

/* How a passage that is not open is told; a member of the row for what each protocol has. */
static const struct {
	int status;
	enum socks_reply reply;
} FAULTS[] = {
	[PASSAGE_GOOD] = {200, SOCKS_GRANTED},
	[PASSAGE_REFUSED] = {403, SOCKS_NOT_ALLOWED},
	[PASSAGE_FULL] = {503, SOCKS_FAILED},
	[PASSAGE_NO_NAME] = {502, SOCKS_NO_HOST},
	[PASSAGE_NO_ANSWER] = {502, SOCKS_REFUSED},
	[PASSAGE_LATE] = {504, SOCKS_EXPIRED},
	[PASSAGE_ENDED] = {503, SOCKS_FAILED},
};

/* It gets to read the answer, also if it is still sending: unread bytes would take it away. */
static void linger(struct guest *guest)
{
	auto_free char *bytes = util_alloc(LIMIT_EGRESS_PIECE_BYTES);
	int64_t until_ms = util_now_ms() + LINGER_MS;
	size_t read = 0;
	ssize_t n;

	wire_shut(guest->wire);
	while (read < LINGER_BYTES && (n = wire_read(guest->wire, bytes, LIMIT_EGRESS_PIECE_BYTES, until_ms, NULL)) > 0)
		read += (size_t)n;
}

static void reply(struct guest *guest, int status, bool keeps, bool answers_head, const char *text)
{
	auto_free char *said = util_printf("Glovebox: %s.\n", text);
	const struct exchange_answer answer = {.status = status, .text = said, .keeps = keeps, .is_head = answers_head};

	(void)exchange_reply(guest->wire, &answer, NULL);
	if (!keeps)
		linger(guest);
}

static void reply_socks(struct guest *guest, enum socks_reply code)
{
	uint8_t bytes[SOCKS_REPLY_BYTES];

	socks_reply(code, bytes);
	(void)wire_write(guest->wire, bytes, sizeof(bytes), util_now_ms() + LIMIT_EGRESS_HEAD_MS, NULL);
	if (code != SOCKS_GRANTED)
		linger(guest);
}

static enum socks_reply reply_of(const struct passage *passage)
{
	if (passage->fault == PASSAGE_NO_ANSWER && passage->sys_errno == ENETUNREACH)
		return SOCKS_NO_NETWORK;
	if (passage->fault == PASSAGE_NO_ANSWER && passage->sys_errno == EHOSTUNREACH)
		return SOCKS_NO_HOST;
	return FAULTS[passage->fault].reply;
}

/* "evil.test:443 is refused: no entry …", and the like. */
static void explain(const struct passage *passage, char text[TEXT_SIZE])
{
	const char *is = passage->fault == PASSAGE_REFUSED ? "is refused" : "is not reached";
	char authority[EGRESS_AUTHORITY_SIZE];

	(void)egress_host_authority(&passage->host, passage->port, 0, authority);
	if (strncmp(passage->reason, PASSAGE_CAP, strlen(PASSAGE_CAP)) == 0)
		(void)snprintf(text, TEXT_SIZE, "%s %s: the session has met its cap on %s", authority, is, passage->reason + strlen(PASSAGE_CAP));
	else
		(void)snprintf(text, TEXT_SIZE, "%s %s: %s", authority, is, passage->reason);
}

/* --- tunnels --- */

static bool is_for(const struct hello *hello, const struct egress_host *host)
{
	struct egress_host named;

	/* An address has no place in a hello: without a name it is the one that was asked for. */
	if (!hello->name[0])
		return host->kind != EGRESS_HOST_NAME;
	egress_host_read(hello->name, strlen(hello->name), &named);
	return named.kind == host->kind && strcmp(named.text, host->text) == 0;
}

/* What is wrong with the first message of TLS, which is there and unread still, for this host; NULL: nothing. */
static const char *fault_of(enum hello_result result, const struct hello *hello, const struct egress_host *host)
{
	if (result == HELLO_NONE)
		return "a tunnel to port 443 must begin with TLS";
	if (!hello->name[0] && host->kind == EGRESS_HOST_NAME)
		return "TLS names no server";
	return is_for(hello, host) ? NULL : "TLS names another server than the tunnel";
}

/*
 * Is it there, and for this host? Browsers open tunnels beforehand and close them unused: one that ends without a word, or says none for too long, is no matter of
 * the policy.
 */
static bool check_hello(struct guest *guest, struct passage *passage)
{
	static const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 112}; /* fatal, unrecognized_name */
	int64_t deadline_ms = util_now_ms() + LIMIT_EGRESS_HELLO_MS;
	enum hello_result result;
	struct hello hello;
	const char *fault;

	while ((result = hello_read(inbox_data(&guest->inbox), guest->inbox.len, &hello)) == HELLO_MORE)
		if (inbox_more(&guest->inbox, deadline_ms, NULL) <= 0)
			return false;
	fault = fault_of(result, &hello, &passage->host);
	if (!fault)
		return true;
	passage_refuse(passage, fault);
	(void)wire_write(guest->wire, alert, sizeof(alert), util_now_ms() + LIMIT_EGRESS_HEAD_MS, NULL);
	linger(guest);
	return false;
}

static void serve_requests(struct guest *guest, struct passage *intercepted);

/* TLS ends here on both sides, and what is in it is judged request by request. */
static void intercept(struct guest *guest, struct passage *passage)
{
	struct tls *tls = inject_tls(guest->proxy->inject);
	struct err e = {0};

	inbox_give_back(&guest->inbox);
	if (tls_accept(tls, guest->wire, passage->host.text, util_now_ms() + LIMIT_EGRESS_HELLO_MS, &e) < 0) {
		if (e.code != ERR_CANCELLED)
			passage_refuse(passage, e.msg);
		return;
	}
	if (tls_connect(tls, passage->server, passage->host.text, util_now_ms() + LIMIT_EGRESS_DIAL_MS, &e) < 0) {
		passage_refuse(passage, e.msg);
		reply(guest, 502, false, false, e.msg);
		return;
	}
	serve_requests(guest, passage);
}

/* The program has been told that it is connected. */
static void run_tunnel(struct guest *guest, struct passage *passage, bool is_intercepted)
{
	if ((passage->port == HTTPS_PORT || is_intercepted) && !check_hello(guest, passage))
		return;
	if (is_intercepted) {
		intercept(guest, passage);
		return;
	}
	inbox_give_back(&guest->inbox);
	tunnel_run(guest->wire, passage);
}

static bool is_intercepted(const struct guest *guest, const struct egress_host *host, uint16_t port)
{
	const struct inject_origin origin = {host->text, port, false};

	return guest->proxy->inject && inject_is_for(guest->proxy->inject, &origin);
}

/* --- SOCKS --- */

/* A message of the client: its length once it is whole, -1; 0 when the connection ends before. */
static ssize_t read_greeting(struct guest *guest, uint8_t answer[SOCKS_GREETING_BYTES], int64_t deadline_ms)
{
	ssize_t len;

	while ((len = socks_greeting(inbox_data(&guest->inbox), guest->inbox.len, answer)) == 0)
		if (inbox_more(&guest->inbox, deadline_ms, NULL) <= 0)
			return 0;
	return len;
}

static ssize_t read_socks(struct guest *guest, struct egress_host *host, uint16_t *port, enum socks_reply *fault, int64_t deadline_ms)
{
	ssize_t len;

	while ((len = socks_request(inbox_data(&guest->inbox), guest->inbox.len, host, port, fault)) == 0)
		if (inbox_more(&guest->inbox, deadline_ms, NULL) <= 0)
			return 0;
	return len;
}

static void connect_socks(struct guest *guest, const struct egress_host *host, uint16_t port)
{
	bool intercepted = is_intercepted(guest, host, port);
	const struct passage_ask ask = {.want = {.host = host, .port = port, .is_read = intercepted}, .method = "CONNECT", .client = guest->wire};
	struct passage passage;

	if (passage_open(guest->proxy, &ask, &passage) == 0) {
		reply_socks(guest, SOCKS_GRANTED);
		run_tunnel(guest, &passage, intercepted);
	} else if (passage.fault != PASSAGE_ENDED) {
		reply_socks(guest, reply_of(&passage));
	}
	passage_close(&passage);
}

static void serve_socks(struct guest *guest)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_EGRESS_HEAD_MS;
	uint8_t answer[SOCKS_GREETING_BYTES];
	enum socks_reply fault = SOCKS_FAILED;
	struct egress_host host;
	uint16_t port;
	ssize_t len = read_greeting(guest, answer, deadline_ms);

	if (len <= 0)
		return;
	inbox_take(&guest->inbox, (size_t)len);
	if (wire_write(guest->wire, answer, sizeof(answer), deadline_ms, NULL) < 0 || answer[1] != 0)
		return;
	len = read_socks(guest, &host, &port, &fault, deadline_ms);
	if (len == 0)
		return;
	if (len < 0) {
		passage_deny_form(guest->proxy, NULL, "a request of SOCKS5 breaks the form");
		reply_socks(guest, fault);
		return;
	}
	inbox_take(&guest->inbox, (size_t)len);
	connect_socks(guest, &host, port);
}

/* --- HTTP --- */

/* Programs show no body of an answer to CONNECT, but some its reason phrase. */
static void refuse_tunnel(struct guest *guest, const struct passage *passage)
{
	char text[TEXT_SIZE];
	auto_free char *said = (explain(passage, text), util_printf("Glovebox: %s.\n", text));
	const struct exchange_answer answer = {.status = FAULTS[passage->fault].status, .text = said, .why = passage->reason};

	(void)exchange_reply(guest->wire, &answer, NULL);
	linger(guest);
}

static void connect_http(struct guest *guest, const struct request *request)
{
	static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";
	bool intercepted = is_intercepted(guest, &request->host, request->port);
	const struct passage_ask ask = {.want = {.host = &request->host, .port = request->port, .is_read = intercepted}, .method = "CONNECT", .client = guest->wire};
	struct passage passage;

	if (passage_open(guest->proxy, &ask, &passage) == 0) {
		if (wire_write(guest->wire, established, strlen(established), util_now_ms() + LIMIT_EGRESS_HEAD_MS, NULL) == 0)
			run_tunnel(guest, &passage, intercepted);
	} else if (passage.fault != PASSAGE_ENDED) {
		refuse_tunnel(guest, &passage);
	}
	passage_close(&passage);
}

/* A refusal: the connection goes on where the request had no body. */
static bool refuse(struct guest *guest, const struct request *request, int status, const char *text)
{
	bool keeps = request->keeps && request->body.is_over;

	reply(guest, status, keeps, strcmp(request->method, "HEAD") == 0, text);
	return keeps;
}

/* Names of the secrets that a request there gets, malloced; NULL: none. */
static char *secrets_for(const struct guest *guest, const struct request *request, bool is_plain)
{
	const struct inject_origin origin = {request->host.text, request->port, is_plain};

	return guest->proxy->inject && inject_is_for(guest->proxy->inject, &origin) ? inject_names(guest->proxy->inject, &origin) : NULL;
}

/* One request, whole, on a way out of its own or on the one that was intercepted. */
struct turn {
	struct head *head;
	size_t head_len;
	struct request *request;
	struct passage *intercepted;
	struct inbox *server;
};

/*
 * It can go on behind it. To a host with a secret a request with a body is the last one: a server that does not read the body takes it for the next request, and the head
 * of ours behind it, with the secret, for what that request says.
 */
static bool exchange(struct guest *guest, const struct turn *turn, struct passage *passage)
{
	struct inbox own = {.wire = NULL};
	struct exchange run = {.passage = passage, .client = &guest->inbox, .server = turn->server, .head = turn->head, .head_len = turn->head_len,
	                       .request = turn->request, .is_plain = !turn->intercepted, .keeps_server = turn->intercepted && turn->request->body.is_over};
	char text[TEXT_SIZE], authority[EGRESS_AUTHORITY_SIZE];

	if (turn->intercepted && !run.keeps_server)
		turn->request->keeps = false;
	if (!turn->intercepted) {
		inbox_init(&own, passage->server);
		run.server = &own;
	}
	exchange_run(&run);
	inbox_finish(&own);
	if (run.fault) {
		(void)snprintf(text, sizeof(text), "%s: %s", egress_host_authority(&passage->host, passage->port, 0, authority), run.fault);
		reply(guest, passage->fault == PASSAGE_FULL ? 503 : 502, false, strcmp(turn->request->method, "HEAD") == 0, text);
	}
	return run.keeps_client;
}

static bool serve_one(struct guest *guest, const struct turn *turn)
{
	const struct request *request = turn->request;
	auto_free char *secrets = secrets_for(guest, request, !turn->intercepted);
	const struct passage_ask ask = {.want = {.host = &request->host, .port = request->port, .method = request->method, .path = request->path, .says_other = request->says_other},
	                                .method = request->method, .secret = secrets, .client = guest->wire};
	const char *fault = request->wants_websocket ? "a WebSocket is opened through CONNECT" : secrets ? inject_method_fault(request->method) : NULL;
	struct passage own, *passage = turn->intercepted ? turn->intercepted : &own;
	char text[TEXT_SIZE];
	bool keeps = false;
	int rc;

	if (fault) {
		passage_deny_kind(guest->proxy, &ask, fault);
		return refuse(guest, request, request->wants_websocket ? 501 : 403, fault);
	}
	rc = turn->intercepted ? passage_judge(passage, &ask) : passage_open(guest->proxy, &ask, &own);
	if (rc == 0) {
		keeps = exchange(guest, turn, passage);
	} else if (passage->fault != PASSAGE_ENDED) {
		explain(passage, text);
		keeps = refuse(guest, request, FAULTS[passage->fault].status, text);
	}
	if (!turn->intercepted)
		passage_close(&own);
	else
		passage_forget_request(passage);
	return keeps;
}

/* The bytes of the next head, malloced; NULL when the connection ends, *fault then says why if it was for its form. */
static char *read_head(struct guest *guest, size_t *len, const char **fault)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_EGRESS_KEEP_MS;
	struct inbox *inbox = &guest->inbox;
	ssize_t n = 0;
	char *text;

	for (bool began = false; (n = head_length(inbox_data(inbox), inbox->len)) == 0;) {
		if (inbox->len > 0 && !began) {
			began = true;
			deadline_ms = util_now_ms() + LIMIT_EGRESS_HEAD_MS;
		}
		if (inbox_more(inbox, deadline_ms, NULL) <= 0)
			return NULL;
	}
	if (n < 0) {
		*fault = "the request's head is too long, or a line of it does not end in CR LF";
		return NULL;
	}
	text = util_alloc((size_t)n);
	memcpy(text, inbox_data(inbox), (size_t)n);
	inbox_take(inbox, (size_t)n);
	*len = (size_t)n;
	return text;
}

static void refuse_form(struct guest *guest, const struct passage *on, const char *fault)
{
	auto_free char *text = util_printf("the request is refused: %s", fault);

	passage_deny_form(guest->proxy, on, fault);
	reply(guest, 400, false, false, text);
}

/* One request: false when the connection ends with it. */
static bool take_turn(struct guest *guest, struct passage *intercepted, struct inbox *server)
{
	const struct request_peer peer = {intercepted ? &intercepted->host : NULL, intercepted ? intercepted->port : 0};
	auto_free struct head *head = util_alloc(sizeof(*head));
	auto_free struct request *request = util_alloc(sizeof(*request));
	const char *fault = NULL;
	size_t len = 0;
	auto_free char *text = read_head(guest, &len, &fault);
	const struct turn turn = {.head = head, .head_len = len, .request = request, .intercepted = intercepted, .server = server};

	if (text)
		fault = head_read_request(text, len, head);
	if (text && !fault)
		fault = request_read(head, intercepted ? &peer : NULL, request);
	if (fault)
		refuse_form(guest, intercepted, fault);
	if (!text || fault)
		return false;
	if (!request->is_connect)
		return serve_one(guest, &turn);
	connect_http(guest, request);
	return false;
}

static void serve_requests(struct guest *guest, struct passage *intercepted)
{
	struct inbox server = {.wire = NULL};
	struct err e;

	if (intercepted)
		inbox_init(&server, intercepted->server);
	while (take_turn(guest, intercepted, &server) && co_wait_until(util_now_ms(), &e) == 0)
		;
	inbox_finish(&server);
}

/* --- its life --- */

static void leave(struct guest *guest)
{
	struct proxy *proxy = guest->proxy;
	struct guest **at = &proxy->guests;

	while (*at != guest)
		at = &(*at)->next;
	*at = guest->next;
	proxy->n_guests--;
	inbox_finish(&guest->inbox);
	wire_destroy(guest->wire);
	free(guest);
	proxy_make_room(proxy);
}

static void run(void *arg)
{
	struct guest *guest = arg;

	if (inbox_more(&guest->inbox, util_now_ms() + LIMIT_EGRESS_HEAD_MS, NULL) > 0) {
		if ((uint8_t)inbox_data(&guest->inbox)[0] == SOCKS_VERSION)
			serve_socks(guest);
		else
			serve_requests(guest, NULL);
	}
	leave(guest);
}

void guest_start(struct proxy *proxy, int fd)
{
	struct guest *guest = util_zalloc(sizeof(*guest));

	*guest = (struct guest){.next = proxy->guests, .proxy = proxy, .wire = wire_create(proxy->loop, fd)};
	inbox_init(&guest->inbox, guest->wire);
	proxy->guests = guest;
	proxy->n_guests++;
	guest->co = co_start(proxy->loop, run, guest);
}

void guest_cut_all(struct proxy *proxy)
{
	for (struct guest *guest = proxy->guests; guest; guest = guest->next)
		co_cancel(guest->co);
}
