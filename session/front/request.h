/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTTP request: read strictly, refused or handed to its route, answered. Owner: session/front. One thread; routes that wait
 * run in a coroutine, which is cancelled when the caller leaves.
 */
#ifndef FRONT_REQUEST_H
#define FRONT_REQUEST_H

#include "session/base/co.h"
#include "session/base/json.h"
#include "session/front/birth.h"
#include "session/front/conn.h"
#include "session/front/front.h"
#include "session/front/head.h"
#include "session/front/reply.h"
#include "session/front/routes.h"
#include "session/front/sessions.h"
#include "session/front/target.h"
#include "session/front/tickets.h"
#include "session/front/tokens.h"

enum request_phase { REQUEST_HEAD, REQUEST_BODY, REQUEST_WORKING, REQUEST_ANSWERED };

struct request {
	struct front *front;
	struct conn *conn;
	char id[20];                 /* of X-Request-Id and of problems */
	int64_t started_us;          /* monotonic: its first line was there */
	enum request_phase phase;
	char *raw_target;
	struct target target;
	struct head head;            /* its strings are libmicrohttpd's and live as long as the request */
	char key[LIMIT_KEY_CHARS + 1]; /* its Idempotency-Key, where the route takes one; or "" */
	const struct route *route;
	bool is_head;                /* method HEAD */
	bool is_http_11;
	struct ticket ticket;        /* of a route that is asked with one */
	struct identity who;         /* of the token; not set on public routes */
	struct session *session;     /* of the path, with a reference; NULL on other routes */
	struct birth *born;          /* what this request made, with references: they end if the reply cannot be delivered */
	size_t n_born;
	char *body;                  /* of ROUTE_BYTES locked memory */
	size_t body_len, body_size;
	char *coming;                /* of ROUTE_UPLOAD: what has come of the body and was not taken, of LIMIT_COMING_BYTES */
	size_t n_coming;
	bool came;                   /* all of it has */
	bool closed;                 /* the connection is gone, and the route still runs: it frees the request */
	struct co_event body_changed;
	size_t drained;              /* bytes of the body of a refused request */
	bool refused;
	struct err refusal;
	struct faults faults;        /* of the body, when a route has looked for all of them */
	struct co *co;               /* runs the route */
	bool gone;                   /* the caller left while the request was suspended */
	bool revoked;                /* its token was, meanwhile */
	struct loop_timer *silence; /* of a body that is refused: then nobody sends it any more */
	struct loop_timer *expiry;   /* of a stream: its token's */
	struct request *next, **place; /* in the list of those that came with a token, see request_revoke; place NULL: not in it */
	struct reply reply;
	uint64_t n_sent;             /* bytes of its body that libmicrohttpd has taken */
};

/* The callbacks of libmicrohttpd; `arg` of the ops is the struct front. */
struct conns_ops request_ops(struct front *front);

/* Stops what came with this token of a session: calls are refused as they stand, also when their body is not here yet, and replies that a
 * stage is still sending break off. */
void request_revoke(struct front *front, const char *session, const char *token_id);

/* The JSON object of the body: ERR_BAD_JSON with the place of the fault. The caller's reference. */
int request_json(const struct request *request, json_t **object, struct err *e);

/* The same, checked by a form; the reply lists all of its faults. */
int request_form(struct request *request, const struct form *form, json_t **object, struct err *e);

/* For reply_websocket: the connection is carried to the view that the request has opened, as its ticket says. */
void request_on_upgrade(void *cls, struct MHD_Connection *mhd, void *context, const char *early, size_t early_len, MHD_socket socket,
                        struct MHD_UpgradeResponseHandle *handle);

/* The next bytes of the body of an upload, at most `max`: *n is 0 at its end, and once *over (stage.h). In the coroutine of the route. ERR_CANCELLED. */
int request_body_read(struct request *request, const bool *over, char *out, size_t max, size_t *n, struct err *e);

/* Room for all faults of the body: when a route refuses with the first of them, the reply lists them all. */
struct faults *request_faults(struct request *request);

#endif
