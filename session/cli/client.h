/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One server, spoken to over HTTP with libcurl and an operator's token, by TCP, TLS or a Unix socket.
 *
 * Calls block. No redirect is followed, and plain http:// never goes through a proxy, so that the token reaches the server named
 * and nobody else.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"

struct client {
	char *server;     /* as it was named, without a "/" at its end */
	char *base;       /* what paths are appended to */
	char *socket;     /* the path of a Unix socket, or NULL */
	char *cacert;     /* a file of certificates to trust, or NULL for those of this machine */
	char *token;
	char *token_file; /* where the token came from, for messages */
	void *curl;
	const volatile sig_atomic_t *stop; /* set by a signal: calls break off; NULL: by none */
};

struct client_reply {
	long status;
	char *body; /* body_len bytes and a NUL */
	size_t body_len;
	json_t *json;  /* the body as JSON; NULL when it is none */
	char *etag;    /* the header ETag, or NULL */
	char *at;      /* the header Glovebox-At, or NULL */
	char *space;   /* the header Glovebox-Space, or NULL */
	char *size;    /* the header Glovebox-Size, or NULL */
	char *region;  /* the header Glovebox-Region, of a picture of a part, or NULL */
	int unwritten; /* errno of what could not be written to the sink */
	char *covered; /* the header Glovebox-Covered, of a window's picture, or NULL */
	char *fallback; /* the header Glovebox-Fallback, or NULL */
	char *skipped;  /* the header Glovebox-Skipped, of an archive, or NULL */
	char *masked;   /* the header Glovebox-Masked, of a file, or NULL */
};

/* Where the server is and how it is known. */
struct client_server {
	const char *url;        /* http://, https:// or unix:/path */
	const char *token_file; /* NULL: the usual places, ~/.config/glovebox/token, then /var/lib/glovebox/operator.token */
	const char *cacert;     /* certificates to trust instead of those of this machine, or NULL */
};

/* Fills *client. ERR_BAD_REQUEST: not a URL, or no token or certificate to be read. */
int client_init(struct client *client, const struct client_server *server, struct err *e);
void client_finish(struct client *client);

/* Closes the connections that are kept: for before a fork. */
void client_hang_up(struct client *client);

/*
 * Sends one request and waits for the whole answer; `body` may be NULL. Any HTTP status is success here.
 * ERR_GONE: the server cannot be reached or broke off; ERR_TOO_LARGE: the answer is beyond LIMIT_REPLY_BYTES.
 */
int client_call(struct client *client, const char *method, const char *path, const json_t *body, struct client_reply *reply,
                struct err *e);

/* A request with more to it. */
struct client_request {
	const char *method, *path;
	const json_t *body; /* or NULL */
	const void *bytes;  /* or this as it is, n_bytes of it; or NULL */
	size_t n_bytes;
	int source;         /* with has_source: a file whose rest is the body, of source_len bytes; -1: up to its end */
	bool has_source;
	int64_t source_len;
	const char *type;   /* of `bytes` or `source`; NULL: application/octet-stream */
	const char *accept; /* or NULL */
	const char *key;    /* Idempotency-Key: it is sent again, a few times, when an answer is lost; NULL: sent once */
	bool again;         /* it changes nothing, so it is sent again as with a key */
	const char *etag;   /* If-None-Match, or NULL */
	int sink;           /* a file for the body of a 200 of the type `accept`, if any, at most sink_max bytes, instead of memory; or -1 */
	uint64_t sink_max;
	bool or_none;      /* 404 is an answer, too, not a refusal (for cli_send) */
};

/* The same for a request of this kind. ERR_CANCELLED: client->stop was set meanwhile. */
int client_send(struct client *client, const struct client_request *request, struct client_reply *reply, struct err *e);

void client_reply_finish(struct client_reply *reply);

/* For who has transfers of his own: sets in a fresh CURL handle where `url` (base and path) is reached and what is trusted, and no token. */
void client_prepare(const struct client *client, void *curl, const char *url);

/* What may mend a transfer that ended so, to be put behind what is said of it; "" when nothing is known. */
const char *client_hint(int curl_code);

#define auto_reply __attribute__((cleanup(client_reply_finish))) struct client_reply

#endif
