/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of what can be asked: method, path, who may, what runs. The listing of GET /v1 and the tests walk
 * it. Owner: session/front. No threads.
 */
#ifndef FRONT_ROUTES_H
#define FRONT_ROUTES_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/err.h"
#include "session/front/target.h"
#include "session/front/tokens.h"

struct operation;
struct request;

enum route_flag {
	ROUTE_PUBLIC = 1 << 0, /* needs no token */
	ROUTE_WAITS = 1 << 1,  /* runs in a coroutine */
	ROUTE_BODY = 1 << 2,   /* takes a JSON body; the others take none */
	ROUTE_KEY = 1 << 3,    /* honours an Idempotency-Key */
	ROUTE_REPEATABLE = 1 << 4, /* a POST that needs none: twice is the same as once */
	ROUTE_STREAM = 1 << 5, /* its reply has no end */
	ROUTE_UPGRADE = 1 << 7, /* it becomes a WebSocket; its caller is known by a ticket in place of a token */
	ROUTE_BYTES = 1 << 8,  /* takes a body of bytes that is a secret: at most LIMIT_SECRET_BYTES, kept in locked memory and wiped */
	ROUTE_UPLOAD = 1 << 9, /* takes a body of bytes as it comes, of any length; runs in a coroutine beside it */
	ROUTE_LARGE = 1 << 6,  /* its body may have LIMIT_ACT_BODY_BYTES */
};

struct route {
	const char *method;
	const char *path;   /* "{id}" stands for a session's id, which is then the request's session; other names in braces for any segment */
	unsigned int flags; /* enum route_flag */
	unsigned int roles; /* ROLES_OF(…); agents, viewers, controllers and owners at their own sessions only */
	/* Fills request->reply. 0, or -1 with the refusal in *e. */
	int (*run)(struct request *request, struct err *e);
	const struct operation *operation; /* what it takes and says, for callers (operation.h) */
	const char *doc;    /* one line */
};

extern const struct route routes[];
extern const size_t routes_n;

/* Refuses a table with a row that is not whole: without method, path, function, operation, line of documentation, or anyone who may. */
int routes_check(const struct route *rows, size_t n_rows, struct err *e);

/*
 * The route of a method and a path; HEAD is found as GET. *id is the session's id of the path (borrowed from the target), or NULL.
 * ERR_NOT_FOUND, or ERR_METHOD with the methods that the path takes in allow[allow_size] ("GET, HEAD, POST").
 */
const struct route *routes_find(const char *method, const struct target *target, const char **id, char *allow, size_t allow_size,
                                struct err *e);

/* The row that stands for this method and this path of the table; NULL if there is none. */
const struct route *routes_row(const char *method, const char *path);

/* May this identity use the route at the session with this id (NULL: the route is of no session)? ERR_FORBIDDEN. What sessions an owner has
 * is asked by session_is_shown_to, once the session is found. */
int routes_permit(const struct route *route, const struct identity *who, const char *id, struct err *e);

/* [{"method","path","roles":[…],"doc","query"}…]; the caller's reference. */
json_t *routes_document(void);

#endif
