/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who watches: each is a WebSocket on one side and the descriptor of its glovebox-view on the other, and the front carries the bytes of RFB
 * between them without a look at them. What a viewer may do is decided by its view and by the stage: a view without controls has no channel
 * for input. Owner: session/front. One thread.
 */
#ifndef FRONT_VIEWERS_H
#define FRONT_VIEWERS_H

#include <microhttpd.h>

#include "session/front/sessions.h"
#include "session/front/tickets.h"

struct conn;
struct front;
struct viewer; /* one that watches; ends by itself */

struct viewers {
	struct viewer *first; /* newest first */
	uint64_t n;
	uint64_t n_opened;          /* since the front started */
	uint64_t n_in, n_out;       /* bytes of those that have ended */
	uint64_t n_silent, n_lost;  /* how often one gave no sign of life; and was given up */
};

/* How a viewer's number stands in JSON and in paths: "v3". */
#define VIEWER_NAME_SIZE 12
void viewers_name(uint32_t number, char out[VIEWER_NAME_SIZE]);

/* ERR_LIMIT when LIMIT_WEBSOCKETS are open, or LIMIT_WEBSOCKETS_OF_TOKEN of this token. */
int viewers_check_room(const struct viewers *viewers, const struct identity *who, struct err *e);

/* What a viewer begins with. */
struct viewer_start {
	struct session *session;  /* a reference is taken */
	const struct ticket *ticket;
	const char *request_id;   /* of its upgrade */
	struct conn *conn;
	struct MHD_UpgradeResponseHandle *handle;
	int socket;               /* of the handle */
	int view;                 /* taken */
	const void *early;        /* bytes behind the handshake */
	size_t early_len;
};

/* Begins to carry. */
void viewers_open(struct front *front, const struct viewer_start *start);

/* {"viewers":[…]} of a session, oldest first; the caller's reference. */
json_t *viewers_describe(const struct viewers *viewers, const struct session *session);

/* Throws one out. ERR_NOT_FOUND when the session has none of this name. */
int viewers_throw_out(struct viewers *viewers, const struct session *session, const char *name, struct err *e);

/* Those of this token of a session, at once. */
void viewers_revoke(struct viewers *viewers, const char *session, const char *token_id);

/* The server stops. */
void viewers_say_goodbye(struct viewers *viewers);

/* Bytes that viewers have sent, and been sent, so far. */
void viewers_count_bytes(const struct viewers *viewers, uint64_t *in, uint64_t *out);

#endif
